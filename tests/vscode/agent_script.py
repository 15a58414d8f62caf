"""A scripted agent behind the editor: its steps, the settings that start it, and what it received."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from driver import Editor, wait_for

from cached import ROOT

AGENT = ROOT / "tests/scripted_agent.py"
Step = dict[str, Any]


def initialized(capabilities: Step | None = None, **more: Any) -> Step:
    info = {"name": "scripted", "title": "Scripted", "version": "1"}
    answer = {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": capabilities or {}, **more}
    return {"take": "initialize", "result": answer}


def initialized_2(**session: Any) -> Step:
    info = {"name": "scripted", "title": "Scripted", "version": "2"}
    return {
        "take": "initialize",
        "result": {"protocolVersion": 2, "info": info, "capabilities": {"session": session}},
    }


NEW: Step = {"take": "session/new", "result": {"sessionId": "s1"}}
PROMPTED: Step = {"take": "session/prompt"}
DONE: Step = {"answer": "session/prompt", "result": {"stopReason": "end_turn"}}


def asks(ident: int, message: str, **params: Any) -> Step:
    asked = {"sessionId": "s1", "message": message, **params}
    return {"say": [{"id": ident, "method": "elicitation/create", "params": asked}]}


def updates(*found: Step) -> Step:
    return {
        "say": [
            {"method": "session/update", "params": {"sessionId": "s1", "update": update}} for update in found
        ]
    }


def received(record: Path, method: str | None = None, ident: int | None = None) -> list[Any]:
    """Messages of that method, or answers to that request."""
    if not record.exists():
        return []
    messages = [json.loads(line) for line in record.read_text().splitlines()]
    if method is not None:
        return [message for message in messages if message.get("method") == method]
    return [message["result"] for message in messages if "method" not in message and message["id"] == ident]


def ready(editor: Editor) -> None:
    wait_for(lambda: editor.status_says("ready"), "the turn has ended")


def scripted(*steps: Step) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("steps", [list(steps)], ids=["scripted"])
