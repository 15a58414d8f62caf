"""A session's state: what each update makes of it, and what it says has changed."""

from __future__ import annotations

import gc
import time
import weakref
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_editor.core.growing import TERMINAL_LIMIT
from acp_editor.core.model import (
    Choice,
    Command,
    CommandsUpdate,
    CompactionChunk,
    CompactionUpdate,
    ConfigOption,
    ConfigUpdate,
    ExitStatus,
    Location,
    MessageChunk,
    MessageUpsert,
    ModeUpdate,
    Notice,
    PermissionOption,
    PermissionRequest,
    PlanEntry,
    PlanUpdate,
    Replay,
    Role,
    SessionInfoUpdate,
    StateUpdate,
    TerminalChunk,
    TerminalUpsert,
    ToolCallContentChunk,
    ToolCallUpsert,
    UnknownUpdate,
    Update,
    UsageUpdate,
)
from acp_editor.core.session import Changed, Session


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def session(*updates: Update, turn: bool = True) -> Session:
    made = Session("s1", "agent", "/ws")
    for update in ([StateUpdate("running")] if turn else []) + list(updates):
        made.apply(update)
    return made


def codes(of: Session) -> list[str]:
    return [fault.code for fault in of.take_faults()]


# -- tool calls ----------------------------------------------------------------------------------


def test_what_an_update_leaves_out_stays() -> None:
    state = session(
        ToolCallUpsert("c", title="Edit", kind="edit", raw_input={"x": 1}, locations=(Location("/a", 3),)),
        ToolCallUpsert("c", status="completed"),
    )
    call = state.tool_calls["c"]
    assert (call.title, call.kind, call.status, call.raw_input) == ("Edit", "edit", "completed", {"x": 1})
    assert call.locations == (Location("/a", 3),)
    assert (call.first, call.sequence, call.active) == (2, 3, False)


def test_a_session_that_is_let_go_is_gone_at_once() -> None:
    """Without the garbage collector, which a few large values do not call."""
    made = session(ToolCallUpsert("c", content=(text("x"),)), MessageChunk("agent", "m", text("x")))
    made.apply(Replay(True))
    gone = weakref.ref(made)
    gc.disable()
    try:
        del made
        assert gone() is None
    finally:
        gc.enable()


def test_null_clears_a_field() -> None:
    state = session(
        ToolCallUpsert("c", title="Edit", kind="edit", status="in_progress", content=(1,), raw_input=2),
        ToolCallUpsert("c", title=None, kind=None, status=None, content=None, locations=None, raw_input=None),
    )
    call = state.tool_calls["c"]
    assert (call.title, call.kind, call.status, call.content, call.raw_input) == (
        None,
        "other",
        None,
        (),
        None,
    )
    assert call.active


def test_meta_is_patched_by_its_top_level_keys() -> None:
    state = session(
        ToolCallUpsert("c", meta={"a": {"deep": 1}, "b": 2}),
        ToolCallUpsert("c", meta={"a": {"other": 1}, "b": None}),
    )
    assert state.tool_calls["c"].meta == {"a": {"other": 1}}
    state.apply(ToolCallUpsert("c", meta=None))
    assert state.tool_calls["c"].meta == {}


def test_unknown_words_are_kept_and_are_not_the_end() -> None:
    call = session(ToolCallUpsert("c", kind="_banana", status="paused_by_magic")).tool_calls["c"]
    assert (call.kind, call.status, call.active) == ("_banana", "paused_by_magic", True)


def test_content_chunks_append_and_whole_content_replaces() -> None:
    state = session(ToolCallUpsert("c", content=("old",)), ToolCallContentChunk("c", "x"))
    assert state.tool_calls["c"].content == ("old", "x")
    state.apply(ToolCallContentChunk("c", "y"))
    state.apply(ToolCallUpsert("c", title="T"))
    assert state.tool_calls["c"].content == ("old", "x", "y")
    state.apply(ToolCallContentChunk("c", "z"))
    state.apply(ToolCallUpsert("c", content=("new",)))
    assert state.tool_calls["c"].content == ("new",)


