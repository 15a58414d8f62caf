"""The official SDKs as agents: Python in version 1, TypeScript in versions 1 and 2."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_side import Running, running
from waiting import until

from acp_editor.acp.agent import AgentSpec
from acp_editor.acp.connection import RpcError

pytestmark = pytest.mark.anyio

HERE = Path(__file__).parent
PYTHON = AgentSpec("python", sys.executable, (str(HERE / "sdk_agent.py"),))
EXAMPLES = HERE.parent / "client-vscode/node_modules/acp-sdk-examples/dist/examples"


def example(name: str, protocol: Any = "auto") -> AgentSpec:
    if shutil.which("node") is None or not (EXAMPLES / name).exists():
        pytest.skip("the TypeScript SDK is not installed: run `npm ci` in client-vscode")
    return AgentSpec("typescript", "node", (str(EXAMPLES / name),), protocol=protocol)


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
