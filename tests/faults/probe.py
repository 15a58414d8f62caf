#!/usr/bin/env python3
"""The server, and what it holds: `probe.py FILE` serves as `acp-editor` does, and writes to FILE when asked.

On SIGUSR1 one JSON object: tasks, threads, descriptors, timers, bytes that the C library holds free, and the
longest step of the loop since the last time, in milliseconds of the processor and of the clock, with whose
step it was. On SIGUSR2 also how many objects of each of our types live.
"""

from __future__ import annotations

import asyncio
import asyncio.events
import ctypes
import gc
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from acp_editor.cli import main


class Held:
    """The longest step of the loop since it was last asked for; by the clock another process may be in it."""

    def __init__(self) -> None:
        self.processor = self.clock = 0.0
        self.whose = ""
        run = asyncio.events.Handle._run

        def timed(handle: asyncio.events.Handle) -> None:
            clock, processor = time.perf_counter(), time.thread_time()
            run(handle)
            self.clock = max(self.clock, time.perf_counter() - clock)
            if (took := time.thread_time() - processor) > self.processor:
                self.processor, self.whose = took, _name(handle)

        asyncio.events.Handle._run = timed  # type: ignore[method-assign]

    def take(self) -> dict[str, Any]:
        found = {"processor": self.processor * 1000, "clock": self.clock * 1000, "whose": self.whose}
        self.processor = self.clock = 0.0
        return found


def _name(handle: Any) -> str:
    callback = handle._callback
    owner = getattr(callback, "__self__", callback)
    return owner.get_name() if isinstance(owner, asyncio.Task) else repr(owner)[:200]


class _Memory(ctypes.Structure):
    """`before` is what is of no interest here. Source: mallinfo(3)."""

    _fields_ = [("before", ctypes.c_size_t * 8), ("fordblks", ctypes.c_size_t), ("keepcost", ctypes.c_size_t)]


def free() -> int:
    """Bytes that were freed and that the C library keeps; 0 where it does not tell."""
    try:
        tell = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return 0
    tell.restype = _Memory
    return tell().fordblks


def census(held: Held, *, objects: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "held": held.take(),
        "tasks": Counter(task.get_name() for task in asyncio.all_tasks()),
        "threads": threading.active_count(),
        "free": free(),
        "descriptors": len(os.listdir("/proc/self/fd")) - 1,
        "timers": len(asyncio.get_running_loop()._scheduled),  # type: ignore[attr-defined]
    }
    if objects:
        gc.collect()
        found["objects"] = Counter(
            type(value).__name__
            for value in gc.get_objects()
            if type(value).__module__.startswith("acp_editor")
        )
    return found


def serve(file: Path) -> int:
    held = Held()

    def write(number: int, frame: FrameType | None) -> None:
        part = file.with_suffix(".part")
        part.write_text(json.dumps(census(held, objects=number == signal.SIGUSR2)))
        part.replace(file)

    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, write)
    return main([])


if __name__ == "__main__":
    sys.exit(serve(Path(sys.argv[1])))