def test_a_content_chunk_for_an_unknown_call_makes_it() -> None:
    assert session(ToolCallContentChunk("c", "x")).tool_calls["c"].content == ("x",)


@pytest.mark.parametrize(
    ("updates", "expected"),
    [
        ([ToolCallUpsert("c", announces=False)], ["update_for_unknown_call"]),
        ([ToolCallUpsert("c")], []),
        (
            [ToolCallUpsert("c", announces=True), ToolCallUpsert("c", announces=True)],
            ["call_announced_twice"],
        ),
        (
            [ToolCallUpsert("c", status="completed"), ToolCallUpsert("c", status="in_progress")],
            ["update_after_final"],
        ),
        ([ToolCallUpsert("c", status="completed"), ToolCallUpsert("c", meta={"a": 1})], []),
        ([ToolCallUpsert("c"), StateUpdate("idle", "end_turn")], ["turn_ended_with_calls_running"]),
        ([ToolCallUpsert("c"), StateUpdate("idle", "cancelled")], []),
    ],
)
def test_faults_of_calls(updates: list[Update], expected: list[str]) -> None:
    assert codes(session(*updates)) == expected


# -- turns ---------------------------------------------------------------------------------------


def test_the_end_of_a_turn_ends_its_calls_but_leaves_what_the_agent_said() -> None:
    state = session(ToolCallUpsert("c", status="in_progress"), ToolCallUpsert("d", status="completed"))
    changed = state.apply(StateUpdate("idle", stop_reason="end_turn"))
    call = state.tool_calls["c"]
    assert (call.status, call.ended, call.active) == ("in_progress", True, False)
    assert not state.tool_calls["d"].ended
    assert (state.state, state.stop_reason) == ("idle", "end_turn")
    assert Changed("toolCall", "c") in changed
    assert Changed("state") in changed
    assert Changed("toolCall", "d") not in changed


def test_a_late_update_counts_but_does_not_make_the_call_active() -> None:
    state = session(ToolCallUpsert("c"), StateUpdate("idle", "cancelled"))
    state.apply(ToolCallUpsert("c", status="in_progress", title="late"))
    state.apply(ToolCallUpsert("new", status="in_progress"))
    assert (state.tool_calls["c"].title, state.tool_calls["c"].active) == ("late", False)
    assert not state.tool_calls["new"].active


def test_background_work_outlives_the_turn() -> None:
    state = session(
        ToolCallUpsert("call"),
        ToolCallUpsert("shell", content=({"type": "terminal", "terminalId": "t"},)),
        ToolCallUpsert("left"),
        StateUpdate(
            "idle",
            stop_reason="end_turn",
            background=(
                {"type": "tool_call", "toolCallId": "call"},
                {"type": "terminal", "terminalId": "t"},
                "?",
            ),
        ),
    )
    assert {key for key, call in state.tool_calls.items() if call.active} == {"call", "shell"}
    state.apply(StateUpdate("idle"))
    assert not any(call.active for call in state.tool_calls.values())
    assert state.stop_reason == "end_turn"
    state.apply(ToolCallUpsert("later"))
    changed = state.apply(StateUpdate("idle", background=({"type": "tool_call", "toolCallId": "later"},)))
    assert state.tool_calls["later"].active
    assert Changed("toolCall", "later") in changed


def test_a_repeated_idle_ends_nothing_twice_and_running_starts_anew() -> None:
    state = session(StateUpdate("requires_action"))
    assert (state.state, state.turn) == ("requires_action", 1)
    state.apply(StateUpdate("running"))
    assert state.turn == 1
    state.apply(StateUpdate("idle", None, error={"code": 1, "message": "overloaded"}))
    assert (state.stop_reason, state.error) == (None, {"code": 1, "message": "overloaded"})
    state.apply(StateUpdate("idle"))
    assert state.error is not None
    state.apply(StateUpdate("running"))
    assert (state.turn, state.error, state.stop_reason) == (2, None, None)


