"""Where a piece of text stands that an agent quoted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .budget import Budget
from .text import Lines, Position, line_count, with_line_end

_BOM = "\ufeff"
_MAX_MATCHES = 10_000
_MAX_COMPARED = 20_000_000
"""Characters of all matches together: those of one that overlaps itself are compared again and again."""


class Match(NamedTuple):
    """Where a snippet stands: offsets into the text, the end not included."""

    start: int
    end: int


def find_snippet(
    text: str, snippet: str, near: int | None = None, budget: Budget | None = None
) -> Match | None:
    """Where a piece of text stands that an agent quoted; OutOfBudget where that takes too long.

    Line ends may differ, and the snippet may end its last line where the text does not. Matches of
    whole lines come before others, then the one nearest to line `near`, else the first.
    """
    if not snippet:
        return None
    if budget is not None:
        budget.pass_over(text)
        budget.spend(2 * text.count("\n") if near is not None else 0)
    hint = None if near is None else Lines(text).offset(Position(near, 0))
    if found := _best(text, snippet, hint):
        return found
    if end := _only_end(text):
        alike = with_line_end(snippet, end)
        if alike != snippet and (found := _best(text, alike, hint)):
            return found
    else:
        if budget is not None:
            budget.spend(8 * line_count(text))
        # Both have the same lines whatever ends they have, so lines and columns carry over.
        flat, lines = with_line_end(text, "\n"), Lines(text, "utf-32")
        flat_lines = Lines(flat, "utf-32")
        flat_hint = None if near is None else flat_lines.offset(Position(near, 0))
        if found := _best(flat, with_line_end(snippet, "\n"), flat_hint):
            return Match(*(lines.offset(flat_lines.position(offset)) for offset in found))
    bare = snippet.rstrip("\r\n")
    if bare != snippet and bare and snippet[len(bare) :] in ("\n", "\r\n", "\r"):
        last = with_line_end(text, "\n")
        if last.endswith(with_line_end(bare, "\n")):
            found = find_snippet(text, bare, line_count(text) - line_count(bare), budget)
            return found if found and found.end == len(text) else None
    return None


def _only_end(text: str) -> str | None:
    """The line end that all lines have, None where they differ."""
    if "\r" not in text:
        return "\n"
    if "\n" not in text:
        return "\r"
    return "\r\n" if text.count("\r\n") == text.count("\n") == text.count("\r") else None


def _best(text: str, snippet: str, hint: int | None) -> Match | None:
    best: tuple[bool, int] | None = None
    at = -1
    for start in _occurrences(text, snippet):
        rank = (
            not _whole_lines(text, start, start + len(snippet)),
            abs(start - hint) if hint is not None else 0,
        )
        if best is None or rank < best:
            best, at = rank, start
            if not rank[0] and hint is None:
                break
    return None if best is None else Match(at, at + len(snippet))


def _occurrences(text: str, snippet: str) -> Iterator[int]:
    start = text.find(snippet)
    for _ in range(min(_MAX_MATCHES, 1 + _MAX_COMPARED // len(snippet))):
        if start < 0:
            return
        yield start
        start = text.find(snippet, start + 1)


def _whole_lines(text: str, start: int, end: int) -> bool:
    begins = start == 0 or text[start - 1] in "\r\n" or (start == 1 and text[0] == _BOM)
    return begins and (end == len(text) or text[end - 1] in "\r\n" or text[end] in "\r\n")
