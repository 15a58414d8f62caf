"""What we ask of the editor and tell it, in LSP's words."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal

import anyio
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from acp_editor.core import text as lines
from acp_editor.lsp.client import Client
from acp_editor.lsp.documents import Document, Documents, same_text, stamp
from acp_editor.lsp.protocol import Protocol
from acp_editor.lsp.stdio import Writer

if TYPE_CHECKING:
    from acp_editor.lsp import messages

logger = logging.getLogger(__name__)

CONTENT_SCHEMES = ("acp-original", "acp-proposed", "acp-session")
SHOW_TIMEOUT = 10.0
"""Seconds after which an editor that does not answer `window/showDocument` is not waited for."""

_LEVELS = {"warning": types.MessageType.Warning, "error": types.MessageType.Error}


class CannotAsk(Exception):
    """The editor has no way to ask the person; the message is what it said instead."""


class Editor:
    """Requests and notifications to the editor; every failure of the editor's is logged and survived."""

    scrub: Callable[[str], str]
    """What a text goes through before a person sees it in a message; as it is until somebody sets it."""

    def __init__(self, protocol: Protocol, client: Client, documents: Documents) -> None:
        self.scrub = lambda text: text
        self._protocol = protocol
        self.client = client
        self.documents = documents

    # -- surfaces ----------------------------------------------------------------------------------

    def notify(self, method: str, params: Any) -> None:
        self._protocol.notify(method, params)

    async def drained(self) -> None:
        """Waits while the editor does not read what it was sent."""
        if isinstance(self._protocol.writer, Writer):
            await self._protocol.writer.drained()

    def together(self) -> AbstractContextManager[None]:
        """What is sent inside goes out in one piece."""
        writer = self._protocol.writer
        return writer.together() if isinstance(writer, Writer) else nullcontext()

    async def show(self, uri: str, line: int | None) -> bool:
        """Shows a place without taking the focus; false where the editor would or could not."""
        if not self.client.show_document:
            return False
        # Empty, so that an editor puts its cursor there and selects nothing.
        at = None if line is None else types.Position(line, 0)
        answer = await self._ask(
            types.WINDOW_SHOW_DOCUMENT,
            types.ShowDocumentParams(uri=uri, take_focus=False, selection=at and types.Range(at, at)),
            timeout=SHOW_TIMEOUT,
        )
        return bool(answer and answer.success)

    def message(self, text: str, severity: str = "info") -> None:
        """`severity` is info, warning or error; any other counts as info."""
        level = _LEVELS.get(severity, types.MessageType.Info)
        shown = types.ShowMessageParams(type=level, message=self.scrub(text))
        self._protocol.notify(types.WINDOW_SHOW_MESSAGE, shown)

    def warn(self, text: str) -> None:
        self.message(text, "warning")

    async def choose(self, text: str, titles: Sequence[str]) -> str | None:
        """The title that was picked, None where the question was dismissed or could not be asked."""
        try:
            return await self.ask_person(text, titles)
        except CannotAsk as error:
            logger.warning("the editor did not ask: %s", error)
            return None

    async def ask_person(self, text: str, titles: Sequence[str]) -> str | None:
        """`window/showMessageRequest`: the title that was picked, None where it was dismissed.

        Raises `CannotAsk`.
        """
        shown = {self.scrub(title): title for title in titles}
        params = types.ShowMessageRequestParams(
            type=types.MessageType.Warning,
            message=self.scrub(text),
            actions=[types.MessageActionItem(title=title) for title in shown],
        )
        try:
            answer = await self._protocol.ask(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
        except (JsonRpcException, ConnectionError) as error:
            raise CannotAsk(str(error) or "it answered with an error") from error
        return shown.get(answer.title) if answer else None

    async def elicit(self, params: messages.ElicitParams) -> Any:
        """The editor's own form for an agent's question; None where it failed."""
        return await self._ask("acpEditor/elicit", params)

    async def run_in_terminal(self, params: messages.RunInTerminalParams) -> bool:
        """Runs a program in a terminal of the editor's, before the person's eyes."""
        try:
            await self._protocol.ask("acpEditor/runInTerminal", params)
        except (JsonRpcException, ConnectionError) as error:
            logger.warning("the editor opened no terminal: %s", error)
            return False
        return True

    async def open_outside(self, url: str) -> None:
        """Opens a web address in the person's browser."""
        await self._ask(
            types.WINDOW_SHOW_DOCUMENT, types.ShowDocumentParams(uri=url, external=True), timeout=SHOW_TIMEOUT
        )

    def refresh(self, what: Literal["hints", "lenses"]) -> None:
        if what == "hints" and self.client.hint_refresh:
            self._protocol.request_and_forget(types.WORKSPACE_INLAY_HINT_REFRESH)
        if what == "lenses" and self.client.lens_refresh:
            self._protocol.request_and_forget(types.WORKSPACE_CODE_LENS_REFRESH)

    def refresh_content(self, uri: str) -> None:
        """Says that one of our read-only documents has changed."""
        if self.client.content:
            self._protocol.request_and_forget(types.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH, {"uri": uri})

    # -- documents ---------------------------------------------------------------------------------

    async def edit(self, document: Document, text: str) -> bool:
        """Makes an open document's text this one, by as small edits as may be and with its version.

        False where the editor refused, most often because the person typed meanwhile; nothing has
        changed then. The editor's undo takes the edit back.
        """
        if document.text == text:
            return True
        before, version = document.text, document.version
        edits = [
            types.TextEdit(range=_range(edit.span, before), new_text=edit.text)
            for edit in lines.edits_between(before, text, self.documents.encoding)
        ]
        document.expected.append(text)
        answer = await self._ask(
            types.WORKSPACE_APPLY_EDIT,
            types.ApplyWorkspaceEditParams(
                edit=types.WorkspaceEdit(
                    document_changes=[
                        types.TextDocumentEdit(
                            text_document=types.OptionalVersionedTextDocumentIdentifier(
                                uri=document.uri, version=version
                            ),
                            edits=edits,
                        )
                    ]
                )
            ),
        )
        applied = bool(answer and answer.applied)
        if not applied and text in document.expected:
            document.expected.remove(text)
        return applied

    async def save(self, document: Document) -> None:
        """Saves an open document: by the editor where it can, else by writing what the buffer shows."""
        if self.client.draws("save"):
            try:
                await self._protocol.ask("acpEditor/saveDocument", {"uri": document.uri})
            except (JsonRpcException, ConnectionError) as error:
                logger.warning("the editor did not save %s: %s", document.path, error)
        else:
            document.saved = document.text
            document.stamp = stamp(document.path)

    async def reported(self, document: Document, text: str, seconds: float = 2.0) -> bool:
        """Waits until the editor has told that the document's text is this one."""
        with anyio.move_on_after(seconds):
            while not same_text(text, document.text):
                await document.told.wait()
        if same_text(text, document.text):
            return True
        if text in document.expected:
            document.expected.remove(text)  # what comes now is another's
        return False

    # -- start -------------------------------------------------------------------------------------

    async def configuration(self) -> Any:
        """The section `acpEditor`, None where the editor has none to give."""
        answer = await self._ask(
            types.WORKSPACE_CONFIGURATION,
            types.ConfigurationParams(items=[types.ConfigurationItem(section="acpEditor")]),
        )
        return answer[0] if answer else None

    async def register(self) -> None:
        """Registers what LSP has no static way for."""
        wanted: list[types.Registration] = []
        if self.client.dynamic_configuration:
            wanted.append(
                types.Registration(
                    id="configuration",
                    method=types.WORKSPACE_DID_CHANGE_CONFIGURATION,
                    register_options={"section": "acpEditor"},
                )
            )
        if self.client.content:
            wanted.append(
                types.Registration(
                    id="content",
                    method=types.WORKSPACE_TEXT_DOCUMENT_CONTENT,
                    register_options={"schemes": list(CONTENT_SCHEMES)},
                )
            )
        if self.client.dynamic_watching:
            wanted.append(
                types.Registration(
                    id="files",
                    method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                    register_options={"watchers": [{"globPattern": "**/*"}]},
                )
            )
        if wanted:
            await self._ask(
                types.CLIENT_REGISTER_CAPABILITY, types.RegistrationParams(registrations=wanted), timeout=30
            )

    # -- progress ----------------------------------------------------------------------------------

    async def progress_begin(self, token: str, title: str) -> None:
        await self._ask(
            types.WINDOW_WORK_DONE_PROGRESS_CREATE,
            types.WorkDoneProgressCreateParams(token=token),
            timeout=10,
        )
        self._protocol.report_progress(token, {"kind": "begin", "title": title, "cancellable": False})

    def progress_report(self, token: str, message: str) -> None:
        self._protocol.report_progress(token, {"kind": "report", "message": message})

    def progress_end(self, token: str, message: str | None) -> None:
        self._protocol.report_progress(token, {"kind": "end", **({"message": message} if message else {})})

    async def _ask(self, method: str, params: Any, timeout: float | None = None) -> Any:
        try:
            with anyio.fail_after(timeout):
                return await self._protocol.ask(method, params)
        except (JsonRpcException, ConnectionError, TimeoutError) as error:
            logger.warning("the editor did not answer %s: %s", method, error or "no answer")
            return None


def _range(span: lines.Span | None, text: str) -> types.Range:
    if span is None:  # the whole text
        span = lines.Span(lines.Position(0, 0), lines.Position(lines.line_count(text), 0))
    return types.Range(types.Position(*span.start), types.Position(*span.end))
