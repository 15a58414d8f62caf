"""Real processes: what they write is read, and nothing of them is left."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import pytest
from processes import running
from waiting import until

from acp_editor.processes.child import Process, SpawnError, spawn

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
]

READY = "import sys, time; print('ready', flush=True);"


async def first_line(process: Process) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        data += await process.stdout.receive()
    return data


async def flood(process: Process) -> None:
    for _ in range(1000):
        await process.stdin.send(b"x" * 65536)


async def everything(process: Process) -> bytes:
    return b"".join([chunk async for chunk in process.stdout])


async def test_bytes_go_in_and_out_and_the_exit_code_is_known(tmp_path: Path):
    program = (
        "import sys, os;"
        "print(sys.argv[1], os.environ['X'], os.getcwd(), sys.stdin.readline(), end='');"
        "sys.exit(3)"
    )
    with anyio.fail_after(20):
        async with spawn(sys.executable, ["-c", program, "arg"], {"X": "y"}, str(tmp_path)) as process:
            assert process.returncode is None
            await process.stdin.send(b"hello\n")
            assert await everything(process) == f"arg y {tmp_path} hello\n".encode()
            assert await process.wait() == 3
    assert process.returncode == 3


async def test_an_agent_that_leaves_when_its_stdin_closes_gets_no_signal():
    program = READY + "sys.stdin.read(); sys.exit(7)"
    with anyio.fail_after(20):
        async with spawn(sys.executable, ["-c", program]) as process:
            await first_line(process)
    assert process.returncode == 7


async def test_one_that_does_not_leave_is_terminated():
    with anyio.fail_after(20):
        async with spawn(sys.executable, ["-c", READY + "time.sleep(60)"], grace=0.1) as process:
            await first_line(process)
    assert process.returncode == -15
    assert running(process.pid) == []


async def test_one_that_ignores_sigterm_is_killed():
    program = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);" + READY + "time.sleep(60)"
    with anyio.fail_after(20):
        async with spawn(sys.executable, ["-c", program], grace=0.1) as process:
            await first_line(process)
    assert process.returncode == -9
    assert running(process.pid) == []


async def test_one_that_is_blocked_on_a_full_pipe_still_leaves_by_itself():
    program = (
        "import sys; sys.stdout.write('x' * 1_000_000); sys.stdout.flush(); sys.stdin.read(); sys.exit(7)"
    )
    with anyio.fail_after(20):
        async with spawn(sys.executable, ["-c", program]):
            pass
        async with spawn(sys.executable, ["-c", program]) as process:
            pass
    assert process.returncode == 7


async def test_children_that_keep_the_pipes_open_end_with_it():
    with anyio.fail_after(20):
        async with spawn(
            "sh", ["-c", "trap '' TERM; sleep 60 & sleep 60 & echo ready; exit 5"], grace=0.3
        ) as process:
            # Its output ends although its children hold the pipe.
            assert await everything(process) == b"ready\n"
            await process.settle()
            assert process.returncode == 5
            assert len(running(process.pid)) == 2
    assert running(process.pid) == []


async def test_children_end_also_when_the_block_is_cancelled():
    process = None
    with anyio.fail_after(20):
        with anyio.CancelScope() as scope:
            async with spawn("sh", ["-c", "sleep 60 & echo ready; wait"], grace=0.1) as process:
                await first_line(process)
                scope.cancel()
                await anyio.sleep_forever()
    assert process is not None
    assert running(process.pid) == []


async def test_what_is_still_in_the_pipe_after_the_exit_is_read():
    program = "import sys; sys.stdout.write('x' * 60_000)"
    with anyio.fail_after(20):
        async with spawn(sys.executable, ["-c", program]) as process:
            await process.wait()
            assert len(await everything(process)) == 60_000


async def test_a_flood_on_stderr_does_not_block_it_and_the_tail_is_kept():
    program = "import sys; sys.stderr.write('é' * 3_000_000 + 'the end'); print('done', flush=True)"
    with anyio.fail_after(30):
        async with spawn(sys.executable, ["-c", program]) as process:
            assert await everything(process) == b"done\n"
            await process.settle()
    assert process.stderr_tail.endswith("éthe end")
    assert len(process.stderr_tail.encode()) <= 8192
    assert set(process.stderr_tail[:-7]) == {"é"}


async def test_one_that_exits_at_once_leaves_its_exit_code_and_stderr():
    with anyio.fail_after(20):
        async with spawn("sh", ["-c", "echo broken >&2; exit 3"]) as process:
            await process.settle()
            assert (process.returncode, process.stderr_tail) == (3, "broken\n")


async def test_writing_to_one_that_is_gone_is_an_error_and_no_more():
    with anyio.fail_after(20):
        async with spawn("true") as process:
            await process.wait()
            with pytest.raises((anyio.BrokenResourceError, anyio.ClosedResourceError)):
                await flood(process)


async def test_what_the_block_raises_comes_out_as_it_is():
    with pytest.raises(KeyError):
        async with spawn("cat"):
            raise KeyError("mine")


async def test_the_command_is_looked_up_on_the_path_of_the_given_environment(tmp_path: Path):
    command = tmp_path / "my agent"
    command.write_text("#!/bin/sh\necho found\n")
    command.chmod(0o755)
    with anyio.fail_after(20):
        async with spawn("my agent", env={"PATH": str(tmp_path)}) as process:
            assert await everything(process) == b"found\n"
        async with spawn("./my agent", cwd=str(tmp_path)) as process:
            assert await everything(process) == b"found\n"


@pytest.mark.parametrize(
    ("command", "cwd", "message"),
    [
        ("no-such-agent", None, "no-such-agent was not found on the PATH"),
        ("/no/such/agent", None, "/no/such/agent was not found"),
        ("", None, "The command is empty"),
        ("cat", "/no/such/folder", "the folder /no/such/folder does not exist"),
        ("{tmp}/plain", None, "plain is not an executable file"),
        ("{tmp}/interpreted", None, "the interpreter that its first line names was not found"),
        ("{tmp}/garbage", None, "Exec format error"),
        ("{tmp}", None, "is not an executable file"),
    ],
)
async def test_a_command_that_cannot_be_started_says_why(
    tmp_path: Path, command: str, cwd: str | None, message: str
):
    for name, content, mode in [
        ("plain", b"", 0o644),
        ("interpreted", b"#!/no/such/interpreter\n", 0o755),
        ("garbage", b"\0\1\2\3", 0o755),
    ]:
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(mode)
    with pytest.raises(SpawnError, match=message):
        async with spawn(command.replace("{tmp}", str(tmp_path)), cwd=cwd):
            raise AssertionError("it started")


async def test_no_descriptors_are_left_open():
    def open_descriptors() -> set[str]:
        return set(os.listdir("/proc/self/fd"))

    with anyio.fail_after(20):
        async with spawn("cat"):
            pass
        before = len(open_descriptors())
        for _ in range(3):
            async with spawn("sh", ["-c", "sleep 60 & exit 1"], grace=0.1):
                pass
        await until(lambda: len(open_descriptors()) <= before)