def test_a_state_that_nobody_knows_is_kept_and_changes_nothing_else() -> None:
    state = session(ToolCallUpsert("c"), StateUpdate("dreaming"))
    assert (state.state, state.agent_state, state.tool_calls["c"].active) == ("running", "dreaming", True)


def test_replayed_history_replaces_what_was_known_and_is_never_active() -> None:
    state = session(ToolCallUpsert("old"), MessageChunk("agent", "m", text("a")), StateUpdate("idle"))
    changed = state.apply(Replay(True))
    assert {Changed("toolCall", "old"), Changed("messages")} <= changed
    state.apply(ToolCallUpsert("c", status="in_progress"))
    state.apply(MessageChunk("agent", "m", text("a")))
    state.apply(Replay(False))
    assert list(state.tool_calls) == ["c"]
    assert [m.text for m in state.messages] == ["a"]
    call = state.tool_calls["c"]
    assert (call.replayed, call.active, state.replaying) == (True, False, False)


def test_a_replay_that_tells_no_history_leaves_what_was_known() -> None:
    state = session(ToolCallUpsert("old"), MessageChunk("agent", "m", text("a")), StateUpdate("idle"))
    state.apply(TerminalUpsert("t", command="make"))
    state.apply(Replay(True))
    state.apply(CommandsUpdate((Command("plan", ""),)))
    state.apply(PlanUpdate((PlanEntry("Look", "high", "pending"),)))
    changed = state.apply(Replay(False))
    assert {Changed("toolCall", "old"), Changed("messages"), Changed("terminal", "t")} <= changed
    assert (list(state.tool_calls), [m.text for m in state.messages]) == (["old"], ["a"])
    assert (list(state.terminals), [entry.content for entry in state.plan]) == (["t"], ["Look"])
    state.apply(MessageChunk("agent", "m", text("b")))
    assert [m.text for m in state.messages] == ["ab"]
    state.apply(Replay(True))
    state.apply(MessageChunk("user", "n", text("c")))
    state.apply(Replay(False))
    assert (list(state.tool_calls), [m.text for m in state.messages]) == ([], ["c"])


def test_a_call_reported_at_work_in_the_next_turn_is_active_again() -> None:
    state = session(ToolCallUpsert("c"), StateUpdate("idle", "cancelled"), StateUpdate("running"))
    assert not state.tool_calls["c"].active
    state.apply(ToolCallUpsert("c", status="in_progress"))
    assert state.tool_calls["c"].active


# -- permissions ---------------------------------------------------------------------------------

OPTIONS = (PermissionOption("y", "Yes", "allow_once"),)


def test_a_call_that_nobody_has_looked_at_since_it_changed_is_not_named_again() -> None:
    state = session()
    named = Changed("toolCall", "c")
    assert state.apply(ToolCallUpsert("c", title="1")) == {named}
    assert state.apply(ToolCallUpsert("c", title="2")) == set()
    assert state.apply(ToolCallContentChunk("c", {"type": "content"})) == set()
    assert state.apply(ToolCallUpsert("other")) == {Changed("toolCall", "other")}
    assert state.tool_call("c") == state.tool_calls["c"]
    assert state.tool_calls["c"].title == "2"
    assert state.apply(ToolCallContentChunk("c", {"type": "content"})) == {named}


def test_a_permission_request_fills_in_its_call() -> None:
    state = session(ToolCallUpsert("c", title="Edit", announces=True))
    assert state.tool_calls["c"].status is None
    patch = ToolCallUpsert("c", status="pending", announces=False)
    changed = state.apply(PermissionRequest("s1", OPTIONS, tool_call=patch))
    assert (state.tool_calls["c"].title, state.tool_calls["c"].status) == ("Edit", "pending")
    assert changed == {Changed("toolCall", "c")}
    assert codes(state) == []


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (PermissionRequest("s1", OPTIONS, tool_call=ToolCallUpsert("x")), ["permission_for_unknown_call"]),
        (PermissionRequest("s1", OPTIONS, title="T", tool_call=ToolCallUpsert("x")), []),
        (PermissionRequest("s1", OPTIONS, title="T", tool_call_id="x"), ["permission_for_unknown_call"]),
        (PermissionRequest("s1", OPTIONS, title="T", command="ls"), []),
    ],
)
def test_a_permission_for_a_call_never_heard_of(request_: PermissionRequest, expected: list[str]) -> None:
    state = session()
    state.apply(request_)
    assert codes(state) == expected
    assert set(state.tool_calls) == ({"x"} if request_.tool_call else set())


