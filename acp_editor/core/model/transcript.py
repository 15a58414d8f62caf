"""Messages and thoughts: as they are, and what an agent sends to say more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from acp_editor.core.model.values import UNSET, Json, Unset, is_object

Role: TypeAlias = Literal["user", "agent", "thought"]


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody said: `content` are the blocks as sent, adjacent text blocks joined.

    `first` is its place among the session's updates, as `ToolCall.first` is. One that is `truncated`
    has lost its beginning.
    """

    role: Role
    message_id: str | None
    content: tuple[Json, ...] = ()
    first: int = 0
    truncated: bool = False

    @property
    def text(self) -> str:
        return "".join(
            block["text"] for block in self.content if is_object(block) and isinstance(block.get("text"), str)
        )


@dataclass(frozen=True, slots=True)
class MessageChunk:
    """One more block of a message. Without an id (version 1) it goes on with the last one of its role."""

    role: Role
    message_id: str | None
    content: Json


@dataclass(frozen=True, slots=True)
class MessageUpsert:
    """A whole message (version 2): `content` replaces what its chunks said so far."""

    role: Role
    message_id: str
    content: tuple[Json, ...] | Unset | None = UNSET
