"""Where a patch's hunks go in a text, and the text with them applied.

A hunk goes where its header says, or to the nearest place at which its old lines stand, with up to two
lines of context at its edges ignored. What the file says of line ends counts, not what the patch says.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, islice
from typing import NamedTuple

from .budget import Budget
from .patches import Hunk, Mark

_FUZZ = 2
_MAX_TRIES = 2_000
_HUNK = 64
"""Steps that a hunk takes beside its lines."""


def apply_hunks(hunks: Sequence[Hunk], text: str, budget: Budget) -> str | None:
    """The text with the hunks applied, in order; None if one of them has no place in it."""
    index = Index(text, budget)
    lines = index.lines
    pieces: list[str] = []
    done = drift = 0
    for hunk in hunks:
        place = index.find(hunk, done, drift)
        if place is None:
            return None
        at, part, cut = place
        if hunk.start is not None:
            drift = at - cut - hunk.start
        end = at + len(part.old)
        pieces += lines[done:at]
        new = _replacement(part, index, at, end)
        if new and pieces:
            pieces[-1] = _ended(pieces[-1], pieces[-1].endswith("\r\n"))
        pieces += new
        done = end
    return "".join([*pieces, *lines[done:]])


def holds_hunks(hunks: Sequence[Hunk], text: str, budget: Budget) -> bool:
    """Whether the text already is what the hunks would make, as far as they leave lines behind to tell."""
    return (
        all(hunk.new for hunk in hunks)
        and apply_hunks([_reversed(hunk) for hunk in hunks], text, budget) is not None
    )


def hunk_offset(hunk: Hunk, index: Index, written: bool) -> int | None:
    """The offset in the text at which the first line starts that the hunk changes.

    Its new lines are looked for before its old ones if it is said to be `written`, else after them.
    None where neither stand in the text, or where there are none.
    """
    after = replace(
        hunk,
        lines=tuple((" ", line) for line in hunk.new),
        start=hunk.start if hunk.new_start is None else hunk.new_start,
        old_bare=hunk.new_bare,
    )
    for wanted in (after, hunk) if written else (hunk, after):
        if wanted.old and (place := index.find(wanted, 0, 0)):
            return index.starts[min(place.at + max(0, hunk.lead - place.cut), len(index.lines))]
    return None


def _reversed(hunk: Hunk) -> Hunk:
    swapped: dict[Mark, Mark] = {" ": " ", "-": "+", "+": "-"}
    return Hunk(
        tuple((swapped[mark], text) for mark, text in hunk.lines),
        hunk.start if hunk.new_start is None else hunk.new_start,
        hunk.start,
        hunk.new_bare,
        hunk.old_bare,
    )


class _Place(NamedTuple):
    """`part` is the hunk without the context that was ignored, `cut` how many lines of it in front."""

    at: int
    part: Hunk
    cut: int


class Index:
    """A file's lines, and where each stands, found out when it is first needed."""

    def __init__(self, text: str, budget: Budget) -> None:
        budget.spend(6 * text.count("\n"))
        self.lines = _split(text)
        self._budget = budget

    @cached_property
    def bare(self) -> list[str]:
        """The lines without their ends."""
        return [line.rstrip("\r\n") for line in self.lines]

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each line starts, and at last the text's length."""
        return [0, *accumulate(map(len, self.lines))]

    @cached_property
    def where(self) -> dict[str, list[int]]:
        """The numbers of the lines that say the same."""
        where: dict[str, list[int]] = {}
        for number, line in enumerate(self.bare):
            where.setdefault(line, []).append(number)
        return where

    @cached_property
    def ended(self) -> tuple[int, int]:
        """How many lines have an end, and how many of them the one of two characters."""
        return sum(line.endswith("\n") for line in self.lines), sum(
            line.endswith("\r\n") for line in self.lines
        )

    def find(self, hunk: Hunk, least: int, drift: int) -> _Place | None:
        """Where a hunk goes, not before line `least`."""
        expected = None if hunk.start is None else hunk.start + drift
        self._budget.spend(_HUNK + 8 * len(hunk.lines))
        if not hunk.old:
            at = len(self.lines) if expected is None else expected
            return _Place(max(least, min(at, len(self.lines))), hunk, 0)
        seen: set[int] = set()
        for fuzz in range(_FUZZ + 1):
            part, cut = _without_edges(hunk, fuzz)
            wanted = [line.rstrip("\r") for line in part.old]
            if not wanted or len(part.lines) in seen:
                continue
            seen.add(len(part.lines))
            near = None if expected is None else expected + cut
            for at in self._candidates(wanted, near, part.old_bare, least):
                if at >= least and self._stands(wanted, at):
                    return _Place(at, part, cut)
        return None

    def _stands(self, wanted: list[str], at: int) -> bool:
        self._budget.spend(1)
        last = at + len(wanted) - 1
        if last >= len(self.bare) or self.bare[at] != wanted[0] or self.bare[last] != wanted[-1]:
            return False
        self._budget.spend(len(wanted))
        return self.bare[at : last + 1] == wanted

    def _candidates(self, wanted: list[str], near: int | None, at_end: bool, least: int) -> Iterator[int]:
        if near is not None:
            yield near
        if at_end:
            yield len(self.lines) - len(wanted)
        rarest = min(range(len(wanted)), key=lambda n: len(self.where.get(wanted[n], ())))
        numbers = self.where.get(wanted[rarest], [])
        first = bisect_left(numbers, least + rarest)
        nearest = _nearest(numbers, first, 0 if near is None else near + rarest)
        yield from (number - rarest for number in islice(nearest, _MAX_TRIES))


