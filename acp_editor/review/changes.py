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


def changes_of(files: Mapping[str, Tracked], known: tuple[FileChange, ...]) -> tuple[FileChange, ...]:
    """All files that have unanswered changes, by path; `known` itself, where nothing has changed."""
    found = tuple(change_of(tracked) for _, tracked in sorted(files.items()) if tracked.pending)
    return known if found == known else found
