"""One folder as it was: a git index of our own over the user's files, in a store of our own.

The index holds each file's base; libgit2's stat cache makes comparing it with the disk about as cheap as
`git status`. Nothing is ever written into the user's folder or `.git`. Not for use by two threads at once.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pygit2
from pygit2.enums import DeltaStatus, DiffFind, DiffOption, FileMode

from acp_editor.review import files, ignores, modes, objects
from acp_editor.review.versions import ABSENT, LINK, Lost, Version

log = logging.getLogger(__name__)

_COMPARED = DiffOption.INCLUDE_UNTRACKED | DiffOption.RECURSE_UNTRACKED_DIRS | DiffOption.INCLUDE_TYPECHANGE
_AS_IT_IS = "* -text -filter -ident -working-tree-encoding\n"
_CONFIG = {
    "core.bare": "false",
    "core.autocrlf": "false",
    "core.ignorecase": "false",
    "core.precomposeunicode": "false",
}
_PRUNE = 7 * 24 * 3600.0
"""Seconds between removals of what nothing needs any more."""
_ONE_BY_ONE = 200
"""Up to so many new files are added by name; more are added by one walk, which is faster for many."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`file_size` in bytes, `file_count` in files of one folder; what is beyond is left out."""

    file_size: int = 10 * 1024 * 1024
    file_count: int = 200_000
    memory: int = 64 * 1024 * 1024
    """Bytes of files with unanswered changes that are in memory; what is beyond is read when it is needed.

    Some thousand files of source code, which is more than anybody answers one by one, and of the largest
    that are reviewed still three with what they were before.
    """


@dataclass(slots=True)
class Difference:
    """Paths (relative, `/` between folders) where the disk is not the base, and what was met on the way."""

    changed: list[str] = field(default_factory=list[str])
    nested: set[str] = field(default_factory=set[str])
    """Folders with a repository of their own."""


