"""Whole conversations: a scripted editor, the real server, a scripted or recorded agent.

Each file of `cases/` says what the editor and the agent do and what must come of it; see `drive.py`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from . import drive

CASES = Path(__file__).parent / "cases"
SERVER = [sys.executable, "-m", "acp_editor"]

pytestmark = pytest.mark.anyio


async def play(path: Path) -> None:
    title, failed = await drive.run(path, SERVER, verbose=False, keep=False)
    assert failed is None, f"{title}\n{failed}"


@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
async def test_case(path: Path) -> None:
    await play(path)


async def test_one_line_changed_in_a_file_of_50000_repetitive_lines(tmp_path: Path) -> None:
    lines = [f"{number % 50}\n" for number in range(50_000)]
    before = "".join(lines)
    lines[25_000] = "changed\n"
    after = "".join(lines)
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Edit big.txt", "kind": "edit"}
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}
    path = tmp_path / "large.json"
    case = {
        "title": "One line changed in a large file: one hunk, at once",
        "files": {"big.txt": before},
        "agent": [
            {"on": "session/prompt", "as": "p"},
            {
                "update": {
                    **call,
                    "status": "pending",
                    "locations": [{"path": "{cwd}/big.txt", "line": 25001}],
                }
            },
            {"write": "big.txt", "text": after},
            {"update": done},
            {"reply": "p", "result": {"stopReason": "end_turn"}},
        ],
        "editor": [
            {"command": "acpEditor.prompt", "args": {"text": "go"}},
            {"state": "sessions[0].state", "is": "idle", "timeout": 15},
            {"state": "changes[0].hunks", "size": 1},
            {"command": "acpEditor.review.undo"},
            {"disk": "big.txt", "is": before},
            {"state": "changes", "size": 0},
        ],
    }
    path.write_text(json.dumps(case))
    await play(path)
