"""The server is killed, and nothing that it started stays: agents, their children, terminals."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from descendants import left_of, naming
from fault_editor import Editor
from test_ends import AGENTS, LEAVES, assert_gone, busy

from acp_editor.processes import table

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
]


def watchdogs(server: int) -> list[int]:
    """Those that this server started."""
    found = naming(f"watchdog.main('{server}-")
    return [pid for pid in found if Path(f"/proc/{pid}/exe").resolve() == Path(sys.executable).resolve()]


async def killed(editor: Editor) -> None:
    editor.process.send_signal(signal.SIGKILL)
    assert await asyncio.wait_for(editor.process.wait(), 60) == -signal.SIGKILL


async def test_a_server_that_is_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    """Nor agents that ignore every signal and the end of their input, nor children in their own sessions."""
    async with Editor(tmp_path, AGENTS) as editor:
        pids = await busy(editor)
        dogs = watchdogs(editor.process.pid)
        assert len(dogs) == 1
        below = children(editor.process.pid)
        assert len(below) >= len(AGENTS) + 4 + len(dogs)
        await killed(editor)
        assert_gone([*pids, *below, *dogs], 60)


async def test_what_notices_the_end_of_its_input_is_not_signalled(tmp_path: Path) -> None:
    """It has the time that it has when the server ends in order."""
    async with Editor(tmp_path, {"one": {"version": 1}}) as editor:
        await editor.command("session.new")
        [pid] = editor.pids()
        await killed(editor)
        began = time.monotonic()
        assert left_of([pid], 60) == []
        assert time.monotonic() - began < LEAVES
        assert not [note for note in editor.log("one") if note.get("fault") == "signal"]


async def test_a_server_without_agents_has_no_watchdog(tmp_path: Path) -> None:
    async with Editor(tmp_path, {"one": {"version": 1}}) as editor:
        await editor.state()
        assert watchdogs(editor.process.pid) == []


async def test_a_watchdog_that_is_killed_is_there_again_with_the_next_command(tmp_path: Path) -> None:
    async with Editor(tmp_path, AGENTS) as editor:
        await editor.command("session.new", {"agent": "one"})
        [first] = watchdogs(editor.process.pid)
        os.kill(first, signal.SIGKILL)
        assert left_of([first], 60) == []
        await editor.command("session.new", {"agent": "two"})
        [second] = watchdogs(editor.process.pid)
        pids = editor.pids()
        await killed(editor)
        assert_gone([*pids, second], 60)


async def test_an_end_in_order_takes_the_watchdog_along(tmp_path: Path) -> None:
    async with Editor(tmp_path, {"one": {"version": 1}}) as editor:
        await editor.command("session.new")
        [dog] = watchdogs(editor.process.pid)
    assert left_of([dog], 0) == []


SLEEPER = "import signal, time; signal.signal(15, signal.SIG_IGN); signal.signal(1, signal.SIG_IGN); "
SLEEPER += "print('up', flush=True); time.sleep(300)"

STARTER = """
import anyio, sys
from acp_editor.processes import child, descendants

async def main():
    descendants.adopt()
    process = await child.start("one", sys.argv[1:], None, None)
    print((await process.stdout.receive()).decode().strip(), process.pid, flush=True)
    await anyio.sleep_forever()

anyio.run(main)
"""


def started_and_killed(*command: str) -> tuple[int, int]:
    """What was started by a process that has been killed, and the watchdog of that."""
    line = [sys.executable, "-c", STARTER, *command]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        word, pid = starter.stdout.readline().split()
        assert word == "up"
        [dog] = watchdogs(starter.pid)
        starter.kill()
    return int(pid), dog


def test_a_command_without_its_environment_is_ended_too() -> None:
    assert_gone(list(started_and_killed("env", "-i", sys.executable, "-c", SLEEPER)), 60)


def test_what_another_server_started_is_left_alone() -> None:
    others = {**os.environ, table.MARK: f"{os.getpid()}-1.1"}
    with subprocess.Popen([sys.executable, "-c", SLEEPER], env=others, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert_gone(list(started_and_killed(sys.executable, "-c", SLEEPER)), 60)
        assert other.poll() is None
        other.kill()


def test_a_signal_reaches_no_process_that_has_got_the_number_since() -> None:
    with subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        entry = table.entry(process.pid)
        assert entry is not None
        table.send(process.pid, entry.began - 1, signal.SIGKILL)
        assert process.poll() is None
        table.send(process.pid, entry.began, signal.SIGKILL)
        assert process.wait(60) == -signal.SIGKILL


def children(pid: int) -> list[int]:
    return [
        int(child)
        for task in os.listdir(f"/proc/{pid}/task")
        for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split()
    ]
