"""How much is kept of what an agent says: the newest; and where something was left out, that is shown.

A session is what a person can look through, not a log. The limits lie far above what real agents say in
a day, and below what would fill the memory or hold up an editor that asks for the state.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final, TypeVar

from .model import (
    CommandsUpdate,
    ConfigUpdate,
    Json,
    Notice,
    PlanUpdate,
    SessionInfoUpdate,
    UnknownUpdate,
    Update,
)

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

IDENT: Final = 1000
"""Characters of an id that an agent gives to something."""
WORDS: Final = 10_000
"""Characters of a title, a name or a description."""
ROWS: Final = 1000
"""Entries of a plan, commands, options, choices of an option."""
UNREAD: Final = 100_000
"""What an update may weigh that nobody understands."""


U = TypeVar("U", bound=Update)


def weight(value: Json, most: float = math.inf) -> int:
    """About the bytes that a value takes: its strings' characters, and a little for everything in it.

    Counts no further than to something over `most`.
    """
    total = 0
    waiting: list[Json] = [value]
    while waiting and total <= most:
        item = waiting.pop()
        total += 16
        if isinstance(item, str):
            total += len(item)
        elif isinstance(item, dict):
            waiting += item.keys()
            waiting += item.values()
        elif isinstance(item, list | tuple):
            waiting += item
    return total


def trimmed(update: U) -> U:
    """The same update with lists and words cut to what can be shown; most come back as they are."""
    match update:
        case PlanUpdate() if len(update.entries) > ROWS or any(
            len(e.content) > WORDS for e in update.entries
        ):
            kept = update.entries[:ROWS]
            return replace(update, entries=tuple(replace(e, content=e.content[:WORDS]) for e in kept))
        case CommandsUpdate() if len(update.commands) > ROWS or any(
            len(c.description) > WORDS for c in update.commands
        ):
            commands = update.commands[:ROWS]
            return replace(
                update, commands=tuple(replace(c, description=c.description[:WORDS]) for c in commands)
            )
        case ConfigUpdate() if len(update.options) > ROWS or any(
            len(o.choices) > ROWS for o in update.options
        ):
            options = update.options[:ROWS]
            return replace(update, options=tuple(replace(o, choices=o.choices[:ROWS]) for o in options))
        case SessionInfoUpdate() if isinstance(update.title, str) and len(update.title) > WORDS:
            return replace(update, title=update.title[:WORDS])
        case Notice() if len(update.title) > WORDS or len(update.description or "") > WORDS:
            description = None if update.description is None else update.description[:WORDS]
            return replace(update, title=update.title[:WORDS], description=description)
        case UnknownUpdate() if weight(update.raw) > UNREAD:
            return replace(update, raw={})
        case _:
            return update
