"""Lines, positions and edits as the Language Server Protocol counts them.

A line ends at `\\n`, `\\r\\n` or `\\r` and nowhere else (not at a form feed or U+2028, where
`str.splitlines` would). Characters are code units of the negotiated encoding.
Source: Language Server Protocol 3.17, Text Documents.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

Encoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]

_LINE_END = re.compile(r"\r\n|\n|\r")
_MAX_DEPTH = 24


class Position(NamedTuple):
    """`character` counts code units from the line's start, both from 0."""

    line: int
    character: int


class Span(NamedTuple):
    """From `start` up to `end`, which is not included."""

    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of text to be replaced; a span of None means the whole text."""

    span: Span | None
    text: str


class Lines:
    """A text with an index of its lines, made when it is first needed.

    A text that ends with a line end has an empty last line, and "" has one line. Every position and
    offset is clamped: a line past the end is the end of the text, a character past its line's end is
    that end, and one inside of a character is that character's start.
    """

    def __init__(self, text: str, encoding: Encoding = "utf-16") -> None:
        self.text = text
        self.encoding: Encoding = encoding

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each line starts."""
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    @property
    def count(self) -> int:
        return len(self.starts)

    def line(self, number: int) -> str:
        """One line without its end; "" for one that is not there."""
        if not 0 <= number < self.count:
            return ""
        return self.text[self.starts[number] : self._content_end(number)]

    def end_of(self, number: int) -> Position:
        """Where the content of a line ends; the line is clamped to the text."""
        number = self.clamp(number)
        return Position(number, _units(self.line(number), self.encoding))

    def clamp(self, number: int) -> int:
        """The nearest line that there is."""
        return max(0, min(number, self.count - 1))

    def offset(self, position: Position) -> int:
        """An index into the text, in Python's characters."""
        number, character = position
        if number < 0:
            return 0
        if number >= self.count:
            return len(self.text)
        return self.starts[number] + _characters(self.line(number), character, self.encoding)

    def position(self, offset: int) -> Position:
        """Where an index into the text is; one within a `\\r\\n` is before it."""
        offset = max(0, min(offset, len(self.text)))
        number = bisect_right(self.starts, offset) - 1
        start = self.starts[number]
        return Position(
            number, _units(self.text[start : min(offset, self._content_end(number))], self.encoding)
        )

    def _content_end(self, number: int) -> int:
        if number + 1 == self.count:
            return len(self.text)
        end = self.starts[number + 1]
        return end - 2 if self.text.endswith("\r\n", self.starts[number], end) else end - 1


def line_count(text: str) -> int:
    """As `Lines(text).count`, without an index."""
    count = text.count("\n") + 1
    return count + text.count("\r") - text.count("\r\n") if "\r" in text else count


def line_at(text: str, offset: int) -> int:
    """The line, from 0, in which an index into the text is."""
    return line_count(text[:offset]) - 1 - (text[offset - 1 : offset + 1] == "\r\n")


def split_lines(text: str) -> list[str]:
    """The lines with their ends, which joined give the text; no empty last one, so [] for ""."""
    ends = [match.end() for match in _LINE_END.finditer(text)]
    if not ends or ends[-1] != len(text):
        ends.append(len(text))
    return [text[start:end] for start, end in pairwise([0, *ends]) if end > start]


def line_end(text: str) -> str:
    """The line end that most lines have, `\\n` where there is none."""
    crlf = text.count("\r\n")
    lf = text.count("\n") - crlf
    cr = text.count("\r") - crlf
    return max((lf, "\n"), (crlf, "\r\n"), (cr, "\r"), key=lambda pair: pair[0])[1]


def with_line_end(text: str, end: str) -> str:
    """The text with every line end replaced."""
    flat = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    return flat if end == "\n" else flat.replace("\n", end)


def apply_edits(text: str, edits: Iterable[Edit], encoding: Encoding = "utf-16") -> str:
    """The text after edits that each see what the one before it left, as didChange sends them."""
    for edit in edits:
        if edit.span is None:
            text = edit.text
            continue
        lines = Lines(text, encoding)
        start, end = sorted((lines.offset(edit.span.start), lines.offset(edit.span.end)))
        text = text[:start] + edit.text + text[end:]
    return text


