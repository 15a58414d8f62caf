"""Our side of a running agent in tests: a host that keeps sessions, and checks of what we send."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
from acp_schemas import check, schema

from acp_editor.acp.agent import Agent, AgentFailed, AgentSpec
from acp_editor.acp.connection import Direction
from acp_editor.acp.traffic import Recorder as TrafficLog
from acp_editor.core.model import (
    Elicitation,
    ElicitationAnswer,
    ExitStatus,
    Fault,
    McpServer,
    PermissionRequest,
    StateUpdate,
    Update,
)
from acp_editor.core.session import Session

SCRIPTED = Path(__file__).parent / "scripted_agent.py"

EXTENSIONS = ("session/fork", "session/set_model")
"""What no stable schema has, sent to agents that say they have it."""


class Recorder:
    """A host: keeps sessions, updates and faults; permissions wait until `choose`."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.updates: list[tuple[str, Update]] = []
        self.faults: list[Fault] = []
        self.asked: list[PermissionRequest] = []
        self.completed: list[str] = []
        self.calls: list[tuple[Any, ...]] = []
        self.choice: str | None = None
        self.decided = anyio.Event()

    def session(self, session_id: str = "s1") -> Session:
        return self.sessions.setdefault(session_id, Session(session_id, "agent", "/ws"))

    def states(self) -> list[str]:
        return [update.state for _, update in self.updates if isinstance(update, StateUpdate)]

    def codes(self) -> list[str]:
        return [fault.code for fault in self.faults]

    def choose(self, option_id: str | None) -> None:
        self.choice = option_id
        self.decided.set()

    def session_update(self, session_id: str, update: Update) -> None:
        self.updates.append((session_id, update))
        session = self.session(session_id)
        session.apply(update)
        self.faults += session.take_faults()

    def fault(self, fault: Fault) -> None:
        self.faults.append(fault)

    async def request_permission(self, request: PermissionRequest) -> str | None:
        self.asked.append(request)
        await self.decided.wait()
        return self.choice

    async def read_text_file(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        self.calls.append(("read", session_id, path, line, limit))
        return "text"

    async def write_text_file(self, session_id: str, path: str, content: str) -> None:
        self.calls.append(("write", session_id, path, content))

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: tuple[str, ...],
        env: Mapping[str, str],
        cwd: str | None,
        output_byte_limit: int | None,
    ) -> str:
        self.calls.append(("create", session_id, command, args, dict(env), cwd, output_byte_limit))
        return "t1"

    async def terminal_output(self, session_id: str, terminal_id: str) -> tuple[str, bool, ExitStatus | None]:
        return "out", False, ExitStatus(0)

    async def wait_for_terminal(self, session_id: str, terminal_id: str) -> ExitStatus:
        return ExitStatus(None, "SIGTERM")

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None:
        self.calls.append(("kill", terminal_id))

    async def release_terminal(self, session_id: str, terminal_id: str) -> None:
        self.calls.append(("release", terminal_id))

    async def elicit(self, elicitation: Elicitation) -> ElicitationAnswer:
        self.calls.append(("elicit", elicitation.mode, elicitation.message))
        return ElicitationAnswer("accept", {"name": "x"})

    def elicitation_complete(self, elicitation_id: str) -> None:
        self.completed.append(elicitation_id)


class Running:
    """An agent that runs, its host, and the messages in both directions."""

    def __init__(self, spec: AgentSpec, log: TrafficLog | None = None) -> None:
        self.host = Recorder()
        self.traffic: list[tuple[str, Any]] = []
        self._log = log
        self.agent = Agent(
            spec, self.host, on_traffic=self._heard, on_noise=log.noise if log is not None else None
        )
        self.failure: AgentFailed | None = None

    def _heard(self, way: Direction, message: Any) -> None:
        self.traffic.append((way, message))
        if self._log is not None:
            self._log(way, message)

    def sent(self, method: str | None = None) -> list[Any]:
        return [
            m for way, m in self.traffic if way == "out" and (method is None or m.get("method") == method)
        ]

    def params(self, method: str) -> Any:
        return self.sent(method)[-1]["params"]

    def answer(self, ident: Any) -> Any:
        """Our answer to a request of the agent's, None while there is none."""
        found = [m for m in self.sent() if "method" not in m and m["id"] == ident]
        return found[0] if found else None

    async def serve(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        try:
            await self.agent.run(task_status=task_status)
        except AgentFailed as failure:
            self.failure = failure


@asynccontextmanager
async def running(spec: AgentSpec, log: TrafficLog | None = None) -> AsyncIterator[Running]:
    """Runs an agent for the block; afterwards all that we sent is checked against the schemas."""
    side = Running(spec, log)
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            await tasks.start(side.serve)
            yield side
            tasks.cancel_scope.cancel()
    check_ours(side.agent.info.protocol, side.traffic)


def scripted(tmp_path: Path, steps: list[dict[str, Any]], protocol: Any = "auto") -> AgentSpec:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(steps))
    return AgentSpec("scripted", sys.executable, (str(SCRIPTED), str(script)), protocol=protocol)


def check_ours(version: Literal[1, 2], traffic: list[tuple[str, Any]]) -> None:
    """Requests and notifications of ours by their method, answers by that of the request."""
    asked: dict[Any, str] = {}
    for way, message in traffic:
        method = message.get("method")
        if way == "in":
            if method is not None and "id" in message:
                asked[message["id"]] = method
        elif method in EXTENSIONS:
            continue
        elif method is not None:
            check(version, _definition(version, method, "params"), message.get("params"))
        elif "error" in message:
            check(version, "Error", message["error"])
        else:
            check(version, _definition(version, asked[message["id"]], "result"), message["result"])


def _definition(version: Literal[1, 2], method: str, part: Literal["params", "result"]) -> str:
    names = [
        name
        for name, definition in schema(version)["$defs"].items()
        if definition.get("x-method") == method and name.endswith("Response") == (part == "result")
    ]
    assert names, f"version {version} has no {method}"
    return names[0]


MCP = (
    McpServer("files", command=sys.executable, args=("-m", "files"), env={"A": "b"}),
    McpServer("web", "http", url="https://example.com"),
    McpServer("old", "sse", url="https://example.com"),
    McpServer("gone", command="no-such-command"),
)
