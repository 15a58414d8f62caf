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
        version = await spoken(editor)
        code = await stop(editor)
        if version is not None:
            editor.wrong += problems(version, editor.agent_log())
        return code

    monkeypatch.setattr(drive.Editor, "stop", stop_and_check)


async def spoken(editor: drive.Editor) -> acp_schemas.Version | None:
    """The version that the scripted agent came to speak; None where it never came to that."""
    try:
        state = await editor.command("acpEditor.state", timeout=5)
        return state["agents"]["scripted"]["protocol"]
    except (drive.Failed, ConnectionError, LookupError):
        return None


def problems(version: acp_schemas.Version, received: list[dict[str, Any]]) -> list[str]:
    """What is wrong with these; an answer has to be one to something that an agent may ask."""
    found: list[str] = []
    for message in received:
        try:
            if method := message.get("method"):
                if method not in EXTENSIONS:
                    acp_schemas.check_params(version, method, message.get("params"))
            elif "error" in message:
                acp_schemas.check(version, "Error", message["error"])
            elif "result" in message:
                acp_schemas.check_any_answer(version, "client", message["result"])
        except AssertionError as problem:
            found.append(str(problem))
    return found
