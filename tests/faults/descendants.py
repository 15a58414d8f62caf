"""What /proc says about processes, for tests that nothing is left behind."""

from __future__ import annotations

import os
import time


def alive(pid: int) -> bool:
    """Whether it runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def naming(text: str) -> list[int]:
    """The processes, other than our own, whose command line contains that text."""
    found: list[int] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                line = file.read()
        except OSError:
            continue
        if text.encode() in line and int(name) != os.getpid() and alive(int(name)):
            found.append(int(name))
    return found


def left_of(pids: list[int], seconds: float) -> list[int]:
    """Those that still run after at most so many seconds."""
    end = time.monotonic() + seconds
    while (left := [pid for pid in pids if alive(pid)]) and time.monotonic() < end:
        time.sleep(0.02)
    return left
