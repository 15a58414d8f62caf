"""Review, connected: the engine of `review/` on one side, documents, turns and surfaces on the other."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.abc

from acp_editor.app import folders
from acp_editor.app.change_list import ChangeList, rendered
from acp_editor.app.own_options import TELL
from acp_editor.app.review_documents import ReviewDocuments
from acp_editor.app.sessions import Entry
from acp_editor.core import safe
from acp_editor.core import text as lines
from acp_editor.core.model import ToolCall
from acp_editor.lsp import messages
from acp_editor.lsp.documents import Author, Document
from acp_editor.lsp.protocol import CommandError
from acp_editor.review.checkpoint import Limits
from acp_editor.review.review import Buffer, Hunk, Review, ReviewError
from acp_editor.review.work import READING

if TYPE_CHECKING:
    from acp_editor.app.app import App

logger = logging.getLogger(__name__)

T = TypeVar("T")
_MOST_MARKED = 200
"""Files that are marked though they are not open; the others are once they are opened."""
_MOST_MARKS = 1000
"""Hunks of one file that are marked."""
_HOVER_LINES = 20
_HOVER_CHARACTERS = 2000


class Reviewing:
    """Implements the engine's `Editor`; where review is switched off, there is nothing to review."""

    def __init__(self, app: App, group: anyio.abc.TaskGroup) -> None:
        self._app = app
        self._group = group
        self._review: Review | None = None
        self._running = 0
        self.documents = ReviewDocuments(app)
        self._list = ChangeList(app.uri)
        self._marked: set[str] = set()
        """Of these the editor has marks."""
        self._begun = False
        self._forgotten = False
        self._switching = anyio.Lock()

    # -- the engine's editor -------------------------------------------------------------------------

    def buffer(self, path: str) -> Buffer | None:
        document = self._app.editor.documents.get(path)
        if document is None:
            return None
        return Buffer(document.text, document.version, document.dirty)

    async def edit(self, path: str, text: str, version: int) -> bool:
        document = self._app.editor.documents.get(path)
        if document is None or document.version != version:
            return False
        if not await self._app.editor.edit(document, text):
            return False
        return await self._app.editor.reported(document, text)

    async def save(self, path: str) -> None:
        if (document := self._app.editor.documents.get(path)) is not None:
            await self._app.editor.save(document)

    # -- what happens --------------------------------------------------------------------------------

    async def start(self) -> None:
        self._begun = True
        await self._switch()

    def configure(self) -> None:
        """Settings may switch the review on and off while we run."""
        if self._begun and self._wanted != (self._review is not None):
            self._group.start_soon(self._switch)

    def folders_changed(self) -> None:
        """The workspace has other folders; what is unanswered in those that stay is kept."""
        if self._review is not None:
            self._group.start_soon(self._open_anew)

    @property
    def _wanted(self) -> bool:
        return self._app.settings.review.enabled and not self._forgotten

    async def _switch(self) -> None:
        async with self._switching:
            if self._wanted and self._review is None:
                await self._open()
            elif not self._wanted and self._review is not None:
                await self._shut()

    async def _open_anew(self) -> None:
        async with self._switching:
            if self._review is not None:
                await self._shut()
                await self._open()

    async def _shut(self) -> None:
        review, self._review = self._review, None
        self._changed()
        if review is not None:
            await review.aclose()

    async def _open(self) -> None:
        settings = self._app.settings.review
        self._review = Review(
            self._app.roots,
            folders.cache(),
            folders.state(),
            self,
            limits=Limits(settings.max_file_size, settings.max_files),
            on_change=self._changed,
            tell=self._app.editor.message,
        )
        await self._review.start(self._group)
        if not self._app.editor.client.dynamic_watching:
            self._group.start_soon(self._review.watch)
        for document in self._app.editor.documents:
            self._review.buffer_opened(document.path)
        for _ in range(self._running):
            self._review.turn_started()
        self.permissions_changed()

    async def turn_starts(self) -> None:
        """The workspace as it is, before the agent can write; a prompt waits for it."""
        try:
            if self._forgotten:
                self._forgotten = False
                await self._switch()
            if self._review is not None:
                await self._review.checkpoint()
        finally:
            self.turn_begun()

    def turn_begun(self) -> None:
        self._running += 1
        if self._review is not None:
            self._review.turn_started()

    def turn_over(self) -> None:
        if self._running and self._review is not None:
            self._review.turn_ended()
        self._running = max(0, self._running - 1)

    def call_told(self, entry: Entry, call_id: str) -> None:
        """A call said something. That it begins counts now: at the next look at it, it may be over."""
        if self._review is None or not self._review.turns.awaits(call_id):
            return
        call = entry.session.tool_call(call_id)
        if call is not None and call.active and not call.replayed:
            self._review.turns.work.begins(call_id, time.time())

    def call_changed(self, call: ToolCall, cwd: str) -> None:
        if self._review is not None and not call.replayed:
            self._review.call_changed(call, cwd)

    def command_ended(self) -> None:
        if self._review is not None:
            self._group.start_soon(self._review.rescan)

    def permissions_changed(self) -> None:
        """An agent that waits for the person is not at work."""
        if self._review is not None:
            self._review.calls_wait({one.tool_call_id for one in self._app.permissions if one.tool_call_id})

    def agent_writes(self, path: str, calls: Sequence[ToolCall]) -> str | None:
        """We begin to write a file for an agent; returns which of its active calls this is for."""
        writing = [call for call in calls if call.kind not in READING]
        named = [call for call in writing if any(place.path == path for place in call.locations)]
        call_id = next((call.tool_call_id for call in named or writing), None)
        if len(named) != 1 and len(writing) != 1:
            call_id = None  # its text may tell
        if self._review is not None:
            self._review.agent_writes(path, call_id)
        return call_id

    async def agent_wrote(self, path: str, call_id: str | None) -> None:
        if self._review is not None:
            self._review.agent_wrote(path, call_id)
            await self._review.rescan([path])

    def opened(self, document: Document) -> None:
        if self._review is not None:
            self._review.buffer_opened(document.path)
        if self._list.get(document.path) is not None and document.path not in self._marked:
            self._mark_anew(document.path)
            self._app.surfaces.changes_changed()

    def changed(self, document: Document, before: str, author: Author) -> None:
        if self._review is not None:
            by = {"by_us": author == "us", "by_disk": author == "disk"}
            self._review.buffer_changed(document.path, before, document.text, **by)

    def saved(self, document: Document) -> None:
        if self._review is not None:
            self._review.buffer_saved(document.path)

    def closed(self, document: Document) -> None:
        if self._review is not None:
            self._review.buffer_closed(document.path)

    def files_changed(self, paths: Sequence[str]) -> None:
        if self._review is not None:
            self._review.files_changed(paths)

    async def close(self) -> None:
        if self._review is not None:
            await self._review.aclose()

    # -- commands ------------------------------------------------------------------------------------

    async def keep(self, path: str | None, hunk_id: str | None) -> int:
        return await self._told(lambda review: review.keep(path, hunk_id))

    async def undo(self, path: str | None, hunk_id: str | None) -> int:
        return await self._told(lambda review: review.undo(path, hunk_id))

    async def restore(self) -> int:
        return await self._told(lambda review: review.restore())

    def diff(self, path: str) -> messages.DiffDocuments:
        """The file before the agent's unreviewed changes and as it is now."""
        change = self._list.get(path)
        if change is None:
            raise CommandError(f"there is nothing to review in {path}")
        return self.documents.pair(change)

    def note(self, session: str) -> str | None:
        """What the agent is to be told of undone changes with the next prompt of that session."""
        if self._review is None or self._app.options.own.value(TELL, session) is not True:
            return None
        return self._review.undone_note()

    async def forget(self) -> None:
        """Removes what is kept of this workspace; the review begins anew with the next prompt."""
        async with self._switching:
            review, self._review = self._review, None
            self._forgotten = True
            self._changed()
        if review is not None:
            await review.forget()

    # -- what there is -------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """How many files have unreviewed changes."""
        return len(self._list)

    def original(self, path: str) -> str | None:
        return self._review.original(path) if self._review is not None else None

    def render(self) -> messages.ChangesParams:
        return self._list.render(self._documents_open)

    def hunks(self, path: str) -> list[messages.Hunk]:
        change = self._list.get(path)
        return [rendered(hunk) for hunk in change.hunks] if change else []

    def decorations(self, path: str) -> list[messages.Decoration]:
        change = self._list.get(path)
        if change is None:
            return []
        before = lines.split_lines(self.original(path) or "")
        marked = itertools.islice(filter(_has_lines, change.hunks), _MOST_MARKS)
        return [self._mark(path, hunk, before) for hunk in marked]

    @property
    def _documents_open(self) -> list[str]:
        return [document.path for document in self._app.editor.documents]

    def _changed(self) -> None:
        """New hunks or bases: the marks too, also of files that have none any more."""
        self.documents.refresh()
        changed = self._list.take(self._review.changes() if self._review is not None else ())
        if not changed:
            return  # only a base has moved
        wanted = {*self._documents_open, *self._marked}
        others = [path for path in changed if path not in wanted and self._list.get(path)]
        del others[max(0, _MOST_MARKED - len(self._marked)) :]
        for path in [*(path for path in changed if path in wanted), *others]:
            self._mark_anew(path)
        self._app.surfaces.changes_changed()

    def _mark_anew(self, path: str) -> None:
        (self._marked.add if self._list.get(path) else self._marked.discard)(path)
        self._app.surfaces.decorations_changed(path)

    def _mark(self, path: str, hunk: Hunk, before: Sequence[str]) -> messages.Decoration:
        (old_start, old_end), (start, end) = hunk.original, hunk.modified
        kind = "removed" if start == end else "added" if old_start == old_end else "modified"
        last = max(start, end - 1)
        length = self._app.views.line_length(path, last) if end > start else 0
        return {
            "range": {"start": {"line": start, "character": 0}, "end": {"line": last, "character": length}},
            "kind": kind,
            "status": None,
            "toolCallId": hunk.tool_call_id,
            "hover": _hover(before[old_start:old_end]),
            "hunkId": hunk.hunk_id,
        }

    async def _told(self, act: Callable[[Review], Awaitable[T]]) -> T:
        if self._review is None and self._forgotten:
            raise CommandError("this workspace's review is forgotten: it begins again with the next prompt")
        if self._review is None:
            raise CommandError("review is switched off in the settings")
        try:
            return await act(self._review)
        except ReviewError as error:
            raise CommandError(str(error)) from error


def _has_lines(hunk: Hunk) -> bool:
    """Whether there is a place to mark: a change of name, mode or bytes has none."""
    return hunk.original[0] != hunk.original[1] or hunk.modified[0] != hunk.modified[1]


def _hover(removed: Sequence[str]) -> str:
    """What stood there before the agent's change, as a code block."""
    if not removed:
        return ""
    shown = "".join(removed[:_HOVER_LINES]).rstrip("\r\n")
    more = f"\n… {len(removed) - _HOVER_LINES} more lines" if len(removed) > _HOVER_LINES else ""
    return "Before the agent's change:\n\n" + safe.fenced(shown + more, limit=_HOVER_CHARACTERS)
