"""A session of the built-in agent: its settings, what was told in it, and the turn that runs."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup

from acp_editor.acp.connection import ConnectionClosed, RpcError
from acp_editor.agents import offers, scripts
from acp_editor.agents.events import TurnEnded
from acp_editor.agents.prompt import Prompt
from acp_editor.agents.turn import PACES, Client, Mode, Pace, Turn, TurnCancelled
from acp_editor.core.errors import named
from acp_editor.core.model import Json

logger = logging.getLogger(__name__)

_REMEMBERED: Final = frozenset(
    {
        "user_message_chunk",
        "user_message",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "terminal_update",
        "terminal_output_chunk",
        "plan",
        "plan_update",
    }
)
"""Updates that a replay tells again."""


@dataclass(slots=True)
class Session:
    """Lives as long as the process; `roots` are its folder, then the additional ones."""

    client: Client
    tasks: TaskGroup
    roots: tuple[str, ...]
    pace: str
    mode: Mode = "ask"
    title: str | None = None
    session_id: str = field(default_factory=lambda: f"demo_{uuid4().hex[:12]}")
    history: list[Json] = field(default_factory=list[Json])
    running: anyio.CancelScope | None = None
    stoppable: dict[str, anyio.CancelScope] = field(default_factory=dict[str, anyio.CancelScope])

    def settings(self) -> tuple[Mode, Pace]:
        return self.mode, PACES[self.pace]

    def cancel(self) -> None:
        if self.running is not None:
            self.running.cancel()

    # -- telling -------------------------------------------------------------------------------

    def tell(self, update: Json) -> None:
        if update["sessionUpdate"] in _REMEMBERED:
            self.history.append(update)
        self._notify(update)

    def replay(self) -> None:
        for update in self.history:
            self._notify(update)

    def announce_soon(self) -> None:
        """Tells version 1 the slash commands, after the answer that the caller is about to give."""
        self.tasks.start_soon(self._announce)

    async def _announce(self) -> None:
        commands = offers.command_items(scripts.COMMANDS, self.client.version)
        self.tell({"sessionUpdate": "available_commands_update", "availableCommands": commands})

    def _notify(self, update: Json) -> None:
        params = {"sessionId": self.session_id, "update": update}
        self.client.connection.notify("session/update", params)

    # -- turns ---------------------------------------------------------------------------------

    async def prompted(self, asked: Prompt, blocks: list[Json]) -> Json:
        """The answer to the prompt: in version 1 after the turn, in version 2 before it."""
        message_id = uuid4().hex
        self.running = anyio.CancelScope()
        if self.client.version == 1:
            # The client has shown the message already; it is kept for a replay.
            chunk = {"sessionUpdate": "user_message_chunk", "messageId": message_id}
            self.history += [chunk | {"content": block} for block in blocks]
            return {"stopReason": await self._turn(asked, self.running)}
        self.tell({"sessionUpdate": "user_message", "messageId": message_id, "content": blocks})
        self.tasks.start_soon(self._detached, asked, self.running)
        return {"messageId": message_id}

    async def _detached(self, asked: Prompt, scope: anyio.CancelScope) -> None:
        """A turn of version 2, whose end is an update."""
        self.tell({"sessionUpdate": "state_update", "state": "running"})
        idle: dict[str, Json] = {"sessionUpdate": "state_update", "state": "idle"}
        try:
            idle["stopReason"] = await self._turn(asked, scope)
        except Exception as error:
            logger.exception("the turn failed")
            failure = {"code": -32603, "message": f"The turn failed: {named(error)}"}
            idle |= {"stopReason": "error", "error": failure}
        self.tell(idle)

    async def _turn(self, asked: Prompt, scope: anyio.CancelScope) -> str:
        """Plays the turn to its stop reason, and leaves no call open whatever happens."""
        turn = Turn(
            client=self.client,
            session_id=self.session_id,
            roots=self.roots,
            settings=self.settings,
            tell=self.tell,
            detach=self._detach,
            stoppable=self.stoppable,
        )
        cancelled = True
        try:
            with scope:
                self._entitle(asked.text)
                await scripts.play(turn, asked)
                cancelled = False
        except TurnCancelled:
            pass
        except Exception:
            cancelled = False
            raise
        finally:
            self.running = None
            turn.emit(TurnEnded(cancelled))
        return "cancelled" if cancelled else "end_turn"

    def _entitle(self, text: str) -> None:
        if self.title is None and text:
            self.title = text.splitlines()[0][:80]
            self.tell({"sessionUpdate": "session_info_update", "title": self.title})

    def _detach(self, work: Callable[[], Awaitable[None]]) -> None:
        self.tasks.start_soon(_quietly, work)


async def _quietly(work: Callable[[], Awaitable[None]]) -> None:
    """For work whose failure changes nothing any more."""
    with contextlib.suppress(RpcError, ConnectionClosed):
        await work()
