"""The built-in agent: an ACP agent over stdio, in versions 1 and 2, that needs no network and no key."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Final, cast

import anyio
from anyio.abc import TaskGroup, TaskStatus

from acp_editor.acp.connection import Connection, RpcError
from acp_editor.agents import offers, prompt, scripts
from acp_editor.agents.content import Version
from acp_editor.agents.sessions import Session
from acp_editor.agents.stdio import StdinStream, StdoutStream
from acp_editor.agents.turn import PACES, Client
from acp_editor.core.model import Fault, Json

logger = logging.getLogger(__name__)

PACE_VARIABLE: Final = "ACP_EDITOR_DEMO_PACE"
"""The pace that new sessions start with: calm, brisk or instant."""

_INVALID_REQUEST: Final = -32600
_METHOD_NOT_FOUND: Final = -32601
_INVALID_PARAMS: Final = -32602
_NOT_FOUND: Final = -32002


class Demo:
    """The agent's side of one connection; its sessions live as long as the process."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._client: Client | None = None
        self._connection: Connection | None = None
        self._sessions: dict[str, Session] = {}
        self._methods: dict[str, Callable[[dict[str, Json]], Awaitable[Json]]] = {
            "initialize": self._initialize,
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/list": self._list,
            "session/close": self._close,
            "session/delete": self._delete,
            "session/prompt": self._prompt,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_option,
            "tool_call/cancel": self._stop,
            "terminal/cancel": self._stop,
        }

    async def serve(self, connection: Connection) -> None:
        self._connection = connection
        await connection.run()

    # -- what the connection calls -------------------------------------------------------------

    async def on_request(self, method: str, params: Json) -> Json:
        handler = self._methods.get(method)
        if handler is None:
            raise RpcError(_METHOD_NOT_FOUND, f"This agent has no method {method}")
        return await handler(cast("dict[str, Json]", params) if isinstance(params, dict) else {})

    def on_notification(self, method: str, params: Json) -> None:
        match method, params:
            case "session/cancel", {"sessionId": str(session_id)}:
                session = self._sessions.get(session_id)
                if session is not None:
                    session.cancel()
            case _:
                logger.debug("ignored notification %s", method)

    def on_fault(self, fault: Fault) -> None:
        logger.warning("the client's fault: %s: %s", fault.code, fault.message)

    # -- requests ------------------------------------------------------------------------------

    async def _initialize(self, params: dict[str, Json]) -> Json:
        assert self._connection is not None
        offered = params.get("protocolVersion")
        version: Version = 2 if isinstance(offered, int) and offered >= 2 else 1
        self._client = Client(self._connection, version)
        match params.get("clientCapabilities"):
            case {**able} if version == 1:
                files = able.get("fs")
                files = cast("dict[str, Json]", files) if isinstance(files, dict) else {}
                reads, writes = files.get("readTextFile") is True, files.get("writeTextFile") is True
                self._client = Client(self._connection, 1, reads, writes, able.get("terminal") is True)
            case _:
                pass
        return offers.initialized(version)

    async def _new(self, params: dict[str, Json]) -> Json:
        session = Session(self._served, self._tasks, _roots(params), _first_pace())
        self._sessions[session.session_id] = session
        return {"sessionId": session.session_id} | self._started(session)

    async def _load(self, params: dict[str, Json]) -> Json:
        session = self._reopened(params)
        session.replay()
        return self._started(session)

    async def _resume(self, params: dict[str, Json]) -> Json:
        session = self._reopened(params)
        match params.get("replayFrom"):
            case None:
                pass
            case {"type": "start"}:
                session.replay()
            case _:
                raise RpcError(_INVALID_PARAMS, "This agent replays only from the start")
        return self._started(session)

    async def _list(self, params: dict[str, Json]) -> Json:
        cwd = params.get("cwd")
        rows: list[Json] = []
        for session in reversed(self._sessions.values()):
            if cwd is None or os.path.normpath(session.roots[0]) == os.path.normpath(str(cwd)):
                row: dict[str, Json] = {"sessionId": session.session_id, "cwd": session.roots[0]}
                if session.roots[1:]:
                    row["additionalDirectories"] = list(session.roots[1:])
                rows.append(row | ({"title": session.title} if session.title else {}))
        return {"sessions": rows}

    async def _close(self, params: dict[str, Json]) -> Json:
        session = self._session(params)
        session.cancel()
        return {}

    async def _delete(self, params: dict[str, Json]) -> Json:
        session = self._sessions.pop(str(params.get("sessionId")), None)
        if session is not None:
            session.cancel()
        return {}

    async def _set_mode(self, params: dict[str, Json]) -> Json:
        self._choose(self._session(params), "mode", params.get("modeId"))
        return {}

    async def _set_option(self, params: dict[str, Json]) -> Json:
        session = self._session(params)
        self._choose(session, params.get("configId"), params.get("value"))
        return {"configOptions": offers.options(self._served.version, session.mode, session.pace)}

    async def _stop(self, params: dict[str, Json]) -> Json:
        ident = params.get("toolCallId", params.get("terminalId"))
        scope = self._session(params).stoppable.get(str(ident))
        if scope is None:
            raise RpcError(_INVALID_PARAMS, f"Nothing that can be cancelled is called {ident}")
        scope.cancel()
        return {}

    async def _prompt(self, params: dict[str, Json]) -> Json:
        session = self._session(params)
        if session.running is not None:
            raise RpcError(_INVALID_REQUEST, "A turn is already running in this session")
        blocks = params.get("prompt")
        items = cast("list[Json]", blocks) if isinstance(blocks, list) else []
        return await session.prompted(prompt.parse(items), items)

    # -- the rest ------------------------------------------------------------------------------

    @property
    def _served(self) -> Client:
        if self._client is None:
            raise RpcError(_INVALID_REQUEST, "The first request has to be initialize")
        return self._client

    def _session(self, params: dict[str, Json]) -> Session:
        ident = params.get("sessionId")
        session = self._sessions.get(ident) if isinstance(ident, str) else None
        if session is None:
            raise RpcError(_NOT_FOUND, f"There is no session {ident}", {"sessionId": str(ident)})
        return session

    def _reopened(self, params: dict[str, Json]) -> Session:
        session = self._session(params)
        session.roots = _roots(params)
        return session

    def _started(self, session: Session) -> dict[str, Json]:
        served = self._served
        if served.version == 1:
            session.announce_soon()
        return offers.started(served.version, session.mode, session.pace, scripts.COMMANDS)

    def _choose(self, session: Session, option: Json, value: Json) -> None:
        choices = {"mode": offers.MODES, "pace": offers.PACES}.get(str(option))
        if choices is None:
            raise RpcError(_INVALID_PARAMS, f"There is no option {option}")
        if value not in [choice.value for choice in choices]:
            known = ", ".join(choice.value for choice in choices)
            raise RpcError(_INVALID_PARAMS, f"{option} cannot be {value}, but one of: {known}")
        if option == "mode":
            session.mode = "plan" if value == "plan" else "ask"
        else:
            session.pace = str(value)


