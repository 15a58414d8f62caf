"""Processes that descend from ours, also those that left the group and the parent that they were started in.

Linux alone tells: there we adopt orphans, so that whatever an agent starts stays below us however often it
forks, and each command that we start carries a mark in its environment, so that an orphan is known by it.
Elsewhere a process that has left its group is out of sight.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import anyio

MARK: Final = "ACP_EDITOR_STARTED"
"""The variable that tells whose descendant a process is."""

_PR_SET_CHILD_SUBREAPER: Final = 36
_REAP_SECONDS: Final = 5.0

_numbers = itertools.count(1)
_marks: dict[int, str] = {}


class _Process(NamedTuple):
    parent: int
    state: str


def adopt() -> None:
    """From now on orphans below us become our children instead of init's. Source: prctl(2)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def marked(environment: Mapping[str, str] | None) -> tuple[str, dict[str, str]]:
    """A new mark, and the environment with it; None is our own."""
    mark = f"{os.getpid()}.{next(_numbers)}"
    return mark, {**(os.environ if environment is None else environment), MARK: mark}


def started(pid: int, mark: str) -> None:
    """A process was started with that mark; it counts until `forget`."""
    _marks[pid] = mark


def forget(pid: int) -> None:
    _marks.pop(pid, None)


def of(pid: int) -> set[int]:
    """What runs below a process that we started, and the orphans that it has left; not itself."""
    if sys.platform != "linux":
        return set()
    table = _table()
    roots = [pid]
    if (mark := _marks.get(pid)) is not None:
        us = os.getpid()
        orphans = (child for child, process in table.items() if process.parent == us and child != pid)
        roots += [child for child in orphans if _has_mark(child, mark)]
    return {found for found in _below(roots, table) if found != pid and table[found].state not in "ZX"}


def signal_all(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def end_all(seconds: float = 1.0) -> None:
    """Kills everything below us; for the very end, when nothing is left that would start more."""
    if sys.platform != "linux":
        return
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        table = _table()
        children = [pid for pid, process in table.items() if process.parent == os.getpid()]
        left = [pid for pid in _below(children, table) if table[pid].state not in "ZX"]
        if not left:
            return
        signal_all(left, signal.SIGKILL)
        time.sleep(0.01)


async def reap() -> None:
    """Buries the orphans that we adopted, until it is cancelled.

    Those that we started ourselves are waited for by whoever did so, and at once: a child that is still
    a zombie the next time we look is nobody's.
    """
    before: set[int] = set()
    while sys.platform == "linux":
        await anyio.sleep(_REAP_SECONDS)
        now = {pid for pid in _children() if (process := _stat(pid)) and process.state == "Z"}
        for pid in now & before:
            try:
                os.waitpid(pid, os.WNOHANG)  # noqa: ASYNC222
            except ChildProcessError:
                continue
        before = now


def _below(roots: Iterable[int], table: Mapping[int, _Process]) -> set[int]:
    """The roots and all that descend from them."""
    children: dict[int, list[int]] = {}
    for pid, process in table.items():
        children.setdefault(process.parent, []).append(pid)
    found: set[int] = set()
    waiting = [pid for pid in roots if pid in table]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children.get(pid, ())
    return found


def _table() -> dict[int, _Process]:
    pids = map(int, filter(str.isdigit, os.listdir("/proc")))
    return {pid: process for pid in pids if (process := _stat(pid)) is not None}


def _children() -> Iterator[int]:
    """Our children, whichever thread of ours they belong to."""
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/children", encoding="ascii") as file:
                yield from map(int, file.read().split())
        except OSError:  # the thread is gone, or the kernel was built without
            continue


def _stat(pid: int) -> _Process | None:
    """Source: proc(5), /proc/pid/stat."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, parent = file.read().rpartition(b")")[2].split()[:2]
    except (OSError, ValueError):
        return None
    return _Process(int(parent), state.decode("ascii"))


def _has_mark(pid: int, mark: str) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"{MARK}={mark}".encode() in file.read().split(b"\0")
    except OSError:
        return False
