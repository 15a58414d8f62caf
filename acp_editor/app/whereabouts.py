"""Where the agents are: the places of every call, by file, kept up as calls and texts change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from acp_editor.app.sessions import Entry
from acp_editor.core import places
from acp_editor.core.model import ToolCall


@dataclass(slots=True)
class Spot:
    """A call and where it is, with the moment at which it stopped being active (None while it is)."""

    entry: Entry
    call: ToolCall
    places: tuple[places.Place, ...]
    ended: float | None


class Whereabouts:
    """`read` gives a file's text from the buffer or the disk; `changed` hears of files with other marks."""

    def __init__(self, read: Callable[[str], str | None], changed: Callable[[str], None]) -> None:
        self._read = read
        self._changed = changed
        self._touched: dict[tuple[str, str], Entry] = {}
        self._spots: dict[tuple[str, str], Spot] = {}
        self._by_path: dict[str, dict[tuple[str, str], Spot]] = {}

    def touch(self, entry: Entry, call_id: str) -> None:
        """The call has changed; its places are looked up at the next `refresh`, once for many changes."""
        self._touched.pop((entry.key, call_id), None)
        self._touched[entry.key, call_id] = entry

    @property
    def stale(self) -> bool:
        return bool(self._touched)

    def refresh(self, now: float) -> list[Spot]:
        """The spots of all calls that changed, oldest change first."""
        touched, self._touched = self._touched, {}
        return [spot for key, entry in touched.items() if (spot := self._look(entry, key, now))]

    def of(self, entry: Entry, call_id: str, now: float) -> tuple[places.Place, ...]:
        """A call's places, as fresh as they can be."""
        key = (entry.key, call_id)
        if key in self._touched or key not in self._spots:
            self._look(entry, key, now)
        spot = self._spots.get(key)
        return spot.places if spot else ()

    def at(self, path: str) -> list[Spot]:
        return list(self._by_path.get(path, {}).values())

    def paths(self) -> Iterable[str]:
        return list(self._by_path)

    def forget(self, entry: Entry) -> None:
        for key in [key for key in self._spots if key[0] == entry.key]:
            self._put(key, None)

    def fade(self, now: float, after: float) -> float | None:
        """Drops the spots whose time is over; gives the moment at which the next one's is."""
        following: float | None = None
        for paths in list(self._by_path.values()):
            for key, spot in list(paths.items()):
                if spot.ended is None:
                    continue
                if now >= spot.ended + after:
                    self._drop(key)
                elif following is None or spot.ended + after < following:
                    following = spot.ended + after
        return following

    def _look(self, entry: Entry, key: tuple[str, str], now: float) -> Spot | None:
        call = entry.session.tool_call(key[1])
        if call is None or entry.closed:
            return None
        old = self._spots.get(key)
        ended = None if call.active else (old.ended if old and old.ended is not None else now)
        spot = Spot(entry, call, places.places(call, entry.cwd, self._read), ended)
        self._put(key, spot)
        return spot

    def _put(self, key: tuple[str, str], spot: Spot | None) -> None:
        self._drop(key)
        if spot is None:
            self._spots.pop(key, None)
            return
        self._spots[key] = spot
        if spot.call.replayed:
            return  # history is not where the agent is
        for place in spot.places:
            if place.exists:
                self._by_path.setdefault(place.path, {})[key] = spot
                self._changed(place.path)

    def _drop(self, key: tuple[str, str]) -> None:
        old = self._spots.get(key)
        for place in old.places if old else ():
            if (spots := self._by_path.get(place.path)) and spots.pop(key, None):
                self._changed(place.path)
                if not spots:
                    del self._by_path[place.path]
