"""Where a piece of text stands that an agent quoted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .text import Lines, Position, line_count, with_line_end

_BOM = "\ufeff"
_MAX_MATCHES = 10_000


class Match(NamedTuple):
    """Where a snippet stands: offsets into the text, the end not included."""

    start: int
    end: int


def find_snippet(text: str, snippet: str, near: int | None = None) -> Match | None:
    """Where a piece of text stands that an agent quoted.

    Line ends may differ, and the snippet may end its last line where the text does not. Matches of
    whole lines come before others, then the one nearest to line `near`, else the first.
    """
    if not snippet:
        return None
    hint = None if near is None else Lines(text).offset(Position(near, 0))
    if found := _best(text, snippet, hint):
        return found
    if "\r" in text or "\r" in snippet:
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
            found = find_snippet(text, bare, near=line_count(text) - line_count(bare))
            return found if found and found.end == len(text) else None
    return None


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
    for _ in range(_MAX_MATCHES):
        if start < 0:
            return
        yield start
        start = text.find(snippet, start + 1)


def _whole_lines(text: str, start: int, end: int) -> bool:
    begins = start == 0 or text[start - 1] in "\r\n" or (start == 1 and text[0] == _BOM)
    return begins and (end == len(text) or text[end - 1] in "\r\n" or text[end] in "\r\n")
