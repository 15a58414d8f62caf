"""What the editor's own undo can bring back: states of a document from which changes of the agent's went."""

from __future__ import annotations

from dataclasses import dataclass

from acp_editor.review.tracked import State, Tracked
from acp_editor.review.versions import Version

_MOST = 50
_ROOM = 16 * 1024 * 1024
"""Bytes of a document's earlier texts, or just the last one where that has more."""


@dataclass(frozen=True, slots=True)
class Step:
    """From `before` a document became `after`; `ours`, where the person had asked us for an undo."""

    before: State
    after: Version
    ours: bool


class Steps:
    """The last ones of each open document."""

    def __init__(self) -> None:
        self._by_path: dict[str, list[Step]] = {}

    def note(self, path: str, step: Step) -> None:
        steps = [*self._by_path.get(path, ()), step][-_MOST:]
        while len(steps) > 1 and sum(one.before.current.size for one in steps) > _ROOM:
            del steps[0]
        self._by_path[path] = steps

    def back(self, tracked: Tracked, now: Version) -> Step | None:
        """The step that a document that has become `now` goes back."""
        for step in reversed(self._by_path.get(tracked.path, ())):
            if step.after.same(tracked.current) and step.before.current.same(now):
                return step
        return None

    def is_first(self, path: str, step: Step) -> bool:
        """Whether no undo of ours from before that one is left."""
        ours = [one for one in self._by_path.get(path, ()) if one.ours]
        return bool(ours) and ours[0] is step

    def forget(self, path: str) -> None:
        self._by_path.pop(path, None)
