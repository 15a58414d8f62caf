"""One turn of the built-in agent: telling, pacing and asking."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias
from uuid import uuid4

import anyio

from acp_editor.acp.connection import Connection, RpcError
from acp_editor.agents.content import Version
from acp_editor.agents.events import (
    ApprovalWanted,
    Event,
    PlanChanged,
    Reasoning,
    Text,
    ToolArgumentsDelta,
    ToolArgumentsDone,
    ToolCallBegan,
)
from acp_editor.agents.mapper import Mapper
from acp_editor.core.model import Json, Location, PlanEntry

Answer: TypeAlias = Literal["allow", "allow_all", "reject"]
Mode: TypeAlias = Literal["ask", "plan"]


@dataclass(frozen=True, slots=True)
class Pace:
    """How long it takes: seconds for each few words, and for a person to look at something."""

    words: float
    look: float


PACES: Final = {"calm": Pace(0.06, 1.2), "brisk": Pace(0.02, 0.4), "instant": Pace(0, 0)}

_ALLOW: Final = {"optionId": "allow", "name": "Allow", "kind": "allow_once"}
_ALLOW_ALL: Final = {"optionId": "allow_all", "name": "Allow all edits of this turn", "kind": "allow_always"}
_REJECT: Final = {"optionId": "reject", "name": "Reject", "kind": "reject_once"}


class TurnCancelled(Exception):
    """The person cancelled by way of a permission request."""


@dataclass(frozen=True, slots=True)
class Client:
    """Who is served: the connection, and what the client said it can (version 1 only)."""

    connection: Connection
    version: Version
    reads: bool = False
    writes: bool = False
    terminals: bool = False


@dataclass(slots=True)
class Turn:
    """What the scripts of the agent work with; `tell` sends and keeps an update of the session."""

    client: Client
    session_id: str
    roots: tuple[str, ...]
    """The session's folder, then the additional ones."""
    settings: Callable[[], tuple[Mode, Pace]]
    tell: Callable[[Json], None]
    detach: Callable[[Callable[[], Awaitable[None]]], None]
    """Runs something that may outlive the turn."""
    stoppable: dict[str, anyio.CancelScope]
    """What can be cancelled by itself, by tool call id and by terminal id."""
    mapper: Mapper = field(init=False)
    allows_edits: bool = False

    def __post_init__(self) -> None:
        self.mapper = Mapper(self.client.version)

    @property
    def cwd(self) -> str:
        return self.roots[0]

    @property
    def plan_only(self) -> bool:
        return self.settings()[0] == "plan"

    def emit(self, event: Event) -> None:
        for update in self.mapper.updates(event):
            self.tell(update)

    # -- telling -------------------------------------------------------------------------------

    async def look(self, times: float = 1) -> None:
        """Gives the person time to look."""
        await anyio.sleep(self.settings()[1].look * times)

    async def say(self, text: str) -> None:
        for piece in _pieces(text):
            self.emit(Text(piece))
            await anyio.sleep(self.settings()[1].words)

    async def think(self, text: str) -> None:
        for piece in _pieces(text):
            self.emit(Reasoning(piece))
            await anyio.sleep(self.settings()[1].words)

    def plan(self, *steps: str | PlanEntry) -> Plan:
        """Tells a plan, whose entries are then moved on one by one."""
        entries = [PlanEntry(step) if isinstance(step, str) else step for step in steps]
        return Plan(self, entries)

    def begin(
        self, name: str, title: str, kind: str, arguments: Json, locations: tuple[Location, ...] = ()
    ) -> str:
        """Announces a tool call with its arguments and returns its id."""
        call_id = f"call_{uuid4().hex[:12]}"
        cancellable = kind == "execute"
        self.emit(ToolCallBegan(call_id, name, title, kind, locations, cancellable))
        self.emit(ToolArgumentsDelta(call_id, json.dumps(arguments)))
        self.emit(ToolArgumentsDone(call_id))
        return call_id

    # -- asking --------------------------------------------------------------------------------

    async def ask(self, wanted: ApprovalWanted, *, edit: bool) -> Answer:
        """The person's answer; edits may be allowed for the whole turn. Raises TurnCancelled."""
        if edit and self.allows_edits:
            return "allow_all"
        approval = self.mapper.approval(wanted)
        for update in approval.updates:
            self.tell(update)
        options = [_ALLOW, _ALLOW_ALL, _REJECT] if edit else [_ALLOW, _REJECT]
        params = {"sessionId": self.session_id, **approval.params, "options": options}
        self._state("requires_action")
        try:
            result = await self.client.connection.request("session/request_permission", params)
        except RpcError:
            result = None  # a client that cannot ask has not allowed anything
        self._state("running")
        match result:
            case {"outcome": {"outcome": "selected", "optionId": "allow"}}:
                return "allow"
            case {"outcome": {"outcome": "selected", "optionId": "allow_all"}} if edit:
                self.allows_edits = True
                return "allow_all"
            case {"outcome": {"outcome": "cancelled"}}:
                raise TurnCancelled
            case _:
                return "reject"

    def _state(self, state: str) -> None:
        if self.client.version == 2:
            self.tell({"sessionUpdate": "state_update", "state": state})


@dataclass(slots=True)
class Plan:
    """A plan that was told; every change tells it anew."""

    turn: Turn
    entries: list[PlanEntry]

    def __post_init__(self) -> None:
        self._tell()

    def start(self, index: int) -> None:
        self._move(index, "in_progress")

    def done(self, index: int) -> None:
        self._move(index, "completed")

    def _move(self, index: int, status: str) -> None:
        self.entries[index] = replace(self.entries[index], status=status)
        self._tell()

    def _tell(self) -> None:
        self.turn.emit(PlanChanged(tuple(self.entries)))


def _pieces(text: str) -> list[str]:
    """A few words each, as models stream them; joined they are `text`."""
    words = text.split(" ")
    joined = [word + " " for word in words[:-1]] + words[-1:]
    return ["".join(joined[start : start + 3]) for start in range(0, len(joined), 3)]
