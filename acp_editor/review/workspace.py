"""The workspace's folders, each with its checkpoint; a repository inside one is a folder of its own."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pygit2

from acp_editor.review.checkpoint import Checkpoint, Limits
from acp_editor.review.versions import Version
from acp_editor.review.work import CLOCK

log = logging.getLogger(__name__)

STORE_AGE = 30 * 24 * 3600.0
"""Seconds after which a store that nobody has used is removed."""
_DAY = 24 * 3600.0


class Workspace:
    """Paths are absolute, as the editor writes them."""

    def __init__(self, roots: Sequence[str], cache: Path, limits: Limits) -> None:
        self.roots = [os.path.normpath(root) for root in roots]
        self._limits = limits
        self._cache = cache
        self._checkpoints: dict[str, Checkpoint] = {}
        self._failed: set[str] = set()
        self._lost: dict[str, str] = {}
        self._real: list[tuple[str, str]] = []
        self._used = time.time()
        for root in self.roots:
            if os.path.isdir(root):
                self._add(root)
                real = os.path.realpath(root)
                if real != root:
                    self._real.append((real, root))
        self._add_known()

    def _add_known(self) -> None:
        """The repositories inside that an earlier process reviewed: what is unanswered may be in them."""
        found = sorted((root, store) for store in stores(self._cache) if (root := root_of(store)) is not None)
        for root, store in found:  # each after those that it is in
            if root in self._checkpoints or not os.path.lexists(os.path.join(root, ".git")):
                continue
            for above in self:
                if store != store_of(self._cache, root, above.root):
                    continue
                if not above.ignored_folder(os.path.relpath(root, above.root)):
                    made = self._add(root, above.root)
                    if made is not None and made.empty:  # as if it had never been seen
                        del self._checkpoints[root]

    def used(self, now: float | None = None) -> None:
        """Says once a day that the stores are in use: a window may be open for longer than they are kept."""
        now = time.time() if now is None else now
        if not 0 <= now - self._used < _DAY:
            self._used = now
            for checkpoint in self:
                with contextlib.suppress(OSError):
                    os.utime(checkpoint.store, (now, now))

    def __iter__(self) -> Iterator[Checkpoint]:
        return iter(list(self._checkpoints.values()))

    def _add(self, root: str, above: str = "") -> Checkpoint | None:
        store = store_of(self._cache, root, above)
        try:
            made = _opened(root, store, self._limits)
        except (pygit2.GitError, OSError) as error:
            log.warning("no checkpoint of %s: %s", root, error)
            self._failed.add(root)
            return None
        self._checkpoints[root] = made
        os.utime(made.store)
        return made

    def canonical(self, path: str) -> str:
        """The path under the root as the editor names it, also where it was given by its real name."""
        path = os.path.normpath(path)
        for real, root in self._real:
            if path.startswith(real + os.sep) and not path.startswith(root + os.sep):
                return root + path[len(real) :]
        return path

    def root_of(self, path: str) -> str | None:
        """The innermost of the workspace's own folders that a path is in."""
        above = [root for root in self.roots if path.startswith(root.rstrip(os.sep) + os.sep)]
        return max(above, key=len, default=None)

    def find(self, path: str) -> tuple[Checkpoint, str] | None:
        """The checkpoint that a path belongs to, and its name there."""
        folder: str = os.path.dirname(path)
        while True:
            if folder in self._checkpoints:
                return self._checkpoints[folder], path[len(folder.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
            above: str = os.path.dirname(folder)
            if above == folder:
                return None
            folder = above

    def compare(self) -> list[str]:
        """The paths where the disk is not the base; new repositories inside become folders of their own."""
        changed: list[str] = []
        waiting = list(self)
        while waiting:
            checkpoint = waiting.pop()
            if not os.path.isdir(checkpoint.root):
                continue
            try:
                found = checkpoint.compare()
            except pygit2.GitError as error:
                log.info("comparing %s failed: %s", checkpoint.root, error)
                continue
            changed += self._own(checkpoint, found.changed)
            for nested in self._nested(checkpoint, found.nested):
                nested.refresh({})
                waiting.append(nested)
        return changed

    def chmodded(self, since: float) -> list[str]:
        """The paths whose permissions changed since then."""
        return [
            path for checkpoint in self for path in self._own(checkpoint, checkpoint.chmodded(since - CLOCK))
        ]

    def refresh(self, held: Mapping[str, Version]) -> None:
        """The base of every file that is not held becomes what is on the disk."""
        waiting = list(self)
        while waiting:
            checkpoint = waiting.pop()
            mine = {
                os.path.relpath(path, checkpoint.root).replace(os.sep, "/"): version
                for path, version in held.items()
                if (owner := self.find(path)) is not None and owner[0] is checkpoint
            }
            try:
                found = checkpoint.refresh(mine)
            except (pygit2.GitError, OSError) as error:
                log.warning("the checkpoint of %s failed: %s", checkpoint.root, error)
                continue
            waiting += self._nested(checkpoint, found.nested)

    def _own(self, checkpoint: Checkpoint, paths: Iterable[str]) -> Iterator[str]:
        inner = any(root.startswith(checkpoint.root + os.sep) for root in self._checkpoints)
        for path in paths:
            full = os.path.join(checkpoint.root, path)
            if not inner or (owner := self.find(full)) is None or owner[0] is checkpoint:
                yield full

    def _nested(self, checkpoint: Checkpoint, nested: Iterable[str]) -> Iterator[Checkpoint]:
        for path in nested:
            root = os.path.join(checkpoint.root, path)
            if root not in self._checkpoints and root not in self._failed:
                made = self._add(root, checkpoint.root)
                if made is not None:
                    yield made

    def flush(self) -> None:
        for checkpoint in self:
            checkpoint.flush()

    def prune(self, needed: Collection[str]) -> None:
        """Removes objects that are no base and not `needed`."""
        for checkpoint in self:
            if removed := checkpoint.prune(needed, time.time()):
                log.info("%d objects of %s were not needed any more", removed, checkpoint.root)

    def lose(self, path: str) -> None:
        """A store has not any more what a file was: it is compared with what it is now."""
        log.warning("what %s was is not in the store any more", path)
        self._lost[path] = "what it was is gone from the cache folder"

    def left_out(self) -> dict[str, str]:
        """Absolute paths that are not reviewed, or were not, and why."""
        return self._lost | {
            os.path.join(checkpoint.root, path): why
            for checkpoint in self
            for path, why in checkpoint.left_out.items()
        }


def store_of(cache: Path, root: str, above: str = "") -> Path:
    """Where a checkpoint is kept; that of a repository in a folder is another one than its own."""
    name = f"{above}\0{root}" if above else root
    return cache / "checkpoints" / hashlib.sha256(os.fsencode(name)).hexdigest()[:20]


def _opened(root: str, store: Path, limits: Limits) -> Checkpoint:
    """The checkpoint; a store that was damaged (by a full disk, a lost supply) is begun anew."""
    for left in ("index.lock", "config.lock"):
        (store / left).unlink(missing_ok=True)  # of a process that was killed; the folder is ours now
    try:
        return Checkpoint(root, store, limits)
    except (pygit2.GitError, OSError) as error:
        log.warning("the store of %s is made anew: %s", root, error)
        shutil.rmtree(store, ignore_errors=True)
        return Checkpoint(root, store, limits)


def forget(cache: Path, roots: Iterable[str]) -> None:
    """Removes the stores of these folders and of the repositories in them."""
    wanted = [os.path.normpath(root) for root in roots]
    for store in stores(cache):
        root = root_of(store)
        if root is None or any(root == one or root.startswith(one + os.sep) for one in wanted):
            shutil.rmtree(store, ignore_errors=True)


def clean(cache: Path, now: float | None = None) -> None:
    """Removes stores that were not used for long, or whose folder is gone."""
    now = time.time() if now is None else now
    for store in stores(cache):
        root = root_of(store)
        try:
            age = now - store.stat().st_mtime
        except OSError:
            continue  # another process was faster
        if age > STORE_AGE or (root is not None and not os.path.isdir(root) and age > _DAY):
            shutil.rmtree(store, ignore_errors=True)


def stores(cache: Path) -> list[Path]:
    try:
        return [entry for entry in (cache / "checkpoints").iterdir() if entry.is_dir()]
    except OSError:
        return []


def root_of(store: Path) -> str | None:
    try:
        return str(pygit2.Config(str(store / "config"))["core.worktree"])
    except (KeyError, pygit2.GitError, OSError):
        return None
