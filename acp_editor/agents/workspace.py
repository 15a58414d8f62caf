"""The text files of a workspace, read from disk: what git would ignore, hidden and binary files left out."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pathspec import GitIgnoreSpec

from acp_editor.core.text import split_lines

MAX_BYTES: Final = 512 * 1024
"""Larger files are left out."""

MAX_FILES: Final = 5000
"""Files after these are left out, which `Walk.complete` tells."""

_SKIPPED: Final = frozenset({"node_modules", "__pycache__", "venv", "env"})


@dataclass(frozen=True, slots=True)
class File:
    """A text file: `text` with its line ends and byte order mark, as it is on disk."""

    path: str
    name: str
    """Relative to the workspace, with slashes."""
    text: str


@dataclass(frozen=True, slots=True)
class Walk:
    files: tuple[File, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class Found:
    """A place in a file: `line` counts from 1, `text` is the line without its ends."""

    path: str
    name: str
    line: int
    text: str


def walk(root: str) -> Walk:
    """The text files under `root`, sorted by name, those of the root first."""
    files: list[File] = []
    for path, name in _paths(Path(root), "", ()):
        if len(files) == MAX_FILES:
            return Walk(tuple(files), complete=False)
        if (text := read(path)) is not None:
            files.append(File(str(path), name, text))
    return Walk(tuple(files), complete=True)


def read(path: str | Path) -> str | None:
    """The text, or None where it is no UTF-8 text, too large, no file or not readable."""
    try:
        if os.path.getsize(path) > MAX_BYTES:
            return None
        raw = Path(path).read_bytes()
        return None if b"\0" in raw else raw.decode()
    except (OSError, UnicodeDecodeError):
        return None


def write(path: str, text: str) -> None:
    """Puts `text` in place of the file at once, its mode kept; makes missing folders. Raises OSError."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
        if target.exists():
            shutil.copymode(target, temporary)
        else:
            os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def inside(path: str, roots: tuple[str, ...]) -> bool:
    """Whether the file that `path` leads to, links followed, is in one of the folders."""
    real = os.path.realpath(path)
    return any(Path(real).is_relative_to(os.path.realpath(root)) for root in roots)


def lines_with(file: File, pattern: re.Pattern[str]) -> Iterator[Found]:
    """The lines of `file` in which `pattern` is found."""
    for number, line in enumerate(split_lines(file.text), start=1):
        if pattern.search(line):
            yield Found(file.path, file.name, number, line.rstrip("\r\n"))


def first_change(old: str, new: str) -> int:
    """The first line, counted from 1, that differs; the last line where one text goes on after the other."""
    before, after = split_lines(old), split_lines(new)
    for number, (left, right) in enumerate(zip(before, after, strict=False), start=1):
        if left != right:
            return number
    return max(1, min(len(before) + 1, len(after)))


def _paths(
    folder: Path, name: str, specs: tuple[tuple[str, GitIgnoreSpec], ...]
) -> Iterator[tuple[Path, str]]:
    """Depth first; each spec comes with the folder, relative to the root, whose `.gitignore` it is."""
    if (rules := read(folder / ".gitignore")) is not None:
        specs = ((name, _spec(rules.splitlines())), *specs)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    folders: list[os.DirEntry[str]] = []
    for entry in entries:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir():
            folders.append(entry)
        elif entry.is_file() and not _ignored(name + entry.name, specs):
            yield Path(entry.path), name + entry.name
    for entry in folders:
        inner = f"{name}{entry.name}/"
        skipped = entry.name in _SKIPPED or os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))
        if not skipped and not _ignored(inner, specs):
            yield from _paths(Path(entry.path), inner, specs)


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    """As git reads them: a line that is no pattern matches nothing."""
    return GitIgnoreSpec([pattern for line in lines for pattern in _pattern(line)])


def _pattern(line: str) -> Iterable[Any]:
    try:
        return GitIgnoreSpec.from_lines([line]).patterns
    except (ValueError, re.error):
        return ()


def _ignored(name: str, specs: tuple[tuple[str, GitIgnoreSpec], ...]) -> bool:
    """As git decides: the innermost folder's rules first, and there the last rule that matches."""
    for base, spec in specs:
        verdict = spec.check_file(name.removeprefix(base)).include
        if verdict is not None:
            return verdict
    return False


def _umask() -> int:
    """The process's own; there is no way to read it but to set it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
