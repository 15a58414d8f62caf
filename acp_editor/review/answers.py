"""What keep, undo and restore do to the books, once the file or its document has been put right."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from dataclasses import dataclass

from acp_editor.review import files
from acp_editor.review.editor import ReviewError
from acp_editor.review.engine import Engine
from acp_editor.review.tracked import State, Tracked
from acp_editor.review.versions import ABSENT, Lost, Version


def keep(engine: Engine, tracked: Tracked, hunk_ids: Collection[str] | None) -> None:
    """The base gets these hunks, or everything, which needs nothing that may be lost. Raises Lost."""
    if hunk_ids is not None and not tracked.whole(hunk_ids):
        engine.memory.bring(tracked)
    old_path = tracked.old_path
    tracked.keep(hunk_ids, engine.differ, engine.new_id)
    if old_path is not None and tracked.old_path is None:
        engine.moved_from.pop(old_path, None)
        engine.take([old_path])
    engine.settle(tracked)


def target(engine: Engine, tracked: Tracked, hunk_ids: Collection[str] | None) -> Version:
    """What the file is to become by an undo, in memory. Raises Lost."""
    if hunk_ids is not None and not tracked.whole(hunk_ids):
        engine.memory.bring(tracked)
    made = tracked.undone(hunk_ids).loaded()
    with contextlib.suppress(Lost):  # then it is not on the disk either, and will not be overwritten
        engine.memory.secure(tracked.path, tracked.current)
    return made


def undo(engine: Engine, tracked: Tracked, hunk_ids: Collection[str] | None) -> None:
    """Takes note that the file, or its document, has been put back."""
    tracked.undo(hunk_ids, engine.differ, engine.new_id)
    reread(engine, tracked)


def moved_back(engine: Engine, tracked: Tracked) -> None:
    """Takes note that a moved file is where it was."""
    engine.moved_from.pop(tracked.old_path or "", None)
    tracked.base = tracked.current = tracked.disk = ABSENT
    tracked.hunks, tracked.old_path = (), None
    reread(engine, tracked)


@dataclass(frozen=True, slots=True)
class Undone:
    """One file's undo: what it was, and what it has become."""

    path: str
    before: State
    base: Version
    after: Version
    count: int

    @property
    def moved_back(self) -> bool:
        return self.before.old_path is not None and self.after.absent

    @property
    def at_old_path(self) -> Version:
        """What the undo left where the file was moved from."""
        return self.before.base if self.moved_back else ABSENT


def as_undone(engine: Engine, undone: Undone) -> Tracked | None:
    """The file, if it still is as an undo left it, and so is what it was moved from."""
    old_path = undone.before.old_path
    if old_path is not None and _now(engine, old_path) != undone.at_old_path:
        return None
    tracked = engine.tracked.get(undone.path)
    if tracked is not None:
        return tracked if tracked.current == undone.after else None
    after = undone.after
    return Tracked(undone.path, undone.base, after, after) if files.read(undone.path) == after else None


def _now(engine: Engine, path: str) -> Version:
    tracked = engine.tracked.get(path)
    return files.read(path) if tracked is None else tracked.current


def as_before(engine: Engine, undone: Undone) -> Tracked:
    """The file as it is once the undo has been taken back. Raises Lost where it could not be undone again."""
    before = undone.before
    engine.memory.secure(undone.path, before.current)
    engine.memory.secure(before.old_path or undone.path, before.base)
    made = Tracked(undone.path, before.base, before.current, before.current)
    made.put_back(before)
    return made


def redo(engine: Engine, tracked: Tracked, undone: Undone) -> None:
    """Takes note that the file is again as it was before an undo."""
    before = undone.before
    if before.old_path is not None:
        files.put(before.old_path, ABSENT, undone.at_old_path)
    tracked.put_back(before)
    engine.tracked[tracked.path] = tracked
    if before.old_path is not None:
        engine.tracked.pop(before.old_path, None)
        engine.moved_from[before.old_path] = tracked.path
    reread(engine, tracked)


def reread(engine: Engine, tracked: Tracked) -> None:
    """Takes the disk as it is after a write of ours."""
    found = files.read(tracked.path)
    tracked.disk = tracked.current if found == tracked.current else found
    tracked.signed = None
    tracked.before = tracked.reloaded = None
    engine.settle(tracked)


def put(engine: Engine, path: str, version: Version, expected: Version | None = None) -> None:
    """Gives a path a version; folders that have to be made for it get the permissions that they had."""
    owner = engine.workspace.find(path)
    files.put(path, version, expected, owner[0].folders_of(owner[1]) if owner else None)


def chosen(
    engine: Engine, path: str | None, hunk_id: str | None
) -> list[tuple[Tracked, Collection[str] | None]]:
    """The files that an answer is about, with the hunks meant, or None for all. Raises ReviewError."""
    pending = {name: tracked for name, tracked in engine.tracked.items() if tracked.pending}
    if hunk_id is not None:
        for tracked in pending.values():
            if any(hunk.hunk_id == hunk_id for hunk in tracked.hunks):
                return [(tracked, [hunk_id])]
        raise ReviewError("That change is not there any more as it was shown; the list is up to date now.")
    if path is None:
        return [(tracked, None) for tracked in pending.values()]
    tracked = pending.get(engine.workspace.canonical(path))
    if tracked is None:
        raise ReviewError(f"There are no unreviewed changes in {os.path.basename(path)}.")
    return [(tracked, None)]
