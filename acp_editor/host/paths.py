"""Where in the workspace a path is that a stranger named, and folders opened so that it stays true.

A path is resolved first and then walked folder by folder from its root without following links: one
that is swapped in between the two cannot lead out, it only makes the walk fail.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

_TRIES: Final = 3
"""Walks before a path whose links keep changing is given up."""

_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _NO_FOLLOW
_HAS_DIR_FD: Final = os.open in os.supports_dir_fd


class OutsideWorkspace(Exception):
    """A path leads out of the workspace; the message names both."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A name in an open folder. Without folder descriptors (Windows) `name` is the whole path."""

    path: str
    folder: int | None
    name: str


def confine(path: str, roots: Sequence[str], cwd: str | None = None) -> str:
    """The real path, every link resolved, dangling ones too; raises OutsideWorkspace.

    A relative path is relative to `cwd`, the first root where there is none.
    """
    return os.path.join(*_locate(path, roots, cwd))


@contextmanager
def open_folder_of(
    path: str, roots: Sequence[str], cwd: str | None = None, *, create: bool = False
) -> Generator[Spot]:
    """The place of a path with its folder held open, missing folders made with `create`.

    What is opened by name in that folder must not follow links either. Raises OutsideWorkspace, and
    OSError for a folder that is missing, is none or cannot be made.
    """
    root, inside = _locate(path, roots, cwd)
    if not inside:
        raise IsADirectoryError(f"{path} is a folder of the workspace itself")
    if not _HAS_DIR_FD:
        if create:
            os.makedirs(os.path.dirname(os.path.join(root, inside)), exist_ok=True)
        yield Spot(os.path.join(root, inside), None, os.path.join(root, inside))
        return
    for left in reversed(range(_TRIES)):
        try:
            folder = _walk(root, os.path.dirname(inside), create)
            break
        except OSError as error:
            # The path had no links a moment ago, so one that is in the way now was just put there.
            if error.errno not in (errno.ENOTDIR, errno.ELOOP) or not left:
                raise
            root, inside = _locate(path, roots, cwd)
    else:
        raise AssertionError("the last try ends the loop")
    try:
        yield Spot(os.path.join(root, inside), folder, os.path.basename(inside))
    finally:
        os.close(folder)


def open_in(spot: Spot, flags: int, mode: int = 0o666) -> int:
    """A descriptor for the file of a spot, never through a link and never waiting for a pipe's end."""
    flags |= _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    return os.open(spot.name, flags | getattr(os, "O_CLOEXEC", 0), mode, dir_fd=spot.folder)


def _locate(path: str, roots: Sequence[str], cwd: str | None) -> tuple[str, str]:
    """The real root that holds a path, and the real path from there, "" for the root itself."""
    if not path or "\0" in path:
        raise OutsideWorkspace(f"{path!r} is not a path")
    if not roots:
        raise OutsideWorkspace(f"{path} is outside the workspace, which has no folder")
    try:
        real = os.path.realpath(os.path.join(cwd or roots[0], path))
    except (OSError, ValueError) as error:
        raise OutsideWorkspace(f"{path} cannot be resolved: {error}") from error
    for root in roots:
        real_root = os.path.realpath(root)
        inside = _below(real, real_root)
        if inside is not None:
            return real_root, inside
    raise OutsideWorkspace(f"{path} is outside the workspace ({', '.join(roots)})")


def _below(path: str, root: str) -> str | None:
    prefix = root if root.endswith(os.sep) else root + os.sep
    if os.path.normcase(path) == os.path.normcase(root):
        return ""
    if os.path.normcase(path).startswith(os.path.normcase(prefix)):
        return path[len(prefix) :]
    return None


def _walk(root: str, inside: str, create: bool) -> int:
    """A descriptor of a folder under a root; a link on the way is an error, as a file is."""
    folder = os.open(root, _FOLDER)
    try:
        for name in inside.split(os.sep) if inside else ():
            deeper = _enter(folder, name, create)
            os.close(folder)
            folder = deeper
    except BaseException:
        os.close(folder)
        raise
    return folder


def _enter(folder: int, name: str, create: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not create:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    return os.open(name, _FOLDER, dir_fd=folder)
