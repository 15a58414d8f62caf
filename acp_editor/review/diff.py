"""Differences by libgit2: lines, no context, no gluing together of neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pygit2

from acp_editor.core.ledger import Change, Span

_LONG = 256 * 1024
"""Bytes of both sides from which on it is worth while to leave out first what is the same."""
_SURE = 4
"""So many lines that are the same bring both sides together again."""
_REACH = 24
_STEPS = sorted(
    ((old, new) for old in range(_REACH) for new in range(_REACH) if old or new),
    key=lambda step: (sum(step), abs(step[0] - step[1])),
)
"""How many lines to go on, on each side, until they are together again: the fewest first."""
MOST = 5000
"""Changes of one file; of more, neighbours are one, since nobody looks at so many and each of them costs."""


def changes(old: bytes, new: bytes) -> list[Change]:
    """The changes from one text to the other. Holds the interpreter's lock while it works."""
    if old == new:
        return []
    if len(old) + len(new) >= _LONG and _plain(old) and _plain(new):
        return glued(list(_between_runs(old.splitlines(True), new.splitlines(True))))
    return glued(_compared(old, new))


def glued(found: list[Change], most: int = MOST) -> list[Change]:
    """At most so many: those with the fewest lines between them become one, with these lines in it.

    Two at a time and only as many as have to: changes that are evenly far apart do not all become one.
    """
    gap = 1
    while len(found) > most:
        wider: list[Change] = []
        too_many, alone = len(found) - most, False
        for change in found:
            if too_many and alone and change.old.start - wider[-1].old.end <= gap:
                first = wider.pop()
                change = Change(Span(first.old.start, change.old.end), Span(first.new.start, change.new.end))
                too_many, alone = too_many - 1, False
            else:
                alone = True
            wider.append(change)
        if len(wider) == len(found):
            gap *= 2
        found = wider
    return found


def _compared(old: bytes, new: bytes) -> list[Change]:
    patch = pygit2.Patch.create_from(
        old, new, flag=pygit2.enums.DiffOption.FORCE_TEXT, context_lines=0, interhunk_lines=0
    )
    return [
        Change(_span(hunk.old_start, hunk.old_lines), _span(hunk.new_start, hunk.new_lines))
        for hunk in patch.hunks
    ]


def _plain(text: bytes) -> bool:
    """Whether its lines are those that Python splits."""
    return b"\r" not in text or text.count(b"\r") == text.count(b"\r\n")


def _between_runs(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[Change]:
    """Goes along both sides as long as they are the same; only what is between is compared.

    In a large file with few changes this is most of the time. Where the two do not come together again
    soon, all the rest is compared.
    """
    at = to = 0
    while True:
        run = _run(old, at, new, to)
        at, to = at + run, to + run
        if at >= len(old) or to >= len(new):
            if at < len(old) or to < len(new):
                yield Change(Span(at, len(old)), Span(to, len(new)))
            return
        gone, come = _step(old, at, new, to) or (len(old) - at, len(new) - to)
        if min(gone, come) > 1:
            between = b"".join(old[at : at + gone]), b"".join(new[to : to + come])
            yield from (change.moved(at, to) for change in _compared(*between))
        else:
            yield Change(Span(at, at + gone), Span(to, to + come))
        at, to = at + gone, to + come


def _run(old: Sequence[bytes], at: int, new: Sequence[bytes], to: int) -> int:
    """For how many lines both are the same from there on."""
    most = min(len(old) - at, len(new) - to)
    low, width = 0, 64
    while low < most and old[at + low : at + low + width] == new[to + low : to + low + width]:
        low += width
        width *= 2
    low, high = min(low, most), min(low + width, most)
    while low < high:
        middle = (low + high + 1) // 2
        if old[at + low : at + middle] == new[to + low : to + middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _step(old: Sequence[bytes], at: int, new: Sequence[bytes], to: int) -> tuple[int, int] | None:
    for gone, come in _STEPS:
        one, two = at + gone, to + come
        if one + _SURE > len(old) or two + _SURE > len(new) or old[one] != new[two]:
            continue
        if old[one : one + _SURE] == new[two : two + _SURE]:
            return gone, come
    return None


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
