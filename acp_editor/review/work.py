"""When the agent was at work in a turn, told by its calls: what is written in between is somebody else's.

An agent that tells of its calls before they run writes while they do. Where one does not (it has told of
none, or tells afterwards), where several sessions run, or where a command may have left a process behind,
nothing can be told so, and what changes counts as the agent's.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from acp_editor.core.model import ToolCall

READING = frozenset({"read", "search", "think", "fetch", "switch_mode"})
"""Kinds of calls that write nothing."""
COMMANDS = frozenset({"execute", "other"})
"""Kinds of calls that may write anything, and may leave something behind that goes on writing."""

CLOCK = 0.02
"""Seconds that a file's time may be behind: the kernel stamps files with a coarser clock."""
LAG = 2.0
"""Seconds by which the word that a call begins may come later than what it does."""
AFTERMATH = 1.0
"""Seconds in which what a call did may still reach the disk."""
MOST_CALLS = 4000
"""Calls of one turn that are known; of more nothing can be told."""


@dataclass(slots=True)
class _Call:
    writes: bool
    spans: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """When it was at work, but for now."""
    since: float | None = None
    """Since when it is at work."""

    def pause(self, moment: float) -> None:
        if self.since is not None:
            self.spans.append((self.since, moment))
            self.since = None

    def all(self) -> Iterator[tuple[float, float]]:
        yield from self.spans
        if (since := self.since) is not None:
            yield since, float("inf")


class Work:
    """The calls of a turn; times in seconds of the system's clock. Written by one thread, read by another."""

    def __init__(self, began: float = 0.0) -> None:
        self._calls: dict[str, _Call] = {}
        self._last = began
        """When the turn began, or a call was last told to be over."""
        self._waiting: frozenset[str] = frozenset()
        self._waits: list[tuple[float, float]] = []
        self._waits_since: float | None = None
        self._in_time = False
        self._late = False
        self._commands = False

    def knows(self, call_id: str) -> bool:
        return call_id in self._calls

    def begins(self, call_id: str, moment: float) -> None:
        """A call is at work that was not known; what it is, and how it ends, is `heard` a little later."""
        self._calls[call_id] = _Call(True, since=None if call_id in self._waiting else moment)
        self._in_time = True

    def heard(self, call: ToolCall, moment: float) -> None:
        """A call said something of itself."""
        if len(self._calls) > MOST_CALLS:
            self._late = True
            over = [call_id for call_id, one in self._calls.items() if one.since is None]
            for call_id in (over or list(self._calls))[: MOST_CALLS // 2]:
                del self._calls[call_id]
        known = self._calls.get(call.tool_call_id)
        if known is None:
            known = self._calls[call.tool_call_id] = _Call(call.kind not in READING)
            self._in_time = self._in_time or call.active
            self._late = self._late or not call.active
            if not call.active:
                known.since = self._last  # it is told afterwards: all that is known is what came before it
        known.writes = call.kind not in READING
        self._commands = self._commands or call.kind in COMMANDS
        if not call.active:
            if known.since is not None:
                self._last = moment
            known.pause(moment)
        elif known.since is None and call.tool_call_id not in self._waiting:
            known.since = moment

    def waits(self, call_ids: Collection[str], moment: float) -> None:
        """These calls wait for the person to allow them, and no others."""
        now = frozenset(call_ids)
        for call_id in now - self._waiting:
            if (call := self._calls.get(call_id)) is not None:
                call.pause(moment)
        for call_id in self._waiting - now:
            if (call := self._calls.get(call_id)) is not None:
                call.since = moment
        self._waiting = now
        if now and self._waits_since is None:
            self._waits_since = moment
        elif not now and self._waits_since is not None:
            self._waits.append((self._waits_since, moment))
            self._waits_since = None

    def may_have_written(self, moment: float) -> bool:
        """Whether what changed then may be the agent's doing."""
        if self._late or not self._in_time:
            return True
        for call in list(self._calls.values()):
            spans = call.all() if call.writes else ()
            if any(start - LAG <= moment <= end + AFTERMATH for start, end in spans):
                return True
        return self._commands and not self._waited(moment)

    def at_work(self, moment: float) -> list[str]:
        """The calls that were at work then; where none was, those that were so last, or were to be soon."""
        found: list[str] = []
        near: list[tuple[float, str]] = []
        for call_id, call in list(self._calls.items()):
            away = min((_away(span, moment) for span in call.all()), default=math.inf)
            if call.writes and away <= CLOCK:
                found.append(call_id)
            elif call.writes and away < math.inf:
                near.append((away, call_id))
        return found or [call_id for _, call_id in sorted(near)[:1]]

    def _waited(self, moment: float) -> bool:
        if self._waits_since is not None and self._waits_since <= moment:
            return True
        return any(start <= moment <= end for start, end in list(self._waits))


def _away(span: tuple[float, float], moment: float) -> float:
    """Seconds from a span of time to a moment; infinite, where the one tells nothing of the other."""
    start, end = span
    if moment < start:
        return start - moment if start - moment <= LAG else math.inf
    return max(0.0, moment - end) if moment - end <= AFTERMATH else math.inf
