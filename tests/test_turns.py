"""Prompts and turns of one session: order, cancelling, and what happens when something fails."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import cast

import anyio
import pytest
from waiting import until

from acp_editor.acp.agent import Agent
from acp_editor.acp.connection import ConnectionClosed
from acp_editor.app.sessions import Entry, Sessions
from acp_editor.app.turns import Turns
from acp_editor.core.model import AgentInfo, Capabilities, Json

pytestmark = pytest.mark.anyio


class Peer:
    """What turns ask of an agent, written down."""

    def __init__(self, queues: bool = False) -> None:
        self.info = AgentInfo(protocol=1, capabilities=Capabilities(prompt_queueing=queues))
        self.said: list[str] = []
        self.gone = False

    async def prompt(self, session_id: str, blocks: list[Json]) -> None:
        if self.gone:
            raise ConnectionClosed("gone")
        self.said.append(blocks[0])

    def cancel(self, session_id: str) -> None:
        self.said.append("(cancel)")

    def abandon(self, session_id: str) -> None:
        self.said.append("(abandon)")


class Scene:
    def __init__(self, group: anyio.abc.TaskGroup, peer: Peer, grace: float = 60) -> None:
        self.peer = peer
        self.entry = Sessions().seen("agent", "s1", "/ws")
        self.ready = anyio.Event()
        self.ready.set()
        self.fails = False
        self.over = 0
        self.withdrawn: list[list[str]] = []
        """What the peer had heard each time that questions to the person were withdrawn."""
        self.faults: list[tuple[str, str]] = []
        self.turns = Turns(
            group,
            self._withdraw,
            self._before,
            lambda entry: None,
            self._over,
            lambda: grace,
            lambda agent, fault: self.faults.append((agent, fault.code)),
        )

    async def _before(self, entry: object) -> None:
        await self.ready.wait()
        if self.fails:
            raise OSError("no space")

    def _withdraw(self, entry: Entry, why: str) -> None:
        self.withdrawn.append(list(self.peer.said))

    def _over(self, entry: object) -> None:
        self.over += 1

    async def prompt(self, text: str) -> None:
        await self.turns.prompt(self.entry, cast("Agent", self.peer), [text])

    def cancel(self) -> None:
        self.turns.cancel(self.entry, cast("Agent", self.peer))

    def end(self) -> None:
        self.turns.ended(self.entry, cast("Agent", self.peer))


@asynccontextmanager
async def scene(*, queues: bool = False, grace: float = 60) -> AsyncGenerator[Scene]:
    async with anyio.create_task_group() as group:
        yield Scene(group, Peer(queues), grace)
        group.cancel_scope.cancel()


async def test_queued_prompts_go_out_one_a_turn_and_in_order() -> None:
    async with scene() as it:
        for text in "abc":
            await it.prompt(text)
        assert it.peer.said == ["a"]
        it.end()
        await it.prompt("d")  # right behind the end: b and c come first all the same
        for said in ("ab", "abc", "abcd"):
            await until(lambda said=said: it.peer.said == list(said))
            it.end()
        assert it.over == 4


async def test_a_prompt_in_mid_turn_goes_at_once_to_an_agent_that_takes_it_but_not_before_the_first() -> None:
    async with scene(queues=True) as it, anyio.create_task_group() as group:
        it.ready = anyio.Event()
        group.start_soon(it.prompt, "a")
        await until(lambda: it.entry.running)
        await it.prompt("b")
        assert it.peer.said == []
        it.ready.set()
        await until(lambda: it.peer.said == ["a", "b"])
        await it.prompt("c")
        assert it.peer.said == ["a", "b", "c"]


async def test_a_prompt_that_is_cancelled_before_it_went_out_never_goes_out() -> None:
    async with scene() as it, anyio.create_task_group() as group:
        it.ready = anyio.Event()
        group.start_soon(it.prompt, "a")
        await until(lambda: it.entry.running)
        it.cancel()
        it.ready.set()
        await until(lambda: it.peer.said == ["(abandon)"])
        it.end()
        await it.prompt("b")
        assert it.peer.said == ["(abandon)", "b"]


async def test_a_turn_that_cannot_begin_is_over_and_the_next_prompt_goes() -> None:
    async with scene() as it:
        it.fails = True
        with pytest.raises(OSError, match="no space"):
            await it.prompt("a")
        assert not it.entry.running
        assert it.over == 1
        it.fails = False
        await it.prompt("b")
        assert it.peer.said == ["b"]


async def test_a_prompt_whose_command_is_cancelled_leaves_the_session_idle() -> None:
    async with scene() as it:
        it.ready = anyio.Event()
        with anyio.move_on_after(0.01):
            await it.prompt("a")
        assert (it.entry.running, it.over, it.peer.said) == (False, 1, [])


async def test_an_agent_that_dies_ends_the_turn() -> None:
    async with scene() as it:
        it.peer.gone = True
        with pytest.raises(ConnectionClosed):
            await it.prompt("a")
        assert not it.entry.running


async def test_an_agent_that_does_not_stop_is_given_up_after_the_grace_period() -> None:
    async with scene(grace=0.01) as it:
        await it.prompt("a")
        it.cancel()
        await until(lambda: it.peer.said == ["a", "(cancel)", "(abandon)"])
        assert it.faults == [("agent", "cancel_unanswered")]


async def test_a_grace_period_is_for_the_turn_that_was_cancelled_and_no_other() -> None:
    async with scene(grace=0.05) as it:
        await it.prompt("a")
        it.cancel()
        it.end()
        await it.prompt("b")
        await anyio.sleep(0.1)
        assert it.peer.said == ["a", "(cancel)", "b"]
        assert it.withdrawn[0] == ["a", "(cancel)"]
        assert it.faults == []


async def test_an_idle_from_before_our_prompt_went_out_ends_nothing() -> None:
    async with scene() as it, anyio.create_task_group() as group:
        it.ready = anyio.Event()
        group.start_soon(it.prompt, "a")
        await until(lambda: it.entry.running)
        it.end()
        assert it.entry.running
        it.ready.set()
