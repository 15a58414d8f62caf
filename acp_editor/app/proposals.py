"""What a waiting request would do to files: two read-only documents for each, before anything is written."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from acp_editor.app.permissions import Pending
from acp_editor.core import diffs
from acp_editor.core.model import ToolCall
from acp_editor.lsp import messages, uris


class Documents:
    """Texts that are served to the editor under URIs of our own.

    An editor without `workspace/textDocumentContent` gets read-only temporary files instead.
    """

    def __init__(self, served: bool) -> None:
        self._served = served
        self._texts: dict[tuple[str, str, str], str] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @staticmethod
    def name(scheme: str, path: str, query: str) -> str:
        """The URI of a document that is served."""
        return uris.from_path(path, scheme, query)

    def put(self, scheme: str, path: str, query: str, text: str) -> str:
        """Makes the document; gives the URI under which the editor finds it."""
        uri = self.name(scheme, path, query)
        if self._served:
            self._texts[_key(uri)] = text
            return uri
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="acp-editor-")
        # Files of one name are in many folders.
        place = hashlib.sha256(os.fsencode(os.path.dirname(path))).hexdigest()[:12]
        folder = Path(self._folder.name, scheme, query or "now", place)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / os.path.basename(path)
        if file.exists():
            file.chmod(stat.S_IRUSR | stat.S_IWUSR)
        file.write_text(text, encoding="utf-8", errors="replace", newline="")
        file.chmod(stat.S_IRUSR)
        return file.as_uri()

    def get(self, uri: str) -> str | None:
        return self._texts.get(_key(uri))

    def drop(self, query: str) -> None:
        for key in [key for key in self._texts if key[2] == query]:
            del self._texts[key]
        if self._folder is not None:
            for scheme in ("acp-original", "acp-proposed"):
                shutil.rmtree(Path(self._folder.name, scheme, query), ignore_errors=True)

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def _key(uri: str) -> tuple[str, str, str]:
    """Editors write URIs in their own way: VS Code asks for `scheme:/x` where we said `scheme:///x`."""
    parts = urlsplit(uri)
    return parts.scheme, unquote(parts.path), unquote(parts.query)


class Proposals:
    """The diffs of each waiting request, made again only when its call has changed."""

    def __init__(
        self,
        documents: Documents,
        read: Callable[[str], str | None],
        before: Callable[[str], str | None],
        uri: Callable[[str], str],
    ) -> None:
        self._documents = documents
        self._read = read
        self._before = before
        self._uri = uri
        self._made: dict[str, tuple[int, list[messages.ProposedDiff]]] = {}

    def of(self, pending: Pending, call: ToolCall | None) -> list[messages.ProposedDiff]:
        if call is None:
            return []
        made = self._made.get(pending.request_id)
        if made is None or made[0] != call.sequence:
            made = (call.sequence, self._make(pending, call))
            self._made[pending.request_id] = made
        return made[1]

    def forget(self, pending: Pending) -> None:
        if self._made.pop(pending.request_id, None):
            self._documents.drop(pending.request_id)

    def _make(self, pending: Pending, call: ToolCall) -> list[messages.ProposedDiff]:
        by_path: dict[str, list[diffs.Proposal]] = {}
        for proposal in diffs.proposals(call, pending.entry.cwd):
            by_path.setdefault(proposal.path, []).append(proposal)
        made: list[messages.ProposedDiff] = []
        for path, proposals in by_path.items():
            old_path = next((p.old_path for p in proposals if p.old_path), None)
            now = self._read(path) if old_path is None else self._read(old_path)
            after = diffs.apply(proposals, now)
            if after is None or after == now:  # written before it was asked for, or nowhere to be found
                now, after = self._before(path), now
            query = pending.request_id
            made.append(
                {
                    "uri": self._uri(path),
                    "original": self._documents.put("acp-original", old_path or path, query, now or ""),
                    "modified": self._documents.put("acp-proposed", path, query, after or ""),
                }
            )
        return made
