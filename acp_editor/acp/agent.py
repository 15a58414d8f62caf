"""What we ask of a running agent: sessions, turns, options, logins."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import anyio
from anyio.abc import TaskStatus

from acp_editor.acp import encode, v1
from acp_editor.acp.agent_process import AgentFailed, AgentProcess, AgentSpec, Unsupported
from acp_editor.acp.connection import ConnectionClosed, RpcError
from acp_editor.acp.encode import Call, Workspace
from acp_editor.acp.host import Host
from acp_editor.acp.lenient import Faults
from acp_editor.acp.mcp import usable
from acp_editor.acp.rpc import INTERNAL_ERROR, fault
from acp_editor.acp.turns import Turn
from acp_editor.acp.wire import SessionList, Unreadable, read
from acp_editor.core.model import (
    ConfigOption,
    ConfigUpdate,
    Json,
    McpServer,
    ModeUpdate,
    Notice,
    Replay,
    SessionStart,
    SessionSummary,
)

__all__ = ["Agent", "AgentFailed", "AgentSpec", "Host", "Unsupported"]

logger = logging.getLogger(__name__)


class Agent(AgentProcess):
    """An agent's client. Requests raise RpcError for its errors and ConnectionClosed when it is gone.

    What it says in its answers reaches the host too, in the order of the wire.
    """

    # -- sessions ------------------------------------------------------------------------------

    async def new_session(
        self, cwd: str, additional_directories: Sequence[str] = (), mcp_servers: Sequence[McpServer] = ()
    ) -> SessionStart:
        where, left_out = self._workspace(cwd, additional_directories, mcp_servers)
        return await self._start(self._dialect.new_session(where), None, left_out)

    async def load_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: Sequence[str] = (),
        mcp_servers: Sequence[McpServer] = (),
    ) -> SessionStart:
        """Takes a session up again, with its history told between two Replay updates."""
        self._need(self.info.capabilities.load, "load sessions")
        where, left_out = self._workspace(cwd, additional_directories, mcp_servers)
        told = False

        def replayed() -> None:
            nonlocal told
            if not told:
                told = True
                self._host.session_update(session_id, Replay(False))

        self._host.session_update(session_id, Replay(True))
        try:
            call = self._dialect.load_session(session_id, where)
            return await self._start(call, session_id, left_out, replayed)
        finally:
            replayed()

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: Sequence[str] = (),
        mcp_servers: Sequence[McpServer] = (),
    ) -> SessionStart:
        """Takes a session up again without its history."""
        self._need(self.info.capabilities.resume, "resume sessions")
        where, left_out = self._workspace(cwd, additional_directories, mcp_servers)
        return await self._start(self._dialect.resume_session(session_id, where), session_id, left_out)

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: Sequence[str] = (),
        mcp_servers: Sequence[McpServer] = (),
    ) -> SessionStart:
        """A new session that begins as a copy. No schema has it yet; some agents do."""
        self._need(self.info.capabilities.fork, "fork sessions")
        where, left_out = self._workspace(cwd, additional_directories, mcp_servers)
        _, params = self._dialect.resume_session(session_id, where)
        return await self._start(("session/fork", params), None, left_out)

    def _workspace(
        self, cwd: str, directories: Sequence[str], servers: Sequence[McpServer]
    ) -> tuple[Workspace, list[str]]:
        """What of it the agent can use, and a sentence for each server that it cannot."""
        can = self.info.capabilities
        found, left_out = usable(servers, can, self.spec.name)
        return Workspace(
            cwd, tuple(directories) if can.additional_directories else (), tuple(found)
        ), left_out

    async def _start(
        self,
        call: Call,
        session_id: str | None,
        left_out: Sequence[str],
        answered: Callable[[], None] = lambda: None,
    ) -> SessionStart:
        outcome: list[SessionStart | Unreadable] = []

        def on_result(raw: Json) -> None:
            # Here and not after the wait, since updates may follow the answer closely.
            faults: Faults = []
            answered()
            try:
                start = self._dialect.decode_session(raw, session_id, faults)
            except Unreadable as error:
                outcome.append(error)
                faults.append(fault("missing_field", f"{error}.", raw))
            else:
                outcome.append(start)
                for update in start.updates:
                    self._host.session_update(start.session_id, update)
                for sentence in left_out:
                    self._host.session_update(start.session_id, Notice("warning", sentence))
            self._incoming.report(faults)

        await self._request(call, on_result)
        match outcome:
            case [SessionStart() as start]:
                return SessionStart(start.session_id)
            case [Unreadable() as error]:
                raise RpcError(INTERNAL_ERROR, str(error))
            case _:
                raise RpcError(INTERNAL_ERROR, "The answer could not be read")

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None
    ) -> tuple[tuple[SessionSummary, ...], str | None]:
        """One page of the agent's own list, and the cursor of the next."""
        self._need(self.info.capabilities.list, "list sessions")
        raw = await self._request(encode.list_sessions(cwd, cursor))
        faults: Faults = []
        try:
            page = read(SessionList, raw, "The answer to session/list", faults)
        except Unreadable as error:
            raise RpcError(INTERNAL_ERROR, str(error)) from error
        finally:
            self._incoming.report(faults)
        rows = (SessionSummary(s.session_id, s.cwd, s.title, s.updated_at) for s in page.sessions)
        return tuple(rows), page.next_cursor

    async def close_session(self, session_id: str) -> None:
        self._need(self.info.capabilities.close, "close sessions")
        await self._request(encode.close_session(session_id))

    async def delete_session(self, session_id: str) -> None:
        self._need(self.info.capabilities.delete, "delete sessions")
        await self._request(encode.delete_session(session_id))

    # -- turns ---------------------------------------------------------------------------------

    async def prompt(self, session_id: str, blocks: list[Json]) -> None:
        """Sends a prompt and returns when it is on its way.

        The turn's beginning and end, and its failure, come to the host as StateUpdates.
        """
        # Closed a moment before the tasks are gone: the exit code and last words are waited for.
        if self._tasks is None or self._connection is None or self._connection.closed is not None:
            raise ConnectionClosed(f"{self.spec.name} is not running")
        turn = self._incoming.turns.begin(session_id, blocks)
        await self._tasks.start(self._prompt, turn, blocks)

    async def _prompt(self, turn: Turn, blocks: list[Json], *, task_status: TaskStatus[None]) -> None:
        turns = self._incoming.turns

        def on_result(raw: Json) -> None:
            if self._dialect.VERSION == 2:
                turns.accepted(turn)
                return
            faults: Faults = []
            stop_reason = v1.decode_stop_reason(raw, faults)
            turns.answered(turn, stop_reason)
            self._incoming.report(faults)

        # The request is queued before the caller goes on, so that a cancel cannot overtake it.
        task_status.started()
        if turn.abandoned:
            return
        try:
            with anyio.CancelScope() as turn.waiting:
                await self._request(
                    encode.prompt(turn.session_id, blocks),
                    on_result,
                    lambda error: turns.refused(turn, error),
                )
        except (RpcError, ConnectionClosed) as error:
            logger.debug("prompt ended: %s", error)

    def cancel(self, session_id: str) -> None:
        """Queues session/cancel; answers to permission requests that follow go out after it."""
        if self._connection is not None:
            self._connection.notify(*encode.cancel(session_id))

    def abandon(self, session_id: str) -> None:
        """Ends the turn as cancelled for an agent that does not: its late answer ends no later turn."""
        self._incoming.turns.abandon(session_id)

    async def cancel_tool_call(self, session_id: str, tool_call_id: str) -> None:
        """For a call whose capabilities offer it."""
        self._need(self.info.protocol == 2, "cancel a single tool call")
        await self._request(("tool_call/cancel", {"sessionId": session_id, "toolCallId": tool_call_id}))

    async def cancel_terminal(self, session_id: str, terminal_id: str) -> None:
        """For a terminal whose capabilities offer it."""
        self._need(self.info.protocol == 2, "cancel a terminal")
        await self._request(("terminal/cancel", {"sessionId": session_id, "terminalId": terminal_id}))

    # -- options and login ---------------------------------------------------------------------

    async def set_config(
        self, session_id: str, option: ConfigOption, value: Json
    ) -> tuple[ConfigOption, ...] | None:
        """The whole list of options where the agent answers with it; the host has been told by then."""
        answered: list[tuple[ConfigOption, ...]] = []

        def on_result(raw: Json) -> None:
            faults: Faults = []
            options = self._dialect.decode_options(raw, faults)
            if options is not None:
                answered.append(options)
                self._host.session_update(session_id, ConfigUpdate(options))
            elif option.origin != "option":
                self._host.session_update(session_id, ModeUpdate(value, option.origin))
            self._incoming.report(faults)

        await self._request(self._dialect.set_config(session_id, option, value), on_result)
        return answered[0] if answered else None

    async def authenticate(self, method_id: str) -> None:
        """Logs in by a method of kind "agent"; one of kind "terminal" is run by the person."""
        await self._request(self._dialect.login(method_id))

    async def logout(self) -> None:
        self._need(self.info.capabilities.logout, "log out")
        await self._request(self._dialect.logout())
