"""Memory that was freed, given back to the system."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

import anyio
import anyio.to_thread

REST: Final = 10.0
"""Seconds from the first word of something freed; what is freed meanwhile goes with it."""


class Heap:
    """Where thousands of small things were freed among others that live, the C library keeps their pages.

    After an hour of sessions that came and went that was more than all that was kept. Where the library is
    not glibc, nothing is done.
    """

    def __init__(self, rest: float = REST) -> None:
        self._rest = rest
        self._freed = anyio.Event()

    def freed(self) -> None:
        """Something may have been let go that was large."""
        self._freed.set()

    async def run(self) -> None:
        if (trim := _trim()) is None:
            return
        while True:
            await self._freed.wait()
            await anyio.sleep(self._rest)
            self._freed = anyio.Event()
            # It takes some milliseconds for a hundred megabytes, and does not hold the interpreter.
            await anyio.to_thread.run_sync(trim, 0)


def _trim() -> Callable[[int], int] | None:
    """Gives free pages back wherever they lie; told how much to leave at the top. Source: malloc_trim(3)."""
    if sys.platform != "linux":
        return None
    import ctypes

    return getattr(ctypes.CDLL(None), "malloc_trim", None)
