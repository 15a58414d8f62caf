"""The language server: pygls with every handler a line that hands over to the application.

Notifications are handled synchronously, in the order in which the editor sent them. Requests that
need work are coroutines. What the application is, is only known here by `Application`.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any
from typing import Protocol as Interface

import anyio
import anyio.abc
from lsprotocol import types
from pygls.io_ import run_async
from pygls.lsp.server import LanguageServer

from acp_editor.lsp import ends, messages, plain, uris
from acp_editor.lsp.client import Client, client_of
from acp_editor.lsp.documents import Author, Document, Documents
from acp_editor.lsp.editor import Editor
from acp_editor.lsp.protocol import CommandError, Protocol
from acp_editor.lsp.stdio import open_stdio

logger = logging.getLogger(__name__)

PROTOCOL_VERSION = 1
"""Of `experimental.acpEditor`."""


class Application(Interface):
    """What the server hands over to."""

    commands: tuple[str, ...]
    abilities: Mapping[str, Any]

    async def run(self, editor: Editor, *, task_status: anyio.abc.TaskStatus[None]) -> None: ...
    async def command(self, name: str, argument: Any) -> Any: ...
    def settings_changed(self, pushed: Mapping[str, Any] | None) -> None: ...
    def user_activity(self, path: str | None) -> None: ...
    def document_opened(self, document: Document) -> None: ...
    def document_changed(self, document: Document, before: str, author: Author) -> None: ...
    def document_saved(self, document: Document) -> None: ...
    def document_closed(self, document: Document) -> None: ...
    def files_changed(self, paths: list[str]) -> None: ...
    def folders_changed(self, added: list[str], removed: list[str]) -> None: ...
    async def content(self, uri: str) -> str: ...
    def decorations(self, path: str) -> list[messages.Decoration]: ...
    def hunks(self, path: str) -> list[messages.Hunk]: ...
    def uri(self, path: str) -> str: ...
    async def close(self) -> None: ...


class _Server(LanguageServer):
    protocol: Protocol  # type: ignore[assignment]

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A fault of ours or the editor's goes to the log, not into the person's face."""
        logger.error("%s: %s", getattr(source, "__name__", source), error, exc_info=error)


async def serve(application: Application, version: str, give_up: Callable[[], None]) -> int:
    """Serves one editor over stdio until it says `exit` or is gone; gives the exit code.

    `give_up` ends the process from a thread where leaving in order takes too long.
    """
    logging.getLogger("pygls").setLevel(logging.WARNING)
    loop = asyncio.get_running_loop()
    deadline = ends.Deadline(give_up)
    reader, writer = open_stdio(loop, deadline.begin)
    code = 1
    async with anyio.create_task_group() as group:
        ended = anyio.Event()
        server = _build(application, version, group, ended)
        server.protocol.set_writer(writer)

        def leave(exit_code: int) -> None:
            nonlocal code
            code = exit_code
            ended.set()

        server.protocol.on_exit = leave

        async def read() -> None:
            try:
                await run_async(
                    threading.Event(), reader, server.protocol, logger, server.report_server_error
                )
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
            await application.close()
        group.cancel_scope.cancel()
    writer.close()
    with anyio.move_on_after(0.5):
        await writer.flushed()
    return code


def _build(application: Application, version: str, group: anyio.abc.TaskGroup, ended: anyio.Event) -> _Server:
    server = _Server("acp-editor", version, protocol_cls=Protocol)
    protocol = server.protocol
    protocol.experimental = {"acpEditor": {"version": PROTOCOL_VERSION, **application.abilities}}
    documents = Documents()
    started = anyio.Event()
    client: Client | None = None

    for name in application.commands:
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
        await group.start(application.run, Editor(protocol, client, documents))
        started.set()

    async def command(name: str, argument: Any) -> Any:
        with anyio.move_on_after(30):  # an editor may send a command right behind `initialized`
            await started.wait()
        if not started.is_set():
            raise CommandError("the server could not start; its log says why")
        return await application.command(name, argument)

    protocol.command_handler = command

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def _(params: types.DidOpenTextDocumentParams) -> None:
        if (document := documents.opened(params.text_document)) is not None:
            application.document_opened(document)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def _(params: types.DidChangeTextDocumentParams) -> None:
        if (change := documents.changed(params)) is not None:
            application.document_changed(*change)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE, types.SaveOptions(include_text=False))
    def _(params: types.DidSaveTextDocumentParams) -> None:
        if (document := documents.saved(params.text_document.uri, params.text)) is not None:
            application.document_saved(document)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def _(params: types.DidCloseTextDocumentParams) -> None:
        if (document := documents.closed(params.text_document.uri)) is not None:
            application.document_closed(document)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def _(params: types.DidChangeConfigurationParams) -> None:
        pushed: Any = params.settings
        section = pushed.get("acpEditor") if isinstance(pushed, dict) else None  # pyright: ignore
        application.settings_changed(section if isinstance(section, dict) else None)  # pyright: ignore

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def _(params: types.DidChangeWatchedFilesParams) -> None:
        application.files_changed([p for change in params.changes if (p := uris.to_path(change.uri))])

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def _(params: types.DidChangeWorkspaceFoldersParams) -> None:
        added = [p for folder in params.event.added if (p := uris.to_path(folder.uri))]
        removed = [p for folder in params.event.removed if (p := uris.to_path(folder.uri))]
        application.folders_changed(added, removed)

    @server.feature("acpEditor/userActivity")
    def _(params: Any) -> None:
        uri = params.get("uri") if isinstance(params, dict) else None  # pyright: ignore
        application.user_activity(uris.to_path(uri) if isinstance(uri, str) else None)

    @server.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT)
    async def _(params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
        return types.TextDocumentContentResult(text=await application.content(params.uri))

    # Surfaces that a client draws itself are not shown to it twice.

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def _(params: types.InlayHintParams) -> list[types.InlayHint]:
        path = uris.to_path(params.text_document.uri)
        if path is None or client is None or client.draws("decorations"):
            return []
        return plain.hints(application.decorations(path))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def _(params: types.HoverParams) -> types.Hover | None:
        path = uris.to_path(params.text_document.uri)
        if path is None or client is None or client.draws("decorations"):
            return None
        return plain.hover(application.decorations(path), params.position)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def _(params: types.CodeLensParams) -> list[types.CodeLens]:
        path = uris.to_path(params.text_document.uri)
        return plain.lenses(application.uri(path), application.hunks(path)) if path else []

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    def _(params: types.CodeActionParams) -> list[types.CodeAction]:
        path = uris.to_path(params.text_document.uri)
        if path is None:
            return []
        return plain.actions(application.uri(path), application.hunks(path), params.range)

    return server


def _listed(ls: LanguageServer, *arguments: Any) -> None:
    """Stands in pygls' list of commands, from which the capabilities are made; never called."""


__all__ = ["Application", "CommandError", "serve"]
