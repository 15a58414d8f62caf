"""Sessions that an agent speaks of and nobody asked for: what all of one agent's may weigh together."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from acp_editor.app.sessions import Entry
from acp_editor.core import limits
from acp_editor.core.model import (
    Fault,
    PermissionRequest,
    Replay,
    StateUpdate,
    TerminalChunk,
    TerminalUpsert,
    Update,
)
from acp_editor.core.session import Session

if TYPE_CHECKING:
    from acp_editor.app.app import App

_AT_A_LOOK: Final = limits.UNINVITED * 3 // 4
"""What they may weigh when it is looked up, so that there is room until the next time."""
_LEAST: Final = limits.UNINVITED // 1024
"""What an update counts for that is not kept, so that it is soon looked whether there is room again."""

_ALWAYS: Final = (StateUpdate, Replay, PermissionRequest)
"""What is small, or bounded elsewhere, and what else hangs on."""


class Uninvited:
    """Where they weigh too much, the oldest goes; where none can go, what more is said is not kept.

    How much each weighs is counted by what it was told, and looked up only when that may be too much.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._weights: Counter[str] = Counter()
        self._next: dict[str, int] = {}
        """The weight at which it is looked up again."""
        self._full: set[str] = set()

    def admits(self, entry: Entry, update: Update) -> bool:
        """Counts an update for a session that nobody asked for; false where it is not to be kept."""
        if entry.closed:
            return False
        agent = entry.agent
        heavy = limits.weight(update) + _output(update)
        self._weights[agent] += max(heavy, _LEAST) if agent in self._full else heavy
        if self._weights[agent] > self._next.get(agent, limits.UNINVITED):
            self._look(agent)
        return not entry.closed and (agent not in self._full or isinstance(update, _ALWAYS))

    def _look(self, agent: str) -> None:
        total, gone = self._close_oldest(agent)
        if gone:
            message = "Sessions that nobody asked for weigh too much together; the oldest were closed."
            self._app.fault(agent, Fault("uninvited_closed", message, ", ".join(gone)[: limits.FAULT]))
        full = total > _AT_A_LOOK
        if full:
            message = (
                "Sessions that nobody asked for weigh too much together; what more they say is not kept."
            )
            self._app.fault(agent, Fault("uninvited_left_out", message, ""))
        (self._full.add if full else self._full.discard)(agent)
        self._weights[agent] = total
        self._next[agent] = total + limits.UNINVITED - _AT_A_LOOK

    def _close_oldest(self, agent: str) -> tuple[int, list[str]]:
        """What those weigh that are left, and the agent's names of those that were closed."""
        found = [
            (entry, weight(entry.session)) for entry in self._app.sessions.of_agent(agent) if not entry.asked
        ]
        total = sum(heavy for _, heavy in found)
        gone: list[str] = []
        for entry, heavy in found:
            if total <= _AT_A_LOOK:
                break
            if heavy > limits.MIB and self._may_go(entry):  # as many light ones as there may be do fit
                gone.append(entry.own_id)
                total -= heavy
                self._app.consequences.session_closed(entry)
        return total, gone

    def _may_go(self, entry: Entry) -> bool:
        sessions, permissions = self._app.sessions, self._app.permissions
        return not entry.running and entry is not sessions.active and not permissions.of(entry)


def weight(session: Session) -> int:
    """About the bytes of all that a session keeps."""
    rest = (
        session.plans,
        session.compactions,
        session.commands,
        session.config,
        list(session.notices),
        list(session.unknown),
        session.meta,
    )
    return sum(heavy for _, heavy in session.sizes) + limits.weight(rest)


def _output(update: Update) -> int:
    """Bytes of a terminal's output, which `limits.weight` passes over."""
    match update:
        case TerminalChunk(data=data):
            return len(data)
        case TerminalUpsert(output=bytes(data)):
            return len(data)
        case _:
            return 0
