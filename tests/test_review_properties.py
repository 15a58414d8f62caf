"""Any order of what an agent, a person and their editor do: the books stay right and undo is exact."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_editor.core import text as lines
from acp_editor.review import answers
from acp_editor.review.checkpoint import Limits
from acp_editor.review.documents import Documents
from acp_editor.review.engine import Engine
from acp_editor.review.files import Version, put, read
from acp_editor.review.tracked import Tracked

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "d\n", "\n", "e\r", "\r"]), max_size=10).map("".join)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["agent", "agent through us", "type", "save", "keep", "undo", "delete", "other"]),
        TEXTS,
        st.integers(0, 9),
    ),
    max_size=8,
)


class Bench:
    """One file, its document where it is open, and the engine that watches both."""

    def __init__(self, folder: str, text: str, is_open: bool, limits: Limits | None = None) -> None:
        root = Path(folder) / "root"
        root.mkdir()
        self.path = str(root / "file")
        Path(self.path).write_bytes(text.encode())
        self.engine = Engine([str(root)], Path(folder) / "cache", limits or Limits())
        self.engine.patience = 0.0
        self.engine.begin()
        self.documents = Documents(self.engine)
        self.text: str | None = None
        if is_open:
            self.text = text
            self.documents.opened(self.path, text)
        self.engine.turns.start(time.time())

    @property
    def tracked(self) -> Tracked | None:
        tracked = self.engine.tracked.get(self.path)
        return tracked if tracked is not None and tracked.pending else None

    @property
    def clean(self) -> bool:
        return self.text is None or read(self.path).data == self.text.encode()

    def shown(self, text: str, *, by_us: bool = False, by_disk: bool = False) -> None:
        assert self.text is not None
        before, self.text = self.text, text
        self.documents.typed(self.path, before, text, by_us=by_us, by_disk=by_disk)

    def agent(self, text: str) -> None:
        clean = self.clean
        put(self.path, Version(text.encode()))
        self.engine.look([self.path])
        if self.text is not None and clean and text != self.text:
            self.shown(text, by_disk=True)

    def agent_through_us(self, text: str) -> None:
        self.engine.agent_writes(self.path, "c1")
        if self.text is not None and text != self.text:
            self.shown(text, by_us=True)
        put(self.path, Version(text.encode()))
        self.engine.agent_wrote(self.path, "c1")

    def type(self, text: str) -> None:
        if self.text is not None and text != self.text:
            self.shown(text)

    def save(self) -> None:
        if self.text is not None:
            put(self.path, Version(self.text.encode()))
            self.documents.saved(self.path)

    def other(self, text: str) -> None:
        """Another program of the person's, between turns."""
        if self.clean:
            self.engine.turns.end(0.0)
            put(self.path, Version(text.encode()))
            self.engine.look([self.path])
            if self.text is not None and text != self.text:
                self.shown(text)
            self.engine.turns.start(time.time())

    def undo(self, tracked: Tracked, hunk_ids: list[str] | None) -> None:
        target = tracked.undone(hunk_ids)
        clean = self.clean
        if self.text is not None and target.data is not None:
            answers.undo(self.engine, tracked, hunk_ids)
            if target.data.decode() != self.text:
                self.shown(target.data.decode(), by_us=True)
            if clean:
                self.save()
        else:
            put(self.path, target)
            answers.undo(self.engine, tracked, hunk_ids)

    def check(self) -> None:
        tracked = self.tracked
        if tracked is None:
            return
        base, current = (
            lines.split_lines((version.data or b"").decode()) for version in (tracked.base, tracked.current)
        )
        one = two = 0
        for hunk in tracked.hunks:
            assert base[one : hunk.original.start] == current[two : hunk.modified.start]
            one, two = hunk.original.end, hunk.modified.end
        if any(len(hunk.original) or len(hunk.modified) for hunk in tracked.hunks):
            assert base[one:] == current[two:]
        if self.text is not None and not tracked.current.absent:
            assert (tracked.current.data or b"").decode() == self.text


@given(TEXTS, st.booleans(), STEPS, st.sampled_from([Limits(), Limits(memory=0)]))
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_order_of_events(text: str, is_open: bool, steps: list[tuple[str, str, int]], limits: Limits):
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, text, is_open, limits)
        for what, new, number in steps:
            tracked = bench.tracked
            match what:
                case "agent":
                    bench.agent(new)
                case "agent through us":
                    bench.agent_through_us(new)
                case "type":
                    bench.type(new)
                case "save":
                    bench.save()
                case "other":
                    bench.other(new)
                case "delete" if bench.text is None:
                    put(bench.path, Version(None, 0))
                    bench.engine.look([bench.path])
                case "keep" if tracked is not None:
                    hunk = tracked.hunks[number % len(tracked.hunks)]
                    rest = [other.hunk_id for other in tracked.hunks if other is not hunk]
                    answers.keep(bench.engine, tracked, [hunk.hunk_id])
                    if b"\r\n" not in (tracked.base.data or b""):  # lines that run into each other are new
                        assert [other.hunk_id for other in tracked.hunks][: len(rest)] == rest
                case "undo" if tracked is not None:
                    bench.undo(tracked, [tracked.hunks[number % len(tracked.hunks)].hunk_id])
                case _:
                    pass
            bench.engine.clashes.clear()
            bench.engine.memory.check()
            bench.check()
        if (tracked := bench.tracked) is not None:
            base = tracked.base
            bench.undo(tracked, None)
            assert bench.tracked is None
            if bench.clean:
                assert read(bench.path).data == base.data
        bench.engine.close()


@given(TEXTS, TEXTS, st.integers(0, 9), st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_undo_then_restore_is_nothing(before: str, after: str, number: int, whole: bool):
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, before, False)
        bench.agent(after)
        tracked = bench.tracked
        if tracked is not None:
            state = tracked.state
            ids = None if whole else [tracked.hunks[number % len(tracked.hunks)].hunk_id]
            bench.undo(tracked, ids)
            undone = answers.Undone(bench.path, state, tracked.base, tracked.current, 1)
            again = answers.as_undone(bench.engine, undone)
            assert again is not None
            put(bench.path, state.current)
            answers.redo(bench.engine, again, undone)
            assert bench.tracked is not None
            assert bench.tracked.state == state
            assert read(bench.path).data == after.encode()
        bench.engine.close()
