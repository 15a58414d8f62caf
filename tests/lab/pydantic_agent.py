"""Pydantic AI's ACP adapter around a scripted model: the protocol side is theirs, the script is ours."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

from pydantic_acp import (
    AdapterConfig,
    FileSessionStore,
    FileSystemProjectionMap,
    NativeApprovalBridge,
    run_acp,
)
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

EDIT = {
    "path": "app.py",
    "old_text": '    return "Hello, " + name',
    "new_text": '    return f"Hello, {name}!"',
}
Step = tuple[str, str | None, dict[str, str]]
SCRIPTS: dict[str, list[Step]] = {
    "full": [
        ("I'll read the file first.", "read_file", {"path": "app.py"}),
        ("Now I'll edit it.", "edit_file", EDIT),
        ("Running it.", "run_command", {"command": "python3 app.py && echo done"}),
        ("", "read_file", {"path": "missing.txt"}),
        ("All done.", None, {}),
    ],
    "reject": [("I'll edit the file.", "edit_file", EDIT), ("Understood.", None, {})],
    "permcancel": [("I'll edit the file.", "edit_file", EDIT), ("Not reached.", None, {})],
    "cancelshell": [
        ("Slow.", "run_command", {"command": "echo started; sleep 25; echo finished"}),
        ("Not reached.", None, {}),
    ],
}


def scenario(messages: list[ModelMessage]) -> tuple[str, int]:
    """Its name and the number of tool calls since it was asked for."""
    name, rounds = "hello", 0
    for message in messages:
        for part in message.parts:
            if isinstance(part, UserPromptPart) and (
                found := re.findall(r"SCENARIO:([\w-]+)", str(part.content))
            ):
                name, rounds = found[-1], 0
        if isinstance(message, ModelResponse):
            rounds += any(isinstance(part, ToolCallPart) for part in message.parts)
    return name, rounds


def step(messages: list[ModelMessage]) -> Step:
    name, rounds = scenario(messages)
    steps = SCRIPTS.get(name, [("Hello there.", None, {})])
    return steps[min(rounds, len(steps) - 1)]


async def stream(
    messages: list[ModelMessage], info: AgentInfo
) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
    if scenario(messages)[0] == "cancelstream":
        for number in range(400):
            yield f"word{number} "
            await asyncio.sleep(0.1)
        return
    text, tool, arguments = step(messages)
    for start in range(0, len(text), 12):
        yield text[start : start + 12]
    if tool:
        call = DeltaToolCall(name=tool, json_args=json.dumps(arguments), tool_call_id=f"call_{len(messages)}")
        yield {0: call}


def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    text, tool, arguments = step(messages)
    called = [ToolCallPart(tool, arguments)] if tool else []
    return ModelResponse(parts=[*([TextPart(text)] if text else []), *called])


agent = Agent(FunctionModel(respond, stream_function=stream), name="scripted")


@agent.tool_plain
def read_file(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError as error:
        return f"error: {error}"


@agent.tool_plain(requires_approval=True)
def edit_file(path: str, old_text: str, new_text: str) -> str:
    file = Path(path)
    file.write_text(file.read_text().replace(old_text, new_text))
    return "edited"


@agent.tool_plain(requires_approval=True)
async def run_command(command: str) -> str:
    process = await asyncio.create_subprocess_shell(
        command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    return output.decode()


if __name__ == "__main__":
    run_acp(
        agent=agent,
        config=AdapterConfig(
            session_store=FileSessionStore(Path.home() / "sessions"),
            approval_bridge=NativeApprovalBridge(enable_persistent_choices=True),
        ),
        projection_maps=[
            FileSystemProjectionMap(
                read_tool_names=frozenset({"read_file"}),
                write_tool_names=frozenset({"edit_file"}),
                bash_tool_names=frozenset({"run_command"}),
            )
        ],
    )
