"""The language server: pygls with every handler a line that hands over to the application.

Notifications are handled synchronously, in the order in which the editor sent them. Requests that
need work are coroutines. What the application is, `application.py` tells.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import anyio
import anyio.abc
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from acp_editor.core.errors import words
from acp_editor.lsp import ends, plain, uris
from acp_editor.lsp.application import Load, Offered, Running
from acp_editor.lsp.client import Client, client_of
from acp_editor.lsp.documents import Documents
from acp_editor.lsp.editor import Editor
from acp_editor.lsp.frames import bodies
from acp_editor.lsp.protocol import CommandError, Protocol
from acp_editor.lsp.stdio import open_stdio

logger = logging.getLogger(__name__)

PROTOCOL_VERSION = 1
"""Of `experimental.acpEditor`."""


class _Server(LanguageServer):
    protocol: Protocol  # type: ignore[assignment]

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A fault of ours or the editor's goes to the log, not into the person's face."""
        logger.error("%s: %s", getattr(source, "__name__", source), words(error), exc_info=error)


async def serve(offered: Offered, load: Load, give_up: Callable[[], None]) -> int:
    """Serves one editor over stdio until it says `exit` or is gone; gives the exit code.

    The application is loaded once the editor has the answer to `initialize`. `give_up` ends the process
    from a thread where leaving in order takes too long.
    """
    logging.getLogger("pygls").setLevel(logging.WARNING)
    loop = asyncio.get_running_loop()
    deadline = ends.Deadline(give_up)
    reader, writer = open_stdio(loop, deadline.begin)
    code = 1
    async with anyio.create_task_group() as group:
        ended = anyio.Event()
        running = Running(group, load)
        server = _build(offered, running, group, ended)
        server.protocol.set_writer(writer)

        def leave(exit_code: int) -> None:
            nonlocal code
            code = exit_code
            ended.set()

        server.protocol.on_exit = leave

        async def read() -> None:
            try:
                async for body in bodies(reader):
                    server.protocol.receive(body)
                    await writer.room()
            except (asyncio.IncompleteReadError, ValueError) as error:
                logger.error("the editor's messages cannot be read any further: %s", error)
            ended.set()

        async def watch_pipe() -> None:
            await writer.gone()
            ended.set()

        group.start_soon(read)
        group.start_soon(watch_pipe)
        group.start_soon(ends.signalled, ended)
        await ended.wait()
        deadline.begin()
        server.protocol.fail_pending()
        with anyio.move_on_after(4, shield=True):
            await running.application.close()
        group.cancel_scope.cancel()
    writer.close()
    with anyio.move_on_after(0.5):
        await writer.flushed()
    return code


def _build(offered: Offered, running: Running, group: anyio.abc.TaskGroup, ended: anyio.Event) -> _Server:
    server = _Server("acp-editor", offered.version, protocol_cls=Protocol)
    protocol = server.protocol
    protocol.experimental = {"acpEditor": {"version": PROTOCOL_VERSION, **offered.abilities}}
    protocol.command_handler = running.command
    documents = Documents()
    client: Client | None = None

    for name in offered.commands:
        server.command(name)(_listed)

    @server.feature(types.INITIALIZE)
    def _(params: types.InitializeParams) -> None:
        nonlocal client
        client = client_of(params)
        if params.process_id is not None:
            group.start_soon(ends.editor_gone, params.process_id, ended)

    @server.feature(types.INITIALIZED)
    async def _(params: types.InitializedParams) -> None:
        assert client is not None
        encoding = server.server_capabilities.position_encoding
        if encoding is not None:
            documents.encoding = types.PositionEncodingKind(encoding).value
        await running.start(Editor(protocol, client, documents))

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def _(params: types.DidOpenTextDocumentParams) -> None:
        if (document := documents.opened(params.text_document)) is not None:
            running.application.document_opened(document)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def _(params: types.DidChangeTextDocumentParams) -> None:
        if (change := documents.changed(params)) is not None:
            running.application.document_changed(*change)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE, types.SaveOptions(include_text=False))
    def _(params: types.DidSaveTextDocumentParams) -> None:
        if (document := documents.saved(params.text_document.uri, params.text)) is not None:
            running.application.document_saved(document)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def _(params: types.DidCloseTextDocumentParams) -> None:
        if (document := documents.closed(params.text_document.uri)) is not None:
            running.application.document_closed(document)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def _(params: types.DidChangeConfigurationParams) -> None:
        pushed: Any = params.settings
        section = pushed.get("acpEditor") if isinstance(pushed, dict) else None  # pyright: ignore
        running.application.settings_changed(section if isinstance(section, dict) else None)  # pyright: ignore

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def _(params: types.DidChangeWatchedFilesParams) -> None:
        running.application.files_changed([p for change in params.changes if (p := uris.to_path(change.uri))])

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def _(params: types.DidChangeWorkspaceFoldersParams) -> None:
        added = [p for folder in params.event.added if (p := uris.to_path(folder.uri))]
        removed = [p for folder in params.event.removed if (p := uris.to_path(folder.uri))]
        running.application.folders_changed(added, removed)

    @server.feature("acpEditor/userActivity")
    def _(params: Any) -> None:
        uri = params.get("uri") if isinstance(params, dict) else None  # pyright: ignore
        running.application.user_activity(uris.to_path(uri) if isinstance(uri, str) else None)

    @server.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT)
    async def _(params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
        return types.TextDocumentContentResult(text=await running.application.content(params.uri))

    # Surfaces that a client draws itself are not shown to it twice.

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def _(params: types.InlayHintParams) -> list[types.InlayHint]:
        path = uris.to_path(params.text_document.uri)
        if path is None or client is None or client.draws("decorations"):
            return []
        return plain.hints(running.application.decorations(path))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def _(params: types.HoverParams) -> types.Hover | None:
        path = uris.to_path(params.text_document.uri)
        if path is None or client is None or client.draws("decorations"):
            return None
        return plain.hover(running.application.decorations(path), params.position)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def _(params: types.CodeLensParams) -> list[types.CodeLens]:
        path = uris.to_path(params.text_document.uri)
        return plain.lenses(running.application.uri(path), running.application.hunks(path)) if path else []

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    def _(params: types.CodeActionParams) -> list[types.CodeAction]:
        path = uris.to_path(params.text_document.uri)
        if path is None:
            return []
        return plain.actions(running.application.uri(path), running.application.hunks(path), params.range)

    return server


def _listed(ls: LanguageServer, *arguments: Any) -> None:
    """Stands in pygls' list of commands, from which the capabilities are made; never called."""


__all__ = ["CommandError", "Offered", "serve"]
