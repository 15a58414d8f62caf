"""Sends surfaces to the editor: coalesced, newest first, never faster than the editor can take.

What is dirty is a key; its value is rendered when it is sent, so only the newest ever goes out.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Awaitable, Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import anyio

PER_KEY: Final = 1 / 28
"""Seconds between two sends of one key: 30 a second are promised, and clocks and pipes are not exact."""
PER_SECOND: Final = 260
"""Sends a second, all keys together; with the burst below it stays well under 300."""

logger = logging.getLogger(__name__)
_BURST: Final = 15
_PAUSES: Final = 5
"""Times as long as a send took until the same key's next."""
_REMEMBERED: Final = 1000
"""Keys whose last send is known; that of more than a few dozen never matters."""


class Publisher:
    """`mark` is cheap and synchronous; `run` does the sending until it is cancelled.

    `drained` waits while the editor does not read; what is sent inside `together` leaves in one piece.
    """

    def __init__(
        self,
        send: Callable[[Hashable], None],
        drained: Callable[[], Awaitable[None]],
        together: Callable[[], AbstractContextManager[None]] = nullcontext,
        clock: Callable[[], float] = anyio.current_time,
    ) -> None:
        self._send = send
        self._drained = drained
        self._together = together
        self._clock = clock
        self._dirty: dict[Hashable, None] = {}
        self._newest: Hashable = None
        """The key that was marked last, while it waits: most often the next mark is of it again."""
        self._sent: dict[Hashable, float] = {}
        self._wake = anyio.Event()

    def mark(self, key: Hashable) -> None:
        if key == self._newest:
            return
        self._newest = key
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
            # Only as far as there is room: of the newest, few were sent just now, however many wait.
            ready = (key for key in reversed(self._dirty) if now - self._sent.get(key, 0.0) >= PER_KEY)
            keys = list(itertools.islice(ready, int(tokens)))
            tokens -= len(keys)
            with self._together():
                for key in keys:
                    self._send_one(key, now)
            if len(self._sent) > _REMEMBERED:
                self._forget()
            # Also when all went out: what comes within the next few milliseconds goes together.
            await anyio.sleep(0.004 if tokens >= 1 else 1 / PER_SECOND)

    def _send_one(self, key: Hashable, now: float) -> None:
        del self._dirty[key]
        self._newest = None
        began = self._clock()
        try:
            self._send(key)
        except Exception:  # one surface that cannot be rendered takes no other along
            logger.exception("%s could not be sent", key)
        # What takes long to make is made less often: most of the time is for others.
        self._sent[key] = now + max(0.0, _PAUSES * (self._clock() - began) - PER_KEY)

    def _forget(self) -> None:
        """Times that no longer matter go."""
        now = self._clock()
        self._sent = {key: at for key, at in self._sent.items() if now - at < PER_KEY}
