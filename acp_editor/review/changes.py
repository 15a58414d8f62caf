"""The unanswered changes as others see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from acp_editor.review.tracked import Tracked

Operation = Literal["add", "modify", "delete", "move"]
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Hunk:
    """Line ranges from 0, their end not included."""

    hunk_id: str
    original: Range
    modified: Range
    tool_call_id: str | None


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file with unanswered changes; `old_path` is where a moved one was."""

    path: str
    operation: Operation
    old_path: str | None
    hunks: tuple[Hunk, ...]


def change_of(tracked: Tracked) -> FileChange:
    """A file that has unanswered changes."""
    operation: Operation
    if tracked.old_path is not None:
        operation = "move"
    elif tracked.base.absent:
        operation = "add"
    elif tracked.current.absent:
        operation = "delete"
    else:
        operation = "modify"
    hunks = tuple(
        Hunk(
            hunk.hunk_id,
            (hunk.original.start, hunk.original.end),
            (hunk.modified.start, hunk.modified.end),
            hunk.author,
        )
        for hunk in tracked.hunks
    )
    return FileChange(tracked.path, operation, tracked.old_path, hunks)


class Listing:
    """The unanswered changes by path: made in a thread, since there may be thousands, shown on the loop."""

    def __init__(self) -> None:
        self._made: dict[str, FileChange] = {}
        self._next: tuple[FileChange, ...] = ()
        self.shown: tuple[FileChange, ...] = ()

    def make(self, files: Mapping[str, Tracked]) -> None:
        """What has not changed stays the same object."""
        made: dict[str, FileChange] = {}
        for path, tracked in sorted(files.items()):
            if tracked.pending:
                change, known = change_of(tracked), self._made.get(path)
                made[path] = known if known == change and known is not None else change
        self._made, found = made, tuple(made.values())
        if found != self._next:
            self._next = found

    def show(self) -> bool:
        """Whether what was made last is something new."""
        if self._next is self.shown:
            return False
        self.shown = self._next
        return True
