"""The editor's side in a check: a folder of its own, everything allowed in it, and all faults counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, TypeVar

import anyio
import anyio.to_thread

from acp_editor.acp.connection import ConnectionClosed, Direction, RpcError
from acp_editor.core.model import (
    Elicitation,
    ElicitationAnswer,
    ExitStatus,
    Fault,
    Json,
    PermissionRequest,
    Update,
    is_object,
)
from acp_editor.core.session import Session
from acp_editor.host import files, paths
from acp_editor.host.terminals import TerminalError, Terminals
from acp_editor.processes.child import SpawnError

T = TypeVar("T")

_NOT_FOUND: Final = -32002
_INVALID_PARAMS: Final = -32602
_ALLOWED: Final = ("allow_once", "allow_always")


class CheckHost:
    """Implements `acp.host.Host`. `changed` is set whenever anything came from the agent."""

    def __init__(self, folder: str) -> None:
        self.folder: Final = folder
        self.terminals: Final = Terminals()
        self.sessions: dict[str, Session] = {}
        self.faults: dict[str, tuple[Fault, int]] = {}
        """The last instance of each code, and how many there were."""
        self.told: Counter[str] = Counter()
        """What the agent sent, by method or kind of update."""
        self.hold = anyio.Event()
        """Permissions wait until it is set."""
        self.hold.set()
        self.waiting = 0
        """Permissions that are asked for now."""
        self.changed = anyio.Event()
        self._gone: str | None = None

    def session(self, session_id: str) -> Session:
        return self.sessions.setdefault(session_id, Session(session_id, "agent", self.folder))

    async def until(self, condition: Callable[[], object], seconds: float) -> bool:
        """Whether the condition came to hold within that time; raises ConnectionClosed without an agent."""
        with anyio.move_on_after(seconds):
            while not condition():
                if self._gone is not None:
                    raise ConnectionClosed(self._gone)
                self.changed = anyio.Event()
                await self.changed.wait()
            return True
        return False

    def agent_gone(self, reason: str) -> None:
        self._gone = reason
        self.changed.set()

    def on_traffic(self, direction: Direction, message: Json) -> None:
        method = message.get("method") if is_object(message) else None
        if direction != "in" or not isinstance(method, str):
            return
        params = message.get("params")
        update = params.get("update") if is_object(params) else None
        kind = update.get("sessionUpdate") if is_object(update) else None
        self.told[kind if method == "session/update" and isinstance(kind, str) else method] += 1

    # -- from the agent ------------------------------------------------------------------------

    def session_update(self, session_id: str, update: Update) -> None:
        session = self.session(session_id)
        session.apply(update)
        for fault in session.take_faults():
            self.fault(fault)
        self.changed.set()

    def fault(self, fault: Fault) -> None:
        _, count = self.faults.get(fault.code, (fault, 0))
        self.faults[fault.code] = (fault, count + 1)

    async def request_permission(self, request: PermissionRequest) -> str | None:
        self.waiting += 1
        self.changed.set()
        try:
            await self.hold.wait()
        finally:
            self.waiting -= 1
        kinds = {option.kind: option.option_id for option in reversed(request.options)}
        return next((kinds[kind] for kind in _ALLOWED if kind in kinds), None)

    async def read_text_file(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        read = partial(files.read_text, path, line, limit, roots=[self.folder], cwd=self.folder)
        return await self._in_thread(read)

    async def write_text_file(self, session_id: str, path: str, content: str) -> None:
        await self._in_thread(partial(files.write_text, path, content, roots=[self.folder], cwd=self.folder))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        try:
            return await anyio.to_thread.run_sync(work)
        except files.MissingFile as error:
            raise RpcError(_NOT_FOUND, str(error)) from error
        except (files.FileError, paths.OutsideWorkspace) as error:
            raise RpcError(_INVALID_PARAMS, str(error)) from error

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: tuple[str, ...],
        env: Mapping[str, str],
        cwd: str | None,
        output_byte_limit: int | None,
    ) -> str:
        try:
            folder = paths.confine(cwd or self.folder, [self.folder], self.folder)
            return await self.terminals.create(session_id, command, args, env, folder, output_byte_limit)
        except (SpawnError, TerminalError, paths.OutsideWorkspace) as error:
            raise RpcError(_INVALID_PARAMS, str(error)) from error

    async def terminal_output(self, session_id: str, terminal_id: str) -> tuple[str, bool, ExitStatus | None]:
        try:
            output = self.terminals.output(session_id, terminal_id)
        except TerminalError as error:
            raise RpcError(_INVALID_PARAMS, str(error)) from error
        return output.text, output.truncated, output.exit_status

    async def wait_for_terminal(self, session_id: str, terminal_id: str) -> ExitStatus:
        try:
            return await self.terminals.wait(session_id, terminal_id)
        except TerminalError as error:
            raise RpcError(_INVALID_PARAMS, str(error)) from error

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None:
        try:
            await self.terminals.kill(session_id, terminal_id)
        except TerminalError as error:
            raise RpcError(_INVALID_PARAMS, str(error)) from error

    async def release_terminal(self, session_id: str, terminal_id: str) -> None:
        try:
            await self.terminals.release(session_id, terminal_id)
        except TerminalError as error:
            raise RpcError(_INVALID_PARAMS, str(error)) from error

    async def elicit(self, elicitation: Elicitation) -> ElicitationAnswer:
        return ElicitationAnswer("decline")

    def elicitation_complete(self, elicitation_id: str) -> None:
        """Nothing was opened that could be complete."""
