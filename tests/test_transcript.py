"""A session as Markdown: in order, and harmless whatever an agent says."""

from __future__ import annotations

import re

import pytest

from acp_editor.app import transcript
from acp_editor.core.model import (
    CompactionChunk,
    CompactionUpdate,
    MessageChunk,
    PlanEntry,
    PlanUpdate,
    StateUpdate,
    ToolCallUpsert,
)
from acp_editor.core.session import Session

HARM = "<script>x</script> ![i](https://x.example/i.png) [run](command:evil) \u202ehidden"


def said(session: Session, role: str, text: str) -> None:
    session.apply(MessageChunk(role, None, {"type": "text", "text": text}))  # type: ignore[arg-type]


def test_a_document_has_a_length_and_says_what_is_left_out() -> None:
    session = Session("s1", "agent", "/ws")
    session.apply(StateUpdate("running"))
    for number in range(1000):
        session.apply(ToolCallUpsert(f"c{number}", title=f"call {number}", kind="read", status="completed"))
        said(session, "agent", f"message {number} " + "x" * 4000)
    document = transcript.Transcript()
    text = document.markdown(session, "agent")
    assert len(text) < transcript._MAX_LENGTH + 10_000
    assert "message 999 " in text
    there = text.count("message ") + text.count("call ")
    assert f"*{2000 - there} earlier messages and tool calls are left out.*" in text
    assert len(document._rendered) <= there


def test_messages_and_calls_stand_in_the_order_in_which_they_began() -> None:
    session = Session("s1", "agent", "/ws")
    session.apply(StateUpdate("running"))
    said(session, "user", "please")
    said(session, "thought", "hm\nhm")
    session.apply(ToolCallUpsert("c1", title="Read a.py", kind="read", status="completed", announces=True))
    said(session, "agent", "done")
    session.apply(StateUpdate("idle", "max_tokens"))
    text = transcript.Transcript().markdown(session, "agent")
    parts = ["# Session", "## You\n\nplease", "> hm\n> hm", "**✓ Read a.py** (read)", "done", "max\\_tokens"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_what_was_summed_up_is_told_with_its_summary() -> None:
    session = Session("s1", "agent", "/ws")
    said(session, "agent", "before")
    session.apply(CompactionUpdate("x", "in_progress"))
    session.apply(CompactionChunk("x", {"type": "text", "text": "They asked for [a](command:b)."}))
    session.apply(CompactionUpdate("x", "completed"))
    text = transcript.Transcript().markdown(session, "agent")
    assert "sums up what was said before (completed)" in text
    assert "They asked for" in text
    assert "](command:" not in text


@pytest.mark.parametrize("where", ["user", "agent", "thought", "title", "input", "output", "plan"])
def test_nothing_harmful_is_left_wherever_it_comes_from(where: str) -> None:
    session = Session("s1", "agent", "/ws")
    if where in ("user", "agent", "thought"):
        said(session, where, HARM)
    elif where == "plan":
        session.apply(PlanUpdate((PlanEntry(HARM, "high", "pending"),)))
    else:
        block = {"type": "content", "content": {"type": "text", "text": HARM + "\n```\n" + HARM}}
        session.apply(
            ToolCallUpsert(
                "c1",
                title=HARM if where == "title" else "t",
                raw_input={"x": HARM} if where == "input" else None,
                content=(block,) if where == "output" else (),
                announces=True,
            )
        )
    text = transcript.Transcript().markdown(session, "agent")
    assert "\u202e" not in text
    if where in ("input", "output"):  # code: shown as it is, in a fence that it cannot end
        fence = next(line for line in text.split("\n") if line.startswith("```"))
        assert text.count(fence) == (2 if where == "input" or len(fence) > 3 else 0)
    else:
        assert "\\<script" in text
        assert "\\![" in text or "!\\[" in text or "\\!\\[" in text
        assert not re.search(r"(?<!\\)\]\(command:", text)


def test_the_address_names_the_session() -> None:
    for name in ("s1", "agent:s 1/ä?#"):
        assert transcript.session_of(transcript.uri(name)) == name
    assert transcript.session_of("file:///s1.md") is None
