"""One running agent, a real process that plays a script: versions, sessions, turns, requests, its end."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from agent_side import MCP, Running, running, scripted
from waiting import until

from acp_editor.acp.agent import Agent, AgentFailed, AgentSpec, Unsupported
from acp_editor.acp.connection import ConnectionClosed, RpcError
from acp_editor.core.model import (
    ConfigOption,
    MessageUpsert,
    Notice,
    PermissionRequest,
    Replay,
    SessionSummary,
    StateUpdate,
    ToolCallUpsert,
)

pytestmark = pytest.mark.anyio

V1: dict[str, Any] = {"protocolVersion": 1, "agentInfo": {"name": "scripted", "version": "1"}}
V2: dict[str, Any] = {
    "protocolVersion": 2,
    "info": {"name": "scripted", "version": "1"},
    "capabilities": {"session": {}},
}
TEXT = {"type": "text", "text": "hi"}
OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]
START_V1: list[dict[str, Any]] = [
    {"take": "initialize", "result": V1},
    {"take": "session/new", "result": {"sessionId": "s1"}},
]
START_V2: list[dict[str, Any]] = [
    {"take": "initialize", "result": V2},
    {"take": "session/new", "result": {"sessionId": "s1"}},
]


def update(name: str, session: str = "s1", /, **fields: Any) -> dict[str, Any]:
    params = {"sessionId": session, "update": {"sessionUpdate": name, **fields}}
    return {"method": "session/update", "params": params}


def request(ident: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"id": ident, "method": method, "params": params}


def permission_v1(ident: Any, **call: Any) -> dict[str, Any]:
    call = {"toolCallId": "c", **call}
    return request(ident, "session/request_permission", sessionId="s1", toolCall=call, options=OPTIONS)


async def prompted(side: Running) -> None:
    session = await side.agent.new_session("/ws")
    await side.agent.prompt(session.session_id, [TEXT])


# -- versions --------------------------------------------------------------------------------------


async def test_a_turn_in_version_1(tmp_path: Path) -> None:
    steps = [
        *START_V1,
        {"take": "session/prompt"},
        {"say": [update("tool_call", toolCallId="c", title="T", kind="edit"), permission_v1("p")]},
        {"take_answer": "p"},
        {"say": [update("tool_call_update", toolCallId="c", status="completed")]},
        {"answer": "session/prompt", "result": {"stopReason": "end_turn"}},
    ]
    async with running(scripted(tmp_path, steps)) as side:
        assert (side.agent.info.protocol, side.agent.info.name) == (1, "scripted")
        await prompted(side)
        await until(lambda: side.host.asked)
        assert side.host.session().state == "requires_action"
        side.host.choose("y")
        await until(lambda: side.host.session().state == "idle")
    assert side.host.states() == ["running", "requires_action", "running", "idle"]
    assert side.host.session().stop_reason == "end_turn"
    assert side.host.session().tool_calls["c"].status == "completed"
    assert side.answer("p")["result"] == {"outcome": {"outcome": "selected", "optionId": "y"}}
    assert side.host.codes() == []


async def test_a_turn_in_version_2(tmp_path: Path) -> None:
    subject = {"type": "tool_call", "toolCall": {"toolCallId": "c", "title": "T"}}
    ask = {"sessionId": "s1", "title": "Q", "subject": subject, "options": OPTIONS}
    steps = [
        *START_V2,
        {"take": "session/prompt"},
        {"say": [update("user_message", messageId="u", content=[TEXT])]},
        {"answer": "session/prompt", "result": {"messageId": "u"}},
        {"say": [update("state_update", state="running")]},
        {"say": [request(7, "session/request_permission", **ask)]},
        {"take_answer": 7},
        {"say": [update("state_update", state="idle", stopReason="refusal")]},
    ]
    async with running(scripted(tmp_path, steps)) as side:
        assert side.agent.info.protocol == 2
        side.host.choose("n")
        await prompted(side)
        await until(lambda: side.host.session().stop_reason)
    assert side.host.session().stop_reason == "refusal"
    assert [m.text for m in side.host.session().messages] == ["hi"]
    assert side.host.session().tool_calls["c"].title == "T"
    assert side.answer(7)["result"] == {"outcome": {"outcome": "selected", "optionId": "n"}}
    assert side.host.codes() == ["turn_ended_with_calls_running"]


async def test_an_agent_that_echoes_the_number_speaks_version_1(tmp_path: Path) -> None:
    async with running(
        scripted(tmp_path, [{"take": "initialize", "result": {**V1, "protocolVersion": 2}}])
    ) as side:
        assert side.agent.info.protocol == 1
    assert side.host.codes() == ["wrong_protocol_version"]


async def test_an_agent_that_refuses_the_offer_is_asked_again_in_version_1(tmp_path: Path) -> None:
    steps = [
        {"take": "initialize", "error": {"code": -32602, "message": "clientInfo is not known"}},
        {"take": "initialize", "result": V1},
    ]
    async with running(scripted(tmp_path, steps)) as side:
        assert side.agent.info.protocol == 1
    first, second = side.sent("initialize")
    assert first["params"]["protocolVersion"] == 2
    assert set(second["params"]) == {"protocolVersion", "clientInfo", "clientCapabilities"}


@pytest.mark.parametrize(("forced", "answer"), [(2, V1), (2, {**V1, "protocolVersion": 2}), (1, V2)])
async def test_a_forced_version_that_the_agent_does_not_speak_is_an_error(
    tmp_path: Path, forced: Any, answer: Any
) -> None:
    spec = scripted(tmp_path, [{"take": "initialize", "result": answer}], forced)
    with pytest.raises(AgentFailed, match=f"ask for protocol version {forced}"):
        await Agent(spec, Running(spec).host).run()


# -- the order of the wire -------------------------------------------------------------------------


async def test_updates_before_the_answer_to_session_new_are_kept(tmp_path: Path) -> None:
    commands = [{"name": "early", "description": "x"}]
    steps = [
        START_V1[0],
        {"take": "session/new"},
        {"say": [update("available_commands_update", availableCommands=commands)]},
        {"answer": "session/new", "result": {"sessionId": "s1"}},
    ]
    async with running(scripted(tmp_path, steps)) as side:
        start = await side.agent.new_session("/ws")
    assert (start.session_id, start.updates) == ("s1", ())
    assert [command.name for command in side.host.session().commands] == ["early"]


async def test_an_update_right_after_an_answer_comes_after_it(tmp_path: Path) -> None:
    def options(value: bool) -> list[Any]:
        return [{"id": "fast", "name": "Fast", "type": "boolean", "currentValue": value}]

    answer = {"id": 2, "result": {"sessionId": "s1", "configOptions": options(False)}}
    steps = [
        START_V1[0],
        {"take": "session/new"},
        {"say": [answer, update("config_option_update", configOptions=options(True))]},
    ]
    async with running(scripted(tmp_path, steps)) as side:
        await side.agent.new_session("/ws")
        await until(lambda: len(side.host.updates) == 2)
    assert [option.value for option in side.host.session().config] == [True]


async def test_a_permission_request_changes_its_call_in_order(tmp_path: Path) -> None:
    steps = [
        *START_V1,
        {"take": "session/prompt"},
        {
            "say": [
                update("tool_call", toolCallId="c", title="T"),
                permission_v1(1, status="pending", title="Edit a.py"),
                update("tool_call_update", toolCallId="c", status="in_progress"),
            ]
        },
    ]
    async with running(scripted(tmp_path, steps)) as side:
        await prompted(side)
        await until(lambda: side.host.asked)
        call = side.host.session().tool_calls["c"]
        assert (call.title, call.status) == ("Edit a.py", "in_progress")
    kinds = [type(u) for _, u in side.host.updates if not isinstance(u, StateUpdate | MessageUpsert)]
    assert kinds == [ToolCallUpsert, PermissionRequest, ToolCallUpsert]


async def test_cancel_goes_out_before_the_cancelled_answer_and_after_the_prompt(tmp_path: Path) -> None:
    steps = [
        *START_V1,
        {"take": "session/prompt"},
        {"say": [permission_v1(1)]},
        {"take": "session/cancel"},
        {"take_answer": 1},
        {"answer": "session/prompt", "result": {"stopReason": "cancelled"}},
    ]
    async with running(scripted(tmp_path, steps)) as side:
        await prompted(side)
        await until(lambda: side.host.asked)
        side.agent.cancel("s1")
        side.host.choose(None)
        await until(lambda: side.host.session().state == "idle")
    order = [m.get("method", m.get("result")) for m in side.sent()][-3:]
    assert order == ["session/prompt", "session/cancel", {"outcome": {"outcome": "cancelled"}}]
    assert side.host.session().stop_reason == "cancelled"


async def test_an_immediate_cancel_does_not_overtake_the_prompt(tmp_path: Path) -> None:
    async with running(scripted(tmp_path, START_V1)) as side:
        await prompted(side)
        side.agent.cancel("s1")
        assert [m["method"] for m in side.sent()][-2:] == ["session/prompt", "session/cancel"]


# -- turns -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [START_V1, START_V2])
async def test_a_prompt_that_fails_ends_the_turn_with_its_error(
    tmp_path: Path, start: list[dict[str, Any]]
) -> None:
    steps = [*start, {"take": "session/prompt", "error": {"code": -32603, "message": "model overloaded"}}]
    async with running(scripted(tmp_path, steps)) as side:
        await prompted(side)
        await until(lambda: side.host.session().state == "idle")
    assert side.host.session().error == {"code": -32603, "message": "model overloaded"}


async def test_the_late_answer_of_an_abandoned_turn_does_not_end_the_next(tmp_path: Path) -> None:
    steps = [
        *START_V1,
        {"take": "session/prompt"},
        {"take": "session/prompt"},
        {"answer": "session/prompt", "result": {"stopReason": "cancelled"}},
        {"say": [update("session_info_update", title="heard")]},
        {"take": "session/cancel"},
        {"answer": "session/prompt", "result": {"stopReason": "end_turn"}},
    ]
    async with running(scripted(tmp_path, steps)) as side:
        await prompted(side)
        side.agent.abandon("s1")
        assert side.host.session().stop_reason == "cancelled"
        await side.agent.prompt("s1", [TEXT])
        await until(lambda: side.host.session().title == "heard")
        assert side.host.session().state == "running"
        side.agent.cancel("s1")
        await until(lambda: side.host.session().state == "idle")
    assert side.host.session().stop_reason == "end_turn"


async def test_a_prompt_in_mid_turn_goes_on_when_the_first_is_answered(tmp_path: Path) -> None:
    steps = [
        *START_V1,
        {"take": "session/prompt"},
        {"take": "session/prompt"},
        {"answer": "session/prompt", "result": {"stopReason": "end_turn"}},
        {"take": "session/cancel"},
        {"answer": "session/prompt", "result": {"stopReason": "cancelled"}},
    ]
    async with running(scripted(tmp_path, steps)) as side:
        await prompted(side)
        await side.agent.prompt("s1", [TEXT])
        await until(lambda: side.host.states() == ["running", "running", "idle", "running"])
        side.agent.cancel("s1")
        await until(lambda: side.host.states()[-1] == "idle")


async def test_words_that_a_version_1_agent_says_back_are_not_told_twice(tmp_path: Path) -> None:
    steps = [
        *START_V1,
        {"take": "session/prompt"},
        {"say": [update("user_message_chunk", content={**TEXT, "annotations": None})]},
        {"say": [update("user_message_chunk", content={"type": "text", "text": "something else"})]},
        {"answer": "session/prompt", "result": {}},
    ]
    async with running(scripted(tmp_path, steps)) as side:
        await prompted(side)
        await until(lambda: side.host.session().state == "idle")
    assert [m.text for m in side.host.session().messages] == ["hi", "something else"]
    assert side.host.codes() == ["missing_field"]


@pytest.mark.parametrize("version", [1, 2])
async def test_a_withdrawn_permission_is_answered_as_its_version_wants(tmp_path: Path, version: int) -> None:
    ask = permission_v1(5)
    ask["params"]["title"] = "Q"
    withdraw = {"method": "$/cancel_request", "params": {"requestId": 5}}
    steps = [
        *(START_V1 if version == 1 else START_V2),
        {"say": [ask]},
        {"take": "session/prompt"},
        {"say": [withdraw]},
    ]
    async with running(scripted(tmp_path, steps)) as side:
        await side.agent.new_session("/ws")
        await until(lambda: side.host.asked)
        await side.agent.prompt("s1", [TEXT])
        await until(lambda: side.answer(5))
    if version == 1:
        assert side.answer(5)["error"]["code"] == -32800
    else:
        assert side.answer(5)["result"] == {"outcome": {"outcome": "cancelled"}}


# -- sessions --------------------------------------------------------------------------------------

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


# -- what an agent may ask of us -------------------------------------------------------------------


async def test_requests_of_a_version_1_agent_reach_the_host(tmp_path: Path) -> None:
    terminal = {"sessionId": "s1", "terminalId": "t1"}
    form = {"message": "Who?", "mode": "form", "sessionId": "s1", "requestedSchema": {"type": "object"}}
    link = {"message": "Go", "mode": "url", "requestId": 1, "url": "https://x", "elicitationId": "e"}
    asked = [
        request("a", "fs/read_text_file", sessionId="s1", path="/a", line=2, limit=3),
        request("b", "fs/write_text_file", sessionId="s1", path="/a", content="x"),
        request("c", "terminal/create", sessionId="s1", command="ls", env=[{"name": "A", "value": "b"}]),
        request("d", "terminal/output", **terminal),
        request("e", "terminal/wait_for_exit", **terminal),
        request("f", "terminal/kill", **terminal),
        request("g", "terminal/release", **terminal),
        request("h", "elicitation/create", **form),
        request("i", "elicitation/create", **link),
        {"method": "elicitation/complete", "params": {"elicitationId": "e"}},
    ]
    async with running(scripted(tmp_path, [*START_V1, {"say": asked}])) as side:
        await side.agent.new_session("/ws")
        await until(lambda: all(side.answer(ident) for ident in "abcdefghi"))
    results = {ident: side.answer(ident)["result"] for ident in "abcdefghi"}
    assert results["a"] == {"content": "text"}
    assert results["c"] == {"terminalId": "t1"}
    assert results["d"] == {
        "output": "out",
        "truncated": False,
        "exitStatus": {"exitCode": 0, "signal": None},
    }
    assert results["e"] == {"exitCode": None, "signal": "SIGTERM"}
    assert results["h"] == results["i"] == {"action": "accept", "content": {"name": "x"}}
    assert ("read", "s1", "/a", 2, 3) in side.host.calls
    assert ("create", "s1", "ls", (), {"A": "b"}, None, None) in side.host.calls
    assert side.host.completed == ["e"]
    assert side.host.codes() == []


@pytest.mark.parametrize(
    ("start", "asked", "code", "faults"),
    [
        (START_V1, request(1, "_zed/magic"), -32601, []),
        (START_V1, request(1, "zed/magic"), -32601, ["unknown_request"]),
        (START_V1, request(1, "fs/read_text_file"), -32602, ["invalid_params"]),
        (START_V1, {"id": 1, "method": "terminal/create"}, -32602, ["invalid_params"]),
        (START_V1, request(1, "session/request_permission", sessionId="s1", options=[]), -32602, None),
        (START_V1, request(1, "elicitation/create", message="m", mode="url"), -32602, ["invalid_params"]),
        (START_V1, request(1, "elicitation/create", message="m", mode="moon"), -32602, ["invalid_params"]),
        (START_V2, request(1, "fs/read_text_file", sessionId="s1", path="/a"), -32601, ["unknown_request"]),
    ],
)
async def test_requests_that_cannot_be_met_get_an_error(
    tmp_path: Path, start: Any, asked: Any, code: int, faults: Any
) -> None:
    async with running(scripted(tmp_path, [*start, {"say": [asked]}])) as side:
        await side.agent.new_session("/ws")
        await until(lambda: side.answer(1))
    assert side.answer(1)["error"]["code"] == code
    assert side.host.codes() == (["missing_field", "invalid_params"][1:] if faults is None else faults)


async def test_unknown_notifications_get_nothing(tmp_path: Path) -> None:
    noise = [
        {"method": "_other/thing", "params": {"a": 1}},
        {"method": "other/thing"},
        {"method": "session/update"},
        {"method": "elicitation/complete", "params": {}},
        update("session_info_update", title="heard"),
    ]
    async with running(scripted(tmp_path, [*START_V1, {"say": noise}])) as side:
        await side.agent.new_session("/ws")
        await until(lambda: side.host.session().title == "heard")
    assert side.host.codes() == ["unknown_notification", "wrong_type", "missing_field"]
    assert [m["method"] for m in side.sent()] == ["initialize", "session/new"]


# -- its end ---------------------------------------------------------------------------------------


async def test_an_agent_that_dies_says_how_and_fails_what_waits(tmp_path: Path) -> None:
    steps = [START_V1[0], {"take": "session/new"}, {"stderr": "out of luck\n"}, {"exit": 3}]
    async with running(scripted(tmp_path, steps)) as side:
        with pytest.raises(ConnectionClosed):
            await side.agent.new_session("/ws")
        await until(lambda: side.failure)
        with pytest.raises(ConnectionClosed, match="not running"):
            await side.agent.new_session("/ws")
        with pytest.raises(ConnectionClosed, match="not running"):
            await side.agent.prompt("s1", [TEXT])
        side.agent.cancel("s1")
    assert side.failure
    assert (side.failure.reason, side.failure.exit_code) == ("scripted exited with code 3", 3)
    assert side.failure.stderr == "out of luck\n"


async def test_an_agent_that_cannot_start_says_why(tmp_path: Path) -> None:
    host = Running(scripted(tmp_path, [])).host
    with pytest.raises(AgentFailed, match="no-such-agent"):
        await Agent(AgentSpec("a", "no-such-agent"), host).run()
    crash = AgentSpec("a", sys.executable, ("-c", "import sys; sys.exit('no key')"))
    with pytest.raises(AgentFailed, match="a exited with code 1 before it answered initialize") as failed:
        await Agent(crash, host).run()
    assert "no key" in failed.value.stderr
    refuse = [{"take": "initialize", "error": {"code": -32603, "message": "no licence"}}] * 2
    with pytest.raises(AgentFailed, match="did not start: no licence"):
        await Agent(scripted(tmp_path, refuse), host).run()
    nonsense = [{"take": "initialize", "result": 7}]
    with pytest.raises(AgentFailed, match="did not start: The answer to initialize"):
        await Agent(scripted(tmp_path, nonsense), host).run()


async def test_ending_an_agent_leaves_no_process(tmp_path: Path) -> None:
    script = scripted(tmp_path, START_V1)
    program = (
        f"import os, runpy; open('pid', 'w').write(str(os.getpid())); runpy.run_path({script.args[0]!r})"
    )
    spec = AgentSpec("a", sys.executable, ("-c", program, script.args[1]), cwd=str(tmp_path))
    async with running(spec) as side:
        await side.agent.new_session("/ws")
        number = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


async def test_a_cancelled_request_is_withdrawn(tmp_path: Path) -> None:
    steps = [START_V1[0], {"take": "session/new"}]
    async with running(scripted(tmp_path, steps)) as side:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(side.agent.new_session, "/ws")
            await until(lambda: side.sent("session/new"))
            tasks.cancel_scope.cancel()
        assert side.params("$/cancel_request") == {"requestId": 2}
