"""The ledger: tables of what must come of agent writes, the person's edits, keeps and undos."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_editor.core import ledger as book
from acp_editor.core.ledger import Ledger
from acp_editor.review import diff


def ids():
    count = itertools.count(1)
    return lambda: f"h{next(count)}"


def spans(ledger: Ledger) -> list[tuple[int, int, int, int]]:
    return [(h.original.start, h.original.end, h.modified.start, h.modified.end) for h in ledger.hunks]


def opened(base: bytes, current: bytes) -> Ledger:
    return book.opened(base, current, diff.changes, ids(), "call")


def sound(ledger: Ledger) -> None:
    """Outside its hunks, both sides are the same lines."""
    base, current = book.lines(ledger.base), book.lines(ledger.current)
    one = two = 0
    for hunk in ledger.hunks:
        assert base[one : hunk.original.start] == current[two : hunk.modified.start]
        assert (
            base[hunk.original.start : hunk.original.end] != current[hunk.modified.start : hunk.modified.end]
        )
        one, two = hunk.original.end, hunk.modified.end
    assert base[one:] == current[two:]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b"", b"a\n", [(0, 0, 0, 1)]),
        (b"a\n", b"", [(0, 1, 0, 0)]),
        (b"a\nb\nc\n", b"a\nB\nc\n", [(1, 2, 1, 2)]),
        (b"a\nb\nc\n", b"b\nc\nd\n", [(0, 1, 0, 0), (3, 3, 2, 3)]),
        (b"a\r\nb\r\n", b"a\r\nb\n", [(1, 2, 1, 2)]),
        (b"a", b"a\n", [(0, 1, 0, 1)]),
        (b"a\0\n", b"b\0\n", [(0, 1, 0, 1)]),
    ],
)
def test_changes_count_lines_from_0(old: bytes, new: bytes, expected: list[tuple[int, int, int, int]]):
    assert [(c.old.start, c.old.end, c.new.start, c.new.end) for c in diff.changes(old, new)] == expected


@pytest.mark.parametrize(
    ("base", "agent", "person", "base_then", "hunks_then"),
    [
        # elsewhere: into the base
        (b"1\n2\n3\n4\n", b"1\nX\n3\n4\n", b"1\nX\n3\nfour\n", b"1\n2\n3\nfour\n", [(1, 2, 1, 2)]),
        # the neighbouring line
        (b"1\n2\n3\n", b"1\nX\n3\n", b"1\nX\nthree\n", b"1\n2\nthree\n", [(1, 2, 1, 2)]),
        # above, so that the hunk moves
        (b"1\n2\n3\n", b"1\nX\n3\n", b"0\n1\nX\n3\n", b"0\n1\n2\n3\n", [(2, 3, 2, 3)]),
        # inside: the hunk stays with what is there now
        (b"1\n2\n3\n", b"1\nX\n3\n", b"1\nXY\n3\n", b"1\n2\n3\n", [(1, 2, 1, 2)]),
        # inside, back to the base: the hunk goes
        (b"1\n2\n3\n", b"1\nX\n3\n", b"1\n2\n3\n", b"1\n2\n3\n", []),
        # a block over the hunk, line for line: only the hunk's line is the hunk's
        (b"1\n2\n3\n", b"1\nX\n3\n", b"a\nb\nc\n", b"a\n2\nc\n", [(1, 2, 1, 2)]),
        # where the agent removed lines
        (b"1\n2\n3\n", b"1\n3\n", b"1\nnew\n3\n", b"1\n2\n3\n", [(1, 2, 1, 2)]),
        # below what the agent added at the end
        (b"1\n", b"1\n2\n", b"1\n2\n3\n", b"1\n3\n", [(1, 1, 1, 2)]),
        # next to a last line without an end
        (b"1\n2", b"1\n2\nX\n", b"1\n2\nX\n3\n", b"1\n2", [(1, 2, 1, 4)]),
        (b"1\n2\n", b"1\n", b"1", b"1\n2\n", [(0, 2, 0, 1)]),
    ],
)
def test_the_persons_edits_go_into_the_base_where_they_touch_no_hunk(
    base: bytes, agent: bytes, person: bytes, base_then: bytes, hunks_then: list[tuple[int, int, int, int]]
):
    then = book.person_changed(opened(base, agent), person, diff.changes, ids())
    assert (then.base, then.current, spans(then)) == (base_then, person, hunks_then)
    sound(then)


def test_a_hunk_keeps_its_id_while_its_text_stays():
    new_id = ids()
    first = book.opened(b"1\n2\n3\n4\n", b"1\nX\n3\n4\n", diff.changes, new_id, "c1")
    second = book.agent_changed(first, b"0\n1\nX\n3\nY\n", diff.changes, new_id, "c2")
    assert [(hunk.hunk_id, hunk.author) for hunk in second.hunks] == [
        ("h2", "c2"),
        ("h1", "c1"),
        ("h4", "c2"),
    ]


def test_a_commit_keeps_what_it_contains():
    ledger = opened(b"1\n2\n3\n4\n5\n", b"1\nX\n3\nY\n5\n")
    then = book.committed(ledger, b"1\nX\n3\n4\n5\n", diff.changes)
    assert (then.base, spans(then)) == (b"1\nX\n3\n4\n5\n", [(3, 4, 3, 4)])


TEXTS = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"d\r\n"]), max_size=12).flatmap(
    lambda parts: st.sampled_from([b"".join(parts), b"".join(parts) + b"e"])
)
STEPS = st.lists(
    st.tuples(st.sampled_from(["agent", "person", "keep", "undo"]), TEXTS, st.integers(0, 9)), max_size=8
)


@given(TEXTS, STEPS)
@settings(max_examples=400, deadline=None)
def test_any_order_of_writes_edits_keeps_and_undos(base: bytes, steps: list[tuple[str, bytes, int]]):
    new_id = ids()
    ledger = Ledger(base, base)
    for what, text, number in steps:
        before = ledger
        match what:
            case "agent":
                ledger = book.agent_changed(ledger, text, diff.changes, new_id)
                assert (ledger.base, ledger.current) == (before.base, text)
            case "person":
                ledger = book.person_changed(ledger, text, diff.changes, new_id)
                assert ledger.current == text
            case _ if ledger.hunks:
                chosen = ledger.hunks[number % len(ledger.hunks)].hunk_id
                ledger = (book.kept if what == "keep" else book.undone)(ledger, [chosen])
                untouched = [hunk for hunk in before.hunks if hunk.hunk_id != chosen]
                assert [h.hunk_id for h in ledger.hunks] == [h.hunk_id for h in untouched]
                side = "current" if what == "keep" else "base"
                assert getattr(ledger, side) == getattr(before, side)
            case _:
                pass
        sound(ledger)
    every = [hunk.hunk_id for hunk in ledger.hunks]
    assert book.kept(ledger, every).base == ledger.current == book.kept(ledger).base
    assert book.undone(ledger, every).current == ledger.base == book.undone(ledger).current


@given(TEXTS, TEXTS)
@settings(max_examples=300, deadline=None)
def test_trimming_finds_a_right_difference(old: bytes, new: bytes):
    found = [book.Hunk(str(at), c.old, c.new) for at, c in enumerate(book.trimmed(diff.changes, old, new))]
    assert book.undone(Ledger(old, new, tuple(found)), [h.hunk_id for h in found]).current == old
    sound(Ledger(old, new, tuple(found)))


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_undo_all_leaves_exactly_the_persons_edits(data: st.DataObject):
    """The agent and the person change different lines of a file, in any order."""
    count = data.draw(st.integers(1, 12))
    base = [b"line %d\n" % at for at in range(count)]
    owners = data.draw(
        st.lists(st.sampled_from(["agent", "person", "nobody"]), min_size=count, max_size=count)
    )
    edits = {
        at: data.draw(st.sampled_from([b"", b"new %d\n" % at, b"two\n%d\n" % at])) for at in range(count)
    }
    order = data.draw(st.permutations([at for at in range(count) if owners[at] != "nobody"]))
    now, theirs = list(base), list(base)
    ledger = Ledger(b"".join(base), b"".join(base))
    new_id = ids()
    neighbours = any({one, other} == {"agent", "person"} for one, other in itertools.pairwise(owners))
    for at in order:
        now[at] = edits[at]
        if owners[at] == "person":
            theirs[at] = edits[at]
            ledger = book.person_changed(ledger, b"".join(now), diff.changes, new_id)
        else:
            ledger = book.agent_changed(ledger, b"".join(now), diff.changes, new_id)
        sound(ledger)
    if not neighbours:
        assert book.undone(ledger).current == b"".join(theirs)
    assert book.kept(ledger).base == b"".join(now)
