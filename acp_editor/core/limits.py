"""How much is kept of what an agent says: the newest; and where something was left out, that is shown.

A session is what a person can look through, not a log. The limits lie far above what real agents say in
a day, and below what would fill the memory or hold up an editor that asks for the state.
"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass, replace
from sys import getsizeof
from typing import Any, Final, TypeVar

from .model import UnknownUpdate, Update

MIB: Final = 1 << 20

CALLS: Final = 2000
"""Tool calls of a session."""
CALL_WEIGHT: Final = 16 * MIB
"""What one call may weigh; diffs hold whole files, so this is more than any text that is read."""
CALLS_WEIGHT: Final = 32 * MIB
"""What all calls of a session may weigh; beyond it the oldest that are over lose their content."""

MESSAGES: Final = 4000
"""Messages of a session."""
MESSAGE_WEIGHT: Final = 2 * MIB
"""What one message may weigh; it loses its beginning."""
MESSAGES_WEIGHT: Final = 16 * MIB
"""What all messages of a session may weigh."""

TERMINALS: Final = 128
"""Terminals of a session; the host's own limit is lower."""
TERMINALS_SIZE: Final = 16 * MIB
"""Bytes of output of all terminals of a session."""

UNINVITED: Final = 96 * MIB
"""What all sessions of an agent weigh that it speaks of and nobody asked for: some more than a full one."""

IDENT: Final = 1000
"""Characters of an id that an agent gives to something."""
WORDS: Final = 10_000
"""Characters of a title, a name or a description."""
ROWS: Final = 1000
"""Entries of a plan, commands, options, choices of an option."""
WHOLE: Final = 2 * MIB
"""What one update may weigh that tells of a session anew: its plan, commands, options, a notice."""
UNREAD: Final = 20_000
"""What an update may weigh that nobody understands, and all extra fields of a session."""
OTHER_WEIGHT: Final = 2 * MIB
"""What all plans of a session may weigh, and what is told of all compactions of its history."""

FAULT: Final = 4000
"""Characters that are kept of what was wrong: many times what is shown, see `core/redact.py`."""

U = TypeVar("U", bound=Update)
R = TypeVar("R")


_LEAVES: Final = frozenset({str, int, float, bool, type(None)})
_ROWS: Final = (list, tuple)  # made once: a union in the loop would be made for every value


def weight(value: object, most: float = math.inf) -> int:
    """About the bytes that a value takes in memory, values inside values counted; bytes are passed over.

    Counts no further than to something over `most`.
    """
    total = 0
    waiting: list[object] = [value]
    while waiting and total <= most:
        item = waiting.pop()
        total += getsizeof(item)
        kind = type(item)
        if kind in _LEAVES:
            continue
        if isinstance(item, dict):
            waiting += item  # pyright: ignore[reportUnknownArgumentType]
            waiting += item.values()  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        elif isinstance(item, _ROWS):
            waiting += item  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(item, bytes):
            total -= len(item)
        elif (names := getattr(kind, "__dataclass_fields__", None)) is not None:
            waiting += [getattr(item, name) for name in names]
    return total


def trimmed(update: U) -> U:
    """The same update with lists and words cut to what can be shown; most come back as they are."""
    if weight(update, WORDS) <= WORDS:
        return update
    if isinstance(update, UnknownUpdate) and weight(update.raw, UNREAD) > UNREAD:
        return replace(update, kind=update.kind[:WORDS], raw={})
    room = WHOLE
    while weight(cut := _cut(update, room), WHOLE) > WHOLE:
        room //= 2
    return cut


def _cut(value: Any, room: int) -> Any:
    """The value with no text over WORDS, no list over ROWS, and nothing of what is over `room`."""
    match value:
        case str():
            return value[:WORDS]
        case dict() | list():
            return type(value)() if weight(value, room) > room else value  # pyright: ignore
        case tuple():
            rows: list[Any] = []
            for row in value[:ROWS]:  # pyright: ignore[reportUnknownVariableType]
                rows.append(_cut(row, room))  # pyright: ignore[reportUnknownArgumentType]
                room -= weight(rows[-1])
                if room < 0:
                    break
            return tuple(rows)
        case _ if is_dataclass(value):
            changes: dict[str, Any] = {}
            for field in fields(value):
                old: Any = getattr(value, field.name)
                if (new := _cut(old, room)) is not old:
                    changes[field.name] = new
            return replace(value, **changes) if changes else value  # type: ignore[type-var]
        case _:
            return value


def first(rows: tuple[R, ...]) -> tuple[R, ...]:
    """The first rows of a list, as many as can be shown, with no text over what is shown of one."""
    return _cut(rows, WORDS)
