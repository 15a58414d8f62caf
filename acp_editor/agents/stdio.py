"""The client's pipe, for an agent of our own: stdin and stdout as anyio byte streams.

Daemon threads do the blocking calls, so that a silent client never keeps the process from ending.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

_CHUNK = 1 << 16


class StdinStream(ByteReceiveStream):
    """What the client writes; at most one chunk is read ahead."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Queue[bytes] = asyncio.Queue()
        self._wanted = threading.Semaphore(1)
        threading.Thread(target=self._read, name="client-reader", daemon=True).start()

    async def receive(self, max_bytes: int = _CHUNK) -> bytes:
        """All that came, up to 64 KiB whatever `max_bytes` says."""
        data = await self._ready.get()
        if not data:
            self._ready.put_nowait(data)
            raise anyio.EndOfStream
        self._wanted.release()
        return data

    async def aclose(self) -> None:
        """Does nothing: the descriptor is the process's."""

    def _read(self) -> None:
        data = b"?"
        while data:
            self._wanted.acquire()
            try:
                data = os.read(0, _CHUNK)
            except OSError:
                data = b""
            with contextlib.suppress(RuntimeError):  # the loop may be gone
                self._loop.call_soon_threadsafe(self._ready.put_nowait, data)


class StdoutStream(ByteSendStream):
    """What the client reads. From its making on, descriptor 1 is stderr: a stray print harms nothing."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor = os.dup(1)
        os.dup2(2, 1)
        self._items: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        threading.Thread(target=self._write, name="client-writer", daemon=True).start()

    async def send(self, item: bytes) -> None:
        """Returns once the pipe has all of it; raises OSError where nobody reads any more."""
        written: asyncio.Future[None] = self._loop.create_future()
        self._items.put((item, written))
        await written

    async def aclose(self) -> None:
        """Does nothing: the descriptor is the process's."""

    def _write(self) -> None:
        while True:
            item, written = self._items.get()
            failure: OSError | None = None
            try:
                view = memoryview(item)
                while view:
                    view = view[os.write(self._descriptor, view) :]
            except OSError as error:
                failure = error
            with contextlib.suppress(RuntimeError):  # the loop may be gone
                self._loop.call_soon_threadsafe(_settle, written, failure)


def _settle(written: asyncio.Future[None], failure: OSError | None) -> None:
    if written.done():
        return
    if failure is None:
        written.set_result(None)
    else:
        written.set_exception(failure)
