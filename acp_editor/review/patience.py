"""What is looked at once more in a moment: a document has to reload, a file is still being written."""

from __future__ import annotations

import anyio
import anyio.abc

from acp_editor.review.documents import Documents
from acp_editor.review.editor import Editor
from acp_editor.review.engine import Engine
from acp_editor.review.inbox import Inbox

MOMENT = 0.3
"""Seconds that a document has to reload before it counts as holding another text than its file."""


class Patience:
    def __init__(
        self, group: anyio.abc.TaskGroup, inbox: Inbox, documents: Documents, editor: Editor
    ) -> None:
        self._group = group
        self._inbox = inbox
        self._documents = documents
        self._editor = editor
        self._overdue: set[str] = set()

    def see(self, engine: Engine) -> None:
        """Takes up what a look left open."""
        for path in self._documents.lagging - self._overdue:
            self._group.start_soon(self._settle, path)
        self._overdue |= self._documents.lagging
        self._documents.lagging.clear()
        if engine.unsettled:
            self._group.start_soon(self._look, set(engine.unsettled))

    async def _look(self, paths: set[str]) -> None:
        await anyio.sleep(MOMENT)
        self._inbox.look(paths)

    async def _settle(self, path: str) -> None:
        """A document that is not what its file is, perhaps only because it has not reloaded yet."""
        await anyio.sleep(MOMENT)
        self._overdue.discard(path)
        if (buffer := self._editor.buffer(path)) is not None:
            self._inbox.put(lambda _: self._documents.overdue(path, buffer.text))
