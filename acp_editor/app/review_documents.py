"""The two sides of a file's review as documents that follow it: a keep or an undo changes them at once."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from acp_editor.lsp import messages
from acp_editor.review.changes import FileChange

if TYPE_CHECKING:
    from acp_editor.app.app import App

_QUERY: Final = "review"
_MOST: Final = 200
"""Documents that are kept fresh; of more, those that were read last."""


class ReviewDocuments:
    """Keeps what the editor has read of them, so that it is told only of what has become another text."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._given: OrderedDict[tuple[str, str], tuple[str, str]] = OrderedDict()
        """The URI and the text that were given, by scheme and path."""

    def pair(self, change: FileChange) -> messages.DiffDocuments:
        """The file before the agent's unreviewed changes, and as it is now."""
        original = self._put("acp-original", change.path)
        if change.operation == "delete":
            return {"original": original, "modified": self._put("acp-proposed", change.path)}
        return {"original": original, "modified": self._app.uri(change.path)}

    def content(self, uri: str) -> str | None:
        """The text as it is now; None where the URI is of another kind."""
        parts = urlsplit(uri)
        if parts.scheme not in ("acp-original", "acp-proposed") or unquote(parts.query) not in (_QUERY, ""):
            return None
        path = unquote(parts.path, errors="surrogateescape")
        text = self._text(parts.scheme, path)
        self._remember(parts.scheme, path, uri, text)
        return text

    def refresh(self) -> None:
        """Something was kept, undone or changed: tells of the documents that are not as they were read."""
        for (scheme, path), (uri, text) in list(self._given.items()):
            if self._text(scheme, path) == text:
                continue
            if self._app.editor.client.content:
                self._app.surfaces.document_changed(uri)
            else:
                self._put(scheme, path)

    def _put(self, scheme: str, path: str) -> str:
        text = self._text(scheme, path)
        if self._app.editor.client.content:
            return self._app.documents.name(scheme, path, _QUERY)
        uri = self._app.documents.put(scheme, path, _QUERY, text)
        self._remember(scheme, path, uri, text)
        return uri

    def _remember(self, scheme: str, path: str, uri: str, text: str) -> None:
        self._given[scheme, path] = (uri, text)
        self._given.move_to_end((scheme, path))
        if len(self._given) > _MOST:
            self._given.popitem(last=False)

    def _text(self, scheme: str, path: str) -> str:
        if scheme == "acp-original" and (original := self._app.review.original(path)) is not None:
            return original
        return self._app.texts.read(path) or ""