def _nearest(numbers: Sequence[int], first: int, to: int) -> Iterator[int]:
    """Numbers that rise, from the index `first` on; those nearest to a number come first, then the lower."""
    after = max(first, bisect_left(numbers, to))
    before = after - 1
    while before >= first or after < len(numbers):
        if after == len(numbers) or (before >= first and to - numbers[before] <= numbers[after] - to):
            yield numbers[before]
            before -= 1
        else:
            yield numbers[after]
            after += 1


def _without_edges(hunk: Hunk, fuzz: int) -> tuple[Hunk, int]:
    """The hunk without up to `fuzz` lines of context at either edge, and how many went in front."""
    marks = [mark for mark, _ in hunk.lines]
    front = min(fuzz, hunk.lead)
    back = min(fuzz, next((n for n, mark in enumerate(reversed(marks)) if mark != " "), len(marks)))
    if front + back >= len(marks) and fuzz:
        return replace(hunk, lines=()), 0
    start = None if hunk.start is None else hunk.start + front
    bare = {"old_bare": False, "new_bare": False} if back else {}
    return replace(hunk, lines=hunk.lines[front : len(marks) - back], start=start, **bare), front


def _replacement(hunk: Hunk, index: Index, start: int, end: int) -> list[str]:
    """The new lines for lines[start:end]: context as it stands, what is added with the file's line end."""
    lines = index.lines
    ended = [line for line in lines[start:end] if line.endswith("\n")]
    around, long = (len(ended), sum(line.endswith("\r\n") for line in ended)) if ended else index.ended
    crlf = long * 2 > around
    # A patch that knows the file's line ends means what it says; one that does not gets the file's.
    knows = not around or (bool(hunk.old) and crlf == any(line.endswith("\r") for line in hunk.old))
    kept = iter(lines[start:end])
    new: list[str] = []
    for mark, text in hunk.lines:
        if mark == "+":
            new.append(text + "\n" if knows else _ended(text, crlf))
        else:
            line = next(kept)
            if mark == " ":
                new.append(line)
    if not new:
        return new
    new[:-1] = [_ended(line, crlf) for line in new[:-1]]
    if end == len(lines):
        was_bare = start < end and not lines[end - 1].endswith("\n")
        told = hunk.old_bare or hunk.new_bare
        bare = hunk.new_bare if told else was_bare
        new[-1] = new[-1].rstrip("\r\n") if bare else _ended(new[-1], crlf)
    else:
        new[-1] = _ended(new[-1], crlf)
    return new


def _ended(line: str, crlf: bool) -> str:
    """The line with an end: its own, else the given one."""
    if line.endswith("\n"):
        return line
    return line.rstrip("\r") + ("\r\n" if crlf else "\n")


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])
