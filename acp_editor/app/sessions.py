"""Which sessions there are: by the name that editors know them by, and by what their agent calls them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import anyio

from acp_editor.core.model import Json
from acp_editor.core.session import Session


@dataclass(slots=True, eq=False)
class Entry:
    """One session and what surrounds it. `key` is its public name, `own_id` the agent's."""

    key: str
    own_id: str
    agent: str
    session: Session
    queue: deque[list[Json]] = field(default_factory=deque[list[Json]])
    """Prompts that wait for the turn to end."""
    running: bool = False
    """A turn is on its way, for us; the agent may see it otherwise."""
    sent: bool = False
    """The turn's prompt is on its way."""
    over: anyio.Event = field(default_factory=anyio.Event)
    """Set when the turn that runs is over."""
    turn: int = 0
    """Counts our prompts, so that a grace period ends the turn that it was meant for."""
    closed: bool = False
    started: bool = False
    """The agent has answered session/new, or the like, for it."""

    @property
    def cwd(self) -> str:
        return self.session.cwd


class Sessions:
    """All sessions, oldest first. Where two agents chose one id, the later is known as `agent:id`."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._by_agent: dict[tuple[str, str], Entry] = {}
        self.active: Entry | None = None

    def __iter__(self) -> Iterator[Entry]:
        return iter(list(self._entries.values()))

    def get(self, key: str) -> Entry | None:
        return self._entries.get(key)

    def of(self, agent: str, own_id: str) -> Entry | None:
        return self._by_agent.get((agent, own_id))

    def seen(self, agent: str, own_id: str, cwd: str) -> Entry:
        """The agent's session of that id, made where it was not known: it is kept from first sight."""
        entry = self._by_agent.get((agent, own_id))
        if entry is None:
            key = own_id if own_id not in self._entries else f"{agent}:{own_id}"
            while key in self._entries:
                key += "'"
            entry = Entry(key, own_id, agent, Session(key, agent, cwd))
            self._entries[key] = entry
            self._by_agent[agent, own_id] = entry
        return entry

    def of_agent(self, agent: str) -> list[Entry]:
        return [entry for entry in self._entries.values() if entry.agent == agent]

    def remove(self, entry: Entry) -> None:
        entry.closed = True
        self._entries.pop(entry.key, None)
        self._by_agent.pop((entry.agent, entry.own_id), None)
        if self.active is entry:
            self.active = next(reversed(self._entries.values()), None)
