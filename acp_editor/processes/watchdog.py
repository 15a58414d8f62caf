"""Ends what we started where we were killed before we could: a process of its own, on Linux.

It holds the reading end of a pipe whose other end only we have: once that is closed, we are gone. What is
ours it knows by the mark in its environment, by having been told of it, and by descent from either; a number
alone is never enough. It is started with the first command and imports next to nothing: what it takes counts
as ours.
"""

from __future__ import annotations

import os
import signal
import sys
import time

from acp_editor.processes import table

GRACE = 1.6
"""Seconds for those that notice the end of their input, as in the shutdown ladder; half of it for SIGTERM."""

_GIVE_UP = 30.0
_POLL = 0.05

_pipe: int | None = None


def begin(run: str) -> None:
    """Starts it where there is none; marks of ours begin with `run`."""
    global _pipe
    if sys.platform != "linux" or _pipe is not None or not sys.executable:
        return
    import logging

    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = f"import sys; sys.path.append({root!r})\n"
    program += f"from acp_editor.processes import watchdog; watchdog.main({run!r})"
    kept = {name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"}
    reading, writing = os.pipe()
    try:
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", "-c", program],
            kept,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, reading, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
            setsid=True,
        )
    except (OSError, NotImplementedError) as error:
        logging.getLogger(__name__).warning("no watchdog: what we start stays if we are killed (%s)", error)
        os.close(writing)
    else:
        os.set_blocking(writing, False)
        _pipe = writing
    finally:
        os.close(reading)


def tell(pid: int, run: str) -> None:
    """A command was started; one that writes over its own environment is known by its number and start."""
    global _pipe
    for _ in range(2):
        if _pipe is None:
            return
        try:
            os.write(_pipe, b"%d\n" % pid)
        except BlockingIOError:
            return
        except OSError:  # somebody ended it
            os.close(_pipe)
            _pipe = None
            begin(run)
        else:
            return


def main(run: str) -> None:
    """Waits until the server is gone, and then ends what is left."""
    if sys.platform != "linux":
        return
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.chdir("/")
    server = os.getppid()
    told: dict[int, int] = {}
    for line in sys.stdin.buffer:
        pid = int(line)
        told = {each: began for each, began in told.items() if _is(each, began)}
        if (found := table.entry(pid)) is not None and found.parent == server:
            told[pid] = found.began
    _end(run, told)


def _is(pid: int, began: int) -> bool:
    return (found := table.entry(pid)) is not None and found.began == began


def _end(run: str, known: dict[int, int]) -> None:
    """The rest of the ladder: their input has ended already."""
    if sys.platform != "linux":
        return
    start, asked = time.monotonic(), set[int]()
    while (now := time.monotonic() - start) < _GIVE_UP and (left := _left(run, known)):
        for pid, began in left.items():
            if now > GRACE * 1.5:
                table.send(pid, began, signal.SIGKILL)
            elif now > GRACE and pid not in asked:
                asked.add(pid)
                table.send(pid, began, signal.SIGTERM)
        time.sleep(_POLL)


def _left(run: str, known: dict[int, int]) -> dict[int, int]:
    """What of ours still runs, by number; from now on all of it is known."""
    processes = table.table()
    there = {pid for pid, began in known.items() if pid in processes and processes[pid].began == began}
    roots = {
        pid
        for pid, process in processes.items()
        if pid in there or process.group in there or table.mark(pid).startswith(f"{run}.")
    }
    found = {pid: processes[pid].began for pid in table.below(roots, processes) if processes[pid].runs}
    known.update(found)
    return found