# -- messages ------------------------------------------------------------------------------------


def test_chunks_without_an_id_go_on_with_the_last_message_of_their_role() -> None:
    state = session(
        MessageChunk("thought", None, text("hm")),
        MessageChunk("agent", None, text("a")),
        MessageChunk("agent", None, text("b")),
        MessageChunk("thought", None, text("then")),
        MessageChunk("agent", None, text("c")),
        StateUpdate("idle", "end_turn"),
        StateUpdate("running"),
        MessageChunk("agent", None, text("d")),
        ToolCallUpsert("c"),
        MessageChunk("agent", None, text("e")),
        ToolCallUpsert("c", status="completed"),
        MessageChunk("agent", None, text("f")),
    )
    assert [(m.role, m.text) for m in state.messages] == [
        ("thought", "hm"),
        ("agent", "ab"),
        ("thought", "then"),
        ("agent", "c"),
        ("agent", "d"),
        ("agent", "ef"),
    ]
    assert state.messages[1].content == (text("ab"),)


def test_messages_by_id_interleave_and_each_role_has_ids_of_its_own() -> None:
    state = session(
        MessageChunk("agent", "1", text("a")),
        MessageChunk("thought", "1", text("x")),
        MessageChunk("agent", "2", text("b")),
        MessageChunk("agent", "1", text("c")),
    )
    assert [(m.role, m.message_id, m.text) for m in state.messages] == [
        ("agent", "1", "ac"),
        ("thought", "1", "x"),
        ("agent", "2", "b"),
    ]


def test_a_whole_message_replaces_and_chunks_append() -> None:
    state = session(
        MessageChunk("agent", "m", text("draft")),
        MessageUpsert("agent", "m", (text("A"),)),
        MessageChunk("agent", "m", text("B")),
        MessageUpsert("agent", "m"),
        MessageUpsert("user", "u", (text("go"),)),
        MessageUpsert("user", "u", (text("go on"),)),
    )
    assert [(m.role, m.text) for m in state.messages] == [("agent", "AB"), ("user", "go on")]
    state.apply(MessageUpsert("agent", "m", None))
    assert state.messages[0].content == ()


def test_blocks_that_are_more_than_text_stand_by_themselves() -> None:
    image = {"type": "image", "data": "", "mimeType": "image/png"}
    noted = {"type": "text", "text": "b", "annotations": {"priority": 1}}
    state = session(*(MessageChunk("agent", None, block) for block in (text("a"), noted, image, text("c"))))
    assert state.messages[0].content == (text("a"), noted, image, text("c"))
    assert state.messages[0].text == "abc"


@given(st.lists(st.tuples(st.sampled_from(["agent", "thought"]), st.text(max_size=3)), max_size=20))
def test_looking_in_between_changes_nothing(chunks: list[tuple[Role, str]]) -> None:
    looked, unlooked = session(), session()
    for role, words in chunks:
        looked.apply(MessageChunk(role, None, text(words)))
        unlooked.apply(MessageChunk(role, None, text(words)))
        _ = looked.messages
    assert looked.messages == unlooked.messages


# -- terminals -----------------------------------------------------------------------------------


