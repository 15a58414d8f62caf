"""The objects of a store: git's loose format, written and read so that other threads can go on meanwhile.

libgit2's own binding holds the interpreter's lock while it packs, unpacks and hashes: for a file of 10 MB
that is a quarter of a second in which nobody is answered.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import sys
import time
import zlib
from collections.abc import Collection
from pathlib import Path

_AGE = 3600.0
"""Seconds that an object is left alone, whoever may need it."""


def identity(data: bytes) -> str:
    """The name that git gives these bytes."""
    made = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    made.update(data)
    return made.hexdigest()


def write(store: Path, data: bytes) -> str:
    """Puts an object into the store and returns its name; one that is damaged is replaced. Raises OSError."""
    oid = identity(data)
    path = _path(store, oid)
    if not (path.exists() and _is_whole(store, oid)):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f"tmp_obj_{secrets.token_hex(6)}")
        try:
            with beside.open("xb") as file:
                file.write(zlib.compress(b"blob %d\0" % len(data) + data, 1))
            if sys.platform != "win32":  # there it could not be removed any more
                beside.chmod(0o444)
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    return oid


def read(store: Path, oid: str) -> bytes:
    """The bytes of an object; KeyError where the store has it not, or not whole."""
    try:
        raw = zlib.decompress(_path(store, oid).read_bytes())
    except (OSError, zlib.error) as error:
        raise KeyError(oid) from error
    head, _, data = raw.partition(b"\0")
    if head != b"blob %d" % len(data) or identity(data) != oid:
        raise KeyError(oid)
    return data


def has(store: Path, oid: str) -> bool:
    """Whether the store has an object, told without reading it."""
    return _path(store, oid).exists()


def _is_whole(store: Path, oid: str) -> bool:
    try:
        read(store, oid)
    except KeyError:
        return False
    return True


def prune(store: Path, wanted: Collection[str], now: float | None = None) -> int:
    """Removes the objects that nothing needs any more; returns how many."""
    now = time.time() if now is None else now
    removed = 0
    for folder in (store / "objects").glob("??"):
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if folder.name + entry.name in wanted or now - entry.stat().st_mtime < _AGE:
                    continue
                os.unlink(entry.path)
                removed += 1
    return removed


def _path(store: Path, oid: str) -> Path:
    return store / "objects" / oid[:2] / oid[2:]
