"""Texts before the unanswered changes: the editor asks for those that it shows at every change."""

from __future__ import annotations

from collections import OrderedDict

from acp_editor.review.documents import Documents
from acp_editor.review.tracked import Tracked
from acp_editor.review.versions import Lost, Version

_ROOM = 8 * 1024 * 1024
"""Characters of texts that are set aside, those asked for last; what is beyond is read anew each time."""


class Originals:
    """For one thread; what it reads is not kept in the file under review, since that may be set aside."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[Version, str]] = OrderedDict()
        self._count = 0

    def text(self, documents: Documents, tracked: Tracked) -> str | None:
        """The text of its base; "" for a new file, None where it is lost."""
        base = tracked.base
        known = self._known.get(tracked.path)
        if known is not None and known[0] is base and base.aside:
            self._known.move_to_end(tracked.path)
            return known[1]
        aside = base.aside
        try:
            text = documents.text(tracked, base)
        except Lost:
            return None
        if aside:
            self._keep(tracked.path, base, text)
        return text

    def _keep(self, path: str, base: Version, text: str) -> None:
        if (old := self._known.pop(path, None)) is not None:
            self._count -= len(old[1])
        self._known[path] = (base, text)
        self._count += len(text)
        while self._count > _ROOM:
            _, (_, oldest) = self._known.popitem(last=False)
            self._count -= len(oldest)
