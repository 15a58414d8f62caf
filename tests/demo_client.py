"""A client for the built-in agent: a real process, our own connection, every message checked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from acp_schemas import Traffic, Version
from waiting import until

from acp_editor.acp.connection import Connection, RpcError

Json = Any
INFO = {"name": "test", "version": "0"}


@dataclass
class Shell:
    """A terminal that this client lends."""

    process: subprocess.Popen[bytes]
    released: bool = False


@dataclass
class DemoClient:
    """`answers` are the option ids for the permissions to come, the last one for all that follow."""

    version: Version
    root: Path
    able: bool
    answers: list[str] = field(default_factory=lambda: ["allow"])
    before_answer: Callable[[Json], Awaitable[None]] | None = None
    connection: Connection = field(init=False)
    session: str = ""
    updates: list[Json] = field(default_factory=list)
    asked: list[Json] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    buffers: dict[str, str] = field(default_factory=dict)
    shells: dict[str, Shell] = field(default_factory=dict)
    faults: list[Any] = field(default_factory=list)
    problems: list[BaseException] = field(default_factory=list)

    # -- what the agent asks -------------------------------------------------------------------

    async def on_request(self, method: str, params: Json) -> Json:
        match method:
            case "session/request_permission":
                self.asked.append(params)
                if self.before_answer:
                    await self.before_answer(params)
                answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                if answer == "cancelled":
                    return {"outcome": {"outcome": "cancelled"}}
                return {"outcome": {"outcome": "selected", "optionId": answer}}
            case "fs/read_text_file" if self.able:
                path = params["path"]
                return {"content": self.buffers.get(path) or Path(path).read_bytes().decode()}
            case "fs/write_text_file" if self.able:
                Path(params["path"]).write_bytes(params["content"].encode())
                self.written.append(params["path"])
                return {}
            case "terminal/create" if self.able:
                line = [params["command"], *params["args"]]
                process = _started(line, params["cwd"])
                self.shells[f"t{len(self.shells)}"] = Shell(process)
                return {"terminalId": f"t{len(self.shells) - 1}"}
            case "terminal/wait_for_exit":
                process = self.shells[params["terminalId"]].process
                code = await anyio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
                return {"exitCode": code if code >= 0 else None, "signal": None if code >= 0 else str(-code)}
            case "terminal/kill":
                self.shells[params["terminalId"]].process.kill()
                return {}
            case "terminal/release":
                self.shells[params["terminalId"]].released = True
                return {}
            case _:
                raise RpcError(-32601, method)

    def on_notification(self, method: str, params: Json) -> None:
        assert method == "session/update"
        self.updates.append(params["update"])

    def see(self, traffic: Traffic) -> Callable[[str, Json], None]:
        def see(direction: str, message: Json) -> None:
            try:
                traffic.see("client" if direction == "out" else "agent", message)
            except BaseException as problem:
                self.problems.append(problem)

        return see

    # -- what the test asks --------------------------------------------------------------------

    async def initialize(self) -> Json:
        params: dict[str, Json] = {"protocolVersion": self.version}
        if self.version == 2:
            params |= {"info": INFO, "capabilities": {}}
        elif self.able:
            files = {"readTextFile": True, "writeTextFile": True}
            params["clientCapabilities"] = {"fs": files, "terminal": True}
        return await self.connection.request("initialize", params)

    async def new_session(self) -> Json:
        params = {"cwd": str(self.root), "mcpServers": []}
        answer = await self.connection.request("session/new", params)
        self.session = answer["sessionId"]
        return answer

    async def prompt(self, *blocks: str | Json, seconds: float = 20) -> str:
        """The stop reason at the end of the turn, in both versions."""
        prompt = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        seen = len(self.updates)
        with anyio.fail_after(seconds):
            params = {"sessionId": self.session, "prompt": prompt}
            answer = await self.connection.request("session/prompt", params)
        if self.version == 1:
            return answer["stopReason"]
        await until(lambda: self._idle(seen), seconds)
        return self._idle(seen)[0]["stopReason"]

    def _idle(self, start: int) -> list[Json]:
        return [update for update in self.updates[start:] if update.get("state") == "idle"]

    def cancel(self) -> None:
        self.connection.notify("session/cancel", {"sessionId": self.session})

    # -- what was told -------------------------------------------------------------------------

    def said(self, kind: str = "agent_message_chunk") -> str:
        return "".join(u["content"]["text"] for u in self.updates if u["sessionUpdate"] == kind)

    def calls(self) -> dict[str, dict[str, Json]]:
        """Every tool call, merged, with all statuses and lines that it went through."""
        merged: dict[str, dict[str, Json]] = {}
        for update in self.updates:
            if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
                call = merged.setdefault(update["toolCallId"], {"statuses": [], "lines": []})
                call |= update
                if "status" in update:
                    call["statuses"].append(update["status"])
                call["lines"] += [place.get("line") for place in update.get("locations", ())]
        return merged

    def of_kind(self, kind: str) -> list[dict[str, Json]]:
        return [call for call in self.calls().values() if call["kind"] == kind]

    def plan(self) -> list[Json]:
        """The entries of the plan that was told last."""
        plans = [u for u in self.updates if u["sessionUpdate"] in ("plan", "plan_update")]
        return (plans[-1].get("plan") or plans[-1])["entries"]


@asynccontextmanager
async def demo(
    version: Version, root: Path, *, able: bool = True, pace: str = "instant"
) -> AsyncIterator[DemoClient]:
    """The agent, initialized and with a session; at the end it goes by itself, having said nothing wrong."""
    client = DemoClient(version, root, able)
    env = {**os.environ, "ACP_EDITOR_DEMO_PACE": pace, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "acp_editor.agents.demo"]
    async with await anyio.open_process(command, env=env, cwd=root, stderr=None) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        client.connection = Connection(
            process.stdin,
            process.stdout,
            on_request=client.on_request,
            on_notification=client.on_notification,
            on_fault=client.faults.append,
            on_traffic=client.see(Traffic(version)),
        )
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.connection.run)
                with anyio.fail_after(10):
                    await client.initialize()
                    await client.new_session()
                yield client
                with anyio.fail_after(5):
                    await process.stdin.aclose()
                    assert await process.wait() == 0
            assert not client.problems, client.problems[0]
            assert not client.faults
        finally:
            for shell in client.shells.values():
                shell.process.kill()
                shell.process.wait()
                if shell.process.stdout:
                    shell.process.stdout.close()
            if process.returncode is None:
                process.kill()


def _started(line: list[str], cwd: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(line, cwd=cwd, stdout=subprocess.PIPE, start_new_session=True)
