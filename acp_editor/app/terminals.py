"""An agent's requests for terminals: processes in the session's folder that never outlive it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from acp_editor.acp.connection import RpcError
from acp_editor.core.model import ExitStatus, TerminalChunk, TerminalUpsert
from acp_editor.host import paths
from acp_editor.host.terminals import TerminalError, Terminals
from acp_editor.processes.child import SpawnError

if TYPE_CHECKING:
    from acp_editor.app.app import App
    from acp_editor.app.sessions import Entry

INVALID_PARAMS: Final = -32602


class HostTerminals:
    """`terminal/*`. What the processes print goes into the session's state as it comes."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._owners: dict[str, Entry] = {}
        self.processes = Terminals(self._output, self._exited, self._gone)

    async def create(
        self,
        entry: Entry,
        command: str,
        args: tuple[str, ...],
        env: Mapping[str, str],
        cwd: str | None,
        output_byte_limit: int | None,
    ) -> str:
        folder = self._folder(entry, cwd)
        if (refusal := self._app.judge.refuses_command(entry, command, args)) is not None:
            raise RpcError(INVALID_PARAMS, refusal)
        try:
            terminal_id = await self.processes.create(
                entry.key, command, args, env, folder, output_byte_limit
            )
        except (SpawnError, TerminalError) as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error
        self._owners[terminal_id] = entry
        shown = " ".join([command, *args])
        self._app.updated(entry, TerminalUpsert(terminal_id, command=shown, cwd=folder, owner="client"))
        return terminal_id

    def output(self, entry: Entry, terminal_id: str) -> tuple[str, bool, ExitStatus | None]:
        try:
            output = self.processes.output(entry.key, terminal_id)
        except TerminalError as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error
        return output.text, output.truncated, output.exit_status

    async def wait(self, entry: Entry, terminal_id: str) -> ExitStatus:
        try:
            return await self.processes.wait(entry.key, terminal_id)
        except TerminalError as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error

    async def kill(self, entry: Entry, terminal_id: str) -> None:
        try:
            await self.processes.kill(entry.key, terminal_id)
        except TerminalError as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error

    async def release(self, entry: Entry, terminal_id: str) -> None:
        try:
            await self.processes.release(entry.key, terminal_id)
        except TerminalError as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error

    def session_ended(self, entry: Entry) -> None:
        """Ends what the session still runs."""
        self._app.start(self.processes.close_session, entry.key)

    def _folder(self, entry: Entry, cwd: str | None) -> str:
        try:
            folder = paths.confine(cwd or entry.cwd, [*self._app.roots, entry.cwd], entry.cwd)
        except paths.OutsideWorkspace as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error
        if not os.path.isdir(folder):
            raise RpcError(INVALID_PARAMS, f"There is no folder {folder}")
        return folder

    def _output(self, terminal_id: str, data: bytes) -> None:
        if (entry := self._owners.get(terminal_id)) is not None:
            self._app.updated(entry, TerminalChunk(terminal_id, data))

    def _exited(self, terminal_id: str, status: ExitStatus) -> None:
        if (entry := self._owners.get(terminal_id)) is not None:
            self._app.updated(entry, TerminalUpsert(terminal_id, exit_status=status, owner="client"))
            self._app.review.command_ended()

    def _gone(self, terminal_id: str) -> None:
        self._owners.pop(terminal_id, None)
