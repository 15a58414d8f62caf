"""What one session keeps is bounded, in numbers and in bytes; the newest stays, and what is gone is shown."""

from __future__ import annotations

from dataclasses import replace
from sys import getsizeof
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_editor.app import render, snapshot
from acp_editor.app.transcript import Transcript
from acp_editor.core import limits
from acp_editor.core.limits import MIB, weight
from acp_editor.core.model import (
    Choice,
    Command,
    CommandsUpdate,
    CompactionChunk,
    ConfigOption,
    ConfigUpdate,
    ExitStatus,
    Json,
    Location,
    Message,
    MessageChunk,
    MessageUpsert,
    Notice,
    PlanEntry,
    PlanUpdate,
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
from acp_editor.core.session import KEPT, Changed, Session

WIDE = "w" * MIB


def made(*updates: Update) -> Session:
    session = Session("s", "agent", "/w")
    session.apply(StateUpdate("running"))
    for update in updates:
        session.apply(update)
        for call in list(session.tool_calls)[-1:]:  # somebody looks, as the surfaces do
            session.tool_call(call)
    return session


def text(letters: int, letter: str = "x") -> dict[str, Json]:
    return {"type": "text", "text": letter * letters}


def block(letters: int) -> dict[str, Json]:
    return {"type": "content", "content": text(letters)}


def held(session: Session) -> int:
    calls = session.tool_calls.values()
    return (
        sum(weight((c.content, c.raw_input, c.raw_output, dict(c.meta))) for c in calls)
        + sum(weight(message.content) for message in session.messages)
        + sum(len(terminal.output) for terminal in session.terminals.values())
    )


def shown(session: Session) -> Any:
    """The session as a snapshot has it."""
    (share,) = snapshot.shares([session])
    told = snapshot.rows(session, share)
    calls = [render.tool_call(call, []) for call, _ in told.calls]
    return render.session(session, "idle", told, calls, [], 0)


def test_calls_beyond_the_number_go_the_oldest_that_is_over_first() -> None:
    session = made(ToolCallUpsert("active", status="in_progress"))
    changed: set[Changed] = set()
    for number in range(2 * limits.CALLS):
        changed |= session.apply(ToolCallUpsert(f"c{number}", status="completed"))
    calls = session.tool_calls
    assert limits.CALLS * 0.85 < len(calls) <= limits.CALLS
    assert "active" in calls
    assert "c0" not in calls
    assert list(calls)[-1] == f"c{2 * limits.CALLS - 1}"
    assert session.left_out == 2 * limits.CALLS + 1 - len(calls)
    # Editors are told of what changed, of those that are gone too.
    assert {Changed("toolCall", f"c{number}") for number in range(2 * limits.CALLS)} <= changed
    assert shown(session)["truncated"]
    assert f"{session.left_out} earlier messages and tool calls" in Transcript().markdown(session, "agent")


def test_calls_beyond_the_weight_lose_their_content_and_say_so() -> None:
    size = MIB
    updates = [
        ToolCallUpsert(f"c{n}", title=f"t{n}", status="completed", content=(block(size),)) for n in range(80)
    ]
    session = made(*updates)
    assert held(session) < limits.CALLS_WEIGHT + 2 * MIB
    first, last = session.tool_calls["c0"], session.tool_calls["c79"]
    assert (first.content, first.truncated, first.title) == ((), True, "t0")
    assert (len(last.content), last.truncated) == (1, False)
    assert render.tool_call(first, [])["truncated"]
    assert "truncated" in render.tool_call(last, [])  # cut to what one text may have


def test_one_call_keeps_the_newest_of_what_it_says() -> None:
    session = made(ToolCallUpsert("c", status="in_progress", raw_input="i" * MIB, raw_output="o" * 20 * MIB))
    call = session.tool_calls["c"]
    assert (call.raw_output, call.raw_input, call.truncated) == (None, "i" * MIB, True)
    for number in range(40):
        session.apply(ToolCallContentChunk("c", {**block(MIB), "number": number}))
        call = session.tool_calls["c"]
    assert weight(call.content) <= limits.CALL_WEIGHT
    numbers = [item["number"] for item in call.content if isinstance(item, dict)]
    assert numbers == list(range(40 - len(numbers), 40))
    assert len(numbers) > 10


def test_a_call_that_is_given_anew_is_whole_again_in_content() -> None:
    session = made(
        ToolCallUpsert("c", raw_output="o" * 20 * MIB),
        ToolCallUpsert("c", raw_output="small", content=(block(3),)),
    )
    call = session.tool_calls["c"]
    assert (call.raw_output, call.content) == ("small", (block(3),))


@pytest.mark.parametrize(
    "fields",
    [
        {"locations": tuple(Location("p" * 500, n) for n in range(50_000))},
        {"status": WIDE},
        {"kind": WIDE},
        {"title": WIDE},
        {"meta": {str(n): "m" * MIB for n in range(40)}},
        {"capabilities": {"x": WIDE * 40}},
    ],
)
def test_what_a_call_says_beside_its_content_has_a_limit(fields: dict[str, Any]) -> None:
    session = made(ToolCallUpsert("c", status="in_progress"), ToolCallUpsert("c", **fields))
    call = session.tool_calls["c"]
    assert weight(call) < 100_000
    assert call.truncated
    assert call.title or call.locations or call.kind or call.status
    (_, kept), *_ = session.sizes
    assert kept <= 200_000


def test_cumulative_output_holds_the_last_alone() -> None:
    session = made(*(ToolCallUpsert("c", raw_output={"output": "o" * (100 * n)}) for n in range(2000)))
    assert held(session) < 2 * 200_000 + 1000


def test_messages_beyond_the_number_and_the_weight_go_the_oldest_first() -> None:
    session = made(*(MessageChunk("agent", f"m{n}", text(10)) for n in range(limits.MESSAGES + 100)))
    assert len(session.messages) == limits.MESSAGES
    assert session.messages[0].message_id == "m100"
    assert session.left_out == 100
    session = made(*(MessageChunk("agent", f"m{n}", text(MIB)) for n in range(60)))
    assert held(session) <= limits.MESSAGES_WEIGHT + MIB
    assert session.messages[-1].message_id == "m59"
    assert shown(session)["truncated"]


def test_one_message_keeps_its_end() -> None:
    session = made(*(MessageChunk("agent", "m", text(1000, chr(97 + n % 26))) for n in range(20_000)))
    (message,) = session.messages
    assert len(message.text) + 1000 >= limits.MESSAGE_WEIGHT
    assert len(message.text) <= 2 * limits.MESSAGE_WEIGHT
    assert message.text.endswith(chr(97 + 19_999 % 26) * 1000)
    assert message.truncated
    assert render.message(message)["truncated"]
    session.apply(MessageUpsert("agent", "m", (text(3),)))
    assert (session.messages[0].text, session.messages[0].truncated) == ("xxx", False)


def test_a_message_of_single_letters_holds_few_objects() -> None:
    session = Session("s", "agent", "/w")
    for number in range(60_000):
        session.apply(MessageChunk("agent", "m", {"type": "text", "text": chr(0x4E00 + number % 999)}))
    growing = next(iter(session._messages._messages))
    assert len(growing._text) < 20_000
    assert len(session.messages[0].text) == 60_000
    assert session.messages[0].text[-1] == chr(0x4E00 + 59_999 % 999)


def test_what_is_not_ascii_weighs_what_it_takes() -> None:
    session = made(*(MessageChunk("agent", "m", text(100_000, "\U0001f600")) for _ in range(100)))
    assert getsizeof(session.messages[0].text) <= 2 * limits.MESSAGE_WEIGHT + 1000
    assert session.messages[0].truncated


def test_a_message_of_other_blocks_keeps_the_newest() -> None:
    image: list[dict[str, Json]] = [{"type": "image", "data": "i" * MIB, "number": n} for n in range(20)]
    session = made(*(MessageChunk("agent", "m", one) for one in image))
    (message,) = session.messages
    assert weight(message.content) <= 3 * limits.MESSAGE_WEIGHT
    assert message.content[-1] == image[-1]
    assert message.truncated


def test_terminals_beyond_the_number_go_those_that_have_ended_first() -> None:
    running = TerminalChunk("running", b"x")
    ended = (TerminalUpsert(f"t{n}", exit_status=ExitStatus(0)) for n in range(2 * limits.TERMINALS))
    session = made(running, *ended)
    assert len(session.terminals) == limits.TERMINALS
    assert "running" in session.terminals
    assert f"t{2 * limits.TERMINALS - 1}" in session.terminals


def test_the_output_of_all_terminals_together_is_bounded() -> None:
    session = made(*(TerminalChunk(f"t{n % 40}", b"x" * 100_000) for n in range(1000)))
    assert held(session) <= limits.TERMINALS_SIZE
    assert session.terminals["t39"].truncated


def test_a_terminal_of_single_bytes_holds_few_objects() -> None:
    session = made(*(TerminalChunk("t", b"x") for _ in range(25_000)))
    assert session.terminals["t"].output == b"x" * 25_000


@pytest.mark.parametrize(
    ("update", "kept"),
    [
        (PlanUpdate(tuple(PlanEntry("c" * 50_000) for _ in range(5000))), lambda s: s.plan),
        (CommandsUpdate(tuple(Command("n", "d" * 50_000) for _ in range(5000))), lambda s: s.commands),
        (SessionInfoUpdate("t" * MIB), lambda s: s.title),
        (Notice("info", "t" * MIB, "d" * MIB), lambda s: s.notices),
        (UnknownUpdate("odd", {"x": "y" * MIB}), lambda s: s.unknown),
    ],
)
def test_lists_and_words_have_limits(update: Update, kept: Any) -> None:
    found = kept(made(update))
    assert len(str(found)) <= limits.ROWS * (limits.WORDS + 100)
    assert len(found) <= limits.WORDS


def test_options_and_their_choices_have_limits() -> None:
    choices = tuple(Choice(str(n), str(n)) for n in range(5000))
    options = tuple(ConfigOption(str(n), str(n), "choice", "0", choices=choices) for n in range(3000))
    session = made(ConfigUpdate(options))
    assert weight(session.config) <= limits.WHOLE
    assert len(session.config[0].choices) == limits.ROWS
    assert len(made(ConfigUpdate(tuple(replace(one, choices=()) for one in options))).config) == limits.ROWS


@pytest.mark.parametrize(
    "update_of",
    [
        lambda n: PlanUpdate((PlanEntry("c" * 9000),) * 200, f"{n}" * 5000),
        lambda n: CommandsUpdate((Command(WIDE, WIDE, WIDE),) * 200),
        lambda n: ConfigUpdate((ConfigOption(WIDE, WIDE, "choice", WIDE, WIDE, WIDE),) * 200),
        lambda n: CompactionChunk(f"{n % 150}", text(100_000)),
        lambda n: SessionInfoUpdate(meta={f"key {n}": "x" * 1000}),
        lambda n: StateUpdate(WIDE, WIDE, {"message": WIDE * 5}, tuple({"b": i} for i in range(9999))),
        lambda n: Notice(WIDE, f"{n}" * 5000, "d" * 20_000),
        lambda n: UnknownUpdate(WIDE, {"x": "y" * 15_000}),
        lambda n: UsageUpdate(1, 1, {"amount": WIDE * 5}),
        lambda n: TerminalUpsert("t", command=WIDE * 5, cwd=WIDE, capabilities={"x": WIDE * 5}),
    ],
)
def test_whatever_is_told_besides_calls_and_messages_is_bounded(update_of: Any) -> None:
    s = made(*(update_of(n) for n in range(160)))
    parts = (s.plans, s.compactions, s.commands, s.config, s.meta, s.usage)
    rest = (s.state, s.stop_reason, s.error, s.background, s.agent_state)
    assert weight((parts, rest, [*s.notices, *s.unknown], list(s.terminals.values()))) <= 3 * limits.WHOLE


def test_what_was_told_last_of_a_plan_or_a_summary_stays() -> None:
    chunks = (CompactionChunk("c", text(1000)) for _ in range(300))
    session = made(*chunks, PlanUpdate((PlanEntry("last"),), "p"))
    assert [entry.content for entry in session.plan] == ["last"]
    assert session.compactions["c"].summary == (text(1000),) * 100


def test_plans_and_compactions_beyond_the_number_go() -> None:
    session = made(*(PlanUpdate((), str(n)) for n in range(500)))
    assert list(session.plans) == [str(n) for n in range(500 - KEPT, 500)]
    session = made(*(CompactionChunk(str(n % 300), text(1)) for n in range(900)))
    assert len(session.compactions) == KEPT


@pytest.mark.parametrize(
    "update",
    [
        ToolCallUpsert("i" * 2000),
        ToolCallContentChunk("i" * 2000, block(1)),
        MessageChunk("agent", "i" * 2000, text(1)),
        MessageUpsert("agent", "i" * 2000, (text(1),)),
        TerminalChunk("i" * 2000, b"x"),
        TerminalUpsert("i" * 2000),
    ],
)
def test_an_id_that_is_no_id_is_a_fault(update: Update) -> None:
    session = made(update)
    assert (dict(session.tool_calls), session.messages, dict(session.terminals)) == ({}, (), {})
    assert [fault.code for fault in session.take_faults()] == ["id_too_long"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_a_value_weighs_at_least_its_strings(value: Json) -> None:
    def letters(item: Json) -> int:
        match item:
            case str():
                return len(item)
            case dict():
                return sum(len(key) + letters(inner) for key, inner in item.items())
            case list():
                return sum(map(letters, item))
            case _:
                return 0

    assert weight(value) >= letters(value)
    assert weight([value, value]) >= 2 * weight(value)


def test_a_snapshot_is_bounded_though_the_session_holds_more() -> None:
    session = made(*(MessageChunk("agent", f"m{n}", text(190_000)) for n in range(60)))
    rendered = shown(session)
    assert sum(len(message["text"]) for message in rendered["messages"]) <= snapshot.ROOM
    assert rendered["messages"][-1]["messageId"] == "m59"
    assert rendered["truncated"]


def test_a_long_message_shows_its_end() -> None:
    text = "x" * snapshot.MAX_TEXT + "the end"
    shown = render.message(Message("agent", "m", ({"type": "text", "text": text},)))
    assert shown["text"].endswith("the end")
    assert shown["content"][0]["text"].endswith("the end")
    assert len(shown["text"]) == snapshot.MAX_TEXT
    assert shown.get("truncated") is True
