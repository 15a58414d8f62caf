"""Where the agents are: the places of every call, by file, kept up as calls and texts change."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from acp_editor.app.render import line_range, words
from acp_editor.app.sessions import Entry
from acp_editor.core import marks, places
from acp_editor.core.model import ToolCall
from acp_editor.core.text import Lines
from acp_editor.lsp.messages import Decoration

MOST: Final = 200
"""Spots of one file that are shown."""


@dataclass(slots=True)
class Spot:
    """A call and where it is, with the moment at which it stopped being active (None while it is)."""

    entry: Entry
    call: ToolCall
    places: tuple[places.Place, ...]
    ended: float | None
    faded: bool = False
    """It has been over for so long that it is marked no more."""
    _hover: str | None = None
    _drawn: tuple[str, Lines | None, list[Decoration]] | None = None
    """The marks in one file, with the text that they were made for."""

    def drawn(self, path: str, index: Lines | None) -> list[Decoration]:
        """The marks in that file. Made once: they are sent again whenever another mark of it changes."""
        if self._drawn is None or self._drawn[0] != path or self._drawn[1] is not index:
            self._drawn = (path, index, list(self._draw(path, index)))
        return self._drawn[2]

    def _draw(self, path: str, index: Lines | None) -> Iterator[Decoration]:
        for place in self.places:
            if place.path == path and place.line is not None:
                yield {
                    "range": line_range(place.line, index.end_of(place.line).character if index else 0),
                    "kind": words(self.call.kind),
                    "status": words(self.call.status),
                    "toolCallId": self.call.tool_call_id,
                    "hover": self._hovered(),
                }

    def _hovered(self) -> str:
        if self._hover is None:
            self._hover = marks.hover(self.call)
        return self._hover

    def follows(self, old: Spot) -> bool:
        """Whether it looks as the spot before, from which it takes what is the same: most changes do."""
        if not marks.alike(self.call, old.call):
            return False
        self._hover = old._hover
        if self.places != old.places:
            return False
        self._drawn = old._drawn
        return True


class Whereabouts:
    """`read` gives a file's text from the buffer or the disk; `changed` hears of files with other marks."""

    def __init__(self, read: Callable[[str], str | None], changed: Callable[[str], None]) -> None:
        self._read = read
        self._changed = changed
        self._touched: dict[tuple[str, str], Entry] = {}
        self._spots: dict[tuple[str, str], Spot] = {}
        self._by_path: dict[str, dict[tuple[str, str], Spot]] = {}
        """The spots that are marked; of one file, the one that changed last is the last."""
        self._fading: list[tuple[float, tuple[str, str]]] = []
        """A heap of the spots that are over, by the time since when they are."""

    def touch(self, entry: Entry, call_id: str) -> None:
        """The call has changed; its places are looked up at the next `refresh`, once for many changes."""
        key = (entry.key, call_id)
        self._touched.pop(key, None)
        self._touched[key] = entry

    @property
    def stale(self) -> bool:
        return bool(self._touched)

    def refresh(self, now: float, most: int | None = None) -> list[Spot]:
        """The spots of the calls that changed, oldest change first; the others wait for the next time."""
        touched = list(itertools.islice(self._touched.items(), most))
        for key, _ in touched:
            del self._touched[key]
        return [spot for key, entry in touched if (spot := self._look(entry, key, now))]

    def of(self, entry: Entry, call_id: str, now: float | None) -> tuple[places.Place, ...]:
        """A call's places, as fresh as they can be; without the time, as they were at the last look."""
        key = (entry.key, call_id)
        if now is not None and (key in self._touched or key not in self._spots):
            self._look(entry, key, now)
        spot = self._spots.get(key)
        return spot.places if spot else ()

    def at(self, path: str) -> list[Spot]:
        """The newest spots of a file; more than that many marks tell a person nothing any more."""
        spots = self._by_path.get(path, {}).values()
        newest = list(itertools.islice(reversed(spots), MOST))
        return newest[::-1]

    def paths(self) -> Iterable[str]:
        return list(self._by_path)

    def forget(self, entry: Entry) -> None:
        for call_id in entry.session.tool_calls:
            self._forget((entry.key, call_id))

    def fade(self, now: float, after: float) -> float | None:
        """Drops the spots whose time is over; gives the moment at which the next one's is."""
        while self._fading and now >= self._fading[0][0] + after:
            ended, key = heapq.heappop(self._fading)
            if (spot := self._spots.get(key)) is not None and spot.ended == ended:
                self._unmark(key, spot)
                spot.faded = True
        return self._fading[0][0] + after if self._fading else None

    def _look(self, entry: Entry, key: tuple[str, str], now: float) -> Spot | None:
        call = entry.session.tool_call(key[1])
        if call is None or entry.closed:
            self._forget(key)
            return None
        spot = Spot(entry, call, places.places(call, entry.cwd, self._read), None)
        old = self._spots.get(key)
        visible = True
        if old is not None:
            visible = not spot.follows(old)
            self._unmark(key, old, visible)
        self._spots[key] = spot
        if not call.active:
            if old is not None and old.ended is not None:
                spot.ended, spot.faded = old.ended, old.faded
            else:
                spot.ended = now
                heapq.heappush(self._fading, (now, key))
        if not call.replayed and not spot.faded:  # history is not where the agent is
            self._mark(key, spot, visible)
        return spot

    def _forget(self, key: tuple[str, str]) -> None:
        if (old := self._spots.pop(key, None)) is not None:
            self._unmark(key, old)

    def _mark(self, key: tuple[str, str], spot: Spot, visible: bool) -> None:
        for place in spot.places:
            if place.exists:
                self._by_path.setdefault(place.path, {})[key] = spot
                if visible:
                    self._changed(place.path)

    def _unmark(self, key: tuple[str, str], old: Spot, visible: bool = True) -> None:
        for place in old.places:
            if (spots := self._by_path.get(place.path)) and spots.pop(key, None):
                if visible:
                    self._changed(place.path)
                if not spots:
                    del self._by_path[place.path]
