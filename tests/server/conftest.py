"""Every message that the server sends to an agent in these tests is checked against the official schemas."""

from __future__ import annotations

from typing import Any

import acp_schemas
import pytest
from agent_side import EXTENSIONS

from . import drive


@pytest.fixture(autouse=True)
def _every_message_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = drive.Editor.stop

    async def stop_and_check(editor: drive.Editor) -> Any:
        versions = await spoken(editor)
        code = await stop(editor)
        for name, version in versions.items():
            editor.wrong += problems(version, editor.agent_log(None if name == "scripted" else name))
        return code

    monkeypatch.setattr(drive.Editor, "stop", stop_and_check)


async def spoken(editor: drive.Editor) -> dict[str, acp_schemas.Version]:
    """The version of each scripted agent; one that never came to speak any may have heard version 1."""
    names = ["scripted", *editor.case.get("others", {})]
    try:
        agents = (await editor.command("acpEditor.state", timeout=5))["agents"]
    except (drive.Failed, ConnectionError):
        return {}
    return {name: agents.get(name, {}).get("protocol") or 1 for name in names}


def problems(version: acp_schemas.Version, received: list[dict[str, Any]]) -> list[str]:
    """What is wrong with these; an answer has to be one to what was asked, as far as that is known."""
    found: list[str] = []
    asked: dict[Any, str] = {}
    for message in received:
        if message.get("scripted") == "asked":
            asked[message["request"]] = message["of"]
        try:
            if method := message.get("method"):
                if method not in EXTENSIONS:
                    acp_schemas.check_params(version, method, message.get("params"))
            elif "error" in message:
                acp_schemas.check(version, "Error", message["error"])
            elif "result" in message and (method := asked.get(message.get("id"))):
                acp_schemas.check_result(version, method, message["result"])
            elif "result" in message:
                acp_schemas.check_any_answer(version, "client", message["result"])
        except AssertionError as problem:
            found.append(str(problem))
    return found
