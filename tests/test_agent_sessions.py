"""What may be asked of an agent about its sessions, over a real process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from agent_messages import START_V1, V1, V2, update
from agent_side import MCP, running, scripted

from acp_editor.acp.agent import Unsupported
from acp_editor.acp.connection import RpcError
from acp_editor.core.model import (
    ConfigOption,
    Notice,
    Replay,
    SessionSummary,
)

pytestmark = pytest.mark.anyio


SESSION_ABILITIES = ("list", "delete", "resume", "close", "fork", "additionalDirectories")
ABLE = {
    **V1,
    "agentCapabilities": {
        "loadSession": True,
        "mcpCapabilities": {"http": True},
        "sessionCapabilities": {key: {} for key in SESSION_ABILITIES},
        "auth": {"logout": {}},
    },
}


async def test_what_we_may_ask_in_version_1(tmp_path: Path) -> None:
    page = {"sessions": [{"sessionId": "old", "cwd": "/ws", "title": "T"}, {"cwd": 7}], "nextCursor": "2"}
    options = [{"id": "fast", "name": "Fast", "type": "boolean", "currentValue": True}]
    steps = [
        {"take": "initialize", "result": ABLE},
        {"take": "authenticate", "result": {}},
        {"take": "session/list", "result": page},
        {"take": "session/load"},
        {"say": [update("tool_call", "old", toolCallId="c", title="T", status="in_progress")]},
        {"answer": "session/load", "result": None},
        {"take": "session/resume", "result": {}},
        {"take": "session/fork", "result": {"sessionId": "copy"}},
        {"take": "session/set_config_option", "result": {"configOptions": options}},
        {"take": "session/set_mode", "result": {}},
        {"take": "session/set_model", "result": {}},
        {"take": "session/close", "result": {}},
        {"take": "session/delete", "result": {}},
        {"take": "logout", "result": {}},
    ]
    mode = ConfigOption("mode", "Mode", "choice", "a", origin="mode")
    model = ConfigOption("model", "Model", "choice", "a", origin="model")
    async with running(scripted(tmp_path, steps)) as side:
        agent = side.agent
        await agent.authenticate("web")
        rows, cursor = await agent.list_sessions("/ws")
        assert (rows, cursor) == ((SessionSummary("old", "/ws", "T"),), "2")
        assert (await agent.load_session("old", "/ws", ("/more",), MCP)).session_id == "old"
        await agent.resume_session("old", "/ws")
        assert (await agent.fork_session("old", "/ws")).session_id == "copy"
        fast = ConfigOption("fast", "Fast", "boolean", False)
        answered = await agent.set_config("old", fast, True)
        assert answered is not None
        assert [option.value for option in answered] == [True]
        assert await agent.set_config("old", mode, "b") is None
        assert await agent.set_config("old", model, "b") is None
        await agent.close_session("old")
        await agent.delete_session("old")
        await agent.logout()
        with pytest.raises(Unsupported, match="cancel a single tool call"):
            await agent.cancel_tool_call("old", "c")
    load = side.params("session/load")
    assert [server["name"] for server in load["mcpServers"]] == ["files", "web"]
    assert os.path.isabs(load["mcpServers"][0]["command"])
    assert load["additionalDirectories"] == ["/more"]
    old = side.host.session("old")
    assert [notice.severity for notice in old.notices] == ["warning", "warning"]
    assert old.tool_calls["c"].replayed
    assert not old.tool_calls["c"].active
    assert [u for _, u in side.host.updates if isinstance(u, Replay)] == [Replay(True), Replay(False)]
    assert side.host.codes() == ["invalid_item"]


async def test_what_we_may_ask_in_version_2(tmp_path: Path) -> None:
    able = {
        **V2,
        "capabilities": {"session": {"delete": {}, "mcp": {"stdio": {}}}},
        "authMethods": [{"type": "agent", "methodId": "web", "name": "Browser"}],
    }
    steps = [
        {"take": "initialize", "result": able},
        {"take": "auth/login", "result": {}},
        {"take": "session/resume", "result": {}},
        {"take": "session/resume", "result": {}},
        {"take": "session/set_config_option", "result": {"configOptions": []}},
        {"take": "tool_call/cancel", "result": {}},
        {"take": "terminal/cancel", "result": {}},
        {"take": "session/delete", "result": {}},
        {"take": "auth/logout", "result": {}},
    ]
    async with running(scripted(tmp_path, steps)) as side:
        agent = side.agent
        await agent.authenticate("web")
        await agent.load_session("old", "/ws", (), MCP)
        assert side.params("session/resume")["replayFrom"] == {"type": "start"}
        assert [server["type"] for server in side.params("session/resume")["mcpServers"]] == ["stdio"]
        await agent.resume_session("old", "/ws", ("/more",))
        assert "replayFrom" not in side.params("session/resume")
        assert "additionalDirectories" not in side.params("session/resume")
        assert await agent.set_config("old", ConfigOption("m", "M", "choice", "a"), "b") == ()
        await agent.cancel_tool_call("old", "c")
        await agent.cancel_terminal("old", "t")
        await agent.delete_session("old")
        await agent.logout()
        with pytest.raises(Unsupported, match="fork"):
            await agent.fork_session("old", "/ws")


async def test_only_what_the_agent_says_it_can_is_asked(tmp_path: Path) -> None:
    async with running(scripted(tmp_path, START_V1)) as side:
        for ask in (
            side.agent.load_session("s", "/ws"),
            side.agent.resume_session("s", "/ws"),
            side.agent.list_sessions(),
            side.agent.close_session("s"),
            side.agent.delete_session("s"),
            side.agent.logout(),
        ):
            with pytest.raises(Unsupported):
                await ask
        assert [m["method"] for m in side.sent()] == ["initialize"]
        await side.agent.new_session("/ws", (), MCP[1:2])
        assert side.params("session/new") == {"cwd": "/ws", "mcpServers": []}
        notices = [u for _, u in side.host.updates if isinstance(u, Notice)]
        assert [notice.title for notice in notices] == ["scripted cannot use http for the MCP server web"]


async def test_an_error_and_an_answer_without_an_id_reach_the_caller(tmp_path: Path) -> None:
    steps = [
        START_V1[0],
        {"take": "session/new", "error": {"code": -32000, "message": "Authentication required"}},
        {"take": "session/new", "result": {}},
    ]
    async with running(scripted(tmp_path, steps)) as side:
        with pytest.raises(RpcError, match="Authentication required") as refused:
            await side.agent.new_session("/ws")
        assert refused.value.code == -32000
        with pytest.raises(RpcError, match="sessionId"):
            await side.agent.new_session("/ws")
    assert side.host.codes() == ["missing_field"]
