"""Permission bits of files and folders, for which git's modes are too coarse."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from acp_editor.review.versions import EXECUTABLE

_FOLDERS = 50_000
"""How many folders are walked through."""


class Modes:
    """The bits of one tree: what is as usual is not written down. Folders' paths end with `/`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        mask = os.umask(0)
        os.umask(mask)
        self._plain, self._executable = 0o666 & ~mask, 0o777 & ~mask
        self._bits: dict[str, int] = {}
        self._unsaved = False
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            known = json.loads(path.read_text("ascii"))
            self._plain, self._executable = int(known["plain"]), int(known["executable"])
            self._bits = {name: int(bits) for name, bits in known["others"].items()}

    def of(self, path: str, git_mode: int) -> int:
        """The bits of a file whose mode git has."""
        return self._bits.get(path, self._executable if git_mode == EXECUTABLE else self._plain)

    def of_folder(self, folder: str) -> int | None:
        return self._bits.get(folder + "/")

    def note(self, path: str, bits: int) -> None:
        usual = bits == self._executable if path.endswith("/") else bits in (self._plain, self._executable)
        if usual:
            self.forget(path)
        elif self._bits.get(path) != bits:
            self._bits[path] = bits
            self._unsaved = True

    def forget(self, path: str) -> None:
        if self._bits.pop(path, None) is not None:
            self._unsaved = True

    def save(self) -> None:
        """Writes down what has changed. Raises OSError."""
        if not self._unsaved and self._path.exists():
            return
        beside = self._path.with_name(self._path.name + ".new")
        known = {"plain": self._plain, "executable": self._executable, "others": self._bits}
        beside.write_text(json.dumps(known), "ascii")
        beside.replace(self._path)
        self._unsaved = False


def walk(root: str, wanted: Callable[[str, str], bool]) -> Iterator[tuple[str, os.stat_result, bool]]:
    """Files and folders under the root, those ending with `/`; whether a folder is empty.

    `wanted` says, by a folder's name and path, whether it is gone into. What cannot be read is passed over.
    """
    waiting = [""]
    for _ in range(_FOLDERS):
        if not waiting:
            return
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                found = list(entries)
            if folder:
                yield folder, os.stat(os.path.join(root, folder)), not found
            for entry in found:
                relative = folder + entry.name
                if entry.is_dir(follow_symlinks=False):
                    if wanted(entry.name, relative):
                        waiting.append(relative + "/")
                elif entry.is_file(follow_symlinks=False):
                    yield relative, entry.stat(follow_symlinks=False), False
        except OSError:
            continue


def bits(status: os.stat_result) -> int:
    return stat.S_IMODE(status.st_mode)