class Checkpoint:
    """The bases of the files under `root`, kept in the folder `store`."""

    def __init__(self, root: str, store: Path, limits: Limits) -> None:
        self.root = root
        self.store = store
        self.limits = limits
        self.left_out: dict[str, str] = {}
        """Relative path to why it is left out."""
        self._nested: set[str] = set()
        self._unsaved = False
        self._open()
        self._modes = modes.Modes(store / "permissions.json")

    def _open(self) -> None:
        if not (self.store / "HEAD").exists():
            self.store.mkdir(parents=True, exist_ok=True)
            pygit2.init_repository(str(self.store), bare=True).free()
        config = pygit2.Config(str(self.store / "config"))
        for name, value in _CONFIG.items() | {("core.worktree", self.root)}:
            if name not in config or config[name] != value:
                config[name] = value
        (self.store / "info").mkdir(exist_ok=True)
        (self.store / "info" / "attributes").write_text(_AS_IT_IS)
        self._exclude(())

    def _exclude(self, paths: Iterable[str]) -> None:
        patterns = [*ignores.inherited(self.root), *(ignores.literal(path) for path in paths)]
        patterns.append(files.TEMPORARY)
        text = "".join(f"{pattern}\n" for pattern in patterns)
        (self.store / "info" / "exclude").write_bytes(os.fsencode(text))
        self.repository = pygit2.Repository(str(self.store))
        self.index = self.repository.index

    @property
    def empty(self) -> bool:
        return len(self.index) == 0

    # -- comparing -----------------------------------------------------------------------------

    def compare(self) -> Difference:
        """Walks the folder: what is not as in the base."""
        found = Difference()
        new: set[str] = set()
        diff = self.index.diff_to_workdir(_COMPARED)
        for delta in diff.deltas:
            raw = delta.new_file.raw_path if delta.status != DeltaStatus.DELETED else delta.old_file.raw_path
            path = os.fsdecode(raw)
            if path.endswith("/"):
                found.nested.add(path.rstrip("/"))
            elif self._wanted(path, delta.new_file.size, delta.status == DeltaStatus.UNTRACKED):
                found.changed.append(path)
                if delta.status == DeltaStatus.UNTRACKED:
                    new.add(path)
        room = max(0, self.limits.file_count - len(self.index))
        if len(new) > room:
            over = new - set(self._within_count([path for path in found.changed if path in new], room))
            found.changed = [path for path in found.changed if path not in over]
        self._nested |= found.nested
        found.nested = {
            path for path in self._nested if os.path.lexists(os.path.join(self.root, path, ".git"))
        }
        return found

    def _wanted(self, path: str, size: int, new: bool) -> bool:
        if not new:
            return True
        if size > self.limits.file_size:
            self.left_out[path] = f"larger than {self.limits.file_size // 1024} KB"
            return False
        return path not in self.left_out and not any(
            path.startswith(folder) for folder in self.left_out if folder.endswith("/")
        )

    def ignored(self, path: str) -> bool:
        """Whether a file that has no base is one that git would ignore, or one that is left out."""
        if path.split("/", 1)[0] == ".git" or "/.git/" in f"/{path}/":
            return True
        if any(path.startswith(nested + "/") for nested in self._nested):
            return True
        try:
            if self.repository.path_is_ignored(path):
                return True
            size = os.lstat(os.path.join(self.root, path)).st_size
        except (pygit2.GitError, ValueError, OSError):
            return False
        return not self._wanted(path, size, True)

    def survey(self, moment: float) -> set[str]:
        """Notes permissions, which git's modes are too coarse for, and returns the folders that are empty.

        By their full paths. What has changed since `moment` is passed over.
        """
        empty: set[str] = set()
        for path, status, is_empty in modes.walk(self.root, self._is_ours):
            if status.st_ctime >= moment:
                continue
            if path.endswith("/") or self.has(path):
                self._modes.note(path, modes.bits(status))
            if is_empty:
                empty.add(os.path.join(self.root, path.rstrip("/")))
        return empty

    def chmodded(self, since: float) -> list[str]:
        """The files whose permissions changed since then, which a comparison does not see."""
        return [
            path
            for path, status, _ in modes.walk(self.root, self._is_ours)
            if status.st_ctime >= since and self.permissions(path) not in (None, modes.bits(status))
        ]

    def _is_ours(self, name: str, folder: str) -> bool:
        if name == ".git" or folder in self._nested:
            return False
        return not self.ignored_folder(folder)

    def ignored_folder(self, name: str) -> bool:
        """Whether git would ignore all of a folder."""
        return self.repository.path_is_ignored(name + "/")

    # -- bases ---------------------------------------------------------------------------------

    def has(self, path: str) -> bool:
        return path in self.index

    def base(self, path: str) -> Version:
        """What the file was; ABSENT where there was none."""
        try:
            entry = self.index[path]
        except KeyError:
            return ABSENT
        mode = int(entry.mode)
        if mode != LINK:
            mode = stat.S_IFREG | self._modes.of(path, mode)
        return self.version(str(entry.id), mode)

    def is_base(self, path: str, version: Version) -> bool:
        """Whether the file was that, told without reading it."""
        try:
            entry = self.index[path]
        except KeyError:
            return version.absent
        if version.absent or int(entry.mode) != version.git_mode:
            return False
        if self.permissions(path) not in (None, stat.S_IMODE(version.mode)):
            return False
        return str(entry.id) == version.oid

    def permissions(self, path: str) -> int | None:
        """The exact permission bits that the file had; None where it was no file."""
        try:
            mode = int(self.index[path].mode)
        except KeyError:
            return None
        return None if mode == LINK else self._modes.of(path, mode)

    def folders_of(self, path: str) -> dict[str, int]:
        """The permission bits of the folders above a file, by their full paths, where they are not usual."""
        found: dict[str, int] = {}
        folder = os.path.dirname(path)
        while folder:
            if (bits := self._modes.of_folder(folder)) is not None:
                found[os.path.join(self.root, folder)] = bits
            folder = os.path.dirname(folder)
        return found

    def set_base(self, path: str, version: Version) -> None:
        """Gives the file a base that need not be on the disk."""
        self._unsaved = True
        if version.absent:
            self._forget(path)
            return
        oid = self.keep(version)
        if not objects.has(self.store, oid):
            return  # it is lost: what the base was, or what the disk had, stays
        self.index.add(pygit2.IndexEntry(path, pygit2.Oid(hex=oid), FileMode(version.git_mode)))
        if not version.is_link:
            self._modes.note(path, stat.S_IMODE(version.mode))

    def take(self, paths: Collection[str]) -> None:
        """The base of these files is what the disk has now."""
        if not paths:
            return
        self._unsaved = True
        if len(paths) > _ONE_BY_ONE:
            with contextlib.suppress(pygit2.GitError, OSError):
                self.index.add_all([ignores.literal(path).lstrip("/") for path in paths])
        for path in paths:
            self._take_one(path, only_missing=len(paths) > _ONE_BY_ONE)
        self._remember_permissions(paths)

    def _take_one(self, path: str, only_missing: bool) -> None:
        full = os.path.join(self.root, path)
        there = os.path.islink(full) or os.path.isfile(full)
        if not there:
            self._forget(path)
        elif not only_missing or not self.has(path):
            try:
                self.index.add(path)
            except (pygit2.GitError, OSError) as error:
                self.left_out[path] = str(error)

    def _forget(self, path: str) -> None:
        with contextlib.suppress(OSError, KeyError):
            self.index.remove(path)
        self._modes.forget(path)

    def _remember_permissions(self, paths: Iterable[str]) -> None:
        for path in paths:
            if (bits := files.permissions(os.path.join(self.root, path))) is not None:
                self._modes.note(path, bits)

    def refresh(self, held: Mapping[str, Version]) -> Difference:
        """The base of every file becomes what the disk has; those in `held` get the base given there."""
        found = self.compare()
        wanted = [path for path in found.changed if path not in held]
        if self.empty and len(wanted) > _ONE_BY_ONE:
            self._first(wanted, found)
        else:
            self.take(wanted)
        for path, version in held.items():
            if not self.is_base(path, version):
                self.set_base(path, version)
        self.flush()
        return found

    def _first(self, wanted: list[str], found: Difference) -> None:
        """Everything, by one walk of libgit2."""
        unreadable = [path for path in wanted if not _readable(os.path.join(self.root, path))]
        self.left_out.update(dict.fromkeys(unreadable, "not readable"))
        self._exclude([*(nested + "/" for nested in found.nested), *self.left_out])
        self._unsaved = True
        try:
            self.index.add_all()
        except (pygit2.GitError, OSError) as error:
            log.info("adding %s as a whole failed, going on file by file: %s", self.root, error)
            for path in wanted:
                if path not in self.left_out:
                    self._take_one(path, only_missing=True)
        self._remember_permissions(wanted)
        for path in ignores.tracked(self.root):
            if not self.has(path) and path not in self.left_out:
                with contextlib.suppress(pygit2.GitError, OSError):
                    self.index.add(path)

    def _within_count(self, wanted: list[str], room: int) -> list[str]:
        """Leaves out the fullest top folders until what remains is no more than there is room for."""
        while len(wanted) > room:
            counts: dict[str, int] = {}
            for path in wanted:
                top = path.split("/", 1)[0] + "/" if "/" in path else ""
                counts[top] = counts.get(top, 0) + 1
            fullest = max(counts, key=lambda top: (bool(top), counts[top]))
            if not fullest:
                break
            self.left_out[fullest] = f"{counts[fullest]} files, more than {self.limits.file_count} in all"
            wanted = [path for path in wanted if not path.startswith(fullest)]
        return wanted

    def flush(self) -> None:
        """Writes the index, so that the bases outlive the process."""
        if not self._unsaved:
            return
        self.index.write()
        self._modes.save()
        self._unsaved = False

    # -- objects -------------------------------------------------------------------------------

    def prune(self, wanted: Collection[str], now: float) -> int:
        """Now and then removes the objects that neither a base nor anything in `wanted` is; how many."""
        stamp = self.store / "pruned"
        with contextlib.suppress(OSError):
            if now - stamp.stat().st_mtime < _PRUNE:
                return 0
        stamp.write_bytes(b"")
        os.utime(stamp, (now, now))
        entries = cast("list[pygit2.IndexEntry]", list(self.index))  # pyright: ignore
        bases = {str(entry.id) for entry in entries}
        return objects.prune(self.store, bases | set(wanted), now)

    def keep(self, version: Version) -> str:
        """Has the store hold the bytes of a version; returns the name of their object. Raises OSError.

        What is lost stays lost: who asks for it is told.
        """
        oid = version.oid
        if version.source != self.load or not objects.has(self.store, oid):
            try:
                objects.write(self.store, version.data or b"")
            except Lost:
                log.warning("an object is not in %s any more: %s", self.store, oid)
            else:
                version.keep_in(self.load, oid)
        return oid

    def version(self, oid: str, mode: int) -> Version:
        """A version of which the store has the bytes; KeyError where it has not."""
        made = Version(self.load(oid), mode)
        made.keep_in(self.load, oid)
        return made

    def load(self, oid: str) -> bytes:
        """The bytes of an object; KeyError where the store has it not."""
        return objects.read(self.store, oid)

    def moves(self, gone: Mapping[str, Version], come: Mapping[str, Version]) -> dict[str, str]:
        """Which file that came is one that went: new path to old path, by libgit2's similarity."""
        if not gone or not come or len(gone) * len(come) > 250_000:
            return {}
        trees: list[pygit2.Tree] = []
        for side in (gone, come):
            index = pygit2.Index()
            for path, version in side.items():
                oid = self.keep(version)
                if objects.has(self.store, oid):
                    index.add(pygit2.IndexEntry(path, pygit2.Oid(hex=oid), FileMode(version.git_mode)))
            tree = self.repository[index.write_tree(self.repository)]
            assert isinstance(tree, pygit2.Tree)
            trees.append(tree)
        diff = trees[0].diff_to_tree(trees[1])
        diff.find_similar(DiffFind.FIND_RENAMES, rename_limit=2000)
        return {
            os.fsdecode(delta.new_file.raw_path): os.fsdecode(delta.old_file.raw_path)
            for delta in diff.deltas
            if delta.status == DeltaStatus.RENAMED
        }


def _readable(path: str) -> bool:
    return os.path.islink(path) or os.access(path, os.R_OK)
