"""Which commands there are, and what all of them share."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from acp_editor.acp.agent import Agent, AgentFailed
from acp_editor.acp.connection import ConnectionClosed, RpcError
from acp_editor.app import offered
from acp_editor.app.arguments import Arguments
from acp_editor.app.sessions import Entry
from acp_editor.core.errors import words
from acp_editor.lsp.protocol import CommandError

if TYPE_CHECKING:
    from acp_editor.app.app import App

logger = logging.getLogger(__name__)

Handler: TypeAlias = Callable[["Commands", Arguments], Awaitable[Any]]
COMMANDS: Final[dict[str, Handler]] = {}


def command(name: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        if "acpEditor." + name not in offered.COMMANDS:
            raise ValueError(
                f"{name} has to be listed in app/offered.py too: no editor hears of it otherwise"
            )
        COMMANDS["acpEditor." + name] = handler
        return handler

    return register


class Commands:
    """Looks a command up and turns every failure of an agent into an error for a person."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def run(self, name: str, argument: Any) -> Any:
        handler = COMMANDS.get(name)
        if handler is None:
            raise CommandError(f"there is no command {name!r}")
        try:
            return await handler(self, Arguments(name, argument))
        except CommandError as error:
            raise CommandError(self.app.scrub(error.message), data=error.data) from error
        except RpcError as error:
            raise CommandError(self.app.scrub(f"the agent refused: {error.words}")) from error
        except (ConnectionClosed, AgentFailed) as error:
            raise CommandError(self.app.scrub(str(error))) from error
        except ExceptionGroup as error:
            logger.exception("%s failed", name)
            raise CommandError(self.app.scrub(words(error))) from error

    def agent_named(self, arguments: Arguments) -> str:
        """The agent that the argument names, else the active session's, else the one for new sessions."""
        active = self.app.sessions.active
        return arguments.maybe_text("agent") or (active.agent if active else self.app.settings.agent)

    def agent_of(self, session_id: str) -> str:
        """The agent whose session that is, else the one that a new session would use."""
        known = self.app.sessions.get(session_id)
        return known.agent if known else self.app.settings.agent

    def running(self, entry: Entry) -> Agent | None:
        """The session's agent where it runs; it may be gone from the settings."""
        slot = self.app.agents.find(entry.agent)
        return slot.agent if slot else None
