"""What is found is shown at once, and better a moment later: of large files, hostile ones and many."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_editor import Desk

from acp_editor.core.ledger import Change, Ledger, Span, kept, lines, opened, undone
from acp_editor.review import diff, engine
from acp_editor.review.checkpoint import Limits
from acp_editor.review.differ import Differ
from acp_editor.review.documents import Documents
from acp_editor.review.engine import Engine

LARGE = [f"value_{number} = {number}\n" for number in range(20_000)]
EDITED = [line.replace("value", "edited") if at % 100 == 50 else line for at, line in enumerate(LARGE)]


def hostile() -> list[bytes]:
    """Lines of which no two texts in another order can be compared in a sensible time."""
    choose = random.Random(3)
    return [bytes([choose.randrange(97, 99), 10]) for _ in range(200_000)]


def until(condition: Callable[[], object], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture
def differ() -> Iterator[Differ]:
    made = Differ()
    yield made
    made.close()


def text(found: list[str]) -> bytes:
    return "".join(found).encode()


def test_what_takes_long_is_one_change_until_it_is_found(differ: Differ) -> None:
    differ.patience = 0.0
    found = differ.quick(text(LARGE), text(EDITED))
    assert differ.rough
    assert len(found) == 1
    until(lambda: not differ.busy and differ.quick(text(LARGE), text(EDITED)) and not differ.rough)
    assert len(differ.quick(text(LARGE), text(EDITED))) == 200


def test_another_text_does_not_wait_for_the_one_that_is_worked_on(differ: Differ) -> None:
    differ.patience = 0.0
    until(lambda: differ.quick(text(LARGE), text(EDITED)) and differ.busy)
    assert len(differ.quick(text(EDITED), text(LARGE))) == 1
    assert differ.rough
    assert len(differ(text(EDITED), text(LARGE))) == 200  # who needs it exactly waits


def test_past_the_limit_a_text_stays_one_change(differ: Differ) -> None:
    slow = Differ(limit=0.01)
    old = hostile()
    assert len(slow(b"".join(old), b"".join(reversed(old)))) == 1
    slow.close()


def test_changes_that_are_evenly_far_apart_stay_as_many_as_may_be() -> None:
    changes = [Change(Span(4 * at, 4 * at + 1), Span(4 * at, 4 * at + 1)) for at in range(1000)]
    found = diff.glued(changes, 300)
    assert len(found) == 300
    assert max(len(range(change.old.start, change.old.end)) for change in found) <= 4 * 4


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 9))), st.integers(1, 5))
def test_neighbours_become_one_change_where_there_are_too_many(
    shape: list[tuple[int, int, int]], most: int
) -> None:
    old = new = 0
    changes: list[Change] = []
    for gone, come, same in shape:
        if gone or come:
            changes.append(Change(Span(old, old + gone), Span(new, new + come)))
        old, new = old + gone + same, new + come + same
    found = diff.glued(changes, most)
    assert len(found) <= most
    one = [f"{number} old\n".encode() for number in range(old)]
    two: list[bytes] = []
    taken = 0
    for change in changes:
        two += one[taken : change.old.start] + [b"new\n"] * len(change.new)
        taken = change.old.end
    two += one[taken:]
    book = opened(b"".join(one), b"".join(two), lambda old, new: found, lambda: "h")
    assert undone(Ledger(book.base, book.current, book.hunks), {"h"}).current == book.base
    assert kept(book, {"h"}).base == book.current
    assert len(lines(book.current)) == len(two)


class Bench:
    """A large file that the agent has rewritten while nobody had time to compare it."""

    def __init__(self, folder: Path) -> None:
        root = folder / "root"
        root.mkdir()
        self.file = root / "file.py"
        self.path = str(self.file)
        self.file.write_bytes(text(LARGE))
        self.engine = Engine([str(root)], folder / "cache", Limits())
        self.engine.begin()
        self.engine.differ.patience = 0.0
        self.engine.refine = lambda: None
        self.documents = Documents(self.engine)
        self.documents.opened(self.path, "".join(LARGE))
        self.engine.turns.start(time.time())
        self.file.write_bytes(text(EDITED))
        self.documents.typed(self.path, "".join(LARGE), "".join(EDITED), by_us=False)
        assert [len(hunk.original) for hunk in self.hunks] == [len(LARGE) - 99]

    @property
    def hunks(self):
        return self.engine.tracked[self.path].hunks

    def refined(self) -> bool:
        Engine.refine(self.engine)
        return not self.engine.rough


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.engine.close()


def test_the_hunks_of_a_large_file_come_by_themselves(bench: Bench) -> None:
    until(bench.refined)
    assert len(bench.hunks) == 200
    ids = [hunk.hunk_id for hunk in bench.hunks]
    again = ["new\n", *EDITED]  # once more; those that it leaves alone stay what they were
    bench.file.write_bytes(text(again))
    bench.documents.typed(bench.path, "".join(EDITED), "".join(again), by_us=False)
    assert len(bench.hunks) == 1
    until(bench.refined)
    assert [hunk.hunk_id for hunk in bench.hunks][1:] == ids
    assert len(bench.hunks) == 201


def test_what_is_typed_before_the_hunks_are_found_is_the_persons(bench: Bench) -> None:
    typed = [*EDITED[:10], "mine\n", *EDITED[10:]]
    bench.documents.typed(bench.path, "".join(EDITED), "".join(typed), by_us=False)
    assert len(bench.hunks) == 200
    tracked = bench.engine.tracked[bench.path]
    assert tracked.undone(None).data == text([*LARGE[:10], "mine\n", *LARGE[10:]])


def test_many_files_are_shown_as_they_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_STEP", 0.0)
    for number in range(30):
        (tmp_path / f"{number}.py").write_text("one\n")
    made = Engine([str(tmp_path)], tmp_path.parent / "cache", Limits())
    made.begin()
    made.turns.start(time.time())
    for number in range(30):
        (tmp_path / f"{number}.py").write_text("two\n")
    named = str(tmp_path / "7.py")
    counts = [len(made.tracked) for _ in made.looking([named], everywhere=True)]
    assert counts[0] == 1
    assert next(iter(made.tracked)) == named
    assert set(range(1, 31)) <= set(counts)
    made.close()


@pytest.mark.anyio
async def test_a_hostile_file_is_listed_before_it_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    old = hostile()
    (root / "file").write_bytes(b"".join(old))
    refined = 0

    def refine(self: Engine) -> None:
        nonlocal refined
        refined += 1

    monkeypatch.setattr(Engine, "refine", refine)  # it never comes to an end
    monkeypatch.setattr(Differ, "__init__", functools.partialmethod(Differ.__init__, patience=0.0))
    desk = Desk(root, tmp_path)
    async with anyio.create_task_group() as group:
        await desk.review.start(group)
        await desk.begin()
        desk.write("file", b"".join(reversed(old)))
        (change,) = await desk.changes()
        (hunk,) = change.hunks
        await desk.until(lambda: refined > 2)  # it is asked for by itself
        await desk.review.undo(hunk_id=hunk.hunk_id)
        assert desk.bytes("file") == b"".join(old)
        await desk.review.aclose()
