"""What a fork shows of the time before it: all that is known, as history, until its agent tells it."""

from __future__ import annotations

from acp_editor.app.snapshot import rows, shares
from acp_editor.app.transcript import Transcript
from acp_editor.core.forks import fork_of
from acp_editor.core.model import (
    ExitStatus,
    Fork,
    MessageChunk,
    Replay,
    Role,
    SessionInfoUpdate,
    StateUpdate,
    TerminalUpsert,
    ToolCallUpsert,
)
from acp_editor.core.session import Session


def say(session: Session, role: Role, text: str) -> None:
    session.apply(MessageChunk(role, None, {"type": "text", "text": text}))


def source() -> Session:
    session = Session("s1", "agent", "/ws")
    session.apply(SessionInfoUpdate(title="Tidy up"))
    session.apply(StateUpdate("running"))
    say(session, "user", "please")
    session.apply(ToolCallUpsert("c1", title="Read a.py", kind="read", status="in_progress"))
    say(session, "agent", "reading")
    session.apply(TerminalUpsert("over", exit_status=ExitStatus(0)))
    session.apply(TerminalUpsert("runs"))
    return session


def forked(of: Session | None = None, name: str = "s2") -> Session:
    session = Session(name, "agent", "/ws")
    session.apply(fork_of(of or source()))
    return session


def texts(session: Session) -> list[str]:
    return [message.text for message in session.messages]


def test_the_conversation_so_far_is_there_and_nothing_of_it_runs() -> None:
    fork = forked()

    assert texts(fork) == ["please", "reading"]
    (call,) = fork.tool_calls.values()
    assert (call.title, call.active, call.replayed) == ("Read a.py", False, True)
    assert fork.active_calls == []
    assert fork.tool_call("c1") is call
    assert list(fork.terminals) == ["over"]
    assert fork.title == "Tidy up (fork)"


def test_the_source_goes_on_for_itself() -> None:
    of = source()
    fork = forked(of)
    say(of, "agent", " on")

    assert texts(of) == ["please", "reading on"]
    assert texts(fork) == ["please", "reading"]
    assert of.tool_calls["c1"].active


def test_the_same_ids_may_come_again() -> None:
    fork = forked()
    fork.apply(StateUpdate("running"))
    fork.apply(ToolCallUpsert("c1", title="Write b.py", kind="edit", status="in_progress", announces=True))

    assert fork.take_faults() == []
    assert [call.title for call in fork.active_calls] == ["Write b.py"]
    assert fork.tool_calls["c1"].title == "Write b.py"


def test_an_agent_that_tells_the_history_itself_is_believed() -> None:
    fork = forked()
    say(fork, "user", "please (as the agent tells it)")
    say(fork, "agent", "reading")

    assert texts(fork) == ["please (as the agent tells it)", "reading"]
    assert not fork.tool_calls


def test_an_agent_that_told_it_before_it_answered_is_believed_too() -> None:
    fork = Session("s2", "agent", "/ws")
    say(fork, "user", "please")
    fork.apply(fork_of(source()))

    assert texts(fork) == ["please"]


def test_what_the_person_says_next_and_a_greeting_are_no_history() -> None:
    fork = forked()
    say(fork, "agent", "Here I am.")
    fork.apply(StateUpdate("running"))
    say(fork, "user", "go on")

    assert texts(fork) == ["please", "reading", "Here I am.", "go on"]


def test_history_that_is_loaded_later_takes_its_place_and_none_leaves_it() -> None:
    fork = forked()
    fork.apply(Replay(True))
    fork.apply(Replay(False))
    assert texts(fork) == ["please", "reading"]

    fork.apply(Replay(True))
    say(fork, "user", "all of it")
    fork.apply(Replay(False))
    assert texts(fork) == ["all of it"]


def test_a_fork_of_a_fork_has_both_in_their_order() -> None:
    first = forked()
    first.apply(StateUpdate("running"))
    say(first, "user", "and now")
    second = forked(first, "s3")

    assert texts(second) == ["please", "reading", "and now"]
    assert [getattr(item, "text", "call") for item in fork_of(second).items] == [
        "please",
        "call",
        "reading",
        "and now",
    ]


def test_the_document_says_where_the_fork_is() -> None:
    fork = forked()
    fork.apply(StateUpdate("running"))
    say(fork, "user", "go on")
    transcript = Transcript()
    text = transcript.markdown(fork, "agent")
    parts = [
        "# Tidy up (fork)",
        "## You\n\nplease",
        "Read a.py",
        "reading",
        "---\n\n*Forked from “Tidy up”. What is above was said before.*",
        "## You\n\ngo on",
    ]
    places = [text.index(part) for part in parts]

    assert places == sorted(places)
    assert transcript.markdown(fork, "agent") == text


def test_a_source_that_nobody_has_seen_is_said_to_be_unknown() -> None:
    fork = Session("s2", "agent", "/ws")
    fork.apply(Fork("An *old* one"))
    text = Transcript().markdown(fork, "agent")

    assert "*Forked from “An \\*old\\* one”. What was said there is not known here.*" in text


def test_a_snapshot_has_room_for_what_was_before_too() -> None:
    of = source()
    fork = forked(of)
    fork.apply(StateUpdate("running"))
    fork.apply(ToolCallUpsert("c1", title="Write b.py", kind="edit", status="completed", announces=True))
    (share,) = shares([fork])
    found = rows(fork, share)

    assert [message.text for message in found.messages] == ["please", "reading"]
    assert [call.title for call, whole in found.calls if whole] == ["Write b.py"]
    assert not found.truncated
    assert [count for count, _ in of.sizes] == [1, 2, 2]
    assert [count for count, _ in fork.sizes] == [2, 2, 2]
