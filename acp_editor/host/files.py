"""Files as an agent reads and writes them: lines of text, in the style that the file has on the disk.

Everything is synchronous and touches no state, so it may run in a worker thread.
"""

from __future__ import annotations

import logging
import os
import secrets
import stat
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from acp_editor.host.paths import OutsideWorkspace, Spot, confine, open_folder_of, open_in
from acp_editor.host.style import decode, is_utf16, keep_style, slice_lines

__all__ = [
    "FileError",
    "MissingFile",
    "OutsideWorkspace",
    "decode",
    "keep_style",
    "read_bytes",
    "read_text",
    "slice_lines",
    "write_bytes",
    "write_text",
]

logger = logging.getLogger(__name__)

MAX_SIZE: Final = 64 * 1024 * 1024
"""Bytes of a file that is read for an agent; a message could not carry much more."""


class FileError(Exception):
    """A file cannot be read or written; the message names it and says why."""


class MissingFile(FileError):
    """There is no such file; some agents take this for an empty one."""


# -- reading --


def read_text(
    path: str,
    line: int | None = None,
    limit: int | None = None,
    *,
    roots: Sequence[str],
    cwd: str | None = None,
    buffer: Callable[[str], str | None] | None = None,
) -> str:
    """Lines of a file as `slice_lines` counts them; the text that `buffer` has for its path goes first.

    Raises OutsideWorkspace, MissingFile or FileError.
    """
    if buffer is not None:
        real = confine(path, roots, cwd)
        # An editor may have opened it by the name of a link.
        named = os.path.normpath(os.path.join(cwd or roots[0], path))
        for candidate in (named, real):
            if (text := buffer(candidate)) is not None:
                return slice_lines(text, line, limit)
    data = read_bytes(path, roots=roots, cwd=cwd)
    if b"\0" in data and not is_utf16(data):
        raise FileError(f"{path} is a binary file")
    return slice_lines(decode(data), line, limit)


def read_bytes(path: str, *, roots: Sequence[str], cwd: str | None = None) -> bytes:
    """The bytes of a regular file in the workspace, at most MAX_SIZE; raises as `read_text`."""
    with _told(path, "read"), open_folder_of(path, roots, cwd) as spot:
        return _read(spot, path)


def _read(spot: Spot, path: str) -> bytes:
    descriptor = open_in(spot, os.O_RDONLY)
    try:
        status = os.fstat(descriptor)
        _check_regular(status, path)
        if status.st_size > MAX_SIZE:
            raise FileError(f"{path} has {status.st_size} bytes, more than the {MAX_SIZE} that are read")
    except BaseException:
        os.close(descriptor)
        raise
    with open(descriptor, "rb") as file:
        # The size is not to be trusted: files of the kernel say 0, others may be growing.
        data = file.read(MAX_SIZE + 1)
    if len(data) > MAX_SIZE:
        raise FileError(f"{path} has more than {MAX_SIZE} bytes")
    return data


# -- writing --


def write_text(path: str, content: str, *, roots: Sequence[str], cwd: str | None = None) -> str:
    """Writes a text in the style of the file that is there; otherwise as `write_bytes`."""
    return _write(
        path,
        lambda old: content.encode("utf-8", "replace") if old is None else keep_style(old, content),
        roots,
        cwd,
    )


def write_bytes(path: str, data: bytes, *, roots: Sequence[str], cwd: str | None = None) -> str:
    """Replaces a file in one step and makes the folders that are missing; the path as resolved.

    A file that is there keeps its mode and, where that is allowed, its owner. Raises OutsideWorkspace
    or FileError.
    """
    return _write(path, lambda _: data, roots, cwd)


def _write(path: str, data: Callable[[bytes | None], bytes], roots: Sequence[str], cwd: str | None) -> str:
    with _told(path, "written"), open_folder_of(path, roots, cwd, create=True) as spot:
        try:
            status = os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False)
        except FileNotFoundError:
            status = old = None
        else:
            if stat.S_ISLNK(status.st_mode):
                raise OutsideWorkspace(f"{path} became a link while it was opened")
            _check_regular(status, path)
            if not os.access(spot.name, os.W_OK, dir_fd=spot.folder):
                raise FileError(f"{path} cannot be written: the file is read-only")
            old = _read(spot, path)
        _replace(spot, data(old), status)
        return spot.path


def _replace(spot: Spot, data: bytes, status: os.stat_result | None) -> None:
    """A new file under another name in the same folder, then renamed: never half of it is seen."""
    folder, base = os.path.split(spot.name)
    name = os.path.join(folder, f".{base[:80]}.{secrets.token_hex(4)}.tmp")
    beside = Spot(spot.path, spot.folder, name)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        with open(open_in(beside, flags, 0o666 if status is None else 0o600), "wb") as file:
            file.write(data)
            if status is not None:
                _keep_owner_and_mode(file.fileno(), status)
        os.replace(name, spot.name, src_dir_fd=spot.folder, dst_dir_fd=spot.folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(name, dir_fd=spot.folder)
        raise


def _keep_owner_and_mode(file: int, status: os.stat_result) -> None:
    if sys.platform == "win32":
        return
    mine = os.fstat(file)
    if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
        try:
            os.fchown(file, status.st_uid, status.st_gid)
        except OSError as error:
            logger.debug("the owner of a file was not kept: %s", error)
    os.fchmod(file, stat.S_IMODE(status.st_mode))


# -- errors --


def _check_regular(status: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"{path} is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"{path} is not a regular file")


@contextmanager
def _told(path: str, what: str) -> Generator[None]:
    """Turns what the system says into a sentence about the path."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFile(f"{path} does not exist") from error
    except OSError as error:
        raise FileError(f"{path} cannot be {what}: {_reason(error)}") from error


def _reason(error: OSError) -> str:
    match error:
        case IsADirectoryError():
            return "it is a folder"
        case NotADirectoryError():
            return "a part of the path is a file"
        case PermissionError():
            return "permission denied"
        case _:
            return error.strerror or str(error)
