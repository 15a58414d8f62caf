"""Files as bytes and a mode: read, written and removed so that none is ever half there."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import sys
from collections.abc import Mapping

from acp_editor.review.versions import ABSENT, LINK, Version

TEMPORARY = ".acp-editor-*.tmp"
"""What files that are being written are called, as a pattern of git's."""


def read(path: str, limit: int | None = None) -> Version:
    """What is at the path; ABSENT for a folder or a device.

    Raises OSError where reading is refused, or where a file has more than `limit` bytes.
    """
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            return Version(os.fsencode(os.readlink(path)), LINK)
        if not stat.S_ISREG(status.st_mode):
            return ABSENT
        if limit is not None and status.st_size > limit:
            raise OSError(errno.EFBIG, f"larger than {limit // 1024} KB", path)
        with open(path, "rb") as file:
            return Version(file.read(), os.fstat(file.fileno()).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENAMETOOLONG):
            return ABSENT
        raise


def permissions(path: str) -> int | None:
    """The permission bits of a regular file."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return stat.S_IMODE(status.st_mode) if stat.S_ISREG(status.st_mode) else None


def changed_at(path: str) -> float:
    """When the path last changed, in seconds of the system's clock; for one that is gone, its folder."""
    while True:
        try:
            return os.lstat(path).st_ctime
        except OSError:
            above = os.path.dirname(path)
            if above == path:
                return 0.0
            path = above


class Changed(OSError):
    """A file is not any more what it was thought to be, so it was left alone."""


def put(
    path: str,
    version: Version,
    expected: Version | None = None,
    folders: Mapping[str, int] | None = None,
) -> None:
    """Makes the path hold a version, by a temporary file and a rename; missing folders are made.

    Just before that the path has to hold `expected`, else Changed is raised. `folders` has the permission
    bits of folders that may have to be made. Raises OSError and then leaves what was there.
    """
    data = version.data  # which may be lost: before anything is done
    if data is None:
        _check(path, expected)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(path)
        return
    _make_folders(os.path.dirname(path), folders or {})
    name = temporary(path)
    remove_temporary(path)
    try:
        if version.is_link:
            os.symlink(os.fsdecode(data), name)
        else:
            _write(name, data, version.mode, path)
        _check(path, expected)
        os.replace(name, path)
    except BaseException:
        remove_temporary(path)
        raise


def temporary(path: str) -> str:
    """The name under which a file is written before it takes its place: always the same one for a path."""
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return os.path.join(os.path.dirname(path), TEMPORARY.replace("*", name))


def remove_temporary(path: str) -> None:
    """Removes what a write of the path left behind that was cut short by our end."""
    with contextlib.suppress(OSError):
        os.unlink(temporary(path))


def _check(path: str, expected: Version | None) -> None:
    if expected is not None and read(path) != expected:
        raise Changed(errno.ESTALE, "has just changed", path)


def _write(name: str, data: bytes, mode: int, path: str) -> None:
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        if sys.platform != "win32":
            with contextlib.suppress(OSError):
                before = os.lstat(path)
                if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                    os.fchown(file.fileno(), before.st_uid, before.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(mode))
        os.fsync(file.fileno())


def _make_folders(folder: str, bits: Mapping[str, int]) -> None:
    if not folder or os.path.isdir(folder):
        return
    _make_folders(os.path.dirname(folder), bits)
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder)
        if folder in bits:
            os.chmod(folder, bits[folder])


def set_mode(path: str, mode: int) -> None:
    """Gives a regular file the permission bits of a mode."""
    wanted = stat.S_IMODE(mode)
    if permissions(path) not in (None, wanted):
        os.chmod(path, wanted)


def remove_empty_folders(path: str, root: str, known: frozenset[str] | set[str]) -> None:
    """Removes the folders above a path as long as they are empty, not `known` and under the root."""
    folder = os.path.dirname(path)
    while folder.startswith(root + os.sep) and folder not in known:
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            pass
        except OSError:
            return
        folder = os.path.dirname(folder)
