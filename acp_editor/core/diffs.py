"""What a tool call would do to files, and what they would become.

Read from the call's content in either version's shape, else from the tool's own input.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from .budget import APPLYING, Budget, OutOfBudget
from .hunks import apply_hunks, holds_hunks
from .model import Json, ToolCall
from .patches import FilePatch, Hunk, Operation, parse_patch
from .paths import absolute
from .raw_input import patch_in, path_in, replacements_in, whole_text_in
from .snippets import Match, find_snippet
from .text import line_end, with_line_end

_BOM = "\ufeff"
_READING = frozenset({"read", "search", "fetch", "think"})
_OPERATIONS: dict[str, Operation] = {"add": "add", "copy": "add", "delete": "delete", "move": "move"}
MAX_PROPOSALS: Final = 1_000
"""Changes of one call that are looked at."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One change to one file, paths absolute and normalised.

    A text of None is one that the agent left out. `old_text` may be the whole file or a piece of it,
    which only the file tells; with "add" the file may exist all the same, and is overwritten then.
    `line` is the agent's hint where the piece stands, from 0. `hunks` are a patch's. `inferred` says
    that it comes from the tool's input and not from a diff. `old_path` is the other file that the
    content comes from (a move; with "add", a copy). `unread` is what is too long to be read.
    """

    path: str
    operation: Operation
    old_path: str | None = None
    old_text: str | None = None
    new_text: str | None = None
    hunks: tuple[Hunk, ...] = ()
    everywhere: bool = False
    line: int | None = None
    inferred: bool = False
    unread: bool = False

    @property
    def source(self) -> str:
        """The path of the file whose text `apply` starts from."""
        return self.old_path or self.path


def proposals(call: ToolCall, cwd: str) -> tuple[Proposal, ...]:
    """Every change that the call shows, in its order; a diff that cannot be read is left out."""
    found = [proposal for item in call.content for proposal in _from_content(item, call.kind, cwd)]
    if not found and call.kind not in _READING:
        found = list(_from_input(call, cwd))
    return _with_hints(found[:MAX_PROPOSALS], call, cwd)


def apply(
    changes: Proposal | Iterable[Proposal], text: str | None, budget: Budget | None = None
) -> str | None:
    """What a file with this text (None: no such file) becomes; None if a change has no place in it.

    A deleted file becomes "". The file's line ends, byte order mark and missing last newline stay.
    A change that is in the text already changes nothing. OutOfBudget where that takes too long.
    """
    result = text
    budget = budget or Budget(APPLYING)
    for change in (changes,) if isinstance(changes, Proposal) else changes:
        result = _applied(change, result, budget)
        if result is None:
            return None
    return result


def place_of(change: Proposal, text: str, budget: Budget | None = None) -> Match | None:
    """Where the text that a change replaces stands, None if it does not or the change names none."""
    if not change.old_text:
        return None
    return find_snippet(text, change.old_text, change.line, budget)


def pieces(changes: Iterable[Proposal]) -> tuple[str, str]:
    """What the changes quote of a file, and what they put there, without a look at the file."""
    old: list[str] = []
    new: list[str] = []
    for change in changes:
        for hunk in change.hunks:
            old += hunk.old
            new += hunk.new
        if change.unread:
            new.append("(the patch is too long to be shown)")
        elif not change.hunks:
            old.append(change.old_text or "")
            new.append(change.new_text or "")
    return _joined(old), _joined(new)


def _joined(texts: list[str]) -> str:
    return "".join(text if text.endswith("\n") else text + "\n" for text in texts if text)


def _applied(change: Proposal, text: str | None, budget: Budget) -> str | None:
    budget.spend(1)
    if change.unread:
        raise OutOfBudget
    if change.operation == "delete":
        return ""
    if change.hunks:
        if text is None or (change.operation == "add" and change.old_path is None):
            return apply_hunks(change.hunks, "", budget)
        result = apply_hunks(change.hunks, text, budget)
        return text if result is None and holds_hunks(change.hunks, text, budget) else result
    if change.new_text is None:
        # A move or copy without a patch takes the text along; anything else said nothing.
        return text if change.old_path is not None else None
    if not change.old_text:
        return _whole(change.new_text, "", text) if text else change.new_text
    if text is None:
        return None
    budget.pass_over(text, 3)
    if _as_long(change.old_text, text) and _bare(change.old_text) == _bare(text):
        return _whole(change.new_text, change.old_text, text)
    if change.everywhere:
        return _everywhere(change.old_text, change.new_text, text, budget)
    found = place_of(change, text, budget)
    if found is None:
        there = find_snippet(text, change.new_text, change.line, budget) is not None
        return text if there else None
    old = text[found.start : found.end]
    new = _ends_like(change.new_text, change.old_text, text)
    if change.old_text.endswith("\n") and not old.endswith(("\n", "\r")) and found.end == len(text):
        new = new.removesuffix("\n").removesuffix("\r")
    return text[: found.start] + new + text[found.end :]


def _as_long(one: str, other: str) -> bool:
    """Whether two texts may be the same but for line ends, which take two characters at the most."""
    return max(len(one), len(other)) <= 2 * min(len(one), len(other)) + 4


def _everywhere(old: str, new: str, text: str, budget: Budget) -> str | None:
    if old not in text:
        old = with_line_end(old, line_end(text))
    if count := text.count(old):
        new = _ends_like(new, old, text)
        budget.spend(count + count * len(new) // 64)
        return text.replace(old, new)
    return text if new and new in text else None


def _whole(new: str, old: str, text: str) -> str:
    """A whole new text with the line ends, byte order mark and last newline of the one it replaces.

    Where the agent's own old text lacks the last newline that the file has, its new one is taken to
    lack it too, and the other way round.
    """
    new = _ends_like(new, old, text)
    if text.startswith(_BOM) and not new.startswith(_BOM):
        new = _BOM + new
    if not old or not new:
        return new
    told, has = old.endswith(("\n", "\r")), text.endswith(("\n", "\r"))
    if has and not told and not new.endswith(("\n", "\r")):
        return new + line_end(text)
    if told and not has:
        return new.removesuffix("\n").removesuffix("\r")
    return new


def _ends_like(new: str, old: str, text: str) -> str:
    """The new text with the file's line ends, unless the agent's old text shows that it knows them."""
    knows = "\n" in old and ("\r\n" in old) == ("\r\n" in text)
    if knows or ("\n" not in text and "\r" not in text):
        return new
    end = line_end(text)
    return with_line_end(new, end) if end == "\r" else new.replace("\r\n", "\n").replace("\n", end)


def _bare(text: str) -> str:
    """The text without what agents commonly lose: byte order mark, line ends, the last newline."""
    return with_line_end(text.removeprefix(_BOM), "\n").removesuffix("\n")


def _from_content(item: Json, kind: str, cwd: str) -> Iterator[Proposal]:
    match item:
        case {"type": "diff", "changes": list()}:
            fields = cast("Mapping[str, Json]", item)
            yield from _version_2(fields["changes"], fields.get("patch"), cwd)
        case {"type": "diff", "path": str(named), "newText": str(new)}:
            given = cast("Mapping[str, Json]", item).get("oldText")
            old = given if isinstance(given, str) and given else None
            # Some agents show what they read as a diff from nothing.
            if (old is not None or kind not in _READING) and (path := absolute(named, cwd)):
                yield Proposal(path, "modify" if old else "add", old_text=old, new_text=new)
        case _:
            return


def _version_2(changes: list[Json], patch: Json, cwd: str) -> Iterator[Proposal]:
    text = cast("Mapping[str, Json]", patch).get("text") if isinstance(patch, Mapping) else None
    parts = list(_from_patch(text, cwd)) if isinstance(text, str) else []
    left = dict(enumerate(parts))
    of_path: dict[str, deque[int]] = {}
    for number, part in left.items():
        of_path.setdefault(part.path, deque()).append(number)
    told = [change for item in changes if (change := _change(item, cwd))]
    for change in told:
        # `changes` is authoritative for paths; where one stands alone, so does its part of the patch.
        numbers = of_path.get(change.path)
        if not numbers and len(told) == 1 == len(left):
            numbers = deque(left)
        if numbers:
            part = left.pop(numbers.popleft())
            change = replace(change, hunks=part.hunks, unread=part.unread)
        yield change
    yield from left.values()


def _change(item: Json, cwd: str) -> Proposal | None:
    match item:
        case {"path": str(named)}:
            fields = cast("Mapping[str, Json]", item)
        case _:
            return None
    path = absolute(named, cwd)
    if path is None:
        return None
    old = fields.get("oldPath")
    old_path = absolute(old, cwd) if isinstance(old, str) else None
    operation = fields.get("operation")
    known = _OPERATIONS.get(operation, "modify") if isinstance(operation, str) else "modify"
    return Proposal(path, known, old_path if old_path != path else None)


def _from_patch(text: str, cwd: str) -> Iterator[Proposal]:
    for part in parse_patch(text):
        if proposal := _part(part, cwd):
            yield proposal


def _part(part: FilePatch, cwd: str) -> Proposal | None:
    path = absolute(part.path, cwd)
    if path is None:
        return None
    old_path = absolute(part.old_path, cwd) if part.old_path else None
    return Proposal(path, part.operation, old_path, hunks=part.hunks, unread=part.unread)


def _from_input(call: ToolCall, cwd: str) -> Iterator[Proposal]:
    raw = call.raw_input
    if patch := patch_in(raw):
        yield from (replace(part, inferred=True) for part in _from_patch(patch, cwd))
        return
    named = path_in(raw) or (call.locations[0].path if len(call.locations) == 1 else None)
    path = absolute(named, cwd) if named else None
    if path is None:
        return
    pieces = replacements_in(raw)
    for piece in pieces:
        if piece.new is not None:
            yield Proposal(
                path,
                "modify",
                old_text=piece.old,
                new_text=piece.new,
                everywhere=piece.everywhere,
                inferred=True,
            )
    whole = whole_text_in(raw)
    if not pieces and whole is not None and call.kind == "edit":
        yield Proposal(path, "add", new_text=whole, inferred=True)


def _with_hints(found: list[Proposal], call: ToolCall, cwd: str) -> tuple[Proposal, ...]:
    """Gives each piece the line of its location, where a file has as many of one as of the other."""
    lines: dict[str, list[int]] = {}
    for location in call.locations:
        path = absolute(location.path, cwd)
        if path and location.line:
            lines.setdefault(path, []).append(max(0, location.line - 1))
    pieces = Counter(proposal.path for proposal in found)
    hints = {path: iter(lines.get(path, ())) for path, n in pieces.items() if len(lines.get(path, ())) == n}
    return tuple(
        replace(proposal, line=next(hints[proposal.path])) if proposal.path in hints else proposal
        for proposal in found
    )
