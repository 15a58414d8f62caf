"""What has ended is forgotten: sessions, turns, agents, requests. Counted in objects, tasks, descriptors."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from fault_editor import ACTS, Editor

PROBE = Path(__file__).with_name("probe.py")
TURN: ACTS = [
    ["flood", 200],
    ["many_messages", 50],
    ["notices", 20],
    ["permissions", 20],
    ["terminals", 2],
    ["terminal_output", 20, 1000, 3],
    ["junk", 1, 100],
    ["edit", "a.txt", "of the agent\n"],
    ["say", "ok"],
]

KINDS = ["Session", "ToolCall", "Message", "GrowingCall", "GrowingTerminal", "Spot", "Transcript"]
KINDS += ["Pending", "CheckInput", "_Terminal", "Process", "Connection", "Agent", "_Pending", "Turn"]


async def held(editor: Editor, probe: Path) -> dict[str, Any]:
    """What the server holds."""
    probe.unlink(missing_ok=True)
    os.kill(editor.process.pid, signal.SIGUSR2)
    end = time.monotonic() + 30
    while not probe.exists():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)
    return json.loads(probe.read_text())


async def settled(editor: Editor, probe: Path, most: dict[str, int]) -> dict[str, Any]:
    """What it holds, once that is not more than this; or after a while, for the test to fail with."""
    end = time.monotonic() + 60
    while True:
        found = await held(editor, probe)
        if all(counted(found, name) <= limit for name, limit in most.items()) or time.monotonic() > end:
            return found
        await asyncio.sleep(0.2)


def counted(found: dict[str, Any], name: str) -> int:
    match name:
        case "tasks":
            return sum(found["tasks"].values())
        case "descriptors" | "timers":
            return found[name]
        case _:
            return found["objects"].get(name, 0)


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
async def test_what_has_ended_is_forgotten(tmp_path: Path, version: int) -> None:
    probe = tmp_path / "probe.json"
    plan = {"version": version, "load": True, "resume": True}
    server = [sys.executable, str(PROBE), str(probe)]
    async with Editor(tmp_path, {"one": plan}, server=server, settings={"cancelGrace": 1}) as editor:
        (editor.cwd / "a.txt").write_text("of the person\n")
        await _session(editor)
        await editor.command("agent.restart")
        before = await settled(editor, probe, {"Session": 0, "ToolCall": 0})
        for _ in range(3):
            await _session(editor)
            await editor.command("agent.restart")
        most = {kind: counted(before, kind) for kind in [*KINDS, "tasks", "descriptors"]}
        after = await settled(editor, probe, most)
        assert {kind: counted(after, kind) for kind in most if counted(after, kind) > most[kind]} == {}
        assert counted(after, "Session") == 0


@pytest.mark.anyio
async def test_a_prompt_that_is_cancelled_and_never_answered_leaves_nothing(tmp_path: Path) -> None:
    probe = tmp_path / "probe.json"
    server = [sys.executable, str(PROBE), str(probe)]
    settings = {"cancelGrace": 0.01}
    async with Editor(tmp_path, {"one": {"version": 1}}, server=server, settings=settings) as editor:
        await _never_answered(editor)
        most = {kind: counted(await held(editor, probe), kind) for kind in [*KINDS, "tasks"]}
        for _ in range(30):
            await _never_answered(editor)
        del most["Message"]  # what the person said stays
        after = await settled(editor, probe, most)
        assert {kind: counted(after, kind) for kind in most if counted(after, kind) > most[kind]} == {}
        faults = {fault["code"]: fault["count"] for fault in (await editor.state())["faults"]}
        assert faults == {"cancel_unanswered": 31}


async def _never_answered(editor: Editor) -> None:
    await editor.prompt([["never"]])
    await editor.command("cancel")
    await editor.idle()


async def _session(editor: Editor) -> None:
    """A session that is full of everything, read, and closed."""
    session = (await editor.command("session.new"))["sessionId"]
    await editor.prompt(TURN)
    await editor.until(
        lambda state: any("ok" in m["text"] for s in state["sessions"] for m in s["messages"][-3:])
    )
    await editor.ask("workspace/textDocumentContent", {"uri": f"acp-session:/{session}.md"})
    await editor.command("cancel")
    await editor.command("session.close")
    while (await editor.state())["sessions"]:
        await editor.command("session.close")
