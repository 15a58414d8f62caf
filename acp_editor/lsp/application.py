"""What the server hands over to, and how that is loaded only when the editor has its first answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import anyio
import anyio.abc
import anyio.to_thread

from acp_editor.lsp import uris
from acp_editor.lsp.documents import Author, Document
from acp_editor.lsp.editor import Editor
from acp_editor.lsp.protocol import CommandError

if TYPE_CHECKING:
    from acp_editor.lsp import messages


class Application(Protocol):
    """What the server hands over to."""

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


@dataclass(frozen=True, slots=True)
class Offered:
    """What the editor is told in the answer to `initialize`."""

    version: str
    commands: tuple[str, ...]
    abilities: Mapping[str, Any]


Load: TypeAlias = Callable[[], Callable[[], Application]]
"""Imports what the application is made of and gives what makes it; called from another thread."""


class _NotYet:
    """Stands in while the application is loaded: what it needs of what happens now, it finds by itself."""

    async def run(self, editor: Editor, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        raise AssertionError("nothing to run yet")

    async def command(self, name: str, argument: Any) -> Any:
        raise AssertionError("commands wait for the application")

    def settings_changed(self, pushed: Mapping[str, Any] | None) -> None:
        pass

    def user_activity(self, path: str | None) -> None:
        pass

    def document_opened(self, document: Document) -> None:
        pass

    def document_changed(self, document: Document, before: str, author: Author) -> None:
        pass

    def document_saved(self, document: Document) -> None:
        pass

    def document_closed(self, document: Document) -> None:
        pass

    def files_changed(self, paths: list[str]) -> None:
        pass

    def folders_changed(self, added: list[str], removed: list[str]) -> None:
        pass

    async def content(self, uri: str) -> str:
        raise CommandError(f"{uri} is not available yet")

    def decorations(self, path: str) -> list[messages.Decoration]:
        return []

    def hunks(self, path: str) -> list[messages.Hunk]:
        return []

    def uri(self, path: str) -> str:
        return uris.from_path(path)

    async def close(self) -> None:
        pass


class Running:
    """The application: nothing yet, until it is loaded and `start` has run it."""

    def __init__(self, group: anyio.abc.TaskGroup, load: Load) -> None:
        self._group = group
        self._load = load
        self._started = anyio.Event()
        self.application: Application = _NotYet()

    async def start(self, editor: Editor) -> None:
        make = await anyio.to_thread.run_sync(self._load, abandon_on_cancel=True)
        self.application = make()
        await self._group.start(self.application.run, editor)
        self._started.set()

    async def command(self, name: str, argument: Any) -> Any:
        with anyio.move_on_after(30):  # an editor may send a command right behind `initialized`
            await self._started.wait()
        if not self._started.is_set():
            raise CommandError("the server could not start; its log says why")
        return await self.application.command(name, argument)
