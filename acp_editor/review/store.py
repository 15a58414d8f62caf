"""What outlives the process: the unanswered changes of a workspace, and the lock that says who reviews it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from acp_editor.core.ledger import Hunk, Span
from acp_editor.review.engine import Engine
from acp_editor.review.files import ABSENT, Version
from acp_editor.review.tracked import Tracked

log = logging.getLogger(__name__)

FORMAT = 1


def folder_of(state: Path, roots: Iterable[str]) -> Path:
    """Where the review of these workspace folders is kept."""
    names = "\0".join(sorted(os.path.normpath(root) for root in roots))
    return state / "reviews" / hashlib.sha256(os.fsencode(names)).hexdigest()[:20]


class Lock:
    """Held by the one process that reviews a workspace; the system lets go of it when that one dies."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lock"
        self._handle: int | None = None

    def take(self) -> bool:
        """Whether we are the one now."""
        if self._handle is not None:
            return True
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return False
        self._handle = handle
        return True

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


class Store:
    """The file `review.json`, always whole: written beside and renamed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "review.json"
        self._written: str | None = None
        self._kept: dict[str, list[tuple[Version, str | None]]] = {}

    def save(self, engine: Engine) -> None:
        """Writes what is unanswered, if that has changed. Raises OSError."""
        pending = [tracked for tracked in engine.tracked.values() if tracked.pending]
        self._kept = {tracked.path: self._kept.get(tracked.path, []) for tracked in pending}
        content = json.dumps(
            {
                "format": FORMAT,
                "nextId": engine.next_id,
                "turn": engine.turns.running > 0,
                "files": [self._file(engine, tracked) for tracked in pending],
            }
        )
        if content == self._written:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        beside = self._folder / "review.json.new"
        with beside.open("w", encoding="ascii") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._path)
        self._written = content

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

    def load(self, engine: Engine) -> bool:
        """Gives the engine what was unanswered; returns whether a turn was cut short by our end.

        What cannot be read is logged and left out: its base is in the checkpoint, so it is found again as a
        change, if a turn was running.
        """
        try:
            content = json.loads(self._path.read_text("ascii"))
        except FileNotFoundError:
            return False
        except (OSError, ValueError) as error:
            log.warning("the pending review cannot be read: %s", error)
            return False
        if not isinstance(content, dict) or content.get("format") != FORMAT:  # pyright: ignore
            return False
        try:
            engine.next_id = int(content["nextId"])  # pyright: ignore
            for item in content["files"]:  # pyright: ignore
                self._load_file(engine, item)  # pyright: ignore
            return bool(content["turn"])  # pyright: ignore
        except (KeyError, TypeError, ValueError, IndexError) as error:
            log.warning("the pending review cannot be read: %r", error)
            return False

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
        hunks = tuple(
            Hunk(row[0], Span(row[1], row[2]), Span(row[3], row[4]), row[5]) for row in item["hunks"]
        )
        engine.restore(Tracked(path, base, current, disk, hunks, item["oldPath"], item["mixed"]))

    def forget(self) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink()
        self._written = None


def _numbers(span: Span) -> tuple[int, int]:
    return span.start, span.end


def forget(state: Path, roots: Sequence[str]) -> None:
    """Removes what is kept of these workspace folders."""
    shutil.rmtree(folder_of(state, roots), ignore_errors=True)
