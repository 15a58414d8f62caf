"""Opens sessions with agents: new ones, known ones again, and those of an agent that was gone."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from acp_editor.acp.agent import Agent
from acp_editor.acp.connection import RpcError
from acp_editor.app.sessions import Entry
from acp_editor.core.forks import fork_of
from acp_editor.core.model import Fork, McpServer, SessionStart
from acp_editor.lsp.protocol import CommandError

if TYPE_CHECKING:
    from acp_editor.app.app import App

logger = logging.getLogger(__name__)

_Start: TypeAlias = Callable[[str, tuple[str, ...], tuple[McpServer, ...]], Awaitable[SessionStart]]

AUTH_REQUIRED: Final = -32000
"""Source: the Agent Client Protocol, error codes."""


class Opening:
    """Starts the agent where need be; what it refuses becomes an error for a person."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def new(self, agent_name: str, cwd: str | None = None) -> Entry:
        """A new session with that agent, which is started where it is not, made the active one."""
        app = self.app
        agent = await app.agents.ensure(agent_name)
        folder = cwd or app.agents.slot(agent_name).spec.cwd or app.roots[0]
        return await self._open(agent_name, agent, folder, agent.new_session)

    async def fork(self, agent: Agent, own_id: str, agent_name: str, folder: str) -> Entry:
        """A session that begins as a copy of that one, with what is known of it."""
        if not agent.info.capabilities.fork:
            raise CommandError(f"{agent_name} cannot fork sessions")
        entry = await self._open(agent_name, agent, folder, partial(agent.fork_session, own_id))
        source = self.app.sessions.of(agent_name, own_id)
        title = self.app.sessions.titles.get((agent_name, own_id))
        self.app.updated(entry, fork_of(source.session) if source else Fork(title))
        return entry

    async def _open(self, name: str, agent: Agent, folder: str, start: _Start) -> Entry:
        app = self.app
        servers = await app.mcp.servers()
        try:
            with app.sessions.opening(name):
                started = await start(folder, self._others(folder), servers)
        except RpcError as error:
            raise self._refused(name, agent, error) from error
        entry = app.sessions.open(name, started.session_id, folder)
        entry.session.cwd = folder
        self._started(entry)
        return entry

    def _others(self, folder: str) -> tuple[str, ...]:
        return tuple(root for root in self.app.roots if root != folder)

    async def take_up(self, agent: Agent, entry: Entry, *, history: bool) -> None:
        """Takes a session up again; with `history`, its history is played where the agent can do that."""
        app = self.app
        entry.asked = True
        abilities = agent.info.capabilities
        if not abilities.resume and not abilities.load:
            raise CommandError(f"{entry.agent} cannot resume sessions")
        load = abilities.load and (history or not abilities.resume)
        take = agent.load_session if load else agent.resume_session
        servers = await app.mcp.servers()
        try:
            await take(entry.own_id, entry.cwd, self._others(entry.cwd), servers)
        except RpcError as error:
            raise self._refused(entry.agent, agent, error) from error
        self._started(entry)

    def _started(self, entry: Entry) -> None:
        entry.started = True
        self.app.sessions.active = entry
        self.app.surfaces.session_changed(entry)
        self.app.surfaces.status_changed()

    def _refused(self, name: str, agent: Agent, error: RpcError) -> CommandError:
        if error.code == AUTH_REQUIRED:
            ways = ", ".join(method.name for method in agent.info.auth_methods)
            hint = f"log in with {ways}" if ways else "see its own documentation for how to log in"
            said = f"{name} needs a login ({error.words}): {hint}"
            return CommandError(said, data={"login": name}) if ways else CommandError(said)
        return CommandError(f"{name} refused the session: {error.words}")

    async def live(self, entry: Entry) -> tuple[Agent, Entry]:
        """The entry with its agent running; where the agent cannot take it up again, a new one."""
        app = self.app
        while entry.successor is not None and not entry.successor.closed:
            entry = entry.successor
        slot = app.agents.slot(entry.agent)
        if slot.agent is not None and entry.started:
            return slot.agent, entry
        agent = await app.agents.ensure(entry.agent)
        abilities = agent.info.capabilities
        if abilities.resume or abilities.load:
            try:
                await self.take_up(agent, entry, history=False)
                if slot.restarts.count:
                    app.editor.message(f"{entry.agent} was started again and has taken the session up.")
                return agent, entry
            except CommandError as error:
                logger.warning("%s cannot be resumed: %s", entry.key, error)
        app.editor.message(
            f"{entry.agent} was started again with a new session; it does not know the last one."
        )
        new = await self.new(entry.agent, entry.cwd)
        if new is not entry:
            entry.successor = new
        return agent, new
