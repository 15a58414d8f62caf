"""Odd names and links through the whole server."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from . import drive

pytestmark = pytest.mark.anyio

SERVER = [sys.executable, "-m", "acp_editor"]
PROMPT: dict[str, Any] = {"on": "session/prompt", "as": "p"}
DONE: dict[str, Any] = {"reply": "p", "result": {"stopReason": "end_turn"}}
GO: list[dict[str, Any]] = [
    {"command": "acpEditor.prompt", "args": {"text": "go"}},
    {"state": "sessions[0].state", "is": "idle", "timeout": 20},
]


async def play(agent: list[dict[str, Any]], steps: list[dict[str, Any]], **more: Any) -> None:
    case = {"title": "odd", "agent": [PROMPT, *agent, DONE], "editor": [*GO, *steps], **more}
    _, failed = await drive.run(case, SERVER, verbose=False, keep=False)
    assert failed is None, failed


async def test_odd_names_are_listed_and_undone() -> None:
    names = ["two words.py", 'quo"te', "new\nline", "ä/ß.py", "[a]*?", "#hash", "100%", "plus+", "a&b;c"]
    await play(
        [{"write": name, "text": "agent\n"} for name in names],
        [
            {"state": "changes", "size": len(names)},
            *({"state": "changes", "has": [{"uri": "{uri:" + name + "}"}]} for name in names),
            *({"command": "acpEditor.review.undo", "args": {"uri": "{uri:" + name + "}"}} for name in names),
            {"state": "changes", "size": 0},
            *({"disk": name, "is": "one\n"} for name in names),
        ],
        files=dict.fromkeys(names, "one\n"),
    )


async def test_names_that_are_no_text_are_listed_and_undone() -> None:
    await play(
        [{"write": "\udcff\udcfe", "text": "agent\n"}, {"write": "old\udce4", "text": "agent\n"}],
        [
            {"state": "changes", "size": 2},
            {"state": "changes", "has": [{"uri": "~%FF%FE", "operation": "add"}]},
            {"state": "changes", "has": [{"uri": "~old%E4", "operation": "modify"}]},
            {"command": "acpEditor.review.diff", "args": {"uri": "{uri:old\udce4}"}},
            {"command": "acpEditor.review.undo", "args": {"uri": "{uri:old\udce4}"}},
            {"disk": "old\udce4", "is": "one\n"},
            {"command": "acpEditor.review.undo"},
            {"no_file": "\udcff\udcfe"},
            {"state": "changes", "size": 0},
        ],
        files={"old\udce4": "one\n"},
    )


async def test_links_and_files_made_anew_are_undone() -> None:
    await play(
        [
            {"delete": "link"},
            {"write": "link", "text": "a file now\n"},
            {"delete": "locked.py"},
            {"write": "locked.py", "text": "agent\n"},
        ],
        [
            {"state": "changes", "size": 2},
            {"command": "acpEditor.review.undo"},
            {"state": "changes", "size": 0},
            {"shell": 'test "$(readlink link)" = locked.py'},
            {"disk": "locked.py", "is": "one\n"},
        ],
        files={"locked.py": "one\n"},
        links={"link": "locked.py"},
    )
