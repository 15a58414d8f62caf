"""An agent's requests to read and write text files: the buffer first, confined to the workspace."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import anyio.to_thread

from acp_editor.acp.connection import RpcError
from acp_editor.host import files, paths

if TYPE_CHECKING:
    from acp_editor.app.app import App
    from acp_editor.app.sessions import Entry
    from acp_editor.lsp.documents import Document

RESOURCE_NOT_FOUND: Final = -32002
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603


class HostFiles:
    """`fs/read_text_file` and `fs/write_text_file`; every failure is an error that says why."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def read(self, entry: Entry, path: str, line: int | None, limit: int | None) -> str:
        # The buffers are looked at here and not in the thread: they are the loop's.
        real = self._confine(entry, path)
        document = self._app.editor.documents.find(real)
        if document is not None:
            return files.slice_lines(document.text, line, limit)
        read = partial(files.read_text, path, line, limit, roots=self._roots(entry), cwd=entry.cwd)
        try:
            return await anyio.to_thread.run_sync(read)
        except files.MissingFile as error:
            if self._missing_reads_empty(entry):
                return ""
            raise RpcError(RESOURCE_NOT_FOUND, str(error)) from error
        except (files.FileError, paths.OutsideWorkspace) as error:
            raise RpcError(INTERNAL_ERROR, str(error)) from error

    async def write(self, entry: Entry, path: str, content: str) -> None:
        real = self._confine(entry, path)
        if (refusal := self._app.judge.refuses_write(entry, real)) is not None:
            raise RpcError(INVALID_PARAMS, refusal)
        document = self._app.editor.documents.find(real)
        shown = document.path if document else real
        call_id = self._app.review.agent_writes(shown, entry.session.active_calls)
        try:
            await self._write(entry, path, content, document)
        finally:
            # Also where nothing was written: what changes from now on is not the agent's.
            await self._app.review.agent_wrote(shown, call_id)

    async def _write(self, entry: Entry, path: str, content: str, document: Document | None) -> None:
        if document is not None:
            text = files.decode(files.keep_style(document.text.encode("utf-8", "replace"), content))
            if not await self._app.editor.edit(document, text):
                raise RpcError(
                    INTERNAL_ERROR, f"{path} is being edited by the person: read it again, then write"
                )
            await self._app.editor.reported(document, text)
            await self._app.editor.save(document)
        if document is None or not self._app.editor.client.draws("save"):
            write = partial(files.write_text, path, content, roots=self._roots(entry), cwd=entry.cwd)
            try:
                await anyio.to_thread.run_sync(write)
            except (files.FileError, paths.OutsideWorkspace) as error:
                raise RpcError(INTERNAL_ERROR, str(error)) from error

    def _roots(self, entry: Entry) -> list[str]:
        return [*self._app.roots, entry.cwd]

    def _confine(self, entry: Entry, path: str) -> str:
        """The real path; what lies outside of the workspace is refused."""
        try:
            return paths.confine(path, self._roots(entry), entry.cwd)
        except paths.OutsideWorkspace as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error

    def _missing_reads_empty(self, entry: Entry) -> bool:
        """Gemini CLI reads a file before it creates it, and gives up where that read is an error."""
        info = self._app.agents.slot(entry.agent).info
        return info is not None and "gemini" in (info.name or info.title or "").lower()
