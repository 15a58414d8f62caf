"""Sends surfaces to the editor: coalesced, newest first, never faster than the editor can take.

What is dirty is a key; its value is rendered when it is sent, so only the newest ever goes out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Final

import anyio

PER_KEY: Final = 1 / 30
"""Seconds between two sends of one key."""
PER_SECOND: Final = 280
"""Sends a second, all keys together; with the burst below it stays under 300."""
_BURST: Final = 15


class Publisher:
    """`mark` is cheap and synchronous; `run` does the sending until it is cancelled."""

    def __init__(
        self,
        send: Callable[[Hashable], None],
        drained: Callable[[], Awaitable[None]],
        clock: Callable[[], float] = anyio.current_time,
    ) -> None:
        self._send = send
        self._drained = drained
        self._clock = clock
        self._dirty: dict[Hashable, None] = {}
        self._sent: dict[Hashable, float] = {}
        self._wake = anyio.Event()

    def mark(self, key: Hashable) -> None:
        self._dirty.pop(key, None)
        self._dirty[key] = None
        self._wake.set()

    async def run(self) -> None:
        tokens, filled = float(_BURST), self._clock()
        while True:
            if not self._dirty:
                self._forget()
                self._wake = anyio.Event()
                await self._wake.wait()
            await self._drained()
            now = self._clock()
            tokens, filled = min(_BURST, tokens + (now - filled) * PER_SECOND), now
            ready = [key for key in reversed(self._dirty) if now - self._sent.get(key, 0.0) >= PER_KEY]
            for key in ready[: int(tokens)]:
                del self._dirty[key]
                self._sent[key] = now
                self._send(key)
                tokens -= 1
            # Also when all went out: what comes within the next few milliseconds goes together.
            await anyio.sleep(0.004 if tokens >= 1 else 1 / PER_SECOND)

    def _forget(self) -> None:
        """Nothing waits: times that no longer matter go."""
        now = self._clock()
        self._sent = {key: at for key, at in self._sent.items() if now - at < PER_KEY}
