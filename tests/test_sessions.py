"""Which sessions there are, and by what name."""

from __future__ import annotations

from acp_editor.app.sessions import Sessions


def test_the_later_of_two_equal_ids_is_known_with_its_agent() -> None:
    sessions = Sessions()
    a, b = sessions.seen("a", "1", "/"), sessions.seen("b", "1", "/")
    assert (a.key, b.key, b.own_id) == ("1", "b:1", "1")
    assert sessions.seen("b", "1", "/") is b
    assert sessions.name_of("c", "1") == "c:1"
    assert sessions.named("1", "b") == (b, "1")
    assert sessions.named("b:1", "b") == (b, "1")
    assert sessions.named("c:1", "c") == (None, "1")
    assert sessions.named("c:x", "c") == (None, "c:x")


def test_late_words_for_a_closed_session_are_nobodys() -> None:
    sessions = Sessions()
    entry = sessions.seen("a", "1", "/")
    sessions.remove(entry)
    late = sessions.seen("a", "1", "/")
    assert late.closed
    assert list(sessions) == []


def test_an_id_is_used_again_by_a_new_session_and_by_a_new_process() -> None:
    sessions = Sessions()
    sessions.remove(sessions.seen("a", "1", "/"))
    with sessions.opening("a"):
        assert not sessions.seen("a", "1", "/").closed
    sessions.remove(sessions.seen("a", "1", "/"))
    sessions.agent_gone("a")
    assert not sessions.seen("a", "1", "/").closed


def test_the_newest_is_active_after_the_active_one_is_closed() -> None:
    sessions = Sessions()
    first, second = sessions.seen("a", "1", "/"), sessions.seen("a", "2", "/")
    sessions.active = second
    sessions.remove(second)
    assert sessions.active is first
    sessions.remove(first)
    assert sessions.active is None


def test_a_session_that_was_closed_meanwhile_does_not_become_the_active_one() -> None:
    sessions = Sessions()
    one, other = sessions.open("a", "s1", "/ws"), sessions.open("a", "s2", "/ws")
    sessions.active = one
    sessions.remove(other)
    sessions.active = other
    assert sessions.active is one
    sessions.remove(one)
    assert sessions.active is None
    sessions.active = one
    assert sessions.active is None
