"""The tool calls of one session, merged from their updates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from .model import (
    FINAL_STATUSES,
    UNSET,
    Json,
    ToolCall,
    ToolCallContentChunk,
    ToolCallUpsert,
    Unset,
    is_object,
)

T = TypeVar("T")


class ToolCalls:
    """Calls by id, in the order of first sight. `fault(code, message, detail)` is told of deviations."""

    def __init__(self, fault: Callable[[str, str, str], None]) -> None:
        self._fault = fault
        self._calls: dict[str, ToolCall] = {}
        self._open: set[str] = set()
        self._waiting: dict[str, list[Json]] = {}
        """Content chunks, joined only when somebody looks: appending each would be quadratic."""

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._calls

    def get(self, call_id: str) -> ToolCall | None:
        self._settle(call_id)
        return self._calls.get(call_id)

    def all(self) -> Mapping[str, ToolCall]:
        for call_id in tuple(self._waiting):
            self._settle(call_id)
        return self._calls

    def upsert(
        self, update: ToolCallUpsert, sequence: int, *, late: bool, replayed: bool, asked: bool = False
    ) -> None:
        """Makes or patches a call. `late`: no turn is running; `asked`: a permission request says so."""
        call_id = update.tool_call_id
        self._settle(call_id)
        old = self._calls.get(call_id)
        if old is None:
            if update.announces is False and not asked:
                self._fault(
                    "update_for_unknown_call",
                    "tool_call_update names a call that no tool_call announced before it.",
                    call_id,
                )
            old = ToolCall(call_id, ended=late or replayed, replayed=replayed, first=sequence)
        else:
            self._check(old, update)
        status = patched(old.status, update.status)
        # A call of an earlier turn that is reported again at work belongs to the turn that runs now.
        resumed = not (late or replayed) and bool(update.status) and status not in FINAL_STATUSES
        self._put(
            ToolCall(
                call_id,
                patched(old.name, update.name),
                patched(old.title, update.title),
                patched(old.kind, update.kind) or "other",
                status,
                patched(old.content, update.content) or (),
                patched(old.locations, update.locations) or (),
                patched(old.raw_input, update.raw_input),
                patched(old.raw_output, update.raw_output),
                patched(old.capabilities, update.capabilities),
                old.meta if update.meta is UNSET else merge_meta(old.meta, update.meta),
                old.ended and not resumed,
                old.replayed,
                old.first,
                sequence,
            )
        )

    def add_content(self, update: ToolCallContentChunk, sequence: int, *, late: bool, replayed: bool) -> None:
        call_id = update.tool_call_id
        if call_id not in self._calls:
            self.upsert(ToolCallUpsert(call_id), sequence, late=late, replayed=replayed)
        else:
            self._calls[call_id] = replace(self._calls[call_id], sequence=sequence)
        self._waiting.setdefault(call_id, []).append(update.content)

    def end(self, but: set[str], sequence: int) -> set[str]:
        """Marks the calls that are still going as left behind by their turn; returns their ids."""
        left = self._open - but
        for call_id in left:
            self._put(replace(self._calls[call_id], ended=True, sequence=sequence))
        return left

    def keep(self, call_ids: Iterable[str], sequence: int) -> set[str]:
        """Takes `ended` back from calls that go on without a turn; returns those that changed."""
        kept: set[str] = set()
        for call_id in call_ids:
            call = self._calls.get(call_id)
            if call is not None and call.ended and not call.replayed:
                self._put(replace(call, ended=False, sequence=sequence))
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
            for call_id in self._open:
                content = (*self._calls[call_id].content, *self._waiting.get(call_id, ()))
                if any(is_object(item) and item.get("terminalId") in terminals for item in content):
                    calls.add(call_id)
        return calls

    def _put(self, call: ToolCall) -> None:
        self._calls[call.tool_call_id] = call
        if call.active:
            self._open.add(call.tool_call_id)
        else:
            self._open.discard(call.tool_call_id)

    def _settle(self, call_id: str) -> None:
        waiting = self._waiting.pop(call_id, None)
        if waiting:
            call = self._calls[call_id]
            self._calls[call_id] = replace(call, content=(*call.content, *waiting))

    def _check(self, old: ToolCall, update: ToolCallUpsert) -> None:
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


def patched(old: T | None, new: T | Unset | None) -> T | None:
    """The three states of a field: absent leaves it, null clears it, a value replaces it."""
    return old if isinstance(new, Unset) else new


def merge_meta(old: Mapping[str, Json], new: Mapping[str, Json] | Unset | None) -> Mapping[str, Json]:
    """`_meta` is patched by its top-level keys; a key with null goes, null as a whole clears it."""
    if isinstance(new, Unset):
        return old
    if new is None:
        return {}
    return {key: value for key, value in {**old, **new}.items() if value is not None}
