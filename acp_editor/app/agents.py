"""The agents that are configured: started when they are first needed, told when they fail."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, cast

import anyio
import anyio.abc

from acp_editor.acp.agent import Agent, AgentFailed, AgentSpec
from acp_editor.acp.host import Host
from acp_editor.acp.traffic import Traffic
from acp_editor.app import render
from acp_editor.app.restarts import Restarts
from acp_editor.core.errors import leaves, words
from acp_editor.core.model import AgentInfo
from acp_editor.lsp import messages
from acp_editor.lsp.protocol import CommandError

START_TIMEOUT: Final = 120.0
"""Seconds; some agents are downloaded by their command the first time."""
_STDERR_LINES: Final = 6
_STDERR_CHARACTERS: Final = 800

logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Slot:
    """One configured agent and what became of it."""

    name: str
    spec: AgentSpec
    state: Literal["stopped", "starting", "ready", "failed"] = "stopped"
    error: str | None = None
    agent: Agent | None = None
    info: AgentInfo | None = None
    scope: anyio.CancelScope | None = None
    gone: anyio.Event | None = None
    restarts: Restarts = field(default_factory=Restarts)
    starting: anyio.Lock = field(default_factory=anyio.Lock)
    prompting: anyio.Lock = field(default_factory=anyio.Lock)
    """Held while a prompt finds its session, so that prompts keep their order and make one session."""


class Agents:
    """`changed` hears of every change of state, `ended` when an agent that had been ready is gone."""

    def __init__(
        self,
        group: anyio.abc.TaskGroup,
        host: Callable[[str], Host],
        changed: Callable[[Slot], None],
        ended: Callable[[Slot, str], None],
        traffic: Traffic,
    ) -> None:
        self._group = group
        self._host = host
        self._changed = changed
        self._ended = ended
        self._traffic = traffic
        self._slots: dict[str, Slot] = {}

    def configure(self, specs: dict[str, AgentSpec]) -> None:
        """New settings; an agent that runs goes on with its old ones until it is restarted."""
        for name, spec in specs.items():
            if name in self._slots:
                if spec != self._slots[name].spec:
                    self._slots[name].restarts.forget()
                self._slots[name].spec = spec
            else:
                self._slots[name] = Slot(name, spec)
        for name in [n for n, slot in self._slots.items() if n not in specs and slot.agent is None]:
            del self._slots[name]

    def slot(self, name: str) -> Slot:
        if (slot := self._slots.get(name)) is None:
            known = ", ".join(sorted(self._slots))
            raise CommandError(f"no agent is called {name!r}; the settings have {known}")
        return slot

    def find(self, name: str) -> Slot | None:
        return self._slots.get(name)

    async def ensure(self, name: str) -> Agent:
        """The running agent of that name, started where it is not."""
        slot = self.slot(name)
        async with slot.starting:
            if slot.agent is not None:
                return slot.agent
            if slot.restarts.exhausted:
                raise CommandError(
                    f"{name} has ended {slot.restarts.count} times within a minute and is not started again "
                    f"until you restart it: {slot.error or 'it did not say why'}"
                )
            before = slot.error
            slot.state, slot.error = "starting", None
            self._changed(slot)
            try:
                if delay := slot.restarts.delay:
                    logger.info("%s is started again in %g s: %s", name, delay, before)
                    await anyio.sleep(delay)
                with anyio.fail_after(START_TIMEOUT):
                    await self._group.start(self._serve, slot)
            except TimeoutError as error:
                slot.state = "failed"
                slot.error = f"{name} did not answer initialize within {START_TIMEOUT:g} seconds."
                raise CommandError(slot.error) from error
            except AgentFailed as error:
                slot.state, slot.error = "failed", _sentence(error)
                if error.exit_code is not None:
                    slot.restarts.ended()
                raise CommandError(slot.error) from error
            except BaseException:
                slot.state = "stopped"
                raise
            finally:
                self._changed(slot)
            assert slot.agent is not None
            return slot.agent

    async def stop(self, name: str) -> None:
        """Ends the agent and waits until its process is gone."""
        slot = self.slot(name)
        if slot.scope is not None and slot.gone is not None:
            gone = slot.gone
            slot.scope.cancel()
            await gone.wait()

    async def close(self) -> None:
        """Ends all agents, side by side."""
        async with anyio.create_task_group() as group:
            for name in self._slots:
                group.start_soon(self.stop, name)

    def render(self, scrub: Callable[[str], str]) -> dict[str, messages.Agent]:
        """`scrub` makes an error fit for a person: an agent's last words may hold anything."""
        return {
            slot.name: {
                "state": slot.state,
                "protocol": slot.info.protocol if slot.info else None,
                "title": render.words(slot.info.title) if slot.info else None,
                "version": render.words(slot.info.version) if slot.info else None,
                "error": None if slot.error is None else scrub(slot.error),
                "authMethods": render.auth_methods(slot.info.auth_methods) if slot.info else [],
                "can": render.abilities(slot.info.capabilities) if slot.info else [],
            }
            for slot in self._slots.values()
        }

    async def _serve(self, slot: Slot, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        recorder = self._traffic.recorder(slot.name, slot.spec.env)
        agent = Agent(slot.spec, self._host(slot.name), on_line=recorder.line, on_noise=recorder.noise)
        slot.gone = anyio.Event()
        reason = "the agent was stopped"
        ready = False
        failure: AgentFailed | None = None
        try:
            with anyio.CancelScope() as slot.scope:
                async with anyio.create_task_group() as group:
                    await group.start(agent.run)
                    ready = True
                    slot.agent, slot.info, slot.state = agent, agent.info, "ready"
                    task_status.started()
            slot.state = "stopped"
            if not ready:
                failure = AgentFailed(f"{slot.name} was stopped while it started")
        except* AgentFailed as failures:
            # The others have the same cause.
            failure = cast("AgentFailed", leaves(failures)[0])
        except* Exception as errors:
            # Whatever it is, it ends this agent and nothing else.
            logger.exception("%s is given up", slot.name)
            failure = failure or AgentFailed(f"{slot.name} is given up: {words(errors)}")
        finally:
            slot.agent = slot.scope = None
            slot.gone.set()
        if failure is not None and not ready:
            raise failure
        if failure is not None:
            reason = _sentence(failure)
            slot.restarts.ended()
            slot.state, slot.error = "failed", reason
            logger.warning("%s", reason)
        self._changed(slot)
        self._ended(slot, reason)


def _sentence(failure: AgentFailed) -> str:
    """Why, with the end of what the agent wrote to its stderr: there it most often says so itself."""
    lines = [line for line in failure.stderr.splitlines() if line.strip()]
    end = "\n".join(lines[-_STDERR_LINES:])[-_STDERR_CHARACTERS:]
    return f"{failure.reason}. It said: {end}" if end else f"{failure.reason}."
