"""Files as bytes and a mode: read, written and removed so that none is ever half there."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import tempfile
from dataclasses import dataclass

FILE = 0o100644
EXECUTABLE = 0o100755
LINK = 0o120000


@dataclass(frozen=True, slots=True)
class Version:
    """What a path holds: `data` is None for no file, the target for a link; `mode` is git's."""

    data: bytes | None
    mode: int = FILE

    @property
    def absent(self) -> bool:
        return self.data is None

    @property
    def is_link(self) -> bool:
        return self.mode == LINK


ABSENT = Version(None, 0)


def read(path: str) -> Version:
    """What is at the path; ABSENT for a folder or a device. Raises OSError where reading is refused."""
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            return Version(os.fsencode(os.readlink(path)), LINK)
        if not stat.S_ISREG(status.st_mode):
            return ABSENT
        with open(path, "rb") as file:
            return Version(file.read(), EXECUTABLE if status.st_mode & stat.S_IXUSR else FILE)
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


def put(path: str, version: Version, bits: int | None = None) -> None:
    """Makes the path hold a version, by a temporary file and a rename; missing folders are made.

    `bits` are exact permissions; without them those of the file that is there stay, as far as the
    version's mode lets them. Raises OSError and then leaves what was there.
    """
    if version.data is None:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(path)
        return
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    if version.is_link:
        name = os.path.join(folder, f".acp-editor-{secrets.token_hex(6)}")
        os.symlink(os.fsdecode(version.data), name)
    else:
        handle, name = tempfile.mkstemp(prefix=".acp-editor-", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(version.data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, bits if bits is not None else _bits(path, version.mode))
        except BaseException:
            os.unlink(name)
            raise
    try:
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def set_mode(path: str, mode: int, bits: int | None) -> None:
    """Gives a regular file git's mode, or exact permissions."""
    wanted = bits if bits is not None else _bits(path, mode)
    if permissions(path) not in (None, wanted):
        os.chmod(path, wanted)


def _bits(path: str, mode: int) -> int:
    bits = permissions(path)
    if bits is None:
        mask = os.umask(0)
        os.umask(mask)
        return (0o777 if mode == EXECUTABLE else 0o666) & ~mask
    if mode == EXECUTABLE:
        return bits | stat.S_IXUSR | (bits & 0o044) >> 2
    return bits & ~0o111


def remove_empty_folders(path: str, root: str, known: frozenset[str] | set[str]) -> None:
    """Removes the folders above a path as long as they are empty, not `known` and under the root."""
    folder = os.path.dirname(path)
    while folder.startswith(root + os.sep) and folder not in known:
        try:
            os.rmdir(folder)
        except OSError:
            return
        folder = os.path.dirname(folder)
