"""What a waiting request would do to files: two read-only documents for each, before anything is written."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from acp_editor.app.permissions import Pending
from acp_editor.core import budget, diffs
from acp_editor.core.budget import Budget, OutOfBudget
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


WAITING: Final = 2 * budget.APPLYING
"""Steps for the diffs of all requests that wait, however often their calls change."""


@dataclass(frozen=True, slots=True)
class _Made:
    """The diffs of a request, for what they were made, and the steps that it took until now."""

    call: ToolCall
    rows: list[messages.ProposedDiff]
    steps: int = 0

    def holds(self, call: ToolCall) -> bool:
        """Whether that call proposes the same."""
        mine = self.call
        return call.sequence == mine.sequence or (
            call.content is mine.content
            and call.raw_input is mine.raw_input
            and call.locations is mine.locations
            and call.kind == mine.kind
        )


class Proposals:
    """The diffs of each waiting request, made again only when what its call proposes has changed.

    Where it would take too long to find out what files become, the pieces are shown that it is about.
    """

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
        self._made: dict[str, _Made] = {}
        self._left = WAITING

    def of(self, pending: Pending, call: ToolCall | None) -> list[messages.ProposedDiff]:
        if call is None:
            return []
        made = self._made.get(pending.request_id)
        if made is None or not made.holds(call):
            before = made.steps if made else 0
            room = max(0, min(budget.APPLYING - before, self._left))
            steps = Budget(room)
            rows = self._make(pending, call, steps)
            took = room - max(0, steps.left)
            self._left -= took
            made = self._made[pending.request_id] = _Made(call, rows, before + took)
        return made.rows

    def forget(self, pending: Pending) -> None:
        if made := self._made.pop(pending.request_id, None):
            self._left += made.steps
            self._documents.drop(pending.request_id)

    def _make(self, pending: Pending, call: ToolCall, steps: Budget) -> list[messages.ProposedDiff]:
        by_path: dict[str, list[diffs.Proposal]] = {}
        for proposal in diffs.proposals(call, pending.entry.cwd):
            by_path.setdefault(proposal.path, []).append(proposal)
        made: list[messages.ProposedDiff] = []
        for path, proposals in by_path.items():
            old_path = next((p.old_path for p in proposals if p.old_path), None)
            try:
                now, after = self._texts(path, old_path, proposals, steps)
            except OutOfBudget:
                now, after = diffs.pieces(proposals)
            query = pending.request_id
            made.append(
                {
                    "uri": self._uri(path),
                    "original": self._documents.put("acp-original", old_path or path, query, now or ""),
                    "modified": self._documents.put("acp-proposed", path, query, after or ""),
                }
            )
        return made

    def _texts(
        self, path: str, old_path: str | None, proposals: list[diffs.Proposal], steps: Budget
    ) -> tuple[str | None, str | None]:
        """What the file is, and what it becomes."""
        steps.spend(1)
        now = self._read(old_path or path)
        steps.pass_over(now or "")
        after = diffs.apply(proposals, now, steps)
        if after is None or after == now:  # written before it was asked for, or nowhere to be found
            return self._before(path), now
        return now, after
