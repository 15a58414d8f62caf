"""One agent's process from its start to its end: its version, and the wire to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import anyio
from anyio.abc import TaskGroup, TaskStatus

from acp_editor.acp import v1
from acp_editor.acp.connection import Connection, ConnectionClosed, Direction, RpcError
from acp_editor.acp.dialect import Dialect
from acp_editor.acp.encode import Call
from acp_editor.acp.host import Host
from acp_editor.acp.incoming import Incoming
from acp_editor.acp.lenient import Faults, Object
from acp_editor.acp.negotiate import CLIENT, Wanted, WrongVersion, negotiate
from acp_editor.acp.rpc import MAX_LINE, METHOD_NOT_FOUND
from acp_editor.acp.wire import Unreadable
from acp_editor.core.model import AgentInfo, Json
from acp_editor.processes.child import Process, SpawnError, spawn


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """How an agent is started: `env` is added to our own environment, `protocol` may be forced."""

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str | None = None
    protocol: Wanted = "auto"
    max_message: int = MAX_LINE
    """Bytes; a longer message is a fault, and passed over."""


class AgentFailed(Exception):
    """An agent could not start, or died: `reason` is a sentence, `stderr` the end of what it wrote."""

    def __init__(self, reason: str, exit_code: int | None = None, stderr: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.exit_code = exit_code
        self.stderr = stderr


class Unsupported(RpcError):
    """What the agent never said it can, so it was not asked."""

    def __init__(self, name: str, what: str) -> None:
        super().__init__(METHOD_NOT_FOUND, f"{name} cannot {what}")


class AgentProcess:
    """Serves an agent while it runs; everything that it says reaches the host in the order of the wire."""

    def __init__(
        self,
        spec: AgentSpec,
        host: Host,
        *,
        client: Object = CLIENT,
        on_traffic: Callable[[Direction, Json], None] | None = None,
        on_line: Callable[[Direction, bytes], None] | None = None,
        on_noise: Callable[[bytes], None] | None = None,
    ) -> None:
        self.spec: Final = spec
        self.info = AgentInfo(protocol=1)
        """Known once `run` has started."""
        self._host = host
        self._client = client
        self._on_traffic = on_traffic
        self._on_line = on_line
        self._on_noise = on_noise
        self._incoming = Incoming(host)
        self._dialect: Dialect = v1
        self._connection: Connection | None = None
        self._tasks: TaskGroup | None = None

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Starts it and serves until it ends; always ends in AgentFailed, or in cancellation."""
        environment = {**os.environ, **self.spec.env}
        try:
            async with spawn(self.spec.command, self.spec.args, environment, self.spec.cwd) as process:
                failure = await self._serve(process, task_status)
            raise failure
        except SpawnError as error:
            raise AgentFailed(str(error)) from error
        finally:
            self._connection = self._tasks = None

    async def _serve(self, process: Process, task_status: TaskStatus[None]) -> AgentFailed:
        connection = Connection(
            process.stdin,
            process.stdout,
            on_request=self._incoming.on_request,
            on_notification=self._incoming.on_notification,
            on_fault=self._host.fault,
            on_asked=self._incoming.on_asked,
            on_traffic=self._on_traffic,
            on_line=self._on_line,
            on_noise=self._on_noise,
            max_line=self.spec.max_message,
        )
        failure: AgentFailed | None = None
        async with anyio.create_task_group() as tasks:
            ended = anyio.Event()
            tasks.start_soon(_run, connection, ended)
            faults: Faults = []
            try:
                dialect, self.info = await negotiate(connection, self.spec.protocol, self._client, faults)
            except ConnectionClosed:
                pass
            except (RpcError, Unreadable, WrongVersion) as error:
                failure = AgentFailed(f"{self.spec.name} did not start: {error}", None, process.stderr_tail)
                connection.close("the agent did not start")
            else:
                self._incoming.report(faults)
                self._incoming.speak(dialect)
                self._dialect, self._connection, self._tasks = dialect, connection, tasks
                task_status.started()
            await ended.wait()
            tasks.cancel_scope.cancel()
        return failure or await self._death(process, connection)

    async def _death(self, process: Process, connection: Connection) -> AgentFailed:
        await process.settle()
        name, code = self.spec.name, process.returncode
        when = "" if self._connection is not None else " before it answered initialize"
        if code is None:
            reason = f"{name} ended{when}: {connection.closed}"
        elif code < 0:
            reason = f"{name} was ended by signal {-code}{when}"
        else:
            reason = f"{name} exited with code {code}{when}"
        return AgentFailed(reason, code, process.stderr_tail)

    async def _request(
        self,
        call: Call,
        on_result: Callable[[Json], None] | None = None,
        on_error: Callable[[RpcError], None] | None = None,
    ) -> Json:
        if self._connection is None:
            raise ConnectionClosed(f"{self.spec.name} is not running")
        method, params = call
        return await self._connection.request(method, params, on_result=on_result, on_error=on_error)

    def _need(self, can: bool, what: str) -> None:
        if self._connection is None:
            raise ConnectionClosed(f"{self.spec.name} is not running")
        if not can:
            raise Unsupported(self.spec.name, what)


async def _run(connection: Connection, ended: anyio.Event) -> None:
    try:
        await connection.run()
    finally:
        ended.set()
