"""Prompts and turns: one at a time for a session, queued behind the one that runs, cancelled with grace."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio
import anyio.abc

from acp_editor.acp.agent import Agent
from acp_editor.acp.connection import ConnectionClosed
from acp_editor.app.sessions import Entry
from acp_editor.core import limits
from acp_editor.core.model import Fault, Json

logger = logging.getLogger(__name__)


class Turns:
    """`before` is awaited before a prompt goes out, `over` is called when its turn has ended.

    `withdraw` is to answer for the person whatever the session still asks, and is told why.
    `begun` is called for a turn that no prompt of ours began, `fault` for an agent that does not stop.
    """

    def __init__(
        self,
        group: anyio.abc.TaskGroup,
        withdraw: Callable[[Entry, str], None],
        before: Callable[[Entry], Awaitable[None]],
        begun: Callable[[Entry], None],
        over: Callable[[Entry], None],
        grace: Callable[[], float],
        fault: Callable[[str, Fault], None],
    ) -> None:
        self._group = group
        self._withdraw = withdraw
        self._before = before
        self._begun = begun
        self._over = over
        self._grace = grace
        self._fault = fault

    async def prompt(self, entry: Entry, agent: Agent, blocks: list[Json]) -> None:
        """Sends a prompt, or queues it where a turn runs and the agent takes no prompt in mid turn."""
        at_once = entry.sent and agent.info.capabilities.prompt_queueing
        if entry.queue or (entry.running and not at_once):
            entry.queue.append(blocks)
            return
        await self._send(entry, agent, blocks)

    async def _send(self, entry: Entry, agent: Agent, blocks: list[Json]) -> None:
        if not entry.running:
            turn = self._count(entry)
            try:
                await self._before(entry)
            except BaseException:
                entry.sent = True
                self.ended(entry, agent)
                raise
            if not entry.running or entry.turn != turn:
                raise ConnectionClosed(f"{entry.agent} ended before the prompt was sent")
            entry.sent = True
            if entry.cancelled:  # the agent has never heard of it, so there is nothing to wait for
                agent.abandon(entry.own_id)
                return
        entry.cancelled = False
        try:
            await agent.prompt(entry.own_id, blocks)
            while entry.queue and agent.info.capabilities.prompt_queueing:
                await agent.prompt(entry.own_id, entry.queue.popleft())
        except ConnectionClosed:
            self.ended(entry, None)
            raise

    def begun(self, entry: Entry) -> None:
        """The agent began a turn by itself, as version 2 lets it."""
        self._count(entry)
        entry.sent = True
        self._begun(entry)

    def _count(self, entry: Entry) -> int:
        entry.running = True
        entry.sent = entry.cancelled = False
        entry.over = anyio.Event()
        entry.turn += 1
        return entry.turn

    def cancel(self, entry: Entry, agent: Agent | None) -> None:
        """Asks the agent to stop. After the grace period the turn is over for us, whatever it does."""
        entry.queue.clear()
        if not entry.running:
            return
        entry.cancelled = True
        if not entry.sent:
            return
        if agent is not None:
            agent.cancel(entry.own_id)  # before the answers below: to some agents the order matters
        self._withdraw(entry, "cancelled with its turn")
        if agent is not None:
            self._group.start_soon(self._give_grace, entry, agent, entry.turn)

    def ended(self, entry: Entry, agent: Agent | None) -> None:
        """The session has become idle: open requests are answered, the next prompt goes out.

        An agent that says so before our prompt is on its way means an earlier turn.
        """
        if not entry.running or (not entry.sent and agent is not None):
            return
        entry.running = entry.sent = entry.cancelled = False
        entry.over.set()
        if agent is None or agent.info.protocol == 1:
            self._withdraw(entry, "cancelled with its turn")
        self._over(entry)
        if entry.queue and agent is not None and not entry.closed:
            self._group.start_soon(self._next, entry, agent)

    async def _next(self, entry: Entry, agent: Agent) -> None:
        if entry.running or not entry.queue:
            return
        try:
            await self._send(entry, agent, entry.queue.popleft())
        except ConnectionClosed as error:
            logger.warning("a queued prompt could not be sent: %s", error)

    async def _give_grace(self, entry: Entry, agent: Agent, turn: int) -> None:
        seconds = self._grace()
        with anyio.move_on_after(seconds):
            await entry.over.wait()
        if entry.running and entry.turn == turn:
            message = f"session/cancel did not end the turn within {seconds:g} seconds."
            self._fault(entry.agent, Fault("cancel_unanswered", message, entry.own_id[: limits.FAULT]))
            agent.abandon(entry.own_id)
