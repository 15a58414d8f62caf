"""What outlives the process: the unanswered changes of each folder of a workspace."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from acp_editor.core.ledger import Hunk, Span
from acp_editor.review.engine import Engine
from acp_editor.review.files import ABSENT, Version
from acp_editor.review.locks import Lock
from acp_editor.review.tracked import Tracked

log = logging.getLogger(__name__)

FORMAT = 1


def folder_of(state: Path, root: str) -> Path:
    """Where the review of a folder is kept, whatever other folders are open with it."""
    return state / "reviews" / hashlib.sha256(os.fsencode(os.path.normpath(root))).hexdigest()[:20]


class Store:
    """A file `review.json` for each root, always whole: written beside and renamed."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._written: dict[str, str] = {}
        self._kept: dict[str, list[tuple[Version, str | None]]] = {}

    def save(self, engine: Engine, ahead: Sequence[Tracked] = (), *, turn: float) -> None:
        """Writes what is unanswered, and what is `ahead`. Raises OSError.

        `turn` is the moment until which the agent may write; infinity while a turn runs, else 0.
        """
        known = engine.tracked | {tracked.path: tracked for tracked in ahead}
        pending = [tracked for tracked in known.values() if tracked.pending]
        self._kept = {tracked.path: self._kept.get(tracked.path, []) for tracked in pending}
        by_root: dict[str, list[dict[str, Any]]] = {root: [] for root in engine.workspace.roots}
        for tracked in pending:
            if (root := engine.workspace.root_of(tracked.path)) is not None:
                by_root[root].append(self._file(engine, tracked))
        for root, found in by_root.items():
            content = {
                "format": FORMAT,
                "root": root,
                "nextId": engine.next_id,
                "turn": turn,
                "emptyFolders": sorted(_above(found) & engine.empty_folders),
                "files": found,
            }
            self._write(root, json.dumps(content))

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

    def _file(self, engine: Engine, tracked: Tracked) -> dict[str, Any]:
        versions = [
            self._version(engine, tracked, one) for one in (tracked.base, tracked.current, tracked.disk)
        ]
        self._kept[tracked.path] = self._kept[tracked.path][-3:]
        return {
            "path": tracked.path,
            "versions": versions,
            "oldPath": tracked.old_path,
            "mixed": tracked.mixed,
            "hunks": [
                [hunk.hunk_id, *_numbers(hunk.original), *_numbers(hunk.modified), hunk.author]
                for hunk in tracked.hunks
            ],
        }

    def _version(self, engine: Engine, tracked: Tracked, version: Version) -> list[Any]:
        if version.data is None:
            return [None, 0]
        for known, oid in self._kept[tracked.path]:
            if known is version:
                return [oid, version.mode]
        owner = engine.workspace.find(tracked.path)
        assert owner is not None
        oid = owner[0].keep_object(version.data)
        self._kept[tracked.path].append((version, oid))
        return [oid, version.mode]

    def load(self, engine: Engine) -> float:
        """Gives the engine what was unanswered; returns until when a turn that we cut short may have run.

        What cannot be read is logged and left out: its base is in the checkpoint, so it is found again as a
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
                for item in content["files"]:
                    self._load_file(engine, item)
                cut_short = max(cut_short, float(content["turn"]))
            except FileNotFoundError:
                continue
            except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
                log.warning("the pending review of %s cannot be read: %r", root, error)
        return cut_short

    def _load_file(self, engine: Engine, item: dict[str, Any]) -> None:
        path = item["path"]
        owner = engine.workspace.find(path)
        if owner is None:
            return
        versions: list[Version] = []
        try:
            for oid, mode in item["versions"]:
                versions.append(ABSENT if oid is None else Version(owner[0].load(oid), mode))
        except KeyError as error:
            log.warning("what %s was is not in the store any more: %s", path, error)
            return
        base, current, disk = versions
        hunks = [Hunk(row[0], Span(row[1], row[2]), Span(row[3], row[4]), row[5]) for row in item["hunks"]]
        # Folders that were not always open together have counted on their own.
        taken = {hunk.hunk_id for tracked in engine.tracked.values() for hunk in tracked.hunks}
        hunks = [replace(hunk, hunk_id=engine.new_id()) if hunk.hunk_id in taken else hunk for hunk in hunks]
        engine.restore(Tracked(path, base, current, disk, tuple(hunks), item["oldPath"], item["mixed"]))


def _numbers(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _above(found: Iterable[dict[str, Any]]) -> set[str]:
    """All folders that these files are in."""
    folders: set[str] = set()
    for item in found:
        folder = os.path.dirname(item["path"])
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
