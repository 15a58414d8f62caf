"""Where to look next: which of an agent's places the editor shows, and when.

A policy without a clock: every method that needs the time takes it as `now`, in seconds of any clock
that does not go back.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

from .places import Place

JUMP_INTERVAL = 0.15
"""Seconds between two jumps at the least."""

KINDS = frozenset({"read", "edit", "delete", "move", "search", "execute", "other"})
_KNOWN_KINDS = KINDS | {"think", "fetch", "switch_mode"}
_MAX_HISTORY = 100
_MOST_CALLS = 10_000
"""Calls that are known, the newest; more than any session keeps."""


@dataclass(frozen=True, slots=True)
class FollowSettings:
    """`resume_after` is in seconds; None means that only a prompt or a command ends a pause."""

    enabled: bool = True
    kinds: frozenset[str] = KINDS
    resume_after: float | None = 10.0


@dataclass(frozen=True, slots=True)
class Target:
    """A file to be shown, and the line in it from 0 where one is known."""

    path: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Sighting:
    """A tool call as it now is. `key` is the same for every sighting of one call, over all sessions."""

    key: tuple[str, str]
    kind: str
    active: bool
    target: Target | None
    replayed: bool = False


def target_of(places: Iterable[Place]) -> Target | None:
    """The place to look at: the first that has a line, else the first; only what there is to show."""
    there = [place for place in places if place.exists]
    best = next((place for place in there if place.line is not None), there[0] if there else None)
    return best and Target(best.path, best.line)


class Follow:
    """The state of following: what is to be shown next, what was shown, and whether it is paused."""

    def __init__(self, settings: FollowSettings | None = None) -> None:
        self.settings = settings or FollowSettings()
        self.enabled = self.settings.enabled
        self.current: Target | None = None
        """The place that was shown last."""
        self._seen = 0
        """Calls, over all time."""
        self._order: dict[tuple[str, str], int] = {}
        self._targets: dict[tuple[str, str], Target] = {}
        self._active: dict[tuple[str, str], int] = {}
        self._by_order: list[tuple[int, tuple[str, str]]] = []
        """A heap of those that run, the newest on top, and of some that do not any more."""
        self._newest = 0
        self._wanted: tuple[tuple[str, str], Target] | None = None
        self._last_jump: float | None = None
        self._touched: float | None = None
        self._moved = False
        self._resting = False
        self._here: Target | None = None
        self._history: list[Target] = []

    def update(self, settings: FollowSettings) -> None:
        """Takes new settings over; the switch only where the settings change it."""
        if settings.enabled != self.settings.enabled:
            self.enabled = settings.enabled
        self.settings = settings

    def saw(self, call: Sighting) -> None:
        """Hears of a call, new or changed, and decides whether its place is the next one."""
        key = call.key
        order = self._order.get(key)
        if order is None:
            self._seen += 1
            order = self._order[key] = self._seen
            if len(self._order) > _MOST_CALLS:
                self._forget(list(self._order)[: _MOST_CALLS // 10])
        if call.replayed:
            return
        kind = call.kind if call.kind in _KNOWN_KINDS else "other"
        if call.target is None or kind not in self.settings.kinds:
            self._active.pop(key, None)
            return
        if call.active:
            if key not in self._active:
                self._active[key] = order
                heapq.heappush(self._by_order, (-order, key))
                if len(self._by_order) > 2 * len(self._active) + _MAX_HISTORY:  # most of it has ended
                    self._by_order = [(-order, key) for key, order in self._active.items()]
                    heapq.heapify(self._by_order)
            self._resting = False
        else:
            self._active.pop(key, None)
        news = self._targets.get(key) != call.target
        self._targets[key] = call.target
        newest = order >= self._newest
        self._newest = max(self._newest, order)
        if not news or (self._resting and self._touched is not None):
            return
        # A call that is over counts only as the newest; one that runs yields only to a newer that runs.
        if newest or (call.active and order >= self._newest_active()):
            self._wanted = (key, call.target)

    def _newest_active(self) -> int:
        """The order of the newest call that runs, one being known to."""
        while self._by_order[0][1] not in self._active:
            heapq.heappop(self._by_order)
        return -self._by_order[0][0]

    def forget(self, session_id: str) -> None:
        """Drops what is known of the calls of a session, whose keys begin with its id."""
        self._forget([key for key in self._order if key[0] == session_id])
        if self._wanted is not None and self._wanted[0][0] == session_id:
            self._wanted = None

    def _forget(self, keys: Iterable[tuple[str, str]]) -> None:
        for key in keys:
            del self._order[key]
            self._targets.pop(key, None)
            self._active.pop(key, None)

    def activity(self, now: float, at: Target | None = None) -> None:
        """The person's hand is at the editor: nothing jumps for a while. `at` is where they are."""
        self._touched = now
        self._moved = True
        self._here = at or self._here
        if self._resting:
            self._wanted = None

    def rest(self) -> None:
        """No turn runs any more: what the person's hand holds up then is not shown later."""
        self._resting = True
        if self._touched is not None:
            self._wanted = None

    def prompt(self) -> None:
        """The person sent a prompt: following goes on, and what is over by then is not shown any more."""
        self._resume()

    def toggle(self, enabled: bool | None = None) -> bool:
        """Switches following on, off or over, and says which it is then; switching on ends a pause."""
        self.enabled = not self.enabled if enabled is None else enabled
        if self.enabled:
            self._resume()
        return self.enabled

    def paused(self, now: float) -> bool:
        """Whether the person's hand holds following up."""
        if self._touched is None:
            return False
        after = self.settings.resume_after
        return after is None or now < self._touched + after

    def pause_ends(self) -> float | None:
        """When the pause is over by itself; None where there is none or only a command ends it."""
        if self._touched is None or self.settings.resume_after is None:
            return None
        return self._touched + self.settings.resume_after

    def due(self, now: float) -> Target | None:
        """The place to be shown now, which is then the current one; None if there is none yet."""
        wake = self.next_wake()
        if wake is None or now < wake or self._wanted is None:
            return None
        target = self._wanted[1]
        self._wanted = None
        self._touched = None
        for before in (self.current, self._here):
            if before is not None and before != target and before not in self._history[-1:]:
                self._history = [*self._history[-_MAX_HISTORY:], before]
        self._show(target)
        self._last_jump = now
        return target

    def next_wake(self) -> float | None:
        """When `due` has something to show, maybe in the past; None if nothing waits."""
        if not self.enabled or self._wanted is None:
            return None
        if self._wanted[1] == self.current and not self._moved:
            return None
        wake = float("-inf") if self._last_jump is None else self._last_jump + JUMP_INTERVAL
        if self._touched is None:
            return wake
        ends = self.pause_ends()
        return None if ends is None else max(wake, ends)

    def back(self, now: float) -> Target | None:
        """The place before the last jump, further back each time; None if there is none.

        It is the person who goes back, so following pauses.
        """
        if not self._history:
            return None
        target = self._history.pop()
        self._show(target)
        self.activity(now, target)
        return target

    def _show(self, target: Target) -> None:
        self.current = self._here = target
        self._moved = False

    def _resume(self) -> None:
        self._touched = None
        self._resting = False
        if self._wanted is not None and self._wanted[0] not in self._active:
            self._wanted = None
