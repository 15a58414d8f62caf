"""What a fork takes over from the session that it was made from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .model import Fork, ToolCall

if TYPE_CHECKING:
    from .session import Session


def fork_of(session: Session) -> Fork:
    """Its conversation so far as history: no call of it runs in the fork, and no terminal."""
    before = session.fork or Fork()
    own = [
        replace(item, ended=True, replayed=True) if isinstance(item, ToolCall) else item
        for item in session.own_items
    ]
    calls = {item.tool_call_id: item for item in own if isinstance(item, ToolCall)}
    return Fork(
        session.title,
        (*before.items, *own),
        session.messages,
        {**before.calls, **calls},
        {key: each for key, each in session.terminals.items() if each.exit_status is not None},
        session.left_out,
        session.sizes,
    )
