"""One file under review: the ledger's operations on files that may also be absent, binary, links or moved."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from dataclasses import dataclass

from acp_editor.core import ledger as book
from acp_editor.core.ledger import Diff, Hunk, Ledger, NewId, Span
from acp_editor.review import textlines
from acp_editor.review.versions import ABSENT, Lost, Version

Signature = tuple[int, int, int, int, int]
"""Change time, modification time, size, inode and mode: where none differs, the file was not written."""

_TICK = 50_000_000
"""Nanoseconds in which a file may change twice and be stamped the same."""


def signature(path: str) -> Signature | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode


@dataclass(frozen=True, slots=True)
class State:
    """What can be put back as it was."""

    base: Version
    current: Version
    hunks: tuple[Hunk, ...]
    old_path: str | None
    mixed: bool


@dataclass(slots=True)
class Tracked:
    """A file that is open or has unanswered changes.

    `current` is the buffer where the file is open, else the disk; `disk` is what was last seen there.
    Where what it was is lost, its change is one hunk without lines, and no operation says so but an answer.
    `mixed` says that the person typed into a file that the agent made.
    """

    path: str
    base: Version
    current: Version
    disk: Version
    hunks: tuple[Hunk, ...] = ()
    old_path: str | None = None
    mixed: bool = False
    turn: int = 0
    """The turn in which the agent last touched it."""
    before: State | None = None
    """As it was before the agent's last write to the disk, until the buffer has it."""
    reloaded: State | None = None
    """As it was before the last write that the buffer has by now: a save may tell whose that was."""
    typed_from: Version | None = None
    """What the buffer had read from the disk before it got what was written last, if it was seen to."""
    signed: Signature | None = None
    signed_at: int = 0

    @property
    def pending(self) -> bool:
        return self.base != self.current or self.old_path is not None

    @property
    def versions(self) -> tuple[Version, ...]:
        """What it is and was, each once."""
        if self.disk is self.current:
            return self.base, self.current
        return self.base, self.current, self.disk

    def unwritten(self, signed: Signature | None) -> bool:
        """Whether the file was not written since it was read, as far as its signature can tell."""
        return signed is not None and self.signed == signed and signed[0] < self.signed_at - _TICK

    @property
    def state(self) -> State:
        return State(self.base, self.current, self.hunks, self.old_path, self.mixed)

    def put_back(self, state: State) -> None:
        self.base, self.current, self.hunks = state.base, state.current, state.hunks
        self.old_path, self.mixed = state.old_path, state.mixed

    # -- changes ---------------------------------------------------------------------------------

    def agent(self, now: Version, diff: Diff, new_id: NewId, author: str | None) -> None:
        hunks: tuple[Hunk, ...] = ()
        with contextlib.suppress(Lost):
            if self._is_text(now):
                shown = textlines.show(now.data or b"")
                hunks = book.agent_changed(self._ledger(), shown, diff, new_id, author).hunks
        self.current, self.hunks = now, hunks
        self._complete(new_id, author)

    def refine(self, before: State, diff: Diff, new_id: NewId) -> None:
        """Its hunks are looked for anew; those that it had `before` stay what they were."""
        with contextlib.suppress(Lost):
            if self._is_text(self.current):
                author = self.hunks[0].author if self.hunks else None
                known = _ledger(before.base, before.current, before.hunks)
                self.hunks = book.refined(known, self._ledger(), diff, new_id, author).hunks
                self._complete(new_id, author)

    def person(self, now: Version, diff: Diff, new_id: NewId) -> None:
        was_new = self.pending and self.base.absent
        try:
            self._person(now, diff, new_id)
        except Lost:
            self.current, self.hunks = now, ()
        self.mixed = self.pending and (self.mixed or (was_new and self.base.absent))
        self._complete(new_id, self.hunks[0].author if self.hunks else None)

    def _person(self, now: Version, diff: Diff, new_id: NewId) -> None:
        if not self.pending or now.absent:
            self.base, self.current, self.hunks, self.old_path = now, now, (), None
        elif self._is_text(now) and not self.current.absent and not self._has_lines():
            self.current = now
            self._compare(diff, new_id, self.hunks[0].author if self.hunks else None)
        elif self._is_text(now) and not self.current.absent:
            before = self._ledger()
            ledger = book.person_changed(before, textlines.show(now.data or b""), diff, new_id)
            mode_is_theirs = now.mode != self.current.mode
            base = self.base
            if ledger.base != before.base or (mode_is_theirs and not base.absent):
                mode = now.mode if mode_is_theirs or base.absent else base.mode
                base = Version(textlines.back(ledger.base, base.data or now.data or b""), mode)
            self._take(ledger, base, now, diff, new_id)
        else:
            self.current, self.hunks = now, ()

    def begin_move(self, old_path: str, base: Version, diff: Diff, new_id: NewId) -> None:
        author = self.hunks[0].author if self.hunks else None
        self.base, self.old_path = base, old_path
        self._compare(diff, new_id, author)

    def end_move(self, diff: Diff, new_id: NewId) -> None:
        author = self.hunks[0].author if self.hunks else None
        self.base, self.old_path = ABSENT, None
        self._compare(diff, new_id, author)

    # -- answers ---------------------------------------------------------------------------------

    def keep(self, hunk_ids: Collection[str] | None, diff: Diff, new_id: NewId) -> None:
        """The base gets these hunks, or everything."""
        if hunk_ids is None or self.whole(hunk_ids):
            self.base, self.hunks, self.old_path, self.mixed = self.current, (), None, False
            return
        before = self._ledger()
        ledger = book.kept(before, hunk_ids)
        base = self.base
        if ledger.base != before.base or base.absent:
            like = (self.current if base.absent else base).data or b""
            base = Version(textlines.back(ledger.base, like), self.current.mode if base.absent else base.mode)
        self._take(ledger, base, self.current, diff, new_id)
        self._complete(new_id, None)

    def undone(self, hunk_ids: Collection[str] | None) -> Version:
        """What the file becomes where these hunks, or everything, go."""
        if hunk_ids is None or self.whole(hunk_ids):
            return self.base
        current = book.undone(self._ledger(), hunk_ids).current
        like = self.base if self.current.absent else self.current
        return Version(textlines.back(current, like.data or b""), like.mode)

    def undo(self, hunk_ids: Collection[str] | None, diff: Diff, new_id: NewId) -> None:
        """The file has become `undone`."""
        now = self.undone(hunk_ids)
        if hunk_ids is None or self.whole(hunk_ids):
            self.current, self.hunks, self.old_path, self.mixed = now, (), None, False
            return
        self._take(book.undone(self._ledger(), hunk_ids), self.base, now, diff, new_id)
        self._complete(new_id, None)

    def commit(self, committed: bytes, diff: Diff, new_id: NewId) -> None:
        """A commit has the file like this: what it contains is kept."""
        if committed == self.current.data:
            self.keep(None, diff, new_id)
        elif not self.base.absent and self._is_text(self.current) and not self.old_path:
            before = self._ledger()
            ledger = book.committed(before, textlines.show(committed), diff)
            if ledger is not before:
                base = Version(textlines.back(ledger.base, self.base.data or b""), self.base.mode)
                self._take(ledger, base, self.current, diff, new_id)
                self._complete(new_id, None)

    def whole(self, hunk_ids: Collection[str]) -> bool:
        """Whether these are all hunks, or the one that stands for the file itself."""
        return all(hunk.hunk_id in hunk_ids for hunk in self.hunks)

    # -- inside ----------------------------------------------------------------------------------

    def _is_text(self, now: Version) -> bool:
        if self.base.is_link or now.is_link:
            return False
        return textlines.is_text(self.base.data or b"") and textlines.is_text(now.data or b"")

    def _has_lines(self) -> bool:
        """Whether its hunks are those of its lines; not where these were lost for a while."""
        if not self._is_text(self.current):
            return False
        hunks = self._ledger().hunks
        return not hunks or any(len(hunk.original) or len(hunk.modified) for hunk in hunks)

    def _ledger(self) -> Ledger:
        return _ledger(self.base, self.current, self.hunks)

    def _take(self, ledger: Ledger, base: Version, current: Version, diff: Diff, new_id: NewId) -> None:
        """What the ledger says; where lines have run into each other (`\\r\\n`), they are compared anew."""
        self.base, self.current, self.hunks = base, current, ledger.hunks
        shown = self._ledger()
        if (shown.base, shown.current) != (ledger.base, ledger.current):
            self._compare(diff, new_id, self.hunks[0].author if self.hunks else None)

    def _compare(self, diff: Diff, new_id: NewId, author: str | None) -> None:
        self.hunks = ()
        with contextlib.suppress(Lost):
            if self._is_text(self.current):
                ledger = self._ledger()
                self.hunks = book.opened(ledger.base, ledger.current, diff, new_id, author).hunks
        self._complete(new_id, author)

    def _complete(self, new_id: NewId, author: str | None) -> None:
        """A change that has no lines (of mode, name, bytes) is one hunk without lines."""
        if self.pending and not self.hunks:
            self.hunks = (Hunk(new_id(), Span(0, 0), Span(0, 0), author),)
        elif not self.pending:
            self.hunks = ()


def _ledger(base: Version, current: Version, hunks: tuple[Hunk, ...]) -> Ledger:
    old, new = textlines.show(base.data or b""), textlines.show(current.data or b"")
    return Ledger(old, new, () if old == new else hunks)
