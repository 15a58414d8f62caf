"""Who reviews a folder: one process at a time, whatever other folders it has open with it."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class Lock:
    """Held by one process, for all of its folders or for none; the system lets go when that one dies."""

    def __init__(self, state: Path, roots: Iterable[str]) -> None:
        folder = state / "locks"
        self._paths = sorted({folder / _name(root) for root in roots})
        self._handles: list[int] = []

    @property
    def held(self) -> bool:
        return bool(self._handles)

    def take(self) -> bool:
        """Whether we are the one now."""
        if self._handles:
            return True
        taken: list[int] = []
        for path in self._paths:
            if (handle := _take(path)) is None:
                for one in taken:
                    os.close(one)
                return False
            taken.append(handle)
        self._handles = taken
        return True

    def release(self) -> None:
        for handle in self._handles:
            os.close(handle)
        self._handles = []


def _name(root: str) -> str:
    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:20]


def _take(path: Path) -> int | None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle
