"""`acp-editor check`, a real process, against agents that behave and agents that do not."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

pytestmark = pytest.mark.anyio

SCRIPTED = Path(__file__).parent / "scripted_agent.py"
DEMO = (sys.executable, "-m", "acp_editor.agents.demo")

AGENT = {"protocolVersion": 1, "agentInfo": {"name": "scripted", "version": "1"}}


async def check(*arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "acp_editor", "check", *arguments]
    env = {**os.environ, "ACP_EDITOR_DEMO_PACE": "instant"}
    with anyio.fail_after(60):
        done = await anyio.run_process(command, check=False, env=env)
    return done.returncode, done.stdout.decode() or done.stderr.decode()


async def checked(tmp_path: Path, steps: Sequence[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(steps))
    code, text = await check("--json", "--", sys.executable, str(SCRIPTED), str(script))
    found = json.loads(text)
    assert found["exit"] == code
    (run,) = found["versions"].values()
    return code, run


def outcomes(run: dict[str, Any]) -> dict[str, str]:
    return {step["name"]: step["outcome"] for step in run["steps"]}


def update(kind: str, **fields: Any) -> dict[str, Any]:
    return {
        "method": "session/update",
        "params": {"sessionId": "s1", "update": {"sessionUpdate": kind, **fields}},
    }


def chunk(text: str) -> dict[str, Any]:
    return update("agent_message_chunk", content={"type": "text", "text": text})


async def test_the_built_in_agent_does_nothing_wrong_in_both_versions() -> None:
    code, text = await check("--json", "--", *DEMO)
    found = json.loads(text)
    assert (code, found["exit"], sorted(found["versions"])) == (0, 0, ["1", "2"])
    for run in found["versions"].values():
        assert (run["speaks"], run["failure"], run["faults"]) == (True, None, [])
        assert {name for name, outcome in outcomes(run).items() if outcome != "works"} == {"session/fork"}
        assert run["told"]["session/request_permission"] >= 1
        assert run["capabilities"]["load"]


async def test_what_is_wrong_is_told_with_codes(tmp_path: Path) -> None:
    able = {**AGENT, "agentCapabilities": {"sessionCapabilities": {"list": {}}}}
    code, run = await checked(
        tmp_path,
        [
            {"take": "initialize", "result": able},
            {"take": "session/new", "result": {"sessionId": "s1"}},
            {"take": "session/prompt"},
            {"say": [update("no_such_update"), update("tool_call_update", toolCallId="c1"), chunk("done")]},
            {"answer": "session/prompt", "result": {"stopReason": "end_turn"}},
            {"take": "session/prompt"},
            {"say": [chunk("1"), chunk("2"), chunk("3")]},
            {"take": "session/cancel"},
            {"answer": "session/prompt", "result": {"stopReason": "end_turn"}},
            {"take": "session/list", "error": {"code": -32603, "message": "no list today"}},
        ],
    )
    assert code == 1
    assert {fault["code"]: fault["count"] for fault in run["faults"]} == {
        "unknown_update": 1,
        "update_for_unknown_call": 1,
        "turn_ended_with_calls_running": 1,
        "cancel_not_reported": 1,
        "offered_but_refused": 1,
    }
    assert all(fault["message"].endswith(".") for fault in run["faults"])
    failed = {name for name, outcome in outcomes(run).items() if outcome == "fails"}
    assert failed == {"session/cancel", "session/list"}


async def test_an_agent_that_wants_a_login_cannot_be_checked(tmp_path: Path) -> None:
    methods = [{"id": "key", "name": "API key"}]
    code, run = await checked(
        tmp_path,
        [
            {"take": "initialize", "result": {**AGENT, "authMethods": methods}},
            {"take": "session/new", "error": {"code": -32000, "message": "Authentication required"}},
        ],
    )
    assert code == 2
    assert outcomes(run)["session/new"] == "not checked"
    assert "key" in run["steps"][-1]["detail"]


async def test_an_agent_that_dies_in_mid_turn_is_told(tmp_path: Path) -> None:
    code, run = await checked(
        tmp_path,
        [
            {"take": "initialize", "result": AGENT},
            {"take": "session/new", "result": {"sessionId": "s1"}},
            {"take": "session/prompt"},
            {"stderr": "out of memory\n"},
            {"exit": 3},
        ],
    )
    assert code == 1
    assert "exited with code 3" in run["failure"]
    assert "out of memory" in run["stderr"]


async def test_a_version_can_be_forced_and_the_text_says_the_same() -> None:
    code, text = await check("--protocol", "2", "--", *DEMO)
    assert code == 0
    assert "Version 2: Demo agent" in text
    assert "Version 1" not in text
    assert text.endswith("Nothing wrong was seen.\n")


async def test_what_does_not_start_is_told() -> None:
    code, text = await check("--", "no-such-agent-anywhere")
    assert code == 2
    assert "no-such-agent-anywhere was not found" in text
