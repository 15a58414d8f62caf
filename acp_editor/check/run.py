"""An agent checked in each version that it speaks, each time in a process of its own."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import anyio
from anyio.abc import TaskStatus

from acp_editor.acp.agent import Agent, AgentFailed, AgentSpec
from acp_editor.acp.connection import ConnectionClosed
from acp_editor.check.conversation import FILES, PROMPT, Conversation, Step
from acp_editor.check.host import CheckHost
from acp_editor.core.model import AgentInfo, Fault

START_SECONDS = 120.0
"""Some agents are downloaded by their command the first time."""

Version = Literal[1, 2]


@dataclass(frozen=True, slots=True)
class Run:
    """One conversation. `failure` is a sentence where the agent did not start or ended in the middle."""

    info: AgentInfo | None = None
    steps: tuple[Step, ...] = ()
    told: Mapping[str, int] = field(default_factory=Counter[str])
    faults: tuple[tuple[Fault, int], ...] = ()
    failure: str | None = None
    stderr: str = ""

    @property
    def wrong(self) -> bool:
        failed = any(step.outcome == "fails" for step in self.steps)
        return bool(self.faults) or failed or self.failure is not None

    @property
    def complete(self) -> bool:
        """Whether there was a turn to judge by."""
        return any(step.name == "session/prompt" for step in self.steps)


@dataclass(frozen=True, slots=True)
class Wishes:
    """`seconds` for an answer or a turn; `login` by that method before anything else."""

    prompt: str = PROMPT
    seconds: float = 120.0
    login: str | None = None


async def check(spec: AgentSpec, wishes: Wishes) -> dict[Version, Run]:
    """A run for each version that the agent speaks, or the one that failed.

    It is offered both versions as any client would; one that chooses 2 is asked for 1 as well.
    """
    first = await run(spec, wishes)
    if first.info is None:
        return {2 if spec.protocol == 2 else 1: first}
    runs: dict[Version, Run] = {first.info.protocol: first}
    if spec.protocol == "auto" and first.info.protocol == 2:
        runs[1] = await run(replace(spec, protocol=1), wishes)
    return runs


async def run(spec: AgentSpec, wishes: Wishes) -> Run:
    """One conversation with a fresh process in a fresh folder."""
    with tempfile.TemporaryDirectory(prefix="acp-editor-check-") as name:
        folder = str(Path(name).resolve())
        for file, text in FILES.items():
            Path(folder, file).write_text(text, encoding="utf-8")
        host = CheckHost(folder)
        agent = Agent(spec, host, on_traffic=host.on_traffic)
        conversation = Conversation(agent, host, wishes.seconds, wishes.prompt)
        failures: list[AgentFailed] = []
        ended: str | None = None
        async with host.terminals, anyio.create_task_group() as tasks:
            try:
                with anyio.fail_after(START_SECONDS):
                    await tasks.start(_serve, agent, host, failures)
                if not failures:
                    await conversation.hold(wishes.login)
            except TimeoutError:
                ended = f"it did not answer initialize within {START_SECONDS:g} seconds"
            except ConnectionClosed as closed:
                ended = closed.reason
                with suppress(ConnectionClosed):  # until it is known how
                    await host.until(lambda: failures, 5)
            tasks.cancel_scope.cancel()
        failure = failures[0] if failures else None
        return Run(
            agent.info if conversation.steps else None,
            tuple(conversation.steps),
            host.told,
            tuple(host.faults.values()),
            failure.reason if failure else ended,
            failure.stderr if failure else "",
        )


async def _serve(
    agent: Agent,
    host: CheckHost,
    failures: list[AgentFailed],
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    started = False

    class Status(TaskStatus[None]):
        def started(self, value: None = None) -> None:
            nonlocal started
            started = True
            task_status.started()

    try:
        await agent.run(task_status=Status())
    except AgentFailed as failure:
        failures.append(failure)
        host.agent_gone(failure.reason)
        if not started:
            task_status.started()
