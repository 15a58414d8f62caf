"""A mapping of the newest of what an agent names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from .limits import weight

K = TypeVar("K")
V = TypeVar("V")


class Newest(dict[K, V]):
    """A dict whose oldest entries go where there are more than `most`, or they weigh too much; one stays.

    Entries are set, deleted and popped one by one; no other way to change a dict counts them.
    """

    def __init__(self, most: int, heaviest: int, items: Iterable[tuple[K, V]] = ()) -> None:
        super().__init__()
        self._most: Final = most
        self._heaviest: Final = heaviest
        self._weights: dict[K, int] = {}
        self._total = 0
        for key, value in items:
            self[key] = value

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        heavy = weight(value)
        self._total += heavy - self._weights.get(key, 0)
        self._weights[key] = heavy
        while len(self) > 1 and (len(self) > self._most or self._total > self._heaviest):
            oldest = next(iter(self))
            if oldest == key:  # changed again, so not the oldest any more
                super().__setitem__(oldest, super().pop(oldest))
                self._weights[oldest] = self._weights.pop(oldest)
                continue
            super().__delitem__(oldest)
            self._total -= self._weights.pop(oldest)

    def __delitem__(self, key: K) -> None:
        super().__delitem__(key)
        self._total -= self._weights.pop(key)

    def pop(self, key: K, default: Any = None) -> Any:
        """The entry, or the default; never raises."""
        if key not in self:
            return default
        value = self[key]
        del self[key]
        return value
