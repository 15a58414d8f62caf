"""An editor that asks for the state gets what there is room for, shared among all sessions."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from acp_editor.app import render, snapshot
from acp_editor.core import limits
from acp_editor.core.model import (
    Json,
    Location,
    MessageChunk,
    Notice,
    PlanEntry,
    PlanUpdate,
    StateUpdate,
    TerminalChunk,
    ToolCallUpsert,
)
from acp_editor.core.session import Session


def text(letters: int) -> dict[str, Json]:
    return {"type": "text", "text": "x" * letters}


def session(name: str, calls: int, size: int, messages: int = 0, terminals: int = 0) -> Session:
    made = Session(name, "agent", "/w")
    made.apply(StateUpdate("running"))
    for n in range(calls):
        content: Json = {"type": "content", "content": text(size)}
        made.apply(ToolCallUpsert(f"c{n}", title=f"t{n}", status="completed", content=(content,)))
    for n in range(messages):
        made.apply(MessageChunk("agent", f"m{n}", text(size)))
    for n in range(terminals):
        made.apply(TerminalChunk(f"t{n}", b"x" * size))
    return made


def told(sessions: list[Session]) -> list[Any]:
    found: list[Any] = []
    for one, share in zip(sessions, snapshot.shares(sessions), strict=True):
        rows = snapshot.rows(one, share)
        places: list[Any] = [{"uri": "file:///w/a.py", "range": render.line_range(1, 1), "inferred": False}]
        calls = [render.tool_call(call, places) for call, _ in rows.calls]
        found.append(render.session(one, "idle", rows, calls, [], 0))
    return found


def test_of_many_full_sessions_the_answer_is_as_long_as_of_one() -> None:
    full = [session(f"s{n}", limits.CALLS, 1000, limits.MESSAGES, limits.TERMINALS) for n in range(10)]
    for number in (1, 3, 10):
        found = told(full[:number])
        assert len(json.dumps(found)) < snapshot.ROOM
        assert sum(len(one["toolCalls"]) + len(one["messages"]) for one in found) < snapshot.ROOM // 300
        for one in found:
            assert one["toolCalls"][-1]["toolCallId"] == f"c{limits.CALLS - 1}"
            assert one["toolCalls"][-1]["content"]
            assert one["messages"][-1]["messageId"] == f"m{limits.MESSAGES - 1}"
            assert one["truncated"]


def test_what_little_sessions_need_not_is_for_the_others() -> None:
    little = [session(f"l{n}", 3, 10, 3, 1) for n in range(50)]
    large = session("large", 1500, 500)
    alone = told([large])[0]
    *small, beside = told([*little, large])
    assert all((len(one["toolCalls"]), len(one["messages"])) == (3, 3) for one in small)
    assert not any("truncated" in one for one in small)
    assert len(beside["toolCalls"]) > 0.8 * len(alone["toolCalls"]) > 1000


def test_calls_that_fit_are_all_whole_though_other_things_are_many() -> None:
    (found,) = told([session("s", 20, 1000, messages=limits.MESSAGES)])
    assert len(found["toolCalls"]) == 20
    assert all(len(call["content"]) == 1 for call in found["toolCalls"])


def test_all_calls_of_a_session_are_there_the_old_ones_without_what_they_are_about() -> None:
    found = told([session("s", limits.CALLS, 3000)])[0]
    whole = [bool(call["content"]) for call in found["toolCalls"]]
    assert len(whole) == limits.CALLS
    assert whole == sorted(whole)
    assert whole.count(True) > 300
    assert not any("truncated" in call for call in found["toolCalls"] if call["content"])


def test_titles_and_lists_of_any_length_have_their_room_too() -> None:
    sessions = [Session(f"s{n}", "agent", "/w") for n in range(20)]
    for one in sessions:
        for number in range(200):
            title, places = "t" * 9000, tuple(Location("p" * 200) for _ in range(50))
            one.apply(ToolCallUpsert(f"c{number}", title=title, name=title, locations=places))
            one.apply(Notice("info", f"{number}" * 2000))
        one.apply(PlanUpdate(tuple(PlanEntry("e" * 1000) for _ in range(900))))
    found = told(sessions)
    assert len(json.dumps(found)) < 2 * snapshot.ROOM
    assert all(one["truncated"] and one["plan"] and one["notices"] for one in found)


@given(st.lists(st.tuples(*[st.integers(0, 10**7)] * 2), max_size=9), st.integers(0, 10**7))
def test_nobody_gets_more_than_it_needs_nor_all_more_than_there_is(
    wanted: list[tuple[int, int]], room: int
) -> None:
    few = snapshot._FEW

    class Sized:
        plan = commands = config = notices = ()

        def __init__(self, calls: int, messages: int) -> None:
            self.sizes = ((few, calls), (1, messages), (0, 0))

    found = snapshot.shares([Sized(*one) for one in wanted], room)  # type: ignore[misc]
    needs = [(2 * calls + 400 * few, 2 * messages + 400) for calls, messages in wanted]
    for (calls, messages), share in zip(needs, found, strict=True):
        assert share.calls <= calls
        assert share.messages <= messages
    assert sum(sum(share[:3]) for share in found) <= room
    spread = [share.calls for share, (calls, _) in zip(found, needs, strict=True) if share.calls < calls]
    assert not spread or max(spread) - min(spread) <= 4 * len(wanted)
