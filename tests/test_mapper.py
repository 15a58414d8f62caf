"""An agent's event stream as session updates, in both versions."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest
from acp_schemas import check
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_editor.agents.events import (
    ApprovalWanted,
    Event,
    FileDiff,
    PlanChanged,
    Reasoning,
    TerminalBegan,
    TerminalExited,
    TerminalOutput,
    Text,
    TextContent,
    ToolArgumentsDelta,
    ToolArgumentsDone,
    ToolCallBegan,
    ToolProgress,
    ToolResult,
    TurnEnded,
)
from acp_editor.agents.mapper import Approval, Mapper
from acp_editor.agents.patch import git_patch
from acp_editor.core.model import Location, PlanEntry

both = pytest.mark.parametrize("version", [1, 2])


def play(mapper: Mapper, events: Sequence[Event]) -> list[Any]:
    return [update for event in events for update in mapper.updates(event)]


def announce(mapper: Mapper, call_id: str, name: str, arguments: str | None = None) -> None:
    mapper.updates(ToolCallBegan(call_id, name))
    if arguments is not None:
        mapper.updates(ToolArgumentsDone(call_id, arguments))


def raw_inputs(updates: Sequence[Any]) -> list[Any]:
    return [update["rawInput"] for update in updates if "rawInput" in update]


# -- messages ----------------------------------------------------------------------------------


@both
def test_one_id_for_each_run(version: Any) -> None:
    updates = play(
        Mapper(version),
        [
            Text("a"),
            Text("b"),
            Reasoning("c"),
            Reasoning("d"),
            Text("e"),
            ToolCallBegan("1", "read"),
            Text("f"),
        ],
    )
    chunks = [update for update in updates if "messageId" in update]
    runs = [list(group) for _, group in itertools.groupby(chunks, key=lambda chunk: chunk["messageId"])]
    assert [[chunk["content"]["text"] for chunk in run] for run in runs] == [
        ["a", "b"],
        ["c", "d"],
        ["e"],
        ["f"],
    ]
    assert len({run[0]["messageId"] for run in runs}) == 4


@both
def test_a_new_turn_has_new_ids(version: Any) -> None:
    stream = [Text("a"), PlanChanged((PlanEntry("x"),)), Reasoning("b")]
    ids = [
        {update["messageId"] for update in play(Mapper(version), stream) if "messageId" in update}
        for _ in range(2)
    ]
    assert len(ids[0]) == 2
    assert not ids[0] & ids[1]


@both
def test_empty_pieces_say_nothing(version: Any) -> None:
    assert play(Mapper(version), [Text(""), Reasoning("")]) == []


# -- arguments ---------------------------------------------------------------------------------


@both
def test_arguments_are_sent_once_when_they_are_whole(version: Any) -> None:
    mapper = Mapper(version)
    begun = play(
        mapper, [ToolCallBegan("1", "edit"), ToolArgumentsDelta("1", '{"a":'), ToolArgumentsDelta("1", "1}")]
    )
    assert raw_inputs(begun) == []
    assert raw_inputs(play(mapper, [ToolArgumentsDone("1")])) == [{"a": 1}]
    again = play(mapper, [ToolArgumentsDone("1", '{ "a" : 1 }'), ToolResult("1", "done")])
    assert raw_inputs(again) == []


@both
def test_arguments_of_two_calls_do_not_mix(version: Any) -> None:
    stream = [
        ToolCallBegan("1", "edit"),
        ToolCallBegan("2", "edit"),
        ToolArgumentsDelta("1", "[1"),
        ToolArgumentsDelta("2", "[2"),
        ToolArgumentsDelta("1", "]"),
        ToolArgumentsDelta("2", "]"),
        ToolArgumentsDone("2"),
        ToolArgumentsDone("1"),
    ]
    sent = [update for update in play(Mapper(version), stream) if "rawInput" in update]
    assert [(update["toolCallId"], update["rawInput"]) for update in sent] == [("2", [2]), ("1", [1])]


@both
@pytest.mark.parametrize("text", ["{", "{'a': 1}", "", "NaN", '{"a": Infinity}', "1e999", "[" * 100_000])
def test_what_is_no_json_stays_a_string(version: Any, text: str) -> None:
    mapper = Mapper(version)
    announce(mapper, "1", "edit")
    assert raw_inputs(mapper.updates(ToolArgumentsDone("1", text))) == [text]


@both
def test_changed_arguments_are_sent_again(version: Any) -> None:
    mapper = Mapper(version)
    announce(mapper, "1", "edit", '{"a": 1}')
    assert raw_inputs(mapper.updates(ToolArgumentsDone("1", '{"a": true}'))) == [{"a": True}]


@both
def test_a_result_brings_arguments_that_were_never_said_to_be_whole(version: Any) -> None:
    mapper = Mapper(version)
    play(mapper, [ToolCallBegan("1", "edit"), ToolArgumentsDelta("1", "{}")])
    assert raw_inputs(mapper.updates(ToolResult("1"))) == [{}]


@both
def test_a_call_cut_off_sends_no_half_arguments(version: Any) -> None:
    mapper = Mapper(version)
    play(mapper, [ToolCallBegan("1", "edit"), ToolArgumentsDelta("1", '{"a')])
    assert raw_inputs(mapper.updates(TurnEnded(cancelled=True))) == []


# -- approvals ---------------------------------------------------------------------------------


def claims(mapper: Mapper, *wanted: ApprovalWanted) -> list[str | None]:
    return [mapper.approval(each).call_id for each in wanted]


@both
def test_an_approval_claims_the_call_that_matches(version: Any) -> None:
    mapper = Mapper(version)
    announce(mapper, "1", "edit", '{"a": 1, "b": 2}')
    announce(mapper, "2", "edit", '{"a": 3}')
    announce(mapper, "3", "run", '{"a": 3}')
    assert claims(mapper, ApprovalWanted("edit", {"a": 3}), ApprovalWanted("edit", '{"b": 2, "a": 1}')) == [
        "2",
        "1",
    ]


@both
def test_equal_calls_are_claimed_in_the_order_announced(version: Any) -> None:
    mapper = Mapper(version)
    for call_id in "321":
        announce(mapper, call_id, "edit", "{}")
    assert claims(mapper, *[ApprovalWanted("edit", {})] * 4) == ["3", "2", "1", None]


@both
def test_where_none_matches_the_oldest_of_that_name(version: Any) -> None:
    mapper = Mapper(version)
    announce(mapper, "1", "run", "{}")
    announce(mapper, "2", "edit", '{"a": 1}')
    announce(mapper, "3", "edit", '{"a": 2}')
    assert claims(mapper, ApprovalWanted("edit", {"a": 9}), ApprovalWanted("edit")) == ["2", "3"]


@both
def test_none_rather_than_a_wrong_one(version: Any) -> None:
    mapper = Mapper(version)
    announce(mapper, "1", "edit", "{}")
    announce(mapper, "2", "edit", "{}")
    mapper.updates(ToolResult("1"))
    assert claims(mapper, *[ApprovalWanted("edit", {})] * 2, ApprovalWanted("run", {})) == ["2", None, None]


@both
def test_a_known_id_needs_no_guess(version: Any) -> None:
    mapper = Mapper(version)
    announce(mapper, "1", "edit", "{}")
    announce(mapper, "2", "edit", "{}")
    assert claims(mapper, ApprovalWanted("edit", {}, "2"), ApprovalWanted("edit", {})) == ["2", "1"]


@both
def test_true_is_not_one(version: Any) -> None:
    mapper = Mapper(version)
    announce(mapper, "1", "edit", "[1]")
    announce(mapper, "2", "edit", "[true]")
    assert claims(mapper, ApprovalWanted("edit", [True])) == ["2"]


@both
def test_the_arguments_are_there_before_the_question(version: Any) -> None:
    mapper = Mapper(version)
    play(mapper, [ToolCallBegan("1", "edit"), ToolArgumentsDelta("1", '{"a": 1}')])
    approval = mapper.approval(ApprovalWanted("edit", {"a": 1}))
    assert raw_inputs(approval.updates) == [{"a": 1}]
    assert raw_inputs(play(mapper, [ToolArgumentsDone("1"), ToolResult("1")])) == []


def test_version_1_announces_what_it_asks_about() -> None:
    mapper = Mapper(1)
    approval = mapper.approval(ApprovalWanted("edit", {"a": 1}))
    (announced, patched) = approval.updates
    assert announced["sessionUpdate"] == "tool_call"
    assert patched["rawInput"] == {"a": 1}
    assert approval.call_id is None
    assert approval.params["toolCall"]["toolCallId"] == announced["toolCallId"]
    assert mapper.updates(TurnEnded())[0]["status"] == "completed"


def test_version_2_asks_without_a_subject() -> None:
    approval = Mapper(2).approval(ApprovalWanted("edit", {"a": 1}))
    assert approval == Approval(None, [], {"title": "edit"})


def test_the_question_shows_what_the_call_has_shown() -> None:
    diff = (FileDiff("/w/a", "1\n", "2\n"),)
    for version, key in ((1, "toolCall"), (2, "subject")):
        mapper = Mapper(version)  # type: ignore[arg-type]
        play(mapper, [ToolCallBegan("1", "edit", "Edit a", "edit"), ToolProgress("1", content=diff)])
        asked = mapper.approval(ApprovalWanted("edit")).params[key]
        call = asked if version == 1 else asked["toolCall"]
        assert (call["toolCallId"], call["title"], call["kind"]) == ("1", "Edit a", "edit")
        assert call["content"][0]["type"] == "diff"


def test_a_command_is_asked_for_as_such_in_version_2() -> None:
    mapper = Mapper(2)
    announce(mapper, "1", "run")
    params = mapper.approval(ApprovalWanted("run", call_id="1", title="Run?", command="ls", cwd="/w")).params
    assert params["subject"] == {"type": "command", "command": "ls", "cwd": "/w", "toolCallId": "1"}


# -- ends --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "status"), [(1, "failed"), (2, "cancelled")])
def test_a_cancelled_turn_leaves_no_call_open(version: Any, status: str) -> None:
    mapper = Mapper(version)
    announce(mapper, "1", "edit")
    announce(mapper, "2", "edit")
    mapper.updates(ToolResult("1"))
    closed = mapper.updates(TurnEnded(cancelled=True))
    assert [(update["toolCallId"], update["status"]) for update in closed] == [("2", status)]
    assert mapper.updates(TurnEnded(cancelled=True)) == []


def test_what_was_never_announced_is_announced() -> None:
    assert [update["sessionUpdate"] for update in Mapper(1).updates(ToolResult("1"))] == [
        "tool_call",
        "tool_call_update",
    ]


# -- terminals ---------------------------------------------------------------------------------

TERMINAL = [
    ToolCallBegan("1", "run"),
    TerminalBegan("t", "1", "echo", "/w"),
    TerminalOutput("t", "é".encode()[:1]),
    TerminalOutput("t", "é".encode()[1:]),
    TerminalExited("t", 0),
]


def test_version_2_tells_the_agents_terminal() -> None:
    updates = play(Mapper(2), TERMINAL)
    data = b"".join(base64.b64decode(update["data"]) for update in updates if "data" in update)
    assert data.decode() == "é"
    assert updates[-1]["exitStatus"] == {"exitCode": 0, "signal": None}
    assert {"type": "terminal", "terminalId": "t"} in [update.get("content", [None])[0] for update in updates]


def test_version_1_tells_the_output_as_text() -> None:
    shown = play(Mapper(1), TERMINAL)[-1]["content"]
    assert shown == [{"type": "content", "content": {"type": "text", "text": "```\né\n```"}}]


# -- properties --------------------------------------------------------------------------------

ids = st.sampled_from(["a", "b", "c"])
names = st.sampled_from(["edit", "run"])
texts = st.text(max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
arguments = texts | values.map(json.dumps)
locations = st.lists(st.builds(Location, st.just("/w/a"), st.none() | st.integers(1, 99)), max_size=2).map(
    tuple
)
content = st.lists(
    st.builds(TextContent, texts)
    | st.builds(FileDiff, st.just("/w/a b"), st.none() | texts, texts)
    | st.builds(FileDiff, st.just("/w/é"), texts, st.none()),
    max_size=2,
).map(tuple)
events = st.one_of(
    st.builds(Text, texts),
    st.builds(Reasoning, texts),
    st.builds(PlanChanged, st.lists(st.builds(PlanEntry, texts), max_size=2).map(tuple)),
    st.builds(ToolCallBegan, ids, names, st.none() | texts, st.just("edit"), locations, st.booleans()),
    st.builds(ToolArgumentsDelta, ids, texts),
    st.builds(ToolArgumentsDone, ids, st.none() | arguments),
    st.builds(ToolProgress, ids, st.none() | texts, st.none() | st.just("in_progress"), st.none() | content),
    st.builds(
        ToolResult, ids, values, st.sampled_from(["completed", "failed", "cancelled"]), st.none() | content
    ),
    st.builds(TerminalBegan, ids, ids, texts, st.just("/w"), st.booleans()),
    st.builds(TerminalOutput, ids, st.binary(max_size=4)),
    st.builds(TerminalExited, ids, st.none() | st.integers(0, 255)),
)
approvals = st.builds(ApprovalWanted, names, values | arguments, st.none() | ids)
streams = st.lists(events | approvals, max_size=12)

OPTIONS = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]


def run_through(version: Any, stream: Sequence[Event | ApprovalWanted]) -> tuple[list[Any], list[Approval]]:
    mapper = Mapper(version)
    updates: list[Any] = []
    asked: list[Approval] = []
    for event in stream:
        if isinstance(event, ApprovalWanted):
            asked.append(mapper.approval(event))
            updates += asked[-1].updates
        else:
            updates += mapper.updates(event)
    return updates + mapper.updates(TurnEnded()), asked


@both
@settings(max_examples=60, deadline=None)
@given(stream=streams)
def test_every_payload_is_valid(version: Any, stream: list[Event | ApprovalWanted]) -> None:
    updates, asked = run_through(version, stream)
    for update in updates:
        check(version, "SessionUpdate", update)
    for approval in asked:
        params = {"sessionId": "s", "options": OPTIONS, **approval.params}
        check(version, "RequestPermissionRequest", params)


@both
@given(stream=streams)
def test_nothing_is_told_twice_or_of_unknown_calls(
    version: Any, stream: list[Event | ApprovalWanted]
) -> None:
    updates, _ = run_through(version, stream)
    inputs: dict[str, Any] = {}
    known: set[str] = set()
    for update in updates:
        if (call_id := update.get("toolCallId")) is None:
            continue
        if version == 1:
            assert (update["sessionUpdate"] == "tool_call") == (call_id not in known)
        else:
            assert ("name" in update) == (call_id not in known)
        known.add(call_id)
        if "rawInput" in update:
            value = json.dumps(update["rawInput"], sort_keys=True)
            assert inputs.get(call_id) != value
            inputs[call_id] = value


@both
@given(stream=streams)
def test_every_call_is_over_at_the_end(version: Any, stream: list[Event | ApprovalWanted]) -> None:
    updates, _ = run_through(version, stream)
    final = {"completed", "failed", "cancelled"}
    over: dict[str, bool] = {}
    for update in updates:
        if "status" in update:
            over[update["toolCallId"]] = over.get(update["toolCallId"], False) or update["status"] in final
    assert all(over.values())


@both
@given(
    wanted=st.lists(st.builds(ApprovalWanted, names, values), max_size=6),
    calls=st.lists(st.tuples(names, values)),
)
def test_no_call_is_claimed_twice_nor_by_another_name(
    version: Any, wanted: list[ApprovalWanted], calls: list[tuple[str, Any]]
) -> None:
    mapper = Mapper(version)
    for index, (name, value) in enumerate(calls):
        announce(mapper, str(index), name, json.dumps(value))
    claimed = [mapper.approval(each).call_id for each in wanted]
    real = [call_id for call_id in claimed if call_id is not None]
    assert len(real) == len(set(real))
    for each, call_id in zip(wanted, claimed, strict=True):
        if call_id is not None:
            assert calls[int(call_id)][0] == each.name


# -- patches -----------------------------------------------------------------------------------


def test_a_patch_is_what_git_would_write() -> None:
    assert git_patch("/w/a b", "one\ntwo", "one\n2\n") == (
        "diff --git /w/a b /w/a b\n--- /w/a b\t\n+++ /w/a b\t\n"
        "@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+2\n"
    )
    assert git_patch("/w/n", None, "x\n").splitlines()[1:4] == [
        "new file mode 100644",
        "--- /dev/null",
        "+++ /w/n",
    ]
    assert git_patch('/w/é"', "x\n", None).splitlines()[0] == r'diff --git "/w/\303\251\"" "/w/\303\251\""'
