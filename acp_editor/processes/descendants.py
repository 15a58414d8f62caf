"""Processes that descend from ours, also those that left the group and the parent that they were started in.

Linux alone tells: there we adopt orphans, so that whatever an agent starts stays below us however often it
forks, and each command that we start carries a mark in its environment, so that an orphan is known by it.
Elsewhere a process that has left its group is out of sight.
"""

from __future__ import annotations

import functools
import itertools
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import anyio

from acp_editor.processes import table, watchdog

_PR_SET_CHILD_SUBREAPER: Final = 36
_REAP_SECONDS: Final = 5.0

_numbers = itertools.count(1)
_marks: dict[int, str] = {}


def adopt() -> None:
    """From now on orphans below us become our children instead of init's. Source: prctl(2)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def marked(environment: Mapping[str, str] | None) -> tuple[str, dict[str, str]]:
    """A new mark, and the environment with it; None is our own."""
    run = _run()
    watchdog.begin(run)
    mark = f"{run}.{next(_numbers)}"
    return mark, {**(os.environ if environment is None else environment), table.MARK: mark}


def started(pid: int, mark: str) -> None:
    """A process was started with that mark; it counts until `forget`."""
    _marks[pid] = mark
    watchdog.tell(pid, _run())


def forget(pid: int) -> None:
    _marks.pop(pid, None)


@functools.cache
def _run() -> str:
    """What all marks of this process begin with, and those of no other that has its number later."""
    return f"{os.getpid()}-{time.time_ns():x}"


def of(pid: int) -> set[int]:
    """What runs below a process that we started, and the orphans that it has left; not itself."""
    if sys.platform != "linux":
        return set()
    processes = table.table()
    roots = {pid}
    if (mark := _marks.get(pid)) is not None:
        us = os.getpid()
        orphans = (child for child, process in processes.items() if process.parent == us and child != pid)
        roots.update(child for child in orphans if table.mark(child) == mark)
    return {found for found in table.below(roots, processes) if found != pid and processes[found].runs}


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
        processes = table.table()
        children = {pid for pid, process in processes.items() if process.parent == os.getpid()}
        left = [pid for pid in table.below(children, processes) if processes[pid].runs]
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
        now = {pid for pid in _children() if (process := table.entry(pid)) and process.state == "Z"}
        for pid in now & before:
            try:
                os.waitpid(pid, os.WNOHANG)  # noqa: ASYNC222
            except ChildProcessError:
                continue
        before = now


def _children() -> Iterator[int]:
    """Our children, whichever thread of ours they belong to."""
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/children", encoding="ascii") as file:
                yield from map(int, file.read().split())
        except OSError:  # the thread is gone, or the kernel was built without
            continue
