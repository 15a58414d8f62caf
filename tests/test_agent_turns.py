"""The order of the wire, and turns told alike in both versions, over a real process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from agent_messages import START_V1, START_V2, TEXT, permission_v1, prompted, update
from agent_side import running, scripted
from waiting import until

from acp_editor.core.model import (
    MessageUpsert,
    PermissionRequest,
    StateUpdate,
    ToolCallUpsert,
)

pytestmark = pytest.mark.anyio


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


async def test_nobody_waits_for_the_answer_of_an_abandoned_turn(tmp_path: Path) -> None:
    steps = [*START_V1, {"take": "session/prompt"}, {"take": "$/cancel_request"}]
    async with running(
        scripted(tmp_path, [*steps, {"say": [update("session_info_update", title="told")]}])
    ) as side:
        await prompted(side)
        side.agent.abandon("s1")
        await until(lambda: side.host.session().title == "told")
        prompt, cancel = side.sent()[-2:]
        assert cancel["params"] == {"requestId": prompt["id"]}


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
