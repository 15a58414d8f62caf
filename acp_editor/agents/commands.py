"""A command line that the agent runs itself, for clients that have no terminals to lend."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable
from typing import Final

import anyio
from anyio.abc import ByteReceiveStream, Process

from acp_editor.core.model import ExitStatus

MAX_OUTPUT: Final = 1 << 20
"""Bytes of output that are told; the command may write more, which is read and dropped."""

_GRACE_SECONDS: Final = 0.05
_DRAIN_SECONDS: Final = 0.5


async def run(command: str, cwd: str, on_output: Callable[[bytes], None]) -> ExitStatus:
    """Runs a shell's line without input until it ends; cancelling ends it and what it started.

    Raises OSError where it cannot be started.
    """
    process = await anyio.open_process(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=os.name == "posix",
    )
    assert process.stdout is not None
    try:
        async with anyio.create_task_group() as reading:
            reading.start_soon(_forward, process.stdout, on_output)
            await process.wait()
            # What it left running in the background may hold the pipe open for ever.
            reading.cancel_scope.deadline = anyio.current_time() + _DRAIN_SECONDS
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
    return _status(process.returncode)


def shell_line(command: str) -> tuple[str, tuple[str, ...]]:
    """The program and its arguments that run a shell's line on this system."""
    if os.name == "posix":
        return "/bin/sh", ("-c", command)
    return os.environ.get("COMSPEC", "cmd.exe"), ("/d", "/c", command)


async def _forward(stream: ByteReceiveStream, on_output: Callable[[bytes], None]) -> None:
    told = 0
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async for data in stream:
            if told < MAX_OUTPUT:
                on_output(data[: MAX_OUTPUT - told])
                if told + len(data) > MAX_OUTPUT:
                    on_output(b"\n[the rest of the output is left out]\n")
            told += len(data)


async def _end(process: Process) -> None:
    """Asks it to stop, then stops it, its group included."""
    if process.returncode is None:
        _signal(process, "SIGTERM")
        with anyio.move_on_after(_GRACE_SECONDS):
            await process.wait()
    _signal(process, "SIGKILL")
    await process.wait()
    await process.aclose()


def _signal(process: Process, name: str) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, getattr(signal, name))
        elif process.returncode is None:
            process.kill()


def _status(code: int | None) -> ExitStatus:
    if code is None or code >= 0:
        return ExitStatus(exit_code=code)
    try:
        return ExitStatus(signal=signal.Signals(-code).name)
    except ValueError:
        return ExitStatus(signal=str(-code))
