"""Whose each hunk is, as far as the calls of the agent tell; what the strongest evidence said stays."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from acp_editor.core import ledger as book
from acp_editor.core.ledger import Hunk
from acp_editor.core.model import ToolCall
from acp_editor.review import files, textlines
from acp_editor.review.attribution import Evidence, Witnesses, author
from acp_editor.review.tracked import Tracked
from acp_editor.review.turns import Turns
from acp_editor.review.versions import Lost, Version

_SURE = 3
"""The strength from which on nothing that is heard later is stronger."""
_MOST = 500
"""Files whose author is not known and that are looked at again when a call begins or ends."""

_MOST_SIGNS = 50_000
"""Hunks of which it is known how their authors were found, the newest."""


@dataclass(frozen=True, slots=True)
class _Sign:
    """How strong the evidence was, and when the file changed that a hunk was found in."""

    strength: int
    moment: float


class Authors:
    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self.witnesses = Witnesses()
        self._signs: dict[str, _Sign] = {}
        self._unsigned: dict[str, None] = {}

    def sign(self, tracked: Tracked, writer: str | None) -> None:
        """Gives hunks their authors; `writer` is the call for which we write the file just now."""
        changed_at: float | None = None
        unknown = False
        texts: tuple[list[bytes], list[bytes]] | None = None
        found_at: dict[float, list[Evidence]] = {}
        signed: list[Hunk] = []
        for hunk in tracked.hunks:
            sign = self._signs.get(hunk.hunk_id)
            if sign is None:
                changed_at = files.changed_at(tracked.path) if changed_at is None else changed_at
                sign = _Sign(0, changed_at)
            if sign.strength < _SURE and writer is not None:
                hunk, sign = replace(hunk, author=writer), replace(sign, strength=_SURE)
            elif sign.strength < _SURE:
                if (candidates := found_at.get(sign.moment)) is None:
                    at_work = self._turns.work.at_work(sign.moment)
                    candidates = found_at[sign.moment] = self.witnesses.candidates(tracked.path, at_work)
                if candidates:
                    if texts is None:
                        texts = _texts(tracked)
                    removed = texts[0][hunk.original.start : hunk.original.end]
                    added = texts[1][hunk.modified.start : hunk.modified.end]
                    found = author(tracked.path, candidates, removed, added)
                    if found.strength > sign.strength:
                        hunk = replace(hunk, author=found.call_id)
                        sign = replace(sign, strength=found.strength)
            self._signs[hunk.hunk_id] = sign
            if len(self._signs) > _MOST_SIGNS:
                del self._signs[next(iter(self._signs))]
            unknown = unknown or not sign.strength
            signed.append(hunk)
        tracked.hunks = tuple(signed)
        self._unsigned.pop(tracked.path, None)
        if unknown:
            self._unsigned[tracked.path] = None
            if len(self._unsigned) > _MOST:
                del self._unsigned[next(iter(self._unsigned))]

    def hear(self, call: ToolCall, cwd: str) -> Iterator[str]:
        """A tool call said something; the files of which that may tell whose their hunks are."""
        known = self.witnesses.get(call.tool_call_id)
        found = self.witnesses.hear(call, cwd)
        yield from found.paths
        if found.may_write_anything and (known is None or known.active != found.active):
            yield from list(self._unsigned)

    def turn_over(self) -> None:
        self.witnesses.turn_over()
        self._unsigned.clear()

    def forget(self, tracked: Collection[Tracked]) -> None:
        """Drops what is known of hunks that are not there any more, once these are many."""
        if len(self._signs) > 1000 + 2 * sum(len(one.hunks) for one in tracked):
            ids = {hunk.hunk_id for one in tracked for hunk in one.hunks}
            self._signs = {name: sign for name, sign in self._signs.items() if name in ids}


def _texts(tracked: Tracked) -> tuple[list[bytes], list[bytes]]:
    """The lines of what it was and is; none where these are lost: the names of files tell, then."""
    try:
        return _lines(tracked.base), _lines(tracked.current)
    except Lost:
        return [], []


def _lines(version: Version) -> list[bytes]:
    data = version.data or b""
    return book.lines(textlines.show(data) if textlines.is_text(data) else data)
