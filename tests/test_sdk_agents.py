"""The official SDKs as agents: Python in version 1, TypeScript in versions 1 and 2."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any, Literal

import acp_schemas
import pytest
from agent_side import Running, running
from waiting import until

from acp_editor.acp.agent import AgentSpec
from acp_editor.acp.connection import RpcError
from acp_editor.core.model import ExitStatus

pytestmark = pytest.mark.anyio

HERE = Path(__file__).parent
PYTHON = AgentSpec("python", sys.executable, (str(HERE / "sdk_agent.py"),))
NODE_AGENT = HERE / "sdk_agents/agent.mjs"
EXAMPLES = HERE.parent / "client-vscode/node_modules/acp-sdk-examples/dist/examples"


def example(name: str, protocol: Any = "auto") -> AgentSpec:
    if shutil.which("node") is None or not (EXAMPLES / name).exists():
        pytest.fail("the TypeScript SDK is not installed: run `npm ci` in client-vscode")
    return AgentSpec("typescript", "node", (str(EXAMPLES / name),), protocol=protocol)


def typescript(protocol: Literal[1, 2]) -> AgentSpec:
    if shutil.which("node") is None or not acp_schemas.FOLDER.is_dir():
        pytest.fail("the TypeScript SDK is not installed: run `npm ci` in client-vscode")
    return AgentSpec("typescript", "node", (str(NODE_AGENT),), protocol=protocol)


async def said(side: Running, session_id: str, words: str) -> None:
    await side.agent.prompt(session_id, [{"type": "text", "text": words}])


@pytest.mark.parametrize(("choice", "status"), [("y", "completed"), ("n", "failed")])
async def test_python_asks_and_is_answered(choice: str, status: str) -> None:
    async with running(PYTHON) as side:
        assert (side.agent.info.protocol, side.agent.info.name) == (1, "sdk")
        await side.agent.new_session("/ws")
        await said(side, "s1", "edit")
        await until(lambda: side.host.asked)
        side.host.choose(choice)
        await until(lambda: side.host.session().state == "idle")
        call = side.host.session().tool_calls["c"]
        assert (call.title, call.kind, call.status) == ("Edit a.py", "edit", status)
    assert side.host.codes() == []


async def test_python_is_cancelled_while_it_waits_and_while_it_asks() -> None:
    async with running(PYTHON) as side:
        await side.agent.new_session("/ws")
        session = side.host.session()
        await said(side, "s1", "wait")
        await until(lambda: any(message.role == "agent" for message in session.messages))
        side.agent.cancel("s1")
        await until(lambda: session.stop_reason == "cancelled")
        await said(side, "s1", "edit")
        await until(lambda: side.host.asked)
        side.agent.cancel("s1")
        side.host.choose(None)
        await until(lambda: session.stop_reason == "cancelled")
    assert side.host.codes() == []


async def test_python_takes_options_elicitation_and_load() -> None:
    async with running(PYTHON) as side:
        await side.agent.new_session("/ws")
        (fast,) = side.host.session().config
        assert (fast.kind, fast.value) == ("boolean", False)
        await side.agent.set_config("s1", fast, True)
        assert [option.value for option in side.host.session().config] == [True]
        with pytest.raises(RpcError):
            await side.agent.set_config("s1", fast, "x")
        await said(side, "s1", "ask")
        await until(lambda: side.host.session().state == "idle")
        assert [message.text for message in side.host.session().messages] == ["ask", "accept"]
        await side.agent.load_session("s1", "/ws")
        await until(lambda: [m.text for m in side.host.session().messages] == ["as before"])


@pytest.mark.parametrize(("protocol", "spoken"), [("auto", 2), (1, 1), (2, 2)])
async def test_typescript_in_both_versions(protocol: Any, spoken: int) -> None:
    async with running(example("dual-version-agent.js", protocol)) as side:
        assert side.agent.info.protocol == spoken
        start = await side.agent.new_session("/ws")
        session = side.host.session(start.session_id)
        await said(side, start.session_id, "hi")
        await until(lambda: session.stop_reason == "end_turn")
        assert [m.text for m in session.messages if m.role == "agent"] == [
            f"Hello from the v{spoken} implementation."
        ]
        if spoken == 2:
            rows, _ = await side.agent.list_sessions("/ws")
            assert [row.session_id for row in rows] == [start.session_id]
            await side.agent.close_session(start.session_id)
            await side.agent.load_session(start.session_id, "/ws")
            assert [m.role for m in session.messages] == ["user", "agent"]
    assert side.host.codes() == []


async def test_typescript_asks_in_version_1() -> None:
    async with running(example("agent.js")) as side:
        start = await side.agent.new_session("/ws")
        session = side.host.session(start.session_id)
        await said(side, start.session_id, "hi")
        await until(lambda: side.host.asked, 20)
        side.host.choose(side.host.asked[0].options[0].option_id)
        await until(lambda: session.state == "idle", 20)
        assert session.stop_reason == "end_turn"
        assert [call.status for call in session.tool_calls.values()] == ["completed", "completed"]
    assert side.host.codes() == []


both = pytest.mark.parametrize("protocol", [1, 2])


@both
@pytest.mark.parametrize(("choice", "status"), [("y", "completed"), ("n", "failed")])
async def test_typescript_asks_and_is_answered(protocol: Literal[1, 2], choice: str, status: str) -> None:
    async with running(typescript(protocol)) as side:
        info = side.agent.info
        assert (info.protocol, info.name, info.title) == (protocol, "typescript", "TypeScript agent")
        start = await side.agent.new_session("/ws")
        session = side.host.session(start.session_id)
        assert [command.name for command in session.commands] == ["plan"]
        await said(side, start.session_id, "edit")
        await until(lambda: side.host.asked)
        assert session.state == "requires_action"
        side.host.choose(choice)
        await until(lambda: session.stop_reason == "end_turn")
        call = session.tool_calls["c/1"]
        assert (call.title, call.kind, call.status) == ("Edit a.py", "edit", status)
        assert [(message.role, message.text) for message in session.messages] == [("user", "edit")]
    assert side.host.codes() == []


@both
async def test_typescript_is_cancelled_while_it_waits_and_while_it_asks(protocol: Literal[1, 2]) -> None:
    async with running(typescript(protocol)) as side:
        start = await side.agent.new_session("/ws")
        session = side.host.session(start.session_id)
        await said(side, start.session_id, "wait")
        await until(lambda: any(message.role == "agent" for message in session.messages))
        side.agent.cancel(start.session_id)
        await until(lambda: session.stop_reason == "cancelled")
        await said(side, start.session_id, "edit")
        await until(lambda: side.host.asked)
        side.agent.cancel(start.session_id)
        side.host.choose(None)
        await until(lambda: session.stop_reason == "cancelled")
        assert (session.state, session.turn) == ("idle", 2)
        assert not any(call.active for call in session.tool_calls.values())
    assert side.host.codes() == []


@both
async def test_typescript_has_options(protocol: Literal[1, 2]) -> None:
    async with running(typescript(protocol)) as side:
        start = await side.agent.new_session("/ws")
        session = side.host.session(start.session_id)
        model, fast = session.config
        assert (model.kind, model.category, [c.value for c in model.choices]) == (
            "choice",
            "model",
            ["small", "large"],
        )
        await side.agent.set_config(start.session_id, model, "large")
        await side.agent.set_config(start.session_id, fast, True)
        assert [option.value for option in session.config] == ["large", True]
        with pytest.raises(RpcError):
            await side.agent.set_config(start.session_id, model, "huge")
        assert [option.value for option in session.config] == ["large", True]
    assert side.host.codes() == []


@both
async def test_typescript_lists_loads_resumes_closes_and_deletes(protocol: Literal[1, 2]) -> None:
    async with running(typescript(protocol)) as side:
        agent = side.agent
        one = (await agent.new_session("/ws")).session_id
        other = (await agent.new_session("/ws")).session_id
        rows, cursor = await agent.list_sessions("/ws")
        assert [(row.session_id, row.title) for row in rows] == [(one, f"Session {one}")]
        rows, cursor = await agent.list_sessions("/ws", cursor)
        assert ([row.session_id for row in rows], cursor) == ([other], None)
        session = side.host.session(one)
        await said(side, one, "fail")
        await until(lambda: session.error is not None)
        assert session.state == "idle"
        await agent.close_session(one)
        await agent.load_session(one, "/ws")
        assert [(message.role, message.text) for message in session.messages] == [("user", "fail")]
        assert not session.replaying
        await agent.resume_session(one, "/ws")
        assert [message.text for message in session.messages] == ["fail"]
        await agent.delete_session(other)
        rows, _ = await agent.list_sessions("/ws")
        assert [row.session_id for row in rows] == [one]
        with pytest.raises(RpcError):
            await agent.load_session(other, "/ws")
    assert side.host.codes() == []


@both
async def test_typescript_asks_for_a_form(protocol: Literal[1, 2]) -> None:
    async with running(typescript(protocol)) as side:
        start = await side.agent.new_session("/ws")
        session = side.host.session(start.session_id)
        await said(side, start.session_id, "ask")
        await until(lambda: session.stop_reason == "end_turn")
        assert side.host.calls == [("elicit", "form", "Who?")]
        assert session.messages[-1].text == 'accept {"name":"x"}'
    assert side.host.codes() == []


async def test_typescript_reads_writes_and_runs_through_the_editor_in_version_1() -> None:
    async with running(typescript(1)) as side:
        start = await side.agent.new_session("/ws")
        session = side.host.session(start.session_id)
        await said(side, start.session_id, "files")
        await until(lambda: session.stop_reason == "end_turn")
        assert session.messages[-1].text == "text out SIGTERM"
        assert side.host.calls == [
            ("read", "s1", "/ws/a.py", 2, 1),
            ("write", "s1", "/ws/b.py", "text"),
            ("create", "s1", "make", ("test",), {"A": "b"}, "/ws", 1000),
            ("kill", "t1"),
            ("release", "t1"),
        ]
    assert side.host.codes() == []


async def test_typescript_shows_its_terminals_in_version_2() -> None:
    async with running(typescript(2)) as side:
        start = await side.agent.new_session("/ws")
        session = side.host.session(start.session_id)
        await said(side, start.session_id, "files")
        await until(lambda: session.stop_reason == "end_turn")
        (terminal,) = session.terminals.values()
        assert (terminal.command, terminal.output, terminal.exit_status) == ("make", b"out", ExitStatus(3))
    assert side.host.codes() == []
