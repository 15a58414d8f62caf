"""What outlives the process: the unanswered changes of each folder of a workspace."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import operator
import os
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from acp_editor.core.ledger import Hunk, Span
from acp_editor.review.engine import Engine
from acp_editor.review.locks import Lock
from acp_editor.review.tracked import Tracked
from acp_editor.review.versions import ABSENT, Version

log = logging.getLogger(__name__)

FORMAT = 1


def folder_of(state: Path, root: str) -> Path:
    """Where the review of a folder is kept, whatever other folders are open with it."""
    return state / "reviews" / hashlib.sha256(os.fsencode(os.path.normpath(root))).hexdigest()[:20]


@dataclass(frozen=True, slots=True)
class _Row:
    """What is written of one file, and what it was made of."""

    path: str
    root: str
    of: tuple[object, ...]
    text: str


class Store:
    """A file `review.json` for each root, always whole: written beside and renamed."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._written: dict[str, str] = {}
        self._rows: dict[str, _Row] = {}

    def save(self, engine: Engine, ahead: Sequence[Tracked] = (), *, turn: float = 0.0) -> None:
        """Writes what is unanswered, and what is `ahead`; where that fails it is logged. Then makes room.

        `turn` is the moment until which the agent may write: infinity while a turn runs, else 0.
        """
        turn = turn or engine.turns.until
        try:
            self._save(engine, ahead, turn)
        except OSError as error:
            log.warning("the pending review cannot be written: %s", error)
        engine.memory.check()

    def _save(self, engine: Engine, ahead: Sequence[Tracked], turn: float) -> None:
        known = engine.tracked | {tracked.path: tracked for tracked in ahead}
        pending = {path: tracked for path, tracked in known.items() if tracked.pending}
        pending = engine.unsaved | pending
        self._rows = {
            one.path: row for one in pending.values() if (row := self._row(engine, one)) is not None
        }
        by_root: dict[str, list[_Row]] = {root: [] for root in engine.workspace.roots}
        for row in self._rows.values():
            by_root[row.root].append(row)
        for root, found in by_root.items():
            head = {
                "format": FORMAT,
                "root": root,
                "nextId": engine.next_id,
                "turn": turn,
                "emptyFolders": sorted(_above(row.path for row in found) & engine.empty_folders),
            }
            files = ", ".join(row.text for row in found)
            self._write(root, f'{json.dumps(head)[:-1]}, "files": [{files}]}}')

    def _write(self, root: str, content: str) -> None:
        if self._written.get(root) == content:
            return
        folder = folder_of(self._state, root)
        folder.mkdir(parents=True, exist_ok=True)
        beside = folder / "review.json.new"
        with beside.open("w", encoding="ascii") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(folder / "review.json")
        self._written[root] = content

    def _row(self, engine: Engine, tracked: Tracked) -> _Row | None:
        """What is written of a file, made anew only where it has changed: there may be thousands."""
        of = (tracked.base, tracked.current, tracked.disk, tracked.hunks, tracked.old_path, tracked.mixed)
        known = self._rows.get(tracked.path)
        if known is not None and all(map(operator.is_, of, known.of)):
            return known
        if (root := engine.workspace.root_of(tracked.path)) is None:
            return None
        row = {
            "path": tracked.path,
            "versions": [(_kept(engine, tracked.path, one), one.mode) for one in of[:3]],
            "oldPath": tracked.old_path,
            "mixed": tracked.mixed,
            "hunks": [
                [hunk.hunk_id, *_numbers(hunk.original), *_numbers(hunk.modified), hunk.author]
                for hunk in tracked.hunks
            ],
        }
        return _Row(tracked.path, root, of, json.dumps(row))

    def load(self, engine: Engine) -> float:
        """Gives the engine what was unanswered; returns until when a turn that we cut short may have run.

        What cannot be read is said and left out: its base is in the checkpoint, so it is found again as a
        change, if a turn was running.
        """
        cut_short = 0.0
        for root in engine.workspace.roots:
            try:
                content = json.loads((folder_of(self._state, root) / "review.json").read_text("ascii"))
                if content["format"] != FORMAT:
                    continue
                engine.next_id = max(engine.next_id, int(content["nextId"]))
                engine.empty_folders.update(content["emptyFolders"])
                # Folders that were not always open together have counted on their own.
                taken = {hunk.hunk_id for tracked in engine.tracked.values() for hunk in tracked.hunks}
                for item in content["files"]:
                    self._load_file(engine, item, taken)
                cut_short = max(cut_short, float(content["turn"]))
            except FileNotFoundError:
                continue
            except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
                log.warning("the pending review of %s cannot be read: %r", root, error)
        return cut_short

    def prune(self, engine: Engine) -> None:
        """Removes what neither a checkpoint nor the next start needs, nor we, who may have set it aside."""
        needed = {
            version.oid
            for tracked in [*engine.tracked.values(), *engine.unsaved.values()]
            for version in tracked.versions
            if version.source is not None
        }
        with contextlib.suppress(OSError, ValueError):
            for root in engine.workspace.roots:
                needed |= objects_of(self._state, root)
            engine.workspace.prune(needed)

    def _load_file(self, engine: Engine, item: dict[str, Any], taken: set[str]) -> None:
        path = item["path"]
        owner = engine.workspace.find(path)
        if owner is None:
            return
        versions: list[Version] = []
        try:
            for oid, mode in item["versions"]:
                known = next((one for one in versions if not one.absent and one.oid == oid), None)
                if known is not None and known.mode == mode:
                    versions.append(known)
                else:
                    versions.append(ABSENT if oid is None else owner[0].version(oid, mode))
        except KeyError:
            engine.workspace.lose(path)
            return
        base, current, disk = versions
        hunks = [Hunk(row[0], Span(row[1], row[2]), Span(row[3], row[4]), row[5]) for row in item["hunks"]]
        hunks = [replace(hunk, hunk_id=engine.new_id()) if hunk.hunk_id in taken else hunk for hunk in hunks]
        engine.restore(Tracked(path, base, current, disk, tuple(hunks), item["oldPath"], item["mixed"]))


