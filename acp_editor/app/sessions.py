"""Which sessions there are: by the name that editors know them by, and by what their agent calls them."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio

from acp_editor.core import limits
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
    cancelled: bool = False
    """The person has cancelled the turn that runs."""
    closed: bool = False
    asked: bool = False
    """The person wants it: has opened, selected, prompted or read it."""
    started: bool = False
    """The agent has answered session/new, or the like, for it."""
    successor: Entry | None = None
    """The session that took its place when its agent could not take it up again."""

    @property
    def cwd(self) -> str:
        return self.session.cwd


MOST_UNASKED: Final = 64
"""Sessions of one agent that it speaks of and nobody has asked for; what it says of more is not kept."""


MOST_CLOSED: Final = 10_000
"""Sessions that were closed, the newest, of which late words are nobody's."""


def _unseen(agent: str, own_id: str, cwd: str) -> Entry:
    """For what has to go somewhere and is seen by nobody."""
    return Entry(own_id, own_id, agent, Session(own_id, agent, cwd), closed=True)


class Sessions:
    """All sessions, oldest first. Where two agents chose one id, the later is known as `agent:id`."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._by_agent: dict[tuple[str, str], Entry] = {}
        self._closed: dict[tuple[str, str], None] = {}
        self._opening: Counter[str] = Counter()
        self.folders: dict[tuple[str, str], str] = {}
        """Where sessions are that an agent has listed and that were not taken up yet."""
        self.titles: dict[tuple[str, str], str | None] = {}
        """What they are called."""
        self._active: Entry | None = None

    @property
    def active(self) -> Entry | None:
        """The one that is meant where none is named."""
        return self._active

    @active.setter
    def active(self, entry: Entry) -> None:
        """One that was closed while its agent was started, or the like, stays closed."""
        if not entry.closed:
            entry.asked = True
            self._active = entry

    def __iter__(self) -> Iterator[Entry]:
        return iter(list(self._entries.values()))

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str) -> Entry | None:
        return self._entries.get(key)

    def of(self, agent: str, own_id: str) -> Entry | None:
        return self._by_agent.get((agent, own_id))

    def seen(self, agent: str, own_id: str, cwd: str) -> Entry:
        """The agent's session of that id, made where it was not known: it is kept from first sight.

        What an agent still says of a closed session is for an entry that nobody sees.
        """
        if (entry := self._by_agent.get((agent, own_id))) is not None:
            return entry
        if (agent, own_id) in self._closed and not self._opening[agent]:
            return _unseen(agent, own_id, cwd)
        if len(own_id) > limits.IDENT or self._unasked(agent) >= MOST_UNASKED:
            return _unseen(agent, own_id, cwd)
        return self._make(agent, own_id, cwd)

    def _unasked(self, agent: str) -> int:
        return sum(not entry.asked for entry in self._entries.values() if entry.agent == agent)

    def open(self, agent: str, own_id: str, cwd: str) -> Entry:
        """The agent's session of that id, which the person wants, begun anew where it was closed."""
        entry = self._by_agent.get((agent, own_id)) or self._make(agent, own_id, cwd)
        entry.asked = True
        return entry

    def _make(self, agent: str, own_id: str, cwd: str) -> Entry:
        self._closed.pop((agent, own_id), None)
        key = self.name_of(agent, own_id)
        entry = Entry(key, own_id, agent, Session(key, agent, cwd))
        self._entries[key] = entry
        self._by_agent[agent, own_id] = entry
        return entry

    @contextmanager
    def opening(self, agent: str) -> Generator[None]:
        """While a new session is asked for, its id may be one that was closed: some agents count from 1."""
        self._opening[agent] += 1
        try:
            yield
        finally:
            self._opening[agent] -= 1

    def name_of(self, agent: str, own_id: str) -> str:
        """The public name of an agent's session, also of one that is not known yet."""
        if (entry := self._by_agent.get((agent, own_id))) is not None:
            return entry.key
        key = own_id if own_id not in self._entries else f"{agent}:{own_id}"
        while key in self._entries:
            key += "'"
        return key

    def named(self, key: str, agent: str) -> tuple[Entry | None, str]:
        """What a public name means for that agent: a session that is known, or the agent's own id for it."""
        if (entry := self._entries.get(key)) is not None and entry.agent == agent:
            return entry, entry.own_id
        own_id = key
        if key.startswith(f"{agent}:") and key[len(agent) + 1 :] in self._entries:
            own_id = key[len(agent) + 1 :]
        return self._by_agent.get((agent, own_id)), own_id

    def of_agent(self, agent: str) -> list[Entry]:
        return [entry for entry in self._entries.values() if entry.agent == agent]

    def agent_gone(self, agent: str) -> None:
        """A new process of that agent knows nothing of what was closed."""
        self._closed = {key: None for key in self._closed if key[0] != agent}

    def remove(self, entry: Entry) -> None:
        entry.closed = True
        self._closed[entry.agent, entry.own_id] = None
        if len(self._closed) > MOST_CLOSED:
            del self._closed[next(iter(self._closed))]
        self._entries.pop(entry.key, None)
        self._by_agent.pop((entry.agent, entry.own_id), None)
        if self._active is entry:
            self._active = next(reversed(self._entries.values()), None)
