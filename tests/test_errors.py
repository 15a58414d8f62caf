"""Errors in words: nobody reads "unhandled errors in a TaskGroup (1 sub-exception)"."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import anyio
import anyio.abc
import pytest
from waiting import until

from acp_editor.acp.agent import Agent, AgentSpec
from acp_editor.app.agents import Agents, Slot
from acp_editor.app.app import App
from acp_editor.app.commands.registry import COMMANDS, Commands
from acp_editor.core.errors import leaves, named, words
from acp_editor.core.model import AgentInfo
from acp_editor.lsp.protocol import CommandError

GROUP = ExceptionGroup(
    "unhandled errors in a TaskGroup",
    [OSError("disk full"), ExceptionGroup("while", [OSError("disk full"), KeyError("uri")]), ValueError()],
)


def test_a_group_says_what_its_leaves_say_each_once() -> None:
    assert [type(leaf) for leaf in leaves(GROUP)] == [OSError, OSError, KeyError, ValueError]
    assert words(GROUP) == "disk full; KeyError: 'uri'; ValueError"
    assert named(GROUP) == "OSError: disk full; KeyError: 'uri'; ValueError: "


def test_any_other_error_says_what_it_says() -> None:
    assert words(RuntimeError("no")) == "no"
    assert named(RuntimeError("no")) == "RuntimeError: no"
    assert words(TimeoutError()) == "TimeoutError"


@pytest.mark.anyio
async def test_a_command_that_fails_in_a_task_says_what_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(commands: Commands, arguments: object) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(_fail)

    monkeypatch.setitem(COMMANDS, "acpEditor.fails", fails)
    commands = Commands(cast("App", SimpleNamespace(scrub=lambda text: text)))
    with pytest.raises(CommandError) as raised:
        await commands.run("acpEditor.fails", None)
    assert raised.value.message == "the disk is gone"


async def _fail() -> None:
    raise RuntimeError("the disk is gone")


@pytest.mark.anyio
@pytest.mark.parametrize("ready", [False, True])
async def test_an_error_nobody_thought_of_ends_the_agent_alone_and_says_what_it_was(
    monkeypatch: pytest.MonkeyPatch, ready: bool
) -> None:
    async def run(self: Agent, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        async with anyio.create_task_group() as group:
            if ready:
                self.info = AgentInfo(protocol=1)
                task_status.started()
            group.start_soon(_fail)

    monkeypatch.setattr(Agent, "run", run)
    ended: list[str] = []
    async with anyio.create_task_group() as group:
        agents = Agents(
            group,
            cast("Callable[[str], Any]", lambda name: SimpleNamespace(session_update=None, fault=None)),
            lambda slot: None,
            lambda slot, reason: ended.append(reason),
            cast("Any", SimpleNamespace(recorder=lambda *about: SimpleNamespace(line=None, noise=None))),
        )
        agents.configure({"one": AgentSpec("one", sys.executable)})
        if ready:
            await agents.ensure("one")
            await until(lambda: ended)
        else:
            with pytest.raises(CommandError, match="the disk is gone"):
                await agents.ensure("one")
        slot: Slot = agents.slot("one")
        assert (slot.state, slot.error) == ("failed", "one is given up: the disk is gone.")
