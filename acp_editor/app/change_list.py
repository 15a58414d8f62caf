"""The list of changes as editors get it: as much as a person can look through, and how much there is."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Final

from acp_editor.lsp import messages, uris
from acp_editor.review.changes import FileChange, Hunk

MOST_FILES: Final = 1000
MOST_HUNKS: Final = 3000
"""Of all files together; the files beyond are listed without their hunks."""


class ChangeList:
    """`uri` gives the URI of a path. What has not changed is not made anew: there may be thousands."""

    def __init__(self, uri: Callable[[str], str]) -> None:
        self._uri = uri
        self._changes: dict[str, FileChange] = {}
        self._hunks = 0
        self._rendered: dict[str, tuple[FileChange, messages.Change]] = {}

    def __len__(self) -> int:
        return len(self._changes)

    def get(self, path: str) -> FileChange | None:
        return self._changes.get(path)

    @property
    def is_cut(self) -> bool:
        """Whether there is more than is sent."""
        return len(self._changes) > MOST_FILES or self._hunks > MOST_HUNKS

    def take(self, changes: Iterable[FileChange]) -> list[str]:
        """The list is this one now; the paths whose changes are others than before."""
        before, self._changes = self._changes, {change.path: change for change in changes}
        self._hunks = sum(max(1, len(change.hunks)) for change in self._changes.values())
        changed = [path for path, change in self._changes.items() if before.get(path) is not change]
        return changed + [path for path in before if path not in self._changes]

    def render(self, first: Iterable[str]) -> messages.ChangesParams:
        """Files by path; where there are too many, those in `first` are among them."""
        opened = dict.fromkeys(path for path in first if path in self._changes)
        others = (path for path in self._changes if path not in opened)
        chosen = [*opened, *itertools.islice(others, max(0, MOST_FILES - len(opened)))]
        room = MOST_HUNKS
        made: dict[str, messages.Change] = {}
        known, self._rendered = self._rendered, {}
        for path in chosen:
            change = self._changes[path]
            before = known.get(path)
            if before is not None and before[0] is change and len(change.hunks) <= room:
                made[path] = before[1]
                self._rendered[path] = before
            else:
                made[path] = self._render(change, change.hunks[:room])
                if len(change.hunks) <= room:
                    self._rendered[path] = (change, made[path])
            room = max(0, room - len(change.hunks))
        shown: messages.ChangesParams = {"changes": [made[path] for path in sorted(made)]}
        if self.is_cut:
            shown["changesTotal"] = {"files": len(self._changes), "hunks": self._hunks}
        return shown

    def _render(self, change: FileChange, hunks: Iterable[Hunk]) -> messages.Change:
        return {
            "uri": self._uri(change.path),
            "operation": change.operation,
            "oldUri": uris.from_path(change.old_path) if change.old_path else None,
            "hunks": [rendered(hunk) for hunk in hunks],
        }


def rendered(hunk: Hunk) -> messages.Hunk:
    return {
        "hunkId": hunk.hunk_id,
        "original": {"start": hunk.original[0], "end": hunk.original[1]},
        "modified": {"start": hunk.modified[0], "end": hunk.modified[1]},
        "toolCallId": hunk.tool_call_id,
    }