def edits_between(old: str, new: str, encoding: Encoding = "utf-16") -> list[Edit]:
    """Small edits of whole lines that make `old` into `new`, last one first.

    In that order they mean the same whether each counts from the original text (as a WorkspaceEdit's
    do) or from what the one before it left. Lines that occur once on both sides hold the rest
    together (a patience diff), so the time is near linear for any text.
    """
    if old == new:
        return []
    a, b = split_lines(old), split_lines(new)
    lines = Lines(old, encoding)
    edits: list[Edit] = []
    for start, end, b_start, b_end in _differing(a, b):
        to = Position(end, 0) if end < lines.count else lines.end_of(lines.count - 1)
        at = Position(start, 0) if start < lines.count else to
        edits.append(Edit(Span(at, to), "".join(b[b_start:b_end])))
    return edits[::-1]


def first_difference(old: str, new: str) -> int | None:
    """The first line, from 0, in which two texts differ whatever their line ends; None if in none."""
    shorter, longer = sorted((with_line_end(old, "\n"), with_line_end(new, "\n")), key=len)
    if shorter == longer:
        return None
    same, most = 0, len(shorter)
    while same < most:  # halves are compared, since that is so much quicker than lines or characters
        middle = (same + most + 1) // 2
        if shorter[same:middle] == longer[same:middle]:
            same = middle
        else:
            most = middle - 1
    begun = same == len(shorter) and longer[same] == "\n"
    return shorter.count("\n", 0, same) + begun


def _differing(a: list[str], b: list[str]) -> list[tuple[int, int, int, int]]:
    """The ranges of lines that differ, (a's start, a's end, b's start, b's end), in order."""
    found: list[tuple[int, int, int, int]] = []
    todo = [(0, len(a), 0, len(b), 0)]
    while todo:
        a_start, a_end, b_start, b_end, depth = todo.pop()
        while a_start < a_end and b_start < b_end and a[a_start] == b[b_start]:
            a_start, b_start = a_start + 1, b_start + 1
        while a_start < a_end and b_start < b_end and a[a_end - 1] == b[b_end - 1]:
            a_end, b_end = a_end - 1, b_end - 1
        if a_start == a_end and b_start == b_end:
            continue
        anchors = (
            _anchors(a[a_start:a_end], b[b_start:b_end])
            if a_start < a_end and b_start < b_end and depth < _MAX_DEPTH
            else []
        )
        if not anchors:
            found.append((a_start, a_end, b_start, b_end))
            continue
        pairs = [(-1, -1), *anchors, (a_end - a_start, b_end - b_start)]
        for (i, j), (next_i, next_j) in pairwise(pairs):
            todo.append((a_start + i + 1, a_start + next_i, b_start + j + 1, b_start + next_j, depth + 1))
    return sorted(found)


def _anchors(a: list[str], b: list[str]) -> list[tuple[int, int]]:
    """The longest rising run of pairs of equal lines that occur once in each."""
    where_a, where_b = _unique(a), _unique(b)
    pairs = [(i, where_b[line]) for line, i in where_a.items() if line in where_b]
    tops: list[int] = []
    piles: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        pile = bisect_right(tops, j)
        before.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(j)
            piles.append(index)
        else:
            tops[pile], piles[pile] = j, index
    run: list[tuple[int, int]] = []
    index = piles[-1] if piles else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]


def _unique(lines: list[str]) -> dict[str, int]:
    where: dict[str, int] = {}
    for index, line in enumerate(lines):
        where[line] = -1 if line in where else index
    return {line: index for line, index in where.items() if index >= 0}


def _units(text: str, encoding: Encoding) -> int:
    if encoding == "utf-32" or text.isascii():
        return len(text)
    return sum(_width(character, encoding) for character in text)


def _characters(line: str, units: int, encoding: Encoding) -> int:
    if encoding == "utf-32" or line.isascii():
        return max(0, min(units, len(line)))
    for index, character in enumerate(line):
        units -= _width(character, encoding)
        if units < 0:
            return index
    return len(line)


def _width(character: str, encoding: Encoding) -> int:
    code = ord(character)
    if encoding == "utf-16":
        return 2 if code > 0xFFFF else 1
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
