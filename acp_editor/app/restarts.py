"""How often an agent has ended by itself of late, and what that means for its next start."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final

MOST: Final = 5
"""Ends within the window after which it is not started again but by the person's own word."""

WINDOW: Final = 60.0
"""Seconds."""

_FIRST_DELAY: Final = 0.5


class Restarts:
    """Of one agent. The first restart is at once, the next ones wait twice as long each time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: deque[float] = deque(maxlen=MOST)

    def ended(self) -> None:
        """It has ended, and nobody had asked it to."""
        self._ends.append(self._clock())

    def forget(self) -> None:
        """The person wants it started, or it is another program now."""
        self._ends.clear()

    @property
    def count(self) -> int:
        """Ends within the window."""
        since = self._clock() - WINDOW
        return sum(end > since for end in self._ends)

    @property
    def exhausted(self) -> bool:
        return self.count >= MOST

    @property
    def delay(self) -> float:
        """Seconds to wait before the next start."""
        return _FIRST_DELAY * 2.0 ** (self.count - 2) if self.count > 1 else 0.0
