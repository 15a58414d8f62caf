"""An agent's client over a real process: which version it speaks, what it may ask of us, how it ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from agent_messages import OPTIONS, START_V1, START_V2, TEXT, V1, V2, permission_v1, prompted, request, update
from agent_side import Running, running, scripted
from waiting import until

from acp_editor.acp.agent import Agent, AgentFailed, AgentSpec
from acp_editor.acp.connection import ConnectionClosed

pytestmark = pytest.mark.anyio


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
