"""Putting files back: open documents through the editor, others on the disk, each wholly or not at all.

Every file is checked first to be what its hunks were computed from. Nothing needs a journal of its own: a
file that was put back has no changes left, one that was not has all of them, and the next start sees which.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Protocol, TypeVar

from acp_editor.review import answers, files, words
from acp_editor.review.answers import Undone
from acp_editor.review.documents import Documents
from acp_editor.review.editor import Buffer, Editor, ReviewError
from acp_editor.review.engine import Engine
from acp_editor.review.tracked import Tracked
from acp_editor.review.versions import ABSENT, Lost, Version

T = TypeVar("T")


class InThread(Protocol):
    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


class Undoing:
    """One undo or restore of any number of files."""

    def __init__(self, engine: Engine, documents: Documents, editor: Editor, thread: InThread) -> None:
        self._engine = engine
        self._documents = documents
        self._editor = editor
        self._thread = thread
        self.done: list[Undone] = []
        self.problems: list[str] = []

    async def undo(self, chosen: Sequence[tuple[Tracked, Collection[str] | None]]) -> int:
        """Undoes what it can; the rest is in `problems`, a sentence each. Returns how many hunks."""
        count = 0
        for tracked, hunk_ids in chosen:
            try:
                count += await self._undo_file(tracked, hunk_ids)
            except ReviewError as error:
                self.problems.append(str(error))
            except files.Changed:
                name = os.path.basename(tracked.path)
                self.problems.append(f"{name} has just changed: look at it and try again.")
            except Lost:
                self.problems.append(words.lost(os.path.basename(tracked.path)))
            except OSError as error:
                name = os.path.basename(tracked.path)
                self.problems.append(f"{name} could not be put back: {error.strerror or error}.")
        return count

    async def _undo_file(self, tracked: Tracked, hunk_ids: Collection[str] | None) -> int:
        name = os.path.basename(tracked.path)
        if tracked.mixed and tracked.base.absent and (hunk_ids is None or tracked.whole(hunk_ids)):
            raise ReviewError(f"{name} is new and has your own edits too, so it stays: delete it yourself.")
        before, hunks = tracked.state, len(tracked.hunks)
        target = await self._target(tracked, hunk_ids)
        moved_back = tracked.old_path if hunk_ids is None or tracked.whole(hunk_ids) else None
        if moved_back is not None:
            await self._thread(lambda: self._move_back(tracked, moved_back))
        else:
            await self._give(tracked, target)
            await self._thread(lambda: answers.undo(self._engine, tracked, hunk_ids))
            self._documents.undone(tracked.path, before, target)
        after = tracked.current if moved_back is None else ABSENT
        count = hunks if hunk_ids is None else len(hunk_ids)
        self.done.append(Undone(tracked.path, before, tracked.base, after, count))
        return count

    async def _target(self, tracked: Tracked, hunk_ids: Collection[str] | None) -> Version:
        """What the file is to become, in memory. Raises Lost."""
        if any(version.aside for version in tracked.versions):
            return await self._thread(lambda: answers.target(self._engine, tracked, hunk_ids))
        return tracked.undone(hunk_ids)

    async def _give(self, tracked: Tracked, target: Version) -> None:
        """Makes the document, or the file where none is open, have a version."""
        buffer = self._editor.buffer(tracked.path)
        if buffer is None or target.absent or tracked.current.absent or target.is_link:
            if buffer is not None and buffer.dirty and not tracked.disk.absent:
                raise ReviewError(
                    f"{os.path.basename(tracked.path)} has unsaved changes: save or revert it first."
                )
            await self._thread(lambda: self._put(tracked, target))
            return
        if self._documents.lags(tracked, buffer.text):
            # Nothing was typed, and the editor is about to read the file anyway.
            await self._thread(lambda: self._put(tracked, target))
            return
        if self._documents.version(tracked, buffer.text) != tracked.current:
            raise ReviewError(f"{os.path.basename(tracked.path)} has just changed: look at it and try again.")
        clean = not buffer.dirty or tracked.current == tracked.disk
        if clean and not self._documents.saves_exactly(tracked):
            # The editor does not see this file's bytes as they are, and would not write them so.
            await self._thread(lambda: self._put(tracked, target))
            return
        await self._edit(tracked, buffer, target)
        if clean:
            await self._editor.save(tracked.path)
            saved = self._editor.buffer(tracked.path)
            await self._thread(lambda: self._after_saving(tracked, target, saved))

    def _after_saving(self, tracked: Tracked, target: Version, saved: Buffer | None) -> None:
        """The file gets the very bytes, where the editor did not save it, or formatted it as it did."""
        now = files.read(tracked.path)
        unsaved = target != tracked.disk and now == tracked.disk
        formatted = saved is not None and self._documents.version(tracked, saved.text).data == now.data
        if now.data != target.data and (unsaved or formatted):
            answers.put(self._engine, tracked.path, target, now)
        files.set_mode(tracked.path, target.mode)

    async def _edit(self, tracked: Tracked, buffer: Buffer, target: Version) -> None:
        text = self._documents.text(tracked, target)
        if text != buffer.text and not await self._editor.edit(tracked.path, text, buffer.version):
            raise ReviewError(
                f"The editor did not take the change to {os.path.basename(tracked.path)}: "
                "the document has changed; try again."
            )

    def _put(self, tracked: Tracked, target: Version) -> None:
        answers.put(self._engine, tracked.path, target, tracked.disk)
        if target.absent:
            self._engine.remove_empty_folders(tracked.path)

    def _move_back(self, tracked: Tracked, old_path: str) -> None:
        if os.path.lexists(old_path):
            raise ReviewError(
                f"{os.path.basename(old_path)} is there again, so nothing can be moved back to it."
            )
        if files.read(tracked.path) != tracked.disk:
            raise files.Changed
        answers.put(self._engine, old_path, tracked.base, ABSENT)
        answers.put(self._engine, tracked.path, ABSENT, tracked.disk)
        self._engine.remove_empty_folders(tracked.path)
        answers.moved_back(self._engine, tracked)

    # -- and back ------------------------------------------------------------------------------

    async def restore(self, undone: Sequence[Undone], save: Callable[[list[Tracked]], None]) -> int:
        """Gives every file what it had before the undo; raises ReviewError where one has changed since.

        What is lost of a file is in `problems`, a sentence each.
        """
        paths = [path for one in undone for path in (one.path, one.before.old_path) if path is not None]
        await self._thread(lambda: self._engine.look(paths))
        found = await self._thread(lambda: [answers.as_undone(self._engine, one) for one in undone])
        for one, tracked in zip(undone, found, strict=True):
            if tracked is None:
                path = one.before.old_path if one.moved_back else None
                name = os.path.basename(path or one.path)
                raise ReviewError(
                    f"{name} has changed since the undo, so that cannot be taken back any more."
                )
        again = [(one, tracked) for one, tracked in zip(undone, found, strict=True) if tracked is not None]
        ahead = await self._thread(lambda: self._as_before(undone))
        await self._thread(lambda: save(list(ahead.values())))
        count = 0
        for one, tracked in again:
            if one.path not in ahead:
                continue
            try:
                now = await self._thread(one.before.current.loaded)
                await self._give(tracked, now)
                await self._thread(lambda one=one, tracked=tracked: answers.redo(self._engine, tracked, one))
            except OSError as error:
                name = os.path.basename(one.path)
                raise ReviewError(
                    f"{name} could not be given back its changes: {error.strerror or error}."
                ) from error
            count += one.count
        return count

    def _as_before(self, undone: Sequence[Undone]) -> dict[str, Tracked]:
        """What is to be written down before anything is given back; without what is lost."""
        found: dict[str, Tracked] = {}
        for one in undone:
            try:
                found[one.path] = answers.as_before(self._engine, one)
            except Lost:
                self.problems.append(words.lost(os.path.basename(one.path)))
        return found
