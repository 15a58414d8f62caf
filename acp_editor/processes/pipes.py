"""A pipe from a child that is read only when somebody wants to: nothing is buffered on our side of it."""

from __future__ import annotations

import fcntl
import os
import sys
from typing import Final

import anyio
import anyio.lowlevel
from anyio.abc import ByteReceiveStream

_ROOM: Final = 1 << 20
"""Bytes that the child may be ahead: with the 64 KiB that pipes have, both are woken for every few lines."""


class PipeReader(ByteReceiveStream):
    """The reading end, which it closes; `receive` gives all that is there, up to `max_bytes`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._open = True
        if sys.platform != "win32":  # where it is not used
            os.set_blocking(descriptor, False)

    async def receive(self, max_bytes: int = 1 << 18) -> bytes:
        await anyio.lowlevel.checkpoint()
        while self._open:
            try:
                data = os.read(self._descriptor, max_bytes)
            except BlockingIOError:
                await anyio.wait_readable(self._descriptor)
                continue
            if not data:
                raise anyio.EndOfStream
            return data
        raise anyio.ClosedResourceError

    async def aclose(self) -> None:
        if self._open:
            self._open = False
            anyio.notify_closing(self._descriptor)
            os.close(self._descriptor)


def open_pipe() -> tuple[int, int]:
    """The ends to read from and to write to, as descriptors that no child inherits by itself."""
    ends = os.pipe()
    if sys.platform == "linux":
        try:
            fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, _ROOM)
        except OSError:  # a user has room for so many large ones; a small one does as well
            pass
    return ends
