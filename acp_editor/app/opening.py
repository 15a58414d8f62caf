"""Opens sessions with agents: new ones, known ones again, and those of an agent that was gone."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from acp_editor.acp.agent import Agent
from acp_editor.acp.connection import RpcError
from acp_editor.app.sessions import Entry
from acp_editor.lsp.protocol import CommandError

if TYPE_CHECKING:
    from acp_editor.app.app import App

logger = logging.getLogger(__name__)

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
        extra = [root for root in app.roots if root != folder]
        servers = await app.mcp.servers()
        try:
            with app.sessions.opening(agent_name):
                start = await agent.new_session(folder, tuple(extra), servers)
        except RpcError as error:
            raise self._refused(agent_name, agent, error) from error
        entry = app.sessions.open(agent_name, start.session_id, folder)
        entry.session.cwd = folder
        self._started(entry)
        return entry

    async def take_up(self, agent: Agent, entry: Entry, *, history: bool) -> None:
        """Takes a session up again; with `history`, its history is played where the agent can do that."""
        app = self.app
        abilities = agent.info.capabilities
        if not abilities.resume and not abilities.load:
            raise CommandError(f"{entry.agent} cannot resume sessions")
        load = abilities.load and (history or not abilities.resume)
        take = agent.load_session if load else agent.resume_session
        extra = [root for root in app.roots if root != entry.cwd]
        servers = await app.mcp.servers()
        try:
            await take(entry.own_id, entry.cwd, tuple(extra), servers)
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
            return CommandError(f"{name} needs a login ({error.message}): {hint}")
        return CommandError(f"{name} refused the session: {error.message}")

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
