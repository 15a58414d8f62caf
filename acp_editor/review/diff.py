"""Differences by libgit2: lines, no context, no gluing together of neighbours."""

from __future__ import annotations

import pygit2

from acp_editor.core.ledger import Change, Span


def changes(old: bytes, new: bytes) -> list[Change]:
    """The changes from one text to the other. Holds the interpreter's lock while it works."""
    if old == new:
        return []
    patch = pygit2.Patch.create_from(
        old, new, flag=pygit2.enums.DiffOption.FORCE_TEXT, context_lines=0, interhunk_lines=0
    )
    return [
        Change(
            _span(hunk.old_start, hunk.old_lines),
            _span(hunk.new_start, hunk.new_lines),
        )
        for hunk in patch.hunks
    ]


def _span(start: int, count: int) -> Span:
    """From git's counting: from 1, and an empty range is named by the line before it."""
    first = start - 1 if count else start
    return Span(first, first + count)


def whole(old: bytes, new: bytes) -> list[Change]:
    """One change of everything, where looking for more would take too long."""
    if old == new:
        return []
    return [Change(Span(0, _count(old)), Span(0, _count(new)))]


def _count(text: bytes) -> int:
    return text.count(b"\n") + (bool(text) and not text.endswith(b"\n"))
