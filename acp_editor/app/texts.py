"""What is in a file now: the buffer where it is open, else the disk."""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from typing import Final

from acp_editor.lsp.documents import Documents

MAX_SIZE: Final = 16 * 1024 * 1024
"""Bytes; a larger file counts as having no text, so that no look at it holds anything up."""
_KEPT: Final = 64
_ROOM: Final = 4 * MAX_SIZE
"""Characters of all texts of the disk that are kept, the newest that were read."""


class Texts:
    """Reads files for places, marks and proposals; the disk's are kept until their stamp moves."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._kept: OrderedDict[str, tuple[tuple[int, int, int], str | None]] = OrderedDict()
        self._size = 0

    def read(self, path: str) -> str | None:
        """None where there is no regular file or it is not a text."""
        if (document := self._documents.get(path)) is not None:
            return document.text
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        mark = (status.st_mtime_ns, status.st_size, status.st_ino)
        if (kept := self._kept.get(path)) is not None and kept[0] == mark:
            self._kept.move_to_end(path)
            return kept[1]
        text = _load(path) if status.st_size <= MAX_SIZE else ""
        if kept is not None:
            self._let_go(path)
        self._kept[path] = (mark, text)
        self._size += len(text or "")
        while len(self._kept) > _KEPT or self._size > _ROOM:
            self._let_go(next(iter(self._kept)))
        return text

    def _let_go(self, path: str) -> None:
        self._size -= len(self._kept.pop(path)[1] or "")


def _load(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    return None if b"\0" in data[:8192] else data.decode("utf-8", "replace")
