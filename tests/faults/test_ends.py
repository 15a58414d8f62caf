"""However the editor ends, the server leaves within five seconds and takes everything along."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from descendants import alive, left_of
from fault_editor import HERE, Editor
from pace import Pace

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
]

LEAVES = 5.0
"""Seconds that are promised."""

STUBBORN = [["ignore_signals"], ["children", 2], ["children", 1, True], ["daemons", 1]]
"""An agent that ignores every signal and its stdin's end, with children, also in sessions of their own."""

HANGING = json.dumps([["terminals", 2], ["permissions", 3], ["hang"]])

AGENTS = {
    "one": {"version": 1, "start": STUBBORN},
    "two": {"version": 2, "start": STUBBORN},
}


async def busy(editor: Editor) -> list[int]:
    """All agents at work on what they will never finish; gives all processes that there are by then."""
    for name in editor.agents:
        await editor.command("session.new", {"agent": name})
        await editor.prompt(HANGING)
    asked = 3 * len(editor.agents)
    await editor.until(lambda state: len(state["permissions"]) == asked and _terminals(state) == 2)
    pids = editor.pids()
    assert len(pids) == sum(5 if "start" in plan else 1 for plan in editor.agents.values())
    assert all(map(alive, pids))
    return [editor.process.pid, *pids]


def _terminals(state: Any) -> int:
    return sum(len(session["terminals"]) for session in state["sessions"])


def assert_gone(pids: list[int], seconds: float = 0.0) -> None:
    left = left_of(pids, seconds)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, f"left running: {left} of {pids}"


@pytest.mark.parametrize("end", ["close", "exit", "SIGTERM", "deaf"])
async def test_the_server_leaves_and_takes_everything_along(tmp_path: Path, end: str) -> None:
    await leaves(Editor(tmp_path, AGENTS), end)


@pytest.mark.parametrize("end", ["mid message", "garbage", "SIGINT", "SIGHUP"])
async def test_the_server_leaves_in_order(tmp_path: Path, end: str) -> None:
    await leaves(Editor(tmp_path, {"one": {"version": 1}}), end)


async def leaves(editor: Editor, end: str) -> None:
    with Pace() as pace:
        async with editor:
            pids = await busy(editor)
            took = await ended(editor, end)
    assert_gone(pids)
    assert took < LEAVES * pace.slowness
    assert editor.wrong == []


async def ended(editor: Editor, end: str) -> float:
    """The seconds in which the server has left after the editor's end."""
    began = time.monotonic()
    match end:
        case "close":
            editor.stdin.close()
        case "mid message":
            editor.raw(b'Content-Length: 100\r\n\r\n{"jsonrpc": "2.')
            editor.stdin.close()
        case "exit":
            await editor.ask("shutdown", None)
            editor.tell("exit", None)
        case "garbage":
            editor.raw(b"\0\xff\n\n Content-Length: nothing\r\n\r\n{}")
            editor.stdin.close()
        case "deaf":
            # Closes what it reads from and keeps the other pipe open.
            editor.process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]
            for _ in range(100):
                editor.begin("workspace/executeCommand", {"command": "acpEditor.state"})
        case _:
            editor.process.send_signal(getattr(signal, end))
    await asyncio.wait_for(editor.process.wait(), 60)
    return time.monotonic() - began


@contextlib.contextmanager
def editor_process(folder: Path, plans: dict[str, Any]) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """An editor in a process of its own, and its server."""
    (folder / "plans.json").write_text(json.dumps(plans))
    program = [sys.executable, str(HERE / "fault_editor.py"), str(folder), str(folder / "plans.json")]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    helper: int | None = None
    try:
        for line in process.stdout:
            name, _, pid = line.partition(" ")
            if name == "ready":
                yield process, int(pid)
                break
            helper = int(pid)
        else:
            raise AssertionError("the editor ended too early")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        if helper is not None:
            os.kill(helper, signal.SIGKILL)


@pytest.mark.parametrize("holds", [False, True])
def test_an_editor_that_is_killed(tmp_path: Path, holds: bool) -> None:
    """Also one whose ends of the pipes outlive it: then `processId` tells."""
    plans = {"agents": {"one": {"version": 1, "start": STUBBORN}}, "holds": holds}
    plans["prompts"] = [json.dumps([["terminals", 1], ["permissions", 1], ["hang"]])]
    with editor_process(tmp_path, plans) as (process, server):
        log = tmp_path / "one.ndjson"
        notes = [json.loads(line) for line in log.read_text().splitlines()]
        pids = [server, *(note["pid"] for note in notes if "pid" in note)]
        assert len(pids) == 6
        with Pace() as pace:
            process.kill()
            began = time.monotonic()
            # Not waited for: an editor may stay a zombie for as long as its parent likes.
            left = left_of(pids, 60)
            took = time.monotonic() - began
        assert not left, f"left running: {left}"
        assert took < LEAVES * pace.slowness