def test_a_terminal_collects_bytes_that_split_characters() -> None:
    state = session(
        TerminalUpsert("t", command="printf é", cwd="/ws"),
        TerminalChunk("t", b"caf\xc3"),
        TerminalChunk("t", b"\xa9\n"),
        TerminalUpsert("t", exit_status=ExitStatus(0)),
    )
    terminal = state.terminals["t"]
    assert (terminal.output.decode(), terminal.command, terminal.cwd) == ("café\n", "printf é", "/ws")
    assert (terminal.exit_status, terminal.owner) == (ExitStatus(0), "agent")
    changed = state.apply(TerminalUpsert("t", output=b"new"))
    assert state.terminals["t"].output == b"new"
    assert changed == {Changed("terminal", "t")}


def test_a_terminal_keeps_the_newest_and_cuts_no_character() -> None:
    state = session(*(TerminalChunk("t", "é".encode() * 50_000) for _ in range(20)), TerminalChunk("t", b"!"))
    terminal = state.terminals["t"]
    assert terminal.truncated
    assert TERMINAL_LIMIT - 4 < len(terminal.output) <= TERMINAL_LIMIT
    assert terminal.output.decode().endswith("é!")
    state.apply(TerminalUpsert("t", output=b"x" * (TERMINAL_LIMIT + 5)))
    assert len(state.terminals["t"].output) == TERMINAL_LIMIT


# -- the rest ------------------------------------------------------------------------------------


def option(
    config_id: str, value: str, *, category: str | None = None, origin: Any = "option"
) -> ConfigOption:
    choices = (Choice("a", "A"), Choice("b", "B"))
    return ConfigOption(config_id, config_id, "choice", value, None, category, choices, origin)


def test_modes_are_an_option_unless_an_option_stands_for_them() -> None:
    state = session(ConfigUpdate((option("mode", "a", origin="mode"),), "mode"))
    state.apply(ConfigUpdate((option("model", "a", origin="model"),), "model"))
    assert [o.origin for o in state.config] == ["mode", "model"]
    state.apply(ConfigUpdate((option("approvals", "a", category="mode"),)))
    assert [o.config_id for o in state.config] == ["approvals", "model"]
    state.apply(ModeUpdate("b"))
    assert [o.value for o in state.config] == ["b", "a"]


def test_the_rest_of_a_session_is_kept() -> None:
    plan = (PlanEntry("look"), PlanEntry("act"))
    state = session(
        PlanUpdate(plan[:1], "p1"),
        PlanUpdate(plan[1:], "p2"),
        CommandsUpdate(()),
        UsageUpdate(5, 10),
        SessionInfoUpdate(title="Fix it", meta={"a": 1}),
        SessionInfoUpdate(updated_at="now"),
        UnknownUpdate("later_version", {"x": 1}),
    )
    assert (state.plan, state.usage, state.title, state.updated_at) == (
        plan,
        UsageUpdate(5, 10),
        "Fix it",
        "now",
    )
    assert list(state.unknown) == [UnknownUpdate("later_version", {"x": 1})]
    assert state.meta == {"a": 1}
    state.apply(SessionInfoUpdate(title=None))
    assert state.title is None
    assert state.apply(Notice("info", "n")) == {Changed("notice")}


def test_compactions_are_patched_and_their_summary_grows() -> None:
    state = session(
        CompactionUpdate("k", "in_progress"),
        CompactionChunk("k", text("a")),
        CompactionChunk("k", text("b")),
        CompactionUpdate("k", "completed"),
    )
    assert state.compactions["k"] == CompactionUpdate("k", "completed", (text("a"), text("b")), None)


# -- speed ---------------------------------------------------------------------------------------


def cost(update: Update, count: int) -> float:
    """Processor seconds for so many of one update and one look at the end: the least of three."""
    best = float("inf")
    for _ in range(3):
        state = session()
        start = time.process_time()
        for _ in range(count):
            state.apply(update)
        _ = state.messages, state.tool_calls, state.terminals
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize(
    "update",
    [
        MessageChunk("agent", None, text("word ")),
        ToolCallContentChunk("c", "x"),
        TerminalChunk("t", b"0123456789"),
    ],
)
def test_many_chunks_take_linear_time(update: Update) -> None:
    assert cost(update, 20_000) < 25 * max(cost(update, 2_000), 0.002)