async def main() -> int:
    """Serves one client on stdin and stdout until it closes them; the exit code."""
    async with anyio.create_task_group() as tasks:
        demo = Demo(tasks)
        connection = Connection(
            StdoutStream(),
            StdinStream(),
            on_request=demo.on_request,
            on_notification=demo.on_notification,
            on_fault=demo.on_fault,
        )
        if os.name == "posix":
            await tasks.start(_end_on_signal, tasks.cancel_scope)
        await demo.serve(connection)
        tasks.cancel_scope.cancel()
    return 0


async def _end_on_signal(
    scope: anyio.CancelScope, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Ends in order, so that no command is left running."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            scope.cancel()
            return


def _roots(params: dict[str, Json]) -> tuple[str, ...]:
    more = params.get("additionalDirectories")
    given = [params.get("cwd"), *(cast("list[Json]", more) if isinstance(more, list) else ())]
    roots = tuple(root for root in given if isinstance(root, str) and os.path.isabs(root))
    if len(roots) != len(given):
        raise RpcError(_INVALID_PARAMS, f"A session's folders have to be absolute paths, unlike in {given}")
    return roots


def _first_pace() -> str:
    pace = os.environ.get(PACE_VARIABLE, "calm")
    return pace if pace in PACES else "calm"


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    sys.exit(anyio.run(main))
