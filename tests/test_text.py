from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_editor.core.snippets import find_snippet
from acp_editor.core.text import (
    Edit,
    Encoding,
    Lines,
    Position,
    Span,
    apply_edits,
    edits_between,
    first_difference,
    line_at,
    line_count,
    line_end,
    split_lines,
    with_line_end,
)

TEXTS = st.text(alphabet=st.sampled_from("ab é€😀\r\n\f\u2028\ufeff"), max_size=40)
LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d", "e\r"]), max_size=25).map("".join)
ENCODINGS = st.sampled_from(["utf-8", "utf-16", "utf-32"])


def test_lines_end_at_newlines_and_nowhere_else() -> None:
    lines = Lines("a\r\nb\rc\nd\fe\u2028f\x0bg\x85h\n")
    assert [lines.line(n) for n in range(lines.count)] == ["a", "b", "c", "d\fe\u2028f\x0bg\x85h", ""]
    assert Lines("").count == 1
    assert split_lines("") == []
    assert split_lines("a\n\n") == ["a\n", "\n"]


@pytest.mark.parametrize(
    ("encoding", "character"),
    [("utf-8", 1 + 2 + 3 + 4), ("utf-16", 1 + 1 + 1 + 2), ("utf-32", 4)],
)
def test_characters_are_code_units(encoding: Encoding, character: int) -> None:
    lines = Lines("x\naé€😀z", encoding)
    assert lines.position(6) == Position(1, character)
    assert lines.offset(Position(1, character)) == 6


def test_a_position_inside_of_a_character_is_its_start() -> None:
    assert Lines("a😀b", "utf-16").offset(Position(0, 2)) == 1
    assert Lines("a€b", "utf-8").offset(Position(0, 3)) == 1


def test_positions_past_the_end_are_clamped() -> None:
    lines = Lines("ab\r\ncd")
    assert lines.offset(Position(0, 99)) == 2
    assert lines.offset(Position(9, 0)) == 6
    assert lines.offset(Position(-1, 5)) == 0
    assert lines.offset(Position(1, -3)) == 4
    assert lines.position(3) == Position(0, 2)
    assert lines.end_of(99) == Position(1, 2)
    assert (lines.clamp(-5), lines.clamp(5)) == (0, 1)
    assert lines.line(7) == ""


@settings(deadline=None)
@given(TEXTS, ENCODINGS)
def test_offsets_and_positions_are_the_same_places(text: str, encoding: Encoding) -> None:
    lines = Lines(text, encoding)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] != "\r\n":
            assert lines.offset(lines.position(offset)) == offset
        assert line_at(text, offset) == lines.position(offset).line


@settings(deadline=None)
@given(TEXTS)
def test_the_lines_are_the_text(text: str) -> None:
    assert "".join(split_lines(text)) == text
    assert line_count(text) == Lines(text).count


def test_the_usual_line_end_wins() -> None:
    assert line_end("a\r\nb\r\nc\n") == "\r\n"
    assert line_end("a\nb\r\nc\n") == "\n"
    assert line_end("none") == "\n"
    assert with_line_end("a\r\nb\rc\n", "\r\n") == "a\r\nb\r\nc\r\n"


def test_edits_see_what_the_one_before_left() -> None:
    first = Edit(Span(Position(0, 0), Position(0, 0)), "new\n")
    second = Edit(Span(Position(1, 0), Position(1, 1)), "A")
    assert apply_edits("a😀", [first, second]) == "new\nA😀"
    assert apply_edits("a😀", [Edit(Span(Position(0, 3), Position(0, 1)), "")]) == "a"
    assert apply_edits("a", [Edit(None, "b")]) == "b"


@settings(deadline=None)
@given(LINES, LINES, ENCODINGS)
def test_the_edits_between_two_texts_make_one_the_other(old: str, new: str, encoding: Encoding) -> None:
    edits = edits_between(old, new, encoding)
    assert apply_edits(old, edits, encoding) == new
    spans = [edit.span for edit in edits if edit.span]
    assert all(later.start >= earlier.end for later, earlier in itertools.pairwise(spans))


