"""What the person answers: keep, undo, and the last undo taken back."""

from __future__ import annotations

import os
from collections.abc import Callable

from acp_editor.review import answers, words
from acp_editor.review.documents import Documents
from acp_editor.review.editor import Editor, ReviewError
from acp_editor.review.engine import Engine
from acp_editor.review.tracked import Tracked
from acp_editor.review.undo import InThread, Undoing, Undone
from acp_editor.review.versions import Lost
from acp_editor.review.words import Words


class Answering:
    """Nobody else may use the engine meanwhile. `save` writes down what is unanswered.

    What is written down says at any time at least as much as the disk: an undo is written down after it
    is done, a restore before. So whenever the process ends, the next one finds each change that is there.
    """

    def __init__(
        self,
        engine: Engine,
        documents: Documents,
        editor: Editor,
        thread: InThread,
        save: Callable[[list[Tracked]], None],
        tell: Callable[[str], None],
        words: Words,
    ) -> None:
        self._engine = engine
        self._documents = documents
        self._editor = editor
        self._thread = thread
        self._save = save
        self._tell = tell
        self._words = words
        self._last: list[Undone] = []

    async def keep(self, path: str | None, hunk_id: str | None) -> int:
        chosen = answers.chosen(self._engine, path, hunk_id)
        count = sum(len(tracked.hunks) if ids is None else len(ids) for tracked, ids in chosen)

        def work() -> None:
            for tracked, ids in chosen:
                try:
                    answers.keep(self._engine, tracked, ids)
                except Lost as error:  # of one hunk: whole files are kept whatever is lost of them
                    raise ReviewError(words.lost(os.path.basename(tracked.path))) from error
            self._save([])

        await self._thread(work)
        return count

    async def undo(self, path: str | None, hunk_id: str | None) -> int:
        chosen = answers.chosen(self._engine, path, hunk_id)
        chosen.sort(key=lambda one: one[0].base.absent)
        undoing = self._undoing()
        count = await undoing.undo(chosen)
        if undoing.done:
            self._last = undoing.done
        self._words.was_undone(one.path for one in undoing.done)
        await self._thread(lambda: self._save([]))
        self._say(undoing.problems, path is not None or not count)
        return count

    async def restore(self) -> int:
        if not self._last:
            raise ReviewError("There is no undo to take back.")
        undoing = self._undoing()
        try:
            count = await undoing.restore(self._last, self._save)
        finally:
            await self._thread(lambda: self._save([]))
        self._words.was_restored(one.path for one in self._last)
        self._last = []
        self._say(undoing.problems, not count)
        return count

    def _say(self, problems: list[str], refused: bool) -> None:
        if problems and refused:
            raise ReviewError(" ".join(problems))
        for problem in problems:
            self._tell(problem)

    def _undoing(self) -> Undoing:
        return Undoing(self._engine, self._documents, self._editor, self._thread)
