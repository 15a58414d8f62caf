"""The editor's pipe: stdin and stdout as byte streams that never hold up the loop.

Two daemon threads do the blocking calls, so that neither a silent nor a stuck editor can keep the
process alive. Descriptor 1 points at stderr from then on: a stray print cannot corrupt the wire.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

_CHUNK: Final = 1 << 16
_HIGH_WATER: Final = 1 << 20
_FULL: Final = 1 << 24
_UNREAD: Final = 1 << 22
"""Bytes from the editor that wait for us; twice as many before its pipe is left alone."""


class Writer:
    """Writes whole frames from a thread, in order.

    `write` only queues. `backlog` is what waits, in bytes; `drained` waits until it is below 1 MiB,
    which is how an editor that does not read slows us down instead of filling our memory. Beyond 16 MiB
    it is `full`, until `room` returns.
    """

    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        self._descriptor = descriptor
        self._loop = loop
        self._frames: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._below = asyncio.Event()
        self._below.set()
        self._room = asyncio.Event()
        self._room.set()
        self._finished = asyncio.Event()
        self._broken = asyncio.Event()
        self.backlog = 0
        self._gathered: list[bytes] | None = None
        threading.Thread(target=self._run, name="editor-writer", daemon=True).start()

    def write(self, data: bytes) -> None:
        if self._broken.is_set():
            return
        self.backlog += len(data)
        if self.backlog > _HIGH_WATER:
            self._below.clear()
        if self.backlog > _FULL:
            self._room.clear()
        if self._gathered is not None:
            self._gathered.append(data)
        else:
            self._frames.put(data)

    @contextmanager
    def together(self) -> Generator[None]:
        """What is written inside goes out in one piece: waking the thread for each frame takes longer."""
        gathered: list[bytes] = []
        self._gathered = gathered
        try:
            yield
        finally:
            self._gathered = None
            if gathered:
                self._frames.put(b"".join(gathered))

    def close(self) -> None:
        self._frames.put(None)

    async def drained(self) -> None:
        await self._below.wait()

    @property
    def full(self) -> bool:
        """Whether so much waits that nothing more should be said that was not asked for."""
        return self.backlog > _FULL

    async def room(self) -> None:
        """Waits until it is no longer full: answers are only made for an editor that reads them."""
        await self._room.wait()

    async def flushed(self) -> None:
        """Waits until everything queued before `close` is written, or the pipe is broken."""
        await self._finished.wait()

    async def gone(self) -> None:
        """Waits until nobody reads any more."""
        await self._broken.wait()

    def _run(self) -> None:
        while (data := self._frames.get()) is not None:
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._descriptor, view) :]
            except OSError:
                self._tell(self._break)
                break
            self._tell(self._written, len(data))
        self._tell(self._finished.set)

    def _tell(self, call: object, *args: object) -> None:
        try:
            self._loop.call_soon_threadsafe(call, *args)  # type: ignore[arg-type]
        except RuntimeError:  # the loop is closed: nobody listens any more
            pass

    def _written(self, size: int) -> None:
        self.backlog -= size
        if self.backlog <= _HIGH_WATER:
            self._below.set()
        if self.backlog <= _FULL:
            self._room.set()

    def _break(self) -> None:
        self._broken.set()
        self._below.set()
        self._room.set()


def open_stdio(
    loop: asyncio.AbstractEventLoop, on_end: Callable[[], None] = lambda: None
) -> tuple[asyncio.StreamReader, Writer]:
    """Takes this process's stdin and stdout for the protocol; whatever else prints goes to stderr.

    `on_end` is called in the reading thread, so also while the loop is held up.
    """
    stdin = os.dup(0)
    stdout = os.dup(1)
    if sys.platform != "win32":  # an editor may hand over its own end as it uses it
        os.set_blocking(stdin, True)
        os.set_blocking(stdout, True)
    os.dup2(2, 1)
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)  # a child that inherits stdin must not eat the editor's messages
    os.close(devnull)
    sys.stdout = sys.stderr

    reader = asyncio.StreamReader(limit=_UNREAD, loop=loop)
    flow = _Flow()
    reader.set_transport(flow)
    threading.Thread(
        target=_read, args=(stdin, loop, reader, flow, on_end), name="editor-reader", daemon=True
    ).start()
    return reader, Writer(stdout, loop)


class _Flow(asyncio.ReadTransport):
    """Holds the reading thread back, so that an editor that sends faster than we work fills its own pipe."""

    def __init__(self) -> None:
        super().__init__()
        self._going = threading.Event()
        self._going.set()
        self._room = threading.Semaphore(_UNREAD // _CHUNK)

    def pause_reading(self) -> None:
        self._going.clear()

    def resume_reading(self) -> None:
        self._going.set()

    def wait(self) -> None:
        """In the thread: until one more chunk may be handed over."""
        self._going.wait()
        self._room.acquire()

    def taken(self) -> None:
        """In the loop: a chunk has come."""
        self._room.release()


def _read(
    descriptor: int,
    loop: asyncio.AbstractEventLoop,
    reader: asyncio.StreamReader,
    flow: _Flow,
    on_end: Callable[[], None],
) -> None:
    def feed(data: bytes) -> None:
        flow.taken()
        if data:
            reader.feed_data(data)
        else:
            reader.feed_eof()

    while True:
        flow.wait()
        try:
            data = os.read(descriptor, _CHUNK)
        except OSError:
            data = b""
        try:
            loop.call_soon_threadsafe(feed, data)
        except RuntimeError:
            return
        if not data:
            on_end()
            return
