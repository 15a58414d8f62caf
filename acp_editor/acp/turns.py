"""Turns as version 2 tells them, for agents of either version.

In version 1 the turn is a request: its beginning, what the person said, the wait for a permission and
its end are told here, so that whoever listens need not know which version is spoken.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import anyio

from acp_editor.acp.rpc import RpcError
from acp_editor.core.model import (
    Json,
    MessageChunk,
    MessageUpsert,
    Notice,
    StateUpdate,
    Update,
    is_object,
)


@dataclass(slots=True, eq=False)
class Turn:
    """One prompt on its way; `blocks` are those of it that the agent has not echoed.

    `waiting` is the wait for its answer, which ends when the turn is given up.
    """

    session_id: str
    blocks: list[Json] = field(default_factory=list[Json])
    waiting: anyio.CancelScope | None = None
    abandoned: bool = False

    def abandon(self) -> None:
        self.abandoned = True
        if self.waiting is not None:
            self.waiting.cancel()


class Turns:
    """Reports the states of sessions by `report(session_id, update)`."""

    def __init__(self, version: Literal[1, 2], report: Callable[[str, Update], None]) -> None:
        self._version = version
        self._report = report
        self._prompts: dict[str, list[Turn]] = {}
        self._asked: Counter[str] = Counter()
        self._agent_says: dict[str, str] = {}

    def begin(self, session_id: str, blocks: list[Json]) -> Turn:
        """To be called when a prompt is about to be sent."""
        turn = Turn(session_id, list(blocks))
        self._prompts.setdefault(session_id, []).append(turn)
        self._report(session_id, StateUpdate("running"))  # before what is said, which belongs to the turn
        if self._version == 1:
            # Version 2's agents say it themselves, with an id of their own.
            self._report(session_id, MessageUpsert("user", uuid.uuid4().hex, tuple(blocks)))
        return turn

    def answered(self, turn: Turn, stop_reason: str | None) -> None:
        """Version 1: the answer to session/prompt is the end of the turn."""
        if self._close(turn):
            self._ended(turn.session_id, StateUpdate("idle", stop_reason))

    def accepted(self, turn: Turn) -> None:
        """Version 2: the prompt is in the conversation; states say what comes of it."""
        self._close(turn)

    def refused(self, turn: Turn, error: RpcError) -> None:
        if not self._close(turn):
            return
        if self._agent_says.get(turn.session_id, "idle") == "idle":
            self._ended(turn.session_id, StateUpdate("idle", None, error.to_json()))
        else:
            # Version 2: work that goes on is not ended by a prompt that was turned away.
            self._report(turn.session_id, Notice("error", f"The prompt was refused: {error.words}"))

    def abandon(self, session_id: str) -> None:
        """The turn is over for us, whatever the agent still does: a late answer ends no later turn."""
        for turn in self._prompts.pop(session_id, ()):
            turn.abandon()
        self._agent_says.pop(session_id, None)
        self._report(session_id, StateUpdate("idle", "cancelled"))

    def heard(self, session_id: str, update: Update) -> bool:
        """Takes note of an update; false where version 1's agent says the person's own words back."""
        match update:
            case StateUpdate():
                self._agent_says[session_id] = update.state
            case MessageChunk(role="user") if self._version == 1:
                for turn in self._prompts.get(session_id, ()):
                    if turn.blocks and _same(turn.blocks[0], update.content):
                        turn.blocks.pop(0)
                        return False
            case _:
                pass
        return True

    def asked(self, session_id: str) -> None:
        """Version 1: a request that only the person can answer holds the turn up."""
        self._asked[session_id] += 1
        if self._version == 1 and session_id in self._prompts:
            self._report(session_id, StateUpdate("requires_action"))

    def settled(self, session_id: str) -> None:
        self._asked[session_id] -= 1
        if self._version == 1 and not self._asked[session_id] and session_id in self._prompts:
            self._report(session_id, StateUpdate("running"))

    def _ended(self, session_id: str, end: StateUpdate) -> None:
        self._report(session_id, end)
        if session_id in self._prompts:
            # The agent takes prompts in mid turn, and the next one is on its way.
            self._report(session_id, StateUpdate("running"))

    def _close(self, turn: Turn) -> bool:
        """False for a turn that was abandoned."""
        prompts = self._prompts.get(turn.session_id, [])
        if turn not in prompts:
            return False
        prompts.remove(turn)
        if not prompts:
            del self._prompts[turn.session_id]
        return True


def _same(one: Json, other: Json) -> bool:
    if is_object(one) and is_object(other) and one.get("type") == other.get("type") == "text":
        return one.get("text") == other.get("text")
    return bool(one == other)
