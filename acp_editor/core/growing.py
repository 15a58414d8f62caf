"""What grows by small pieces, kept as pieces and joined only when somebody looks.

An agent may send one message or one terminal's output in many thousands of chunks; joining at each
would take quadratic time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from sys import getsizeof
from typing import Final, TypeVar

from . import limits
from .model import (
    UNSET,
    ExitStatus,
    Json,
    Location,
    Message,
    Role,
    Terminal,
    TerminalUpsert,
    ToolCall,
    ToolCallUpsert,
    Unset,
    is_object,
)

T = TypeVar("T")

TERMINAL_LIMIT: Final = 1 << 20
"""Bytes of a terminal's output that are kept, the newest."""

_CHUNKS: Final = 10_000
"""Small pieces that wait to be joined: each takes many times its size."""


class GrowingMessage:
    """A message that chunks are added to; `value()` is what it is now."""

    def __init__(self, role: Role, message_id: str | None, first: int) -> None:
        self.role: Final = role
        self.message_id: Final = message_id
        self._first = first
        self._blocks: list[Json] = []
        self._text: list[str] = []
        self._joined = 0
        """Pieces at the beginning of `_text` that were joined of many."""
        self._truncated = False
        self._value: Message | None = None
        self.weight = 0

    def add(self, block: Json) -> int:
        """One more block; plain text goes on with the text before it. Gives the change of `weight`."""
        before = self.weight
        self._value = None
        text = _plain_text(block)
        if text is None:
            self._close_text()
            self._blocks.append(block)
            self.weight += limits.weight(block)
        else:
            self._text.append(text)
            self.weight += size(text)
            if len(self._text) - self._joined > _CHUNKS:
                self._text[self._joined :] = ["".join(self._text[self._joined :])]
                self._joined += 1
        if self.weight > 2 * limits.MESSAGE_WEIGHT:  # not at each chunk: it costs as much as all of it
            self._shorten()
        return self.weight - before

    def replace(self, blocks: Iterable[Json]) -> int:
        """Gives the change of `weight`."""
        before = self.weight
        self._value = None
        self._blocks, self._text, self.weight, self._truncated = [], [], 0, False
        self._joined = 0
        for block in blocks:
            self.add(block)
        return self.weight - before

    def _shorten(self) -> None:
        """Lets the beginning go, down to the limit."""
        self._close_text()
        kept: list[Json] = []
        room = limits.MESSAGE_WEIGHT
        for block in reversed(self._blocks):
            text = _plain_text(block)
            heavy = limits.weight(block) if text is None else size(text)
            if text is not None and heavy > room:
                kept.append({"type": "text", "text": text[len(text) - len(text) * room // heavy :]})
                break
            room -= heavy
            if room < 0:
                break
            kept.append(block)
        self._blocks = kept[::-1]
        self._truncated = True
        self.weight = limits.MESSAGE_WEIGHT

    def value(self) -> Message:
        if self._value is None:
            self._close_text()
            self._value = Message(
                self.role, self.message_id, tuple(self._blocks), self._first, self._truncated
            )
        return self._value

    def _close_text(self) -> None:
        if not self._text:
            return
        last = _plain_text(self._blocks[-1]) if self._blocks else None
        if last is not None:
            self._blocks.pop()
            self._text.insert(0, last)
        self._blocks.append({"type": "text", "text": "".join(self._text)})
        self._text, self._joined = [], 0


def size(text: str) -> int:
    """Bytes of its characters; one that is not ASCII may make all of them take two or four."""
    return len(text) if text.isascii() else getsizeof(text)


def _plain_text(block: Json) -> str | None:
    """The text of a block that is nothing but text: one with annotations stays a block of its own."""
    if not is_object(block) or block.get("type") != "text":
        return None
    text: Json = block.get("text")
    if not isinstance(text, str):
        return None
    if len(block) > 2 and any(
        value is not None for key, value in block.items() if key not in ("type", "text")
    ):
        return None
    return text


class GrowingTerminal:
    """A terminal and the newest of its output."""

    def __init__(self, terminal_id: str, limit: int = TERMINAL_LIMIT) -> None:
        self._limit = limit
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._truncated = False
        self._rest = Terminal(terminal_id)
        self._value: Terminal | None = None

    def add(self, data: bytes) -> None:
        self._value = None
        self._chunks.append(data)
        self._size += len(data)
        while self._size - len(self._chunks[0]) >= self._limit:
            self._size -= len(self._chunks.popleft())
            self._truncated = True
        if len(self._chunks) > _CHUNKS:  # many small ones take many times their size
            self._chunks = deque([b"".join(self._chunks)])

    def empty(self) -> None:
        """Lets all of its output go."""
        self._value = None
        self._truncated = self._truncated or self._size > 0
        self._chunks.clear()
        self._size = 0

    def patch(self, update: TerminalUpsert) -> None:
        old = self._rest
        exit_status = old.exit_status if isinstance(update.exit_status, Unset) else update.exit_status
        self._value = None
        self._rest = Terminal(
            old.terminal_id,
            command=old.command if isinstance(update.command, Unset) else update.command,
            cwd=old.cwd if isinstance(update.cwd, Unset) else update.cwd,
            exit_status=exit_status,
            size=old.size if isinstance(update.size, Unset) else update.size,
            capabilities=old.capabilities if isinstance(update.capabilities, Unset) else update.capabilities,
            owner="client" if update.owner == "client" else old.owner,
        )
        if not isinstance(update.output, Unset):
            self._chunks.clear()
            self._size, self._truncated = 0, False
            self.add(update.output or b"")

    @property
    def size(self) -> int:
        """Bytes of output that are held."""
        return self._size

    @property
    def exit_status(self) -> ExitStatus | None:
        return self._rest.exit_status

    def value(self) -> Terminal:
        if self._value is None:
            output = b"".join(self._chunks)
            if len(output) > self._limit:
                output = output[len(output) - self._limit :]
                self._truncated = True
                self._chunks, self._size = deque([output]), len(output)
            if self._truncated:
                output = _without_split_character(output)
            rest = self._rest
            self._value = Terminal(
                rest.terminal_id,
                rest.command,
                rest.cwd,
                output,
                self._truncated,
                rest.exit_status,
                rest.size,
                rest.capabilities,
                rest.owner,
            )
        return self._value


def _without_split_character(output: bytes) -> bytes:
    """Drops the rest of a UTF-8 character that the cut went through."""
    start = 0
    while start < min(3, len(output)) and output[start] & 0xC0 == 0x80:
        start += 1
    return output[start:]


@dataclass(slots=True, eq=False)
class GrowingCall:
    """A call that has changed since somebody looked; `waiting` are chunks that go behind its content."""

    tool_call_id: str
    name: str | None
    title: str | None
    kind: str
    status: str | None
    content: tuple[Json, ...]
    locations: tuple[Location, ...]
    raw_input: Json
    raw_output: Json
    capabilities: Json
    meta: Mapping[str, Json]
    ended: bool
    replayed: bool
    first: int
    sequence: int
    truncated: bool
    waiting: list[Json]

    @classmethod
    def of(cls, call: ToolCall) -> GrowingCall:
        return cls(
            call.tool_call_id,
            call.name,
            call.title,
            call.kind,
            call.status,
            call.content,
            call.locations,
            call.raw_input,
            call.raw_output,
            call.capabilities,
            call.meta,
            call.ended,
            call.replayed,
            call.first,
            call.sequence,
            call.truncated,
            [],
        )

    def value(self) -> ToolCall:
        return ToolCall(
            self.tool_call_id,
            self.name,
            self.title,
            self.kind,
            self.status,
            (*self.content, *self.waiting) if self.waiting else self.content,
            self.locations,
            self.raw_input,
            self.raw_output,
            self.capabilities,
            self.meta,
            self.ended,
            self.replayed,
            self.first,
            self.sequence,
            self.truncated,
        )

    def patch(self, update: ToolCallUpsert) -> None:
        """The three states of a field: absent leaves it, null clears it, a value replaces it."""
        if update.status is not UNSET:
            self.status = update.status
        if update.content is not UNSET:
            self.content = update.content or ()
            self.waiting.clear()
        if update.locations is not UNSET:
            self.locations = update.locations or ()
        if update.title is not UNSET:
            self.title = update.title
        if update.kind is not UNSET:
            self.kind = update.kind or "other"
        if update.name is not UNSET:
            self.name = update.name
        if update.raw_input is not UNSET:
            self.raw_input = update.raw_input
        if update.raw_output is not UNSET:
            self.raw_output = update.raw_output
        if update.capabilities is not UNSET:
            self.capabilities = update.capabilities
        if update.meta is not UNSET:
            self.meta = merge_meta(self.meta, update.meta)


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
