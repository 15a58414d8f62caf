"""Where a patch's hunks go in a text, and the text with them applied.

A hunk goes where its header says, or to the nearest place at which its old lines stand, with up to two
lines of context at its edges ignored. What the file says of line ends counts, not what the patch says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from .patches import Hunk, Mark

_FUZZ = 2
_MAX_TRIES = 2_000


def apply_hunks(hunks: Sequence[Hunk], text: str) -> str | None:
    """The text with the hunks applied, in order; None if one of them has no place in it."""
    lines = _split(text)
    index = _Index(lines)
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
        new = _replacement(part, lines, at, end)
        if new and pieces:
            pieces[-1] = _ended(pieces[-1], pieces[-1].endswith("\r\n"))
        pieces += new
        done = end
    return "".join([*pieces, *lines[done:]])


def holds_hunks(hunks: Sequence[Hunk], text: str) -> bool:
    """Whether the text already is what the hunks would make, as far as they leave lines behind to tell."""
    return (
        all(hunk.new for hunk in hunks) and apply_hunks([_reversed(hunk) for hunk in hunks], text) is not None
    )


def hunk_offset(hunk: Hunk, text: str, written: bool) -> int | None:
    """The index into the text at which the first line starts that the hunk changes.

    Its new lines are looked for before its old ones if it is said to be `written`, else after them.
    None where neither stand in the text, or where there are none.
    """
    lines = _split(text)
    index = _Index(lines)
    after = replace(
        hunk,
        lines=tuple((" ", line) for line in hunk.new),
        start=hunk.start if hunk.new_start is None else hunk.new_start,
        old_bare=hunk.new_bare,
    )
    for wanted in (after, hunk) if written else (hunk, after):
        if wanted.old and (place := index.find(wanted, 0, 0)):
            return sum(map(len, lines[: place.at + max(0, hunk.lead - place.cut)]))
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


class _Index:
    """A file's lines without their ends, and where each stands, found out when it is first needed."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = [line.rstrip("\r\n") for line in lines]
        self.where: dict[str, list[int]] = {}

    def find(self, hunk: Hunk, least: int, drift: int) -> _Place | None:
        """Where a hunk goes, not before line `least`."""
        expected = None if hunk.start is None else hunk.start + drift
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
            for at in self._candidates(wanted, None if expected is None else expected + cut, part.old_bare):
                if at >= least and self.lines[at : at + len(wanted)] == wanted:
                    return _Place(at, part, cut)
        return None

    def _candidates(self, wanted: list[str], near: int | None, at_end: bool) -> Iterator[int]:
        if near is not None:
            yield near
        if at_end:
            yield len(self.lines) - len(wanted)
        if not self.where:
            for number, line in enumerate(self.lines):
                self.where.setdefault(line, []).append(number)
        rarest = min(range(len(wanted)), key=lambda n: len(self.where.get(wanted[n], ())))
        starts = [number - rarest for number in self.where.get(wanted[rarest], ())]
        if near is not None:
            starts.sort(key=lambda start: abs(start - near))
        yield from starts[:_MAX_TRIES]


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


def _replacement(hunk: Hunk, lines: Sequence[str], start: int, end: int) -> list[str]:
    """The new lines for lines[start:end]: context as it stands, what is added with the file's line end."""
    ended = [line for line in lines[start:end] if line.endswith("\n")]
    around = ended or [line for line in lines if line.endswith("\n")]
    crlf = sum(line.endswith("\r\n") for line in around) * 2 > len(around)
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
