"""Where a tool call is: the places that it names, else those that its diffs and its input give away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

from .budget import PLACING, Budget, OutOfBudget
from .diffs import Proposal, proposals
from .hunks import Index, hunk_offset
from .model import ToolCall
from .patches import Hunk
from .paths import absolute, inside
from .raw_input import input_of, line_in, path_in, replacements_in
from .snippets import find_snippet
from .text import first_difference, line_at, line_count, with_line_end

__all__ = ["Place", "inside", "places"]

_MAX_PLACES = 200
_MAX_SEARCHED = 2_000_000
"""Characters of all texts in which what one call quotes is looked for; a search takes as long as its text."""
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Place:
    """A file, and a line in it from 0 where one is known.

    `path` is absolute and normalised, `line` within the file. `inferred` says that the agent did not
    name the line (or, with none, the file). `exists` is false where there is no text to show: nothing
    there, or a folder.
    """

    path: str
    line: int | None = None
    inferred: bool = False
    exists: bool = True


def places(call: ToolCall, cwd: str, read: Callable[[str], str | None]) -> tuple[Place, ...]:
    """Every place of a call, those that it names first.

    `read` gives a file's text as it is now, None for what is no file. A location without a line gets
    the first one inferred for its file, and further ones of that file follow at the end.
    """
    texts: dict[str, str | None] = {}
    counts: dict[str, int] = {}
    room = _MAX_SEARCHED

    def cached(path: str) -> str | None:
        if path not in texts:
            texts[path] = read(path)
        return texts[path]

    def searched(path: str) -> str | None:
        """A text to be looked through; one for which there is no room is empty."""
        nonlocal room
        if not (text := cached(path)) or len(text) > room:
            return text and ""
        room -= len(text)
        return text

    def within(place: Place) -> Place:
        """The place with its line in the text as it is."""
        if (text := cached(place.path)) is None:
            return replace(place, exists=False)
        if place.line is None:
            return place
        if place.path not in counts:
            # The empty line after the last line end is no place that anybody means.
            count = line_count(text)
            counts[place.path] = count - (count > 1 and text[-1] in "\r\n")
        return replace(place, line=min(place.line, counts[place.path] - 1))

    named: list[Place] = []
    for location in call.locations[:_MAX_PLACES]:
        if path := absolute(location.path, cwd):
            # From 1; 0 is what some agents say for no line.
            line = None if location.line is None or location.line == 0 else max(0, location.line - 1)
            named.append(Place(path, line))
    inferred: list[Place] = []
    if not named or any(place.line is None for place in named):
        inferred = list(dict.fromkeys(_inferred(call, cwd, searched, [place.path for place in named])))
    result: list[Place] = []
    for place in named:
        if place.line is None:
            found = next((guess for guess in inferred if guess.path == place.path), None)
            if found is not None:
                inferred.remove(found)
                place = found if found.line is not None else place
        result.append(place)
    with_line = {place.path for place in named if place.line is not None}
    result += [guess for guess in inferred if guess.path not in with_line]
    return tuple(dict.fromkeys(within(place) for place in result[:_MAX_PLACES]))


def _inferred(
    call: ToolCall, cwd: str, read: Callable[[str], str | None], named: list[str]
) -> Iterator[Place]:
    found = False
    budget = Budget(PLACING)
    for proposal in proposals(call, cwd)[:_MAX_PLACES]:
        found = True
        yield from _of_proposal(proposal, read, budget, written=call.status == "completed")
    if found:
        return
    raw = input_of(call)
    told = path_in(raw)
    path = absolute(told, cwd) if told else None
    if named:
        # Where the call names its files, its input only adds the line.
        if path is not None and path not in named:
            return
        path = path or (named[0] if len(set(named)) == 1 else None)
    if path is None:
        return
    pieces = replacements_in(raw)
    for piece in pieces:
        text = read(path)
        match = find_snippet(text, piece.old) if text is not None else None
        yield Place(path, line_at(text, match.start) if text is not None and match else None, True)
    if not pieces:
        line = line_in(raw)
        yield Place(path, None if line is None else max(0, line - 1), True)


def _of_proposal(
    change: Proposal, read: Callable[[str], str | None], budget: Budget, written: bool
) -> Iterator[Place]:
    """Where a change takes effect in the file as it is, be it written already or not."""
    path = change.path
    text = read(path)
    if text is None and change.old_path is not None:
        text = read(change.old_path)
        path = path if text is None else change.old_path
    if change.hunks:
        hunks = change.hunks[:_MAX_PLACES]
        offsets = _offsets(hunks, text, budget, written) if text is not None else repeat(None)
        for hunk, offset in zip(hunks, offsets, strict=False):
            if text is not None and offset is not None:
                yield Place(path, line_at(text, offset), True)
            else:
                start = hunk.new_start if written or hunk.start is None else hunk.start
                yield Place(path, None if start is None else start + hunk.lead, True)
    elif text is None or change.new_text is None:
        yield Place(path, None, True)
    else:
        yield Place(path, _line_of_texts(text, change, change.new_text, written), True)


def _offsets(hunks: Sequence[Hunk], text: str, budget: Budget, written: bool) -> Iterator[int | None]:
    """Where each hunk stands; None also for those that there is no time to look for."""
    try:
        index = Index(text, budget)
        for hunk in hunks:
            yield hunk_offset(hunk, index, written)
    except OutOfBudget:
        yield from repeat(None)


def _line_of_texts(text: str, change: Proposal, new: str, written: bool) -> int | None:
    """The line in the text at which the old text stands, or the new one, and they begin to differ."""
    old = change.old_text or ""
    differs = first_difference(old, new) or 0
    bare = _bare(text)
    if not old:
        # The whole file is to be written: what is there now tells where it will change.
        return first_difference(bare, _bare(new)) or 0
    if _bare(old) == bare:
        return differs
    if _bare(new) == bare:
        return differs
    for piece in (new, old) if written else (old, new):
        if match := find_snippet(text, piece, change.line):
            return line_at(text, match.start) + differs
    return change.line


def _bare(text: str) -> str:
    return with_line_end(text.removeprefix(_BOM), "\n").removesuffix("\n")
