"""The messages of one session, the newest of them: what was said long ago is let go."""

from __future__ import annotations

from collections.abc import Iterable

from . import limits
from .growing import GrowingMessage
from .model import Json, Message, Role


class Messages:
    """In the order in which they began. `left_out` counts those that are no longer kept."""

    def __init__(self) -> None:
        self._messages: dict[GrowingMessage, None] = {}
        self._by_id: dict[tuple[Role, str], GrowingMessage] = {}
        self._open: GrowingMessage | None = None
        """What a chunk without an id goes on with."""
        self._weight = 0
        self.left_out = 0

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def weight(self) -> int:
        """About the bytes that are kept."""
        return self._weight

    def values(self) -> tuple[Message, ...]:
        return tuple(message.value() for message in self._messages)

    @property
    def by_person(self) -> bool:
        """Whether the person has said something."""
        return any(message.role == "user" for message in self._messages)

    def close(self) -> None:
        """Something else has begun: what is said next without an id is another message."""
        self._open = None

    def add(self, role: Role, message_id: str | None, block: Json, sequence: int) -> None:
        message = self._find(role, message_id, sequence)
        self._weight += message.add(block)
        self._make_room()

    def replace(
        self, role: Role, message_id: str | None, blocks: Iterable[Json] | None, sequence: int
    ) -> None:
        """`blocks` instead of what the message said so far; None only makes it."""
        message = self._find(role, message_id, sequence)
        if blocks is not None:
            self._weight += message.replace(blocks)
        self._make_room()

    def _find(self, role: Role, message_id: str | None, sequence: int) -> GrowingMessage:
        if message_id is not None:
            found = self._by_id.get((role, message_id))
            if found is not None:
                return found
        elif self._open is not None and self._open.role == role:
            return self._open
        message = GrowingMessage(role, message_id, sequence)
        self._messages[message] = None
        if message_id is not None:
            self._by_id[role, message_id] = message
        self._open = message if message_id is None else None
        return message

    def _make_room(self) -> None:
        while len(self._messages) > limits.MESSAGES or (
            self._weight > limits.MESSAGES_WEIGHT and len(self._messages) > 1
        ):
            oldest = next(iter(self._messages))
            del self._messages[oldest]
            if oldest.message_id is not None:
                del self._by_id[oldest.role, oldest.message_id]
            if oldest is self._open:
                self._open = None
            self._weight -= oldest.weight
            self.left_out += 1