def _kept(engine: Engine, path: str, version: Version) -> str | None:
    """The object that a version of a file is kept in."""
    if version.absent:
        return None
    owner = engine.workspace.find(path)
    assert owner is not None
    return owner[0].keep(version)


def _numbers(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _above(paths: Iterable[str]) -> set[str]:
    """All folders that these files are in."""
    folders: set[str] = set()
    for path in paths:
        folder = os.path.dirname(path)
        while folder not in folders:
            folders.add(folder)
            folder = os.path.dirname(folder)
    return folders


def forget(state: Path, roots: Iterable[str]) -> None:
    """Removes what is kept of these folders."""
    for root in roots:
        shutil.rmtree(folder_of(state, root), ignore_errors=True)


def objects_of(state: Path, root: str) -> set[str]:
    """The names of the objects that the review of a folder needs. Raises OSError or ValueError."""
    try:
        content = json.loads((folder_of(state, root) / "review.json").read_text("ascii"))
    except FileNotFoundError:
        return set()
    return {oid for item in content["files"] for oid, _ in item["versions"] if oid is not None}


def clean(state: Path, age: float, now: float | None = None) -> None:
    """Removes what was kept longer ago than that many seconds, where nobody reviews that folder."""
    now = time.time() if now is None else now
    for folder in (state / "reviews").glob("*"):
        try:
            if now - (folder / "review.json").stat().st_mtime < age:
                continue
            root = str(json.loads((folder / "review.json").read_text("ascii"))["root"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        lock = Lock(state, [root])
        if lock.take():
            shutil.rmtree(folder, ignore_errors=True)
            lock.release()
