"""The server is killed in the middle of an undo, a keep and a turn, and started again by its editor."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from . import drive

pytestmark = pytest.mark.anyio

SERVER = [sys.executable, "-m", "acp_editor"]
KILLER = Path(__file__).parent / "killer"

OLD = "".join(f"line {number}\n" for number in range(40))
NEW = OLD.replace("line 5\n", "five\n").replace("line 30\n", "thirty\n")
BEFORE = {"a.py": OLD, "b.py": OLD, "gone.py": OLD}
AFTER = {"a.py": NEW, "b.py": NEW, "new/n.py": "new\n"}

TURN: list[dict[str, Any]] = [
    {"on": "session/prompt", "as": "p"},
    {
        "update": {
            "sessionUpdate": "tool_call",
            "toolCallId": "c1",
            "title": "make",
            "kind": "execute",
            "status": "in_progress",
        }
    },
    *({"write": name, "text": text} for name, text in AFTER.items()),
    {"delete": "gone.py"},
]
DONE: list[dict[str, Any]] = [
    {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}},
    {"reply": "p", "result": {"stopReason": "end_turn"}},
]


@contextlib.asynccontextmanager
async def server(folder: Path, agent: list[dict[str, Any]]) -> AsyncIterator[drive.Editor]:
    """A server whose workspace is $folder/ws; nothing is checked when it ends."""
    (folder / "ws").mkdir(parents=True)
    for name, text in BEFORE.items():
        (folder / "ws" / name).write_text(text)
    (folder / "case.json").write_text(json.dumps({"agent": agent}))
    command = ["env", f"PYTHONPATH={KILLER}", f"KILLER={folder / 'killer'}", *SERVER]
    editor = drive.Editor({"agent": agent}, command, folder, False)
    await editor.start()
    try:
        yield editor
    finally:
        await editor.stop()


def kill_at(folder: Path, operation: int) -> None:
    os.symlink(str(operation), folder / "killer")


async def started_again(editor: drive.Editor) -> dict[str, str]:
    """Starts it once it has been killed; returns the files as they were then."""
    assert await asyncio.wait_for(editor.process.wait(), 30) == -9
    between = files(editor)
    os.unlink(editor.root / "killer")
    editor.reloader.cancel()
    editor.reader.cancel()
    editor.stderr.close()
    await editor.start()
    return between


async def files_after_undo(editor: drive.Editor) -> dict[str, str]:
    """What the files are once all that is listed has been undone."""
    await editor.command("acpEditor.review.undo", timeout=30)
    return files(editor)


def files(editor: drive.Editor) -> dict[str, str]:
    return {
        os.path.relpath(path, editor.cwd): path.read_text()
        for path in editor.cwd.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("operation", [1, 5, 9])
async def test_in_an_undo(tmp_path: Path, operation: int) -> None:
    async with server(tmp_path, [*TURN, *DONE]) as editor:
        await editor.play({"command": "acpEditor.prompt", "args": {"text": "go"}})
        await editor.play({"state": "sessions[0].state", "is": "idle", "timeout": 30})
        await editor.play({"state": "changes", "size": 4})
        kill_at(tmp_path, operation)
        await editor.play({"unanswered": "acpEditor.review.undo"})
        between = await started_again(editor)
        for name, text in between.items():
            assert text in (BEFORE.get(name), AFTER.get(name)) or name.endswith(".tmp")
        left = [name for name in BEFORE | AFTER if between.get(name) != BEFORE.get(name)]
        await editor.play({"state": "changes", "size": len(left), "timeout": 30})
        assert await files_after_undo(editor) == BEFORE
        assert not (editor.cwd / "new").exists()


@pytest.mark.parametrize("operation", [1, 3])
async def test_in_a_keep(tmp_path: Path, operation: int) -> None:
    async with server(tmp_path, [*TURN, *DONE]) as editor:
        await editor.play({"command": "acpEditor.prompt", "args": {"text": "go"}})
        await editor.play({"state": "sessions[0].state", "is": "idle", "timeout": 30})
        await editor.play({"state": "changes", "size": 4})
        kill_at(tmp_path, operation)
        await editor.play({"unanswered": "acpEditor.review.keep", "args": {"uri": editor.uri("b.py")}})
        await editor.play({"unanswered": "acpEditor.review.keep"})
        await started_again(editor)
        assert files(editor) == AFTER
        await editor.play({"command": "acpEditor.review.keep", "args": {}})
        await editor.play({"state": "changes", "size": 0})
        assert files(editor) == AFTER


@pytest.mark.parametrize("operation", [1, 4])
async def test_in_a_turn(tmp_path: Path, operation: int) -> None:
    waits = [{"sleep": 300}, {"write": "late.py", "text": "late\n"}, {"sleep": 600_000}]
    async with server(tmp_path, [*TURN, *waits]) as editor:
        await editor.command("acpEditor.session.new", timeout=30)
        kill_at(tmp_path, operation)
        await editor.play({"unanswered": "acpEditor.prompt", "args": {"text": "go"}})
        await started_again(editor)
        assert await files_after_undo(editor) == BEFORE
