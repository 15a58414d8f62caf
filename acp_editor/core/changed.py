"""What an update of a session changed, as the surfaces that no longer show the state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

What: TypeAlias = Literal["toolCall", "terminal", "messages", "session", "state", "notice"]


class Changed(NamedTuple):
    """One surface; `key` is the call's or terminal's id."""

    what: What
    key: str = ""


Changes: TypeAlias = frozenset[Changed]

NOTHING: Final[Changes] = frozenset()
MESSAGES: Final[Changes] = frozenset({Changed("messages")})
SESSION: Final[Changes] = frozenset({Changed("session")})
STATE: Final[Changes] = frozenset({Changed("state"), Changed("session")})
NOTICE: Final[Changes] = frozenset({Changed("notice")})


def calls_changed(call_ids: Iterable[str]) -> Changes:
    return frozenset(Changed("toolCall", call_id) for call_id in call_ids)
