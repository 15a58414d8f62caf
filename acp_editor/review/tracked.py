"""One file under review: the ledger's operations on files that may also be absent, binary, links or moved."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass

from acp_editor.core import ledger as book
from acp_editor.core.ledger import Change, Diff, Hunk, Ledger, NewId, Span
from acp_editor.review.diff import is_binary
from acp_editor.review.files import ABSENT, Version

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
    """What the buffer had just before it got what was written last."""
    signed: Signature | None = None
    signed_at: int = 0

    @property
    def pending(self) -> bool:
        return self.base != self.current or self.old_path is not None

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
        if self._is_text(now):
            ledger = book.agent_changed(self._ledger(), now.data or b"", diff, new_id, author)
            self._take(ledger, now)
        else:
            self.current, self.hunks = now, ()
        self._complete(new_id, author)

    def person(self, now: Version, diff: Diff, new_id: NewId) -> None:
        was_new = self.pending and self.base.absent
        if not self.pending or now.absent:
            self.base, self.current, self.hunks, self.old_path = now, now, (), None
        elif self._is_text(now) and not self.current.absent:
            before = self._ledger()
            ledger = book.person_changed(before, now.data or b"", diff, new_id)
            mode_is_theirs = now.mode != self.current.mode
            if ledger.base != before.base or (mode_is_theirs and not self.base.absent):
                mode = now.mode if mode_is_theirs or self.base.absent else self.base.mode
                self.base = Version(ledger.base, mode)
            self._take(ledger, now)
        else:
            self.current, self.hunks = now, ()
        self.mixed = self.pending and (self.mixed or (was_new and self.base.absent))
        self._complete(new_id, self.hunks[0].author if self.hunks else None)

    def begin_move(self, old_path: str, base: Version, diff: Diff, new_id: NewId) -> None:
        author = self.hunks[0].author if self.hunks else None
        self.base, self.old_path, self.hunks = base, old_path, ()
        if self._is_text(self.current):
            self.hunks = self._found(diff(base.data or b"", self.current.data or b""), new_id, author)
        self._complete(new_id, author)

    def end_move(self, diff: Diff, new_id: NewId) -> None:
        author = self.hunks[0].author if self.hunks else None
        self.base, self.old_path, self.hunks = ABSENT, None, ()
        if self._is_text(self.current):
            self.hunks = self._found(diff(b"", self.current.data or b""), new_id, author)
        self._complete(new_id, author)

    # -- answers ---------------------------------------------------------------------------------

    def keep(self, hunk_ids: Collection[str] | None, new_id: NewId) -> None:
        """The base gets these hunks, or everything."""
        if hunk_ids is None or self.whole(hunk_ids):
            self.base, self.hunks, self.old_path, self.mixed = self.current, (), None, False
            return
        ledger = book.kept(self._ledger(), hunk_ids)
        if ledger.base != (self.base.data or b"") or self.base.absent:
            self.base = Version(ledger.base, self.current.mode if self.base.absent else self.base.mode)
        self.hunks = ledger.hunks
        self._complete(new_id, None)

    def undone(self, hunk_ids: Collection[str] | None) -> Version:
        """What the file becomes where these hunks, or everything, go."""
        if hunk_ids is None or self.whole(hunk_ids):
            return self.base
        ledger = book.undone(self._ledger(), hunk_ids)
        return Version(ledger.current, self.current.mode if not self.current.absent else self.base.mode)

    def undo(self, hunk_ids: Collection[str] | None, new_id: NewId) -> None:
        """The file has become `undone`."""
        now = self.undone(hunk_ids)
        if hunk_ids is None or self.whole(hunk_ids):
            self.current, self.hunks, self.old_path, self.mixed = now, (), None, False
            return
        ledger = book.undone(self._ledger(), hunk_ids)
        self.current, self.hunks = now, ledger.hunks
        self._complete(new_id, None)

    def commit(self, committed: bytes, diff: Diff, new_id: NewId) -> None:
        """A commit has the file like this: what it contains is kept."""
        if committed == self.current.data:
            self.keep(None, new_id)
        elif self.base.data is not None and self._is_text(self.current) and not self.old_path:
            before = self._ledger()
            ledger = book.committed(before, committed, diff)
            if ledger is not before:
                self.base, self.hunks = Version(ledger.base, self.base.mode), ledger.hunks
                self._complete(new_id, None)

    def whole(self, hunk_ids: Collection[str]) -> bool:
        """Whether these are all hunks, or the one that stands for the file itself."""
        return all(hunk.hunk_id in hunk_ids for hunk in self.hunks)

    # -- inside ----------------------------------------------------------------------------------

    def _is_text(self, now: Version) -> bool:
        return not (self.base.is_link or now.is_link or is_binary(self.base.data or b"", now.data or b""))

    def _ledger(self) -> Ledger:
        base, current = self.base.data or b"", self.current.data or b""
        hunks = () if base == current else self.hunks
        return Ledger(base, current, hunks)

    def _take(self, ledger: Ledger, now: Version) -> None:
        self.current, self.hunks = now, ledger.hunks

    @staticmethod
    def _found(changes: Collection[Change], new_id: NewId, author: str | None) -> tuple[Hunk, ...]:
        return tuple(Hunk(new_id(), change.old, change.new, author) for change in changes)

    def _complete(self, new_id: NewId, author: str | None) -> None:
        """A change that has no lines (of mode, name, bytes) is one hunk without lines."""
        if self.pending and not self.hunks:
            self.hunks = (Hunk(new_id(), Span(0, 0), Span(0, 0), author),)
        elif not self.pending:
            self.hunks = ()
