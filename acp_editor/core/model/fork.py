"""What a session that was forked from another knows of the time before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

from acp_editor.core.model.calls import ToolCall
from acp_editor.core.model.session import Terminal
from acp_editor.core.model.transcript import Message


@dataclass(frozen=True, slots=True)
class Fork:
    """The session begins as a copy of another, of which this is known: its `items`, in their order.

    It is shown before the session's own until the agent tells that history itself. `title` is the other's.
    """

    title: str | None = None
    items: tuple[Message | ToolCall, ...] = ()
    messages: tuple[Message, ...] = ()
    calls: Mapping[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    terminals: Mapping[str, Terminal] = field(default_factory=dict[str, Terminal])
    left_out: int = 0
    sizes: tuple[tuple[int, int], ...] = ()
    """Of calls, messages and terminals, as `Session.sizes` has them."""

    @property
    def name(self) -> str | None:
        """What the fork is called until the agent gives it a title."""
        return f"{self.title} (fork)" if self.title else None

    def added_to(self, sizes: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        """Sizes of a session together with these."""
        both = zip_longest(sizes, self.sizes, fillvalue=(0, 0))
        return tuple((count + more, size + weight) for (count, size), (more, weight) in both)
