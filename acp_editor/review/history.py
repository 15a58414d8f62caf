"""The user's git, read only: what the last movement of a branch was, and what it has of a file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pygit2

from acp_editor.review import ignores


@dataclass(frozen=True, slots=True)
class Position:
    """Where a repository stands: the commit and the newest stash."""

    head: str | None = None
    stash: str | None = None
    reason: str = ""
    """What the reflog says of how it came there, such as `commit: fix` or `checkout: moving from a to b`."""

    @property
    def committed(self) -> bool:
        return self.reason.startswith("commit")


@dataclass(slots=True)
class Moved:
    """What the user's git did since the last look: where it stood and where it stands, a repository each."""

    positions: dict[str, tuple[Position, Position]] = field(
        default_factory=dict[str, tuple[Position, Position]]
    )


class History:
    """One folder's repository, if it has one."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)
        self._repository = ignores.repository(root)
        self._stamp: tuple[int, ...] = ()
        self.position = self._read()

    @property
    def changed(self) -> bool:
        """Whether there is something new to read."""
        return self._repository is not None and self._stamps() != self._stamp

    def moved(self) -> tuple[Position, Position] | None:
        """Where it stood when last asked and where it stands now, if that differs. Costs a few stats."""
        if self._repository is None:
            return None
        stamp = self._stamps()
        if stamp == self._stamp:
            return None
        self._stamp = stamp
        before, self.position = self.position, self._read()
        if (before.head, before.stash) == (self.position.head, self.position.stash):
            return None
        return before, self.position

    def _stamps(self) -> tuple[int, ...]:
        assert self._repository is not None
        found: list[int] = []
        for name in ("HEAD", "logs/HEAD", "logs/refs/stash", "index", "packed-refs"):
            try:
                status = os.stat(Path(self._repository.path) / name)
                found += [status.st_mtime_ns, status.st_size, status.st_ino]
            except OSError:
                found.append(0)
        return tuple(found)

    def _read(self) -> Position:
        if self._repository is None:
            return Position()
        self._stamp = self._stamps()
        head = stash = None
        reason = ""
        try:
            head = str(self._repository.head.target)
            for entry in self._repository.references["HEAD"].log():
                reason = entry.message or ""
                break
        except (pygit2.GitError, KeyError, ValueError):
            pass
        try:
            stash = str(self._repository.references["refs/stash"].target)
        except (pygit2.GitError, KeyError, ValueError):
            pass
        return Position(head, stash, reason)

    def committed(self, path: str) -> bytes | None:
        """The file in the commit that is checked out; None where it has none. `path` is absolute."""
        return self._at(path, None)

    def _at(self, path: str, commit: str | None) -> bytes | None:
        if self._repository is None or self._repository.is_bare:
            return None
        real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        relative = os.path.relpath(real, os.path.realpath(self._repository.workdir))
        try:
            start = self._repository.head if commit is None else self._repository[commit]
            found = start.peel(pygit2.Tree)[relative.replace(os.sep, "/")]
        except (pygit2.GitError, KeyError, ValueError):
            return None
        return found.data if isinstance(found, pygit2.Blob) else None

    def has(self, path: str, data: bytes | None, stash: str | None = None) -> bool:
        """Whether the commit, or a stash, has the file as it is here, line ends aside."""
        if stash is not None and alike(self._at(path, stash), data):
            return True
        return alike(self.committed(path), data)


class Histories:
    """Those of all folders, by their roots."""

    def __init__(self) -> None:
        self._by_root: dict[str, History] = {}

    def of(self, root: str) -> History:
        if root not in self._by_root:
            self._by_root[root] = History(root)
        return self._by_root[root]

    @property
    def changed(self) -> bool:
        """Whether a repository's branch has moved since the last look."""
        return any(history.changed for history in self._by_root.values())

    def moved(self, roots: Iterable[str]) -> Moved:
        """What has moved since this was asked last, in folders that were asked for then."""
        moved = Moved()
        for root in roots:
            if (positions := self.of(root).moved()) is not None:
                moved.positions[root] = positions
        return moved


def alike(committed: bytes | None, data: bytes | None) -> bool:
    """Whether what a commit has is what the file has, line ends aside."""
    if committed is None or data is None:
        return committed is None and data is None
    return committed == data or committed == data.replace(b"\r\n", b"\n")
