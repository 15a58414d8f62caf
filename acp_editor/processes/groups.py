"""Groups of processes: a command and all that it started, signalled together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any, Final, Protocol

import anyio

from acp_editor.processes import descendants
from acp_editor.processes.table import table

GRACE: Final = 1.6
"""Seconds for the first step of the shutdown ladder; all of it has to fit into those that editors wait."""

_POLL_SECONDS: Final = 0.02
_KILLED_SECONDS: Final = 2.0
"""How long members are waited for that SIGKILL has reached; one in the kernel's hands may take longer."""


class Exits(Protocol):
    """The part of a process that the end of its group depends on."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    async def wait(self) -> int: ...
    def kill(self) -> None: ...


def group_options() -> dict[str, Any]:
    """Options of a subprocess that make it the head of a group of its own."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


async def end_group(process: Exits, grace: float = GRACE) -> None:
    """SIGTERM to a process, its group and what has left the group; SIGKILL after `grace` seconds."""
    if sys.platform == "win32":
        await _end_tree(process)
        return
    if _signal_whole(process.pid, signal.SIGTERM):
        with anyio.move_on_after(grace):
            # Nobody tells when the last process of a group is gone.
            while process.returncode is None or _whole_exists(process.pid):  # noqa: ASYNC110
                await anyio.sleep(_POLL_SECONDS)
        if _signal_whole(process.pid, signal.SIGKILL):
            # Sent is not gone: on a busy machine the kernel takes a moment for each member.
            with anyio.move_on_after(_KILLED_SECONDS):
                while _whole_exists(process.pid):  # noqa: ASYNC110
                    await anyio.sleep(_POLL_SECONDS)
    await process.wait()
    descendants.forget(process.pid)


def _signal_whole(pid: int, number: int) -> bool:
    """Whether there was somebody to get the signal, in the group or beyond it."""
    others = descendants.of(pid)
    there = _signal_group(pid, number)
    descendants.signal_all(others, number)
    return there or bool(others)


def _whole_exists(pid: int) -> bool:
    return group_exists(pid) or bool(descendants.of(pid))


async def _end_tree(process: Exits) -> None:
    """Windows has no groups to signal; taskkill follows the parents while they still exist."""
    if process.returncode is None:
        await anyio.run_process(["taskkill", "/PID", str(process.pid), "/T", "/F"], check=False)
        if process.returncode is None:
            process.kill()
    await process.wait()


def _signal_group(group: int, number: int) -> bool:
    """Whether there was somebody to get the signal."""
    if sys.platform == "win32":
        return False
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        # macOS answers EPERM for a group of zombies.
        return False
    return True


def group_exists(group: int) -> bool:
    """Whether a group has a member that runs; zombies that nobody reaps do not count on Linux."""
    if not _signal_group(group, 0):
        return False
    if sys.platform != "linux":
        return True
    return any(process.group == group and process.runs for process in table().values())
