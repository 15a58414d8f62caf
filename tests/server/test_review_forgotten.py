"""What is kept of a workspace goes on command, and nothing of any other one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from . import drive

pytestmark = pytest.mark.anyio

SERVER = [sys.executable, "-m", "acp_editor"]
OPTIONS = [{"optionId": "yes", "name": "Allow once", "kind": "allow_once"}]
ASK: dict[str, Any] = {
    "request": "session/request_permission",
    "as": "c1",
    "id": 7,
    "params": {
        "sessionId": "s1",
        "toolCall": {"toolCallId": "c1", "title": "make", "kind": "execute", "rawInput": {"command": "make"}},
        "options": OPTIONS,
    },
}
AGENT: list[dict[str, Any]] = [
    {"on": "session/prompt", "as": "p"},
    ASK,
    {"await": "c1"},
    {"write": "a.py", "text": "agent\n"},
    {"reply": "p", "result": {"stopReason": "end_turn"}},
    {"on": "session/prompt", "as": "q"},
    {"write": "a.py", "text": "again\n"},
    {"reply": "q", "result": {"stopReason": "end_turn"}},
]
RULE = {"rule": "execute(make:*)", "effect": "allow", "scope": "workspace"}


async def test_stores_logs_and_decisions_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(drive.shutil, "rmtree", lambda *_, **__: None)
    steps: list[dict[str, Any]] = [
        {"command": "acpEditor.permission.remember", "args": RULE},
        {"command": "acpEditor.prompt", "args": {"text": "go"}},
        {"state": "sessions[0].state", "is": "idle", "timeout": 15},
        {"state": "changes", "size": 1},
        {"command": "acpEditor.review.forget"},
        {"state": "changes", "size": 0},
        {"command": "acpEditor.review.undo", "error": "forgotten"},
        {"disk": "a.py", "is": "agent\n"},
    ]
    case = {
        "files": {"a.py": "one\n"},
        "settings": {"log": {"protocol": True}},
        "agent": AGENT,
        "editor": steps,
    }
    _, failed = await drive.run(case, SERVER, verbose=False, keep=True)
    assert failed is None, failed
    (root,) = tmp_path.iterdir()
    home = root / "home"
    assert not list((home / "cache" / "acp-editor" / "checkpoints").iterdir())
    assert not list((home / "state" / "acp-editor" / "reviews").iterdir())
    assert not list((home / "state" / "acp-editor" / "traffic").iterdir())
    assert (home / "state" / "acp-editor" / "decisions.ndjson").read_text() == ""
    assert "make" not in (home / "config" / "acp-editor" / "permissions.json").read_text()


async def test_the_review_begins_again_with_the_next_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    prompt: dict[str, Any] = {"command": "acpEditor.prompt", "args": {"text": "go"}}
    idle: dict[str, Any] = {"state": "sessions[0].state", "is": "idle", "timeout": 15}
    steps: list[dict[str, Any]] = [
        prompt,
        {"command": "acpEditor.permission.approve", "eventually": True},
        idle,
        {"state": "changes", "size": 1},
        {"command": "acpEditor.review.forget"},
        prompt,
        idle,
        {"state": "changes", "size": 1},
        {"command": "acpEditor.review.undo"},
        {"disk": "a.py", "is": "agent\n"},
    ]
    case = {"files": {"a.py": "one\n"}, "agent": AGENT, "editor": steps}
    _, failed = await drive.run(case, SERVER, verbose=False, keep=False)
    assert failed is None, failed