def test_edits_touch_only_the_lines_that_differ() -> None:
    old = "".join(f"line {n}\n" for n in range(100))
    new = old.replace("line 10\n", "ten\n").replace("line 50\n", "")
    assert edits_between(old, new) == [
        Edit(Span(Position(50, 0), Position(51, 0)), ""),
        Edit(Span(Position(10, 0), Position(11, 0)), "ten\n"),
    ]
    assert edits_between(old, old) == []
    assert edits_between("a", "a\nb") == [Edit(Span(Position(0, 0), Position(0, 1)), "a\nb")]
    assert edits_between("", "a\n") == [Edit(Span(Position(0, 0), Position(0, 0)), "a\n")]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("a\nb\n", "a\nc\n", 1),
        ("a\nb\n", "a\r\nb\r\n", None),
        ("a\nb\n", "a\nb\nc\n", 2),
        ("", "a\n", 0),
        ("a\nb\n", "a\n", 1),
        ("a\nb", "a\nb\n", 2),
    ],
)
def test_the_first_line_that_differs(old: str, new: str, line: int | None) -> None:
    assert first_difference(old, new) == line


@pytest.mark.parametrize(
    ("text", "snippet", "near", "found"),
    [
        ("a\nb\nc\n", "b\n", None, "b\n"),
        ("a\r\nb\r\nc\r\n", "b\nc\n", None, "b\r\nc\r\n"),
        ("a\nb\nc\n", "b\r\nc", None, "b\nc"),
        ("a\nb", "b\n", None, "b"),
        ("a\r\nb", "a\nb\n", None, "a\r\nb"),
        ("a\nbb\nc", "b\n", None, "b\n"),
        ("a\nb", "a\n\n", None, None),
        ("a\n", "", None, None),
        ("a\n", "x", None, None),
        ("b at the front\nb", "b\n", None, "b"),
    ],
)
def test_a_snippet_is_found(text: str, snippet: str, near: int | None, found: str | None) -> None:
    match = find_snippet(text, snippet, near)
    assert (text[match.start : match.end] if match else None) == found


def test_whole_lines_come_before_parts_of_lines() -> None:
    match = find_snippet("xreturn\nreturn\n", "return")
    assert match
    assert match.start == 8


def test_the_nearest_of_several_is_taken() -> None:
    text = "pass\n" + "x\n" * 10 + "pass\n" + "x\n" * 10 + "pass\n"
    starts = {near: found.start for near in (0, 9, 25) if (found := find_snippet(text, "pass\n", near))}
    assert [line_at(text, start) for start in starts.values()] == [0, 11, 22]
    crlf = with_line_end(text, "\r\n")
    match = find_snippet(crlf, "x\npass\n", 20)
    assert match
    assert line_at(crlf, match.start) == 21


@settings(deadline=None)
@given(LINES, st.sampled_from(["mark", "mark\n", "two\nlines\n"]), LINES)
def test_a_snippet_is_found_where_it_was_put(before: str, snippet: str, after: str) -> None:
    text = before + snippet + after
    match = find_snippet(text, snippet)
    assert match
    assert text[match.start : match.end] == snippet
    crlf = with_line_end(text, "\r\n")
    match = find_snippet(crlf, snippet)
    assert match
    assert with_line_end(crlf[match.start : match.end], "\n") == snippet


def test_large_and_hostile_texts_take_no_long_time() -> None:
    large = "".join(f"line {n}\r\n" for n in range(30_000))
    same = "x\n" * 50_000
    started = time.process_time()
    assert find_snippet(large, "line 29998\nline 29999\n")
    assert find_snippet(same, "x\n" * 1000 + "y\n") is None
    assert len(edits_between(large, large.replace("7\r\n", "seven\r\n"))) > 1
    assert (
        apply_edits(same, edits_between(same, "y\n" + same[2:-2] + "z\n" + same))
        == "y\n" + same[2:-2] + "z\n" + same
    )
    assert time.process_time() - started < 10
