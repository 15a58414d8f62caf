"""The editor's open documents, as it told us, and whether a change was made by the person.

A document is clean while its text is the one last known to be on the disk. The disk is looked at
when its stamp (time and size) has moved, not at every key.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import anyio
from lsprotocol import types

from acp_editor.core import text as lines
from acp_editor.lsp import uris

Author: TypeAlias = Literal["person", "disk", "us"]
"""Who made a change: the person, a reload because the file changed, or an edit that we asked for."""


@dataclass(slots=True)
class Document:
    uri: str
    path: str
    language: str
    version: int
    text: str
    saved: str
    """The text that is known to be on the disk."""
    stamp: tuple[int, int] | None
    expected: list[str] = field(default_factory=list[str])
    """Texts that our own edits lead to and that the editor has not reported yet."""
    told: anyio.Event = field(default_factory=anyio.Event)
    """Set, and made anew, at every change."""

    @property
    def dirty(self) -> bool:
        return self.text != self.saved


class Documents:
    """All open documents by path. `encoding` is the negotiated position encoding."""

    def __init__(self, encoding: lines.Encoding = "utf-16") -> None:
        self.encoding: lines.Encoding = encoding
        self._by_path: dict[str, Document] = {}

    def get(self, path: str) -> Document | None:
        return self._by_path.get(path)

    def find(self, real: str) -> Document | None:
        """By the real path of the file, also where the editor opened it by the name of a link."""
        if (document := self._by_path.get(real)) is not None:
            return document
        return next((d for d in self._by_path.values() if os.path.realpath(d.path) == real), None)

    def __iter__(self):
        return iter(list(self._by_path.values()))

    def opened(self, item: types.TextDocumentItem) -> Document | None:
        path = uris.to_path(item.uri)
        if path is None:
            return None
        document = Document(item.uri, path, item.language_id, item.version, item.text, item.text, None)
        disk = read_disk(path)
        document.stamp = stamp(path)
        if disk is not None and not same_text(disk, item.text):
            document.saved = disk  # opened with changes that were never saved (hot exit)
        self._by_path[path] = document
        return document

    def changed(self, params: types.DidChangeTextDocumentParams) -> tuple[Document, str, Author] | None:
        """Applies the changes; gives the document, its text before, and whose change it was."""
        path = uris.to_path(params.text_document.uri)
        document = self._by_path.get(path) if path else None
        if document is None:
            return None
        before = document.text
        document.text = apply(before, params.content_changes, self.encoding)
        document.version = params.text_document.version
        document.told.set()
        document.told = anyio.Event()
        return document, before, self._author(document)

    def saved(self, uri: str, text: str | None) -> Document | None:
        path = uris.to_path(uri)
        document = self._by_path.get(path) if path else None
        if document is None:
            return None
        if text is not None:
            document.text = text
        document.saved = document.text
        document.stamp = stamp(document.path)
        return document

    def closed(self, uri: str) -> Document | None:
        path = uris.to_path(uri)
        return self._by_path.pop(path, None) if path else None

    def _author(self, document: Document) -> Author:
        for index, expected in enumerate(document.expected):
            if same_text(expected, document.text):
                del document.expected[: index + 1]
                return "us"
        now = stamp(document.path)
        if now != document.stamp:
            disk = read_disk(document.path)
            if disk is not None and same_text(disk, document.text):
                document.saved = document.text
                document.stamp = now
                return "disk"
        return "person"


def apply(
    text: str,
    changes: Sequence[types.TextDocumentContentChangePartial | types.TextDocumentContentChangeWholeDocument],
    encoding: lines.Encoding,
) -> str:
    """LSP's content changes, one after another."""
    edits: list[lines.Edit] = []
    for change in changes:
        span: lines.Span | None = None
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = change.range.start, change.range.end
            span = lines.Span(
                lines.Position(start.line, start.character), lines.Position(end.line, end.character)
            )
        edits.append(lines.Edit(span, change.text))
    return lines.apply_edits(text, edits, encoding)


def same_text(disk: str, buffer: str) -> bool:
    """Whether a buffer shows that text: editors drop the byte order mark and unify line ends."""
    disk, buffer = disk.removeprefix("\ufeff"), buffer.removeprefix("\ufeff")
    if disk == buffer:
        return True
    if "\r" not in disk and "\r" not in buffer:
        return False
    return lines.with_line_end(disk, "\n") == lines.with_line_end(buffer, "\n")


def read_disk(path: str) -> str | None:
    """The file's text as an editor shows it, None where there is no regular file."""
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace")
    except OSError:
        return None


def stamp(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
