"""What hooks decided lately, to be shown: kept in memory, and never what a call was about in full."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

KEPT: Final = 20
"""Words of a hook that are kept."""


@dataclass(frozen=True, slots=True)
class Package:
    """The distribution that a hook comes from."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Word:
    """What a hook said at `time`, seconds since 1970; `about` is a kind of call, a command or an option."""

    time: float
    about: str
    said: str
    reason: str = ""


class Records:
    """Words of every hook, counted, the newest kept; hooks speak from threads of their own."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last: dict[str, deque[Word]] = {}
        self._counts: dict[str, Counter[str]] = {}

    def add(self, hook: str, about: str, said: str, reason: str = "") -> None:
        with self._lock:
            words = self._last.setdefault(hook, deque(maxlen=KEPT))
            word = Word(self._clock(), about[:200], said, reason[:500])
            # What it says again and again is one word, at the time when it last said it.
            again = next((one for one in words if replace(one, time=word.time) == word), None)
            if again is not None:
                words.remove(again)
            words.append(word)
            self._counts.setdefault(hook, Counter())[said] += 1

    def last(self, hook: str) -> Sequence[Word]:
        """The newest words of a hook, the newest first."""
        with self._lock:
            return tuple(reversed(self._last.get(hook, ())))

    def counts(self, hook: str) -> Mapping[str, int]:
        with self._lock:
            return dict(self._counts.get(hook, {}))
