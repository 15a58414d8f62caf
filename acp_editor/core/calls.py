"""The tool calls of one session, merged from their updates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from . import limits
from .growing import GrowingCall
from .model import (
    FINAL_STATUSES,
    UNSET,
    Json,
    ToolCall,
    ToolCallContentChunk,
    ToolCallUpsert,
    is_object,
)


class ToolCalls:
    """Calls by id, in the order of first sight. `fault(code, message, detail)` is told of deviations.

    What comes for a call between two looks at it is gathered and makes one value: an agent may send
    thousands of updates and chunks for one call, of which nobody sees more than 30 a second.
    """

    def __init__(self, fault: Callable[[str, str, str], None]) -> None:
        self._fault = fault
        self._calls: dict[str, ToolCall] = {}
        """Those that are growing as they were at the last look."""
        self._growing: dict[str, GrowingCall] = {}
        self._open: set[str] = set()
        self._weights: dict[str, int] = {}
        self._weight = 0
        self.left_out = 0
        """How many calls are no longer kept."""

    def __len__(self) -> int:
        return len(self._calls)

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._calls

    def get(self, call_id: str) -> ToolCall | None:
        self._settle(call_id)
        return self._calls.get(call_id)

    def all(self) -> Mapping[str, ToolCall]:
        for call_id in tuple(self._growing):
            self._settle(call_id)
        return self._calls

    def active(self) -> list[ToolCall]:
        """Those that are still going, the first seen first."""
        found = [call for call_id in self._open if (call := self.get(call_id)) is not None]
        return sorted(found, key=lambda call: call.first)

    def upsert(
        self, update: ToolCallUpsert, sequence: int, *, late: bool, replayed: bool, asked: bool = False
    ) -> bool:
        """Makes or patches a call. `late`: no turn is running; `asked`: a permission request says so.

        False where that is no news: nobody has looked at the call since the change before this one.
        """
        call_id = update.tool_call_id
        news = call_id not in self._growing
        if call_id not in self._calls:
            if update.announces is False and not asked:
                self._fault(
                    "update_for_unknown_call",
                    "tool_call_update names a call that no tool_call announced before it.",
                    call_id,
                )
            self._calls[call_id] = ToolCall(
                call_id, ended=late or replayed, replayed=replayed, first=sequence
            )
            call = self._grow(call_id)
        else:
            call = self._grow(call_id)
            self._check(call, update)
        call.patch(update)
        call.sequence = sequence
        # A call of an earlier turn that is reported again at work belongs to the turn that runs now.
        if call.ended and not (late or replayed) and update.status and call.status not in FINAL_STATUSES:
            call.ended = False
        self._keep_open(call)
        return news

    def add_content(self, update: ToolCallContentChunk, sequence: int, *, late: bool, replayed: bool) -> bool:
        """False where that is no news, as in `upsert`."""
        call_id = update.tool_call_id
        news = call_id not in self._growing
        if call_id not in self._calls:
            self.upsert(ToolCallUpsert(call_id), sequence, late=late, replayed=replayed)
        call = self._grow(call_id)
        call.sequence = sequence
        call.waiting.append(update.content)
        return news

    @property
    def weight(self) -> int:
        """About the bytes that were kept at the last look."""
        return self._weight

    @property
    def too_many(self) -> bool:
        """Whether `make_room` has something to do."""
        return len(self._calls) > limits.CALLS or self._weight > limits.CALLS_WEIGHT

    def make_room(self) -> set[str]:
        """Lets go of what is beyond the limits, the oldest that is over first; gives the calls that changed.

        Some room more than is needed, so that it is not sought again at the next update.
        """
        changed: set[str] = set()
        oldest = sorted(self._calls, key=lambda call_id: call_id in self._open)
        for call_id in oldest[: -limits.CALLS * 9 // 10] if len(oldest) > limits.CALLS else ():
            self._forget(call_id)
            changed.add(call_id)
        for call_id in oldest:
            if self._weight <= limits.CALLS_WEIGHT * 3 // 4:
                break
            if call_id in self._calls and self._weights.get(call_id, 0) > _BARE:
                self._settle(call_id)
                self._put(bare(self._calls[call_id]))
                changed.add(call_id)
        return changed

    def end(self, but: set[str], sequence: int) -> set[str]:
        """Marks the calls that are still going as left behind by their turn; returns their ids."""
        left = self._open - but
        for call_id in left:
            self._set_ended(call_id, True, sequence)
        return left

    def keep(self, call_ids: Iterable[str], sequence: int) -> set[str]:
        """Takes `ended` back from calls that go on without a turn; returns those that changed."""
        kept: set[str] = set()
        for call_id in call_ids:
            call = self.get(call_id)
            if call is not None and call.ended and not call.replayed:
                self._set_ended(call_id, False, sequence)
                kept.add(call_id)
        return kept

    def named_by(self, background: Iterable[Json]) -> set[str]:
        """The calls that a list of background work names, by themselves or by their terminal."""
        items = [item for item in background if is_object(item)]
        calls: set[str] = {item["toolCallId"] for item in items if isinstance(item.get("toolCallId"), str)}
        terminals: set[str] = {
            item["terminalId"] for item in items if isinstance(item.get("terminalId"), str)
        }
        if terminals:
            for call in self.active():
                if any(is_object(item) and item.get("terminalId") in terminals for item in call.content):
                    calls.add(call.tool_call_id)
        return calls

    def _grow(self, call_id: str) -> GrowingCall:
        growing = self._growing.get(call_id)
        if growing is None:
            growing = self._growing[call_id] = GrowingCall.of(self._calls[call_id])
        return growing

    def _settle(self, call_id: str) -> None:
        growing = self._growing.pop(call_id, None)
        if growing is not None:
            self._put(growing.value())

    def _put(self, call: ToolCall) -> None:
        call, weight = _within(call)
        self._calls[call.tool_call_id] = call
        self._weight += weight - self._weights.get(call.tool_call_id, 0)
        self._weights[call.tool_call_id] = weight

    def _forget(self, call_id: str) -> None:
        self._growing.pop(call_id, None)
        self._open.discard(call_id)
        self._weight -= self._weights.pop(call_id, 0)
        del self._calls[call_id]
        self.left_out += 1

    def _set_ended(self, call_id: str, ended: bool, sequence: int) -> None:
        call = self._grow(call_id)
        call.ended, call.sequence = ended, sequence
        self._keep_open(call)

    def _keep_open(self, call: GrowingCall) -> None:
        if call.ended or call.status in FINAL_STATUSES:
            self._open.discard(call.tool_call_id)
        else:
            self._open.add(call.tool_call_id)

    def _check(self, old: GrowingCall, update: ToolCallUpsert) -> None:
        if update.announces:
            self._fault(
                "call_announced_twice",
                "A second tool_call came for one id; tool_call_update is the way to change a call.",
                old.tool_call_id,
            )
        elif old.status in FINAL_STATUSES and (
            (update.status and update.status != old.status)
            or update.content is not UNSET
            or update.locations is not UNSET
            or update.raw_input is not UNSET
        ):
            self._fault(
                "update_after_final",
                f"A tool call was changed after it was reported {old.status}.",
                old.tool_call_id,
            )


_BARE: Final = 10 * limits.WORDS
"""A call that weighs no more is not worth being stripped."""
_PLACE: Final = 150
"""Bytes of a location without its path."""


def _within(call: ToolCall) -> tuple[ToolCall, int]:
    """The call with no more than one may weigh, and what it weighs; its newest content stays."""
    most = limits.CALL_WEIGHT
    output, given = limits.weight(call.raw_output, most), limits.weight(call.raw_input, most)
    content = limits.weight(call.content, most)
    if (words := _words(call)) > _BARE:
        call = _in_few_words(call)
        words = _words(call)
    rest = words + limits.weight([dict(call.meta), call.capabilities], most)
    weight = output + given + content + rest
    if weight <= limits.CALL_WEIGHT:
        return call, weight
    if rest > _BARE:
        return bare(call), _BARE
    # What an agent sends beside the content most often says the same once more.
    call, weight = replace(call, raw_output=None, truncated=True), weight - output
    if weight > limits.CALL_WEIGHT:
        call, weight = replace(call, raw_input=None), weight - given
    kept = list(call.content)
    while kept and weight > limits.CALL_WEIGHT:
        weight -= limits.weight(kept.pop(0))
    return replace(call, content=tuple(kept)), weight


def _words(call: ToolCall) -> int:
    """About the bytes of what it says beside its content, found without a look at each value."""
    named = len(call.tool_call_id) + len(call.name or "") + len(call.title or "")
    places = sum(_PLACE + len(place.path) for place in call.locations)
    return named + len(call.kind) + len(call.status or "") + places


def _in_few_words(call: ToolCall) -> ToolCall:
    return replace(
        call,
        name=call.name and call.name[: limits.WORDS],
        title=call.title and call.title[: limits.WORDS],
        kind=call.kind[: limits.WORDS],
        status=call.status and call.status[: limits.WORDS],
        locations=limits.first(call.locations),
        truncated=True,
    )


def bare(call: ToolCall) -> ToolCall:
    """The call without what it was about."""
    if _words(call) > limits.WORDS:
        call = _in_few_words(call)
    return replace(
        call, content=(), raw_input=None, raw_output=None, capabilities=None, meta={}, truncated=True
    )
