"""What an agent may ask of the editor, and what it tells: the application's side of one agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from acp_editor.acp.connection import RpcError
from acp_editor.acp.rpc import INVALID_PARAMS
from acp_editor.core.model import (
    Elicitation,
    ElicitationAnswer,
    ExitStatus,
    Fault,
    PermissionRequest,
    Update,
)

if TYPE_CHECKING:
    from acp_editor.app.app import App
    from acp_editor.app.sessions import Entry


class AgentHost:
    """Finds the session that is meant and hands over; nothing is decided here."""

    def __init__(self, app: App, agent: str) -> None:
        self._app = app
        self._agent = agent

    def _entry(self, session_id: str) -> Entry:
        return self._app.seen(self._agent, session_id)

    def _open(self, session_id: str) -> Entry:
        """The session, for something to be done for it."""
        entry = self._entry(session_id)
        if entry.closed:
            raise RpcError(INVALID_PARAMS, f"The session {session_id} is closed")
        return entry

    def session_update(self, session_id: str, update: Update) -> None:
        entry = self._entry(session_id)
        if entry.asked or self._app.uninvited.admits(entry, update):
            self._app.updated(entry, update)

    def fault(self, fault: Fault) -> None:
        self._app.fault(self._agent, fault)

    async def request_permission(self, request: PermissionRequest) -> str | None:
        return await self._app.asking.ask(self._entry(request.session_id), request)

    async def read_text_file(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        return await self._app.files.read(self._open(session_id), path, line, limit)

    async def write_text_file(self, session_id: str, path: str, content: str) -> None:
        await self._app.files.write(self._open(session_id), path, content)

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: tuple[str, ...],
        env: Mapping[str, str],
        cwd: str | None,
        output_byte_limit: int | None,
    ) -> str:
        return await self._app.terminals.create(
            self._open(session_id), command, args, env, cwd, output_byte_limit
        )

    async def terminal_output(self, session_id: str, terminal_id: str) -> tuple[str, bool, ExitStatus | None]:
        return self._app.terminals.output(self._entry(session_id), terminal_id)

    async def wait_for_terminal(self, session_id: str, terminal_id: str) -> ExitStatus:
        return await self._app.terminals.wait(self._entry(session_id), terminal_id)

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None:
        await self._app.terminals.kill(self._entry(session_id), terminal_id)

    async def release_terminal(self, session_id: str, terminal_id: str) -> None:
        await self._app.terminals.release(self._entry(session_id), terminal_id)

    async def elicit(self, elicitation: Elicitation) -> ElicitationAnswer:
        return await self._app.questions.ask(self._agent, elicitation)

    def elicitation_complete(self, elicitation_id: str) -> None:
        self._app.editor.message(f"{self._agent}: what it asked you to do in the browser is done.")
