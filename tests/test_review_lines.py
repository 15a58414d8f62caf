"""Lines as editors count them: a lone carriage return ends one, and UTF-16 is text."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from review_editor import Desk

from acp_editor.core import ledger as book
from acp_editor.core import text as lines
from acp_editor.review import diff, textlines

CHARACTERS = st.text(st.sampled_from(["a", "\r", "\n", "\f", "\u2028", "\u0a0a", "\U0001f600"]), max_size=12)
CODECS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])


@given(CHARACTERS, CODECS)
@settings(deadline=None)
def test_lines_are_those_of_the_editor_and_give_the_bytes_back(text: str, codec: str) -> None:
    data = text.encode(codec)
    assert textlines.is_text(data)
    shown = textlines.show(data)
    assert len(book.lines(shown)) == len(lines.split_lines(text)) or (codec == "utf-8-sig" and not text)
    assert textlines.back(shown, data) == data


@pytest.mark.parametrize("data", [b"a\0b", b"\xff\xfea", b"\xff\xfe\x00\xd8", b"x" * 9000 + b"\r\0\n"])
def test_what_has_no_lines(data: bytes) -> None:
    assert not textlines.is_text(data)


@pytest.mark.anyio
@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
async def test_hunks_by_lines_in_any_encoding(tmp_path: Path, codec: str, end: str) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    before = [f"line {number}{end}" for number in range(10)]
    after = [*before[:2], f"zwei \u00e4{end}", *before[3:8], *before[9:], "last"]
    (root / "a.txt").write_bytes("".join(before).encode(codec))
    desk = Desk(root, tmp_path)
    async with anyio.create_task_group() as group:
        await desk.review.start(group)
        await desk.begin()
        desk.write("a.txt", "".join(after).encode(codec))
        (change,) = await desk.end()
        spans = [(hunk.original, hunk.modified) for hunk in change.hunks]
        assert spans == [((2, 3), (2, 3)), ((8, 9), (8, 8)), ((10, 10), (9, 10))]
        await desk.review.undo(hunk_id=change.hunks[1].hunk_id)
        now = [*after[:8], before[8], *after[8:]]
        assert desk.bytes("a.txt") == "".join(now).encode(codec)
        await desk.review.keep(hunk_id=change.hunks[0].hunk_id)
        await desk.review.undo()
        assert desk.bytes("a.txt") == "".join([*before[:2], after[2], *before[3:]]).encode(codec)
        assert await desk.changes() == ()
        await desk.review.aclose()


@pytest.mark.anyio
async def test_another_encoding_is_undone_to_the_byte(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.txt").write_bytes("one\ntwo\n".encode("utf-16"))
    desk = Desk(root, tmp_path)
    async with anyio.create_task_group() as group:
        await desk.review.start(group)
        await desk.begin()
        desk.write("a.txt", "one\nTWO\n")
        (change,) = await desk.end()
        assert [hunk.original for hunk in change.hunks] == [(1, 2)]
        assert desk.review.original(desk.path("a.txt")) == "one\ntwo\n"
        await desk.review.undo()
        assert desk.bytes("a.txt") == "one\ntwo\n".encode("utf-16")
        await desk.review.aclose()


LINE = st.sampled_from([b"a\n", b"b\n", b"\n", b"}\n", b"c\r\n", *(b"%d\n" % number for number in range(40))])


@given(
    st.lists(LINE, max_size=60), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 3), LINE), max_size=6)
)
@settings(deadline=None)
def test_a_long_text_is_compared_as_rightly_as_a_short_one(
    before: list[bytes], edits: list[tuple[int, int, bytes]]
) -> None:
    after = list(before)
    for at, gone, line in edits:
        after[at : at + gone] = [line] * (at % 3)
    old, new = b"".join(before), b"".join(after)
    found = list(diff._between_runs(old.splitlines(True), new.splitlines(True)))  # pyright: ignore
    hunks = tuple(book.Hunk(str(at), one.old, one.new) for at, one in enumerate(found))
    ledger = book.Ledger(old, new, hunks)
    one = two = 0
    for change in found:
        assert before[one : change.old.start] == after[two : change.new.start]
        assert len(change.old) or len(change.new)
        one, two = change.old.end, change.new.end
    assert before[one:] == after[two:]
    assert book.undone(ledger, [hunk.hunk_id for hunk in hunks]).current == old
