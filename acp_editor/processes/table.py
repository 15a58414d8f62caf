"""The table of processes, as Linux tells it. Source: proc(5).

Imported by the watchdog too, which has to be small: nothing of the standard library but what Python itself
has loaded by then.
"""

from __future__ import annotations

import os
import signal
import sys

MARK = "ACP_EDITOR_STARTED"
"""The variable that tells whose descendant a process is."""


class Entry:
    """One process; `began` is when, in clock ticks: with its number it is one of its kind."""

    __slots__ = ("began", "group", "parent", "state")

    def __init__(self, state: str, parent: int, group: int, began: int) -> None:
        self.state = state
        self.parent = parent
        self.group = group
        self.began = began

    @property
    def runs(self) -> bool:
        return self.state not in "ZX"


def entry(pid: int) -> Entry | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return Entry(fields[0].decode("ascii"), int(fields[1]), int(fields[2]), int(fields[19]))
    except (OSError, ValueError, IndexError):
        return None


def table() -> dict[int, Entry]:
    pids = map(int, filter(str.isdigit, os.listdir("/proc")))
    return {pid: found for pid in pids if (found := entry(pid)) is not None}


def below(roots: set[int], processes: dict[int, Entry]) -> set[int]:
    """The roots and all that descend from them."""
    children: dict[int, list[int]] = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)
    found: set[int] = set()
    waiting = [pid for pid in roots if pid in processes]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children.get(pid, ())
    return found


def mark(pid: int) -> str:
    """What its environment had for MARK when it was started; empty where it had nothing, or is not ours."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            environment = file.read().split(b"\0")
    except OSError:
        return ""
    for variable in environment:
        name, _, value = variable.partition(b"=")
        if name == MARK.encode():
            return value.decode("ascii", "replace")
    return ""


def send(pid: int, began: int, number: int) -> None:
    """A signal to that process, and to none that has got its number since."""
    if sys.platform != "linux":
        return
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:  # gone, or a kernel before 5.3
        if (found := entry(pid)) is not None and found.began == began:
            _kill(pid, number)
        return
    try:
        if (found := entry(pid)) is not None and found.began == began:
            signal.pidfd_send_signal(descriptor, number)
    except (ProcessLookupError, PermissionError):
        pass
    finally:
        os.close(descriptor)


def _kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass
