"""What went over an agent's wire, as one JSON object a line: kept in memory, and in a file on demand.

A line is `{"t": milliseconds since the start, "time": ISO 8601, "dir": "c2a" | "a2c", "msg": {...}}`,
c2a being from us to the agent; a line of the agent's that was no message has its text as "nonjson".
`{"omitted": bytes}` stands where messages were too old or too large to keep. Such files are what
`acp-editor replay` plays.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import re
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, TextIO

from acp_editor.acp.connection import Direction
from acp_editor.acp.rpc import encode
from acp_editor.core.finite import dumps
from acp_editor.core.model import Json
from acp_editor.core.redact import Redactor

logger = logging.getLogger(__name__)

HEAD: Final = 256 * 1024
"""Bytes of the beginning that are kept: without the handshake no file can be played."""

TAIL: Final = 2 * 1024 * 1024
"""Bytes of the newest messages that are kept, with what it takes to keep them."""

MAX_FILE: Final = 32 * 1024 * 1024
"""Characters of one file; then the next one is begun."""

MAX_FILES: Final = 20
"""The newest files that stay."""

_DIRECTIONS: Final[dict[Direction, str]] = {"out": "c2a", "in": "a2c"}


class _Kept(NamedTuple):
    """A line as it was on the wire, or None for one that was too large; `size` in bytes, `at` monotonic."""

    at: float
    direction: Direction
    line: bytes | None
    size: int
    noise: bool


_BESIDE: Final = 192
"""Bytes that a line takes beside its own."""


def _cost(kept: _Kept) -> int:
    return _BESIDE + (kept.size if kept.line is not None else 0)


class Recorder:
    """The traffic of one run of an agent; to be called with each message. Never raises."""

    def __init__(
        self,
        agent: str,
        folder: Path,
        redactor: Redactor,
        *,
        head: int = HEAD,
        tail: int = TAIL,
        max_file: int = MAX_FILE,
    ) -> None:
        self._agent = agent
        self._folder = folder
        self._redactor = redactor
        self._started, self._started_at = time.monotonic(), time.time()
        self._head: list[_Kept] = []
        self._tail: deque[_Kept] = deque()
        self._head_room, self._tail_room, self._tail_limit = head, tail, tail
        self._omitted = 0
        self._max_file = max_file
        self._logging = False
        self._begun = False
        """So that a folder that cannot be written is tried once."""
        self._file: TextIO | None = None
        self._written = 0

    def __call__(self, direction: Direction, message: Json) -> None:
        try:
            line = encode(message)
        except (TypeError, ValueError, RecursionError):
            logger.exception("a message cannot be recorded")
            return
        self.line(direction, line[:-1])

    def line(self, direction: Direction, line: bytes) -> None:
        """A message as it is on the wire: parsed again only if somebody wants to read it."""
        if direction == "out" and b'"mcpServers"' in line:
            # The servers' secrets have to be known also if this message is no longer kept when it is saved.
            self._redactor.learn(_parsed(line))
        self._take(direction, line, noise=False)

    def noise(self, line: bytes) -> None:
        """A line of the agent's that was no message, in its turn."""
        self._take("in", line, noise=True)

    def _take(self, direction: Direction, line: bytes, *, noise: bool) -> None:
        size = len(line)
        kept = _Kept(time.monotonic(), direction, line, size, noise)
        keep = kept if size <= self._tail_limit else kept._replace(line=None)
        cost = _cost(keep)
        if not self._tail and cost <= self._head_room:
            self._head_room -= cost
            self._head.append(keep)
        else:
            self._head_room = 0
            self._tail.append(keep)
            self._tail_room -= cost
            if self._tail_room < 0:
                self._make_room()
        if self._logging:
            self._log(kept)

    def _log(self, kept: _Kept) -> None:
        if not self._begun:
            self._begin()
        if self._file is not None:
            self._write(self._line(kept))

    def log(self, on: bool) -> None:
        """Begins a file with all that is kept, or ends it. There is none before the first message."""
        if on and not self._logging and (self._head or self._tail):
            self._begin()
            for line in self._lines():
                self._write(line)
        elif not on:
            self.close()
        self._logging = on

    def save(self) -> Path:
        """Writes what is kept to a file of its own; raises OSError."""
        path, file = _create(self._folder, self._agent)
        with file:
            file.writelines(self._lines())
        return path

    def close(self) -> None:
        """Ends the file; what is kept stays."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None
        self._begun = False

    # -- in memory --

    def _make_room(self) -> None:
        while self._tail_room < 0:
            oldest = self._tail.popleft()
            self._omitted += oldest.size
            self._tail_room += _cost(oldest)

    def _lines(self) -> Iterator[str]:
        for kept in self._head:
            yield self._line(kept)
        if self._omitted:
            yield json.dumps({"omitted": self._omitted}) + "\n"
        for kept in self._tail:
            yield self._line(kept)

    def _line(self, kept: _Kept) -> str:
        elapsed = kept.at - self._started
        at = datetime.fromtimestamp(self._started_at + elapsed, UTC)
        entry: dict[str, Json] = {
            "t": round(elapsed * 1000),
            "time": at.isoformat(timespec="milliseconds"),
            "dir": _DIRECTIONS[kept.direction],
        }
        if kept.line is None:
            entry["omitted"] = kept.size
        elif kept.noise:
            entry["nonjson"] = self._redactor.redact(kept.line.decode("utf-8", "replace").rstrip("\r"))
        else:
            entry["msg"] = self._redactor.redact(_parsed(kept.line))
        return dumps(entry) + "\n"

    # -- on the disk --

    def _begin(self) -> None:
        self._begun = True
        try:
            path, self._file = _create(self._folder, self._agent)
        except OSError as error:
            logger.warning("the traffic of %s cannot be written: %s", self._agent, error)
            return
        self._written = 0
        logger.info("the traffic of %s goes to %s", self._agent, path)

    def _write(self, line: str) -> None:
        if self._file is not None and self._written and self._written + len(line) > self._max_file:
            self.close()
            self._begin()
        if self._file is None:
            return
        try:
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            logger.warning("the traffic of %s cannot be written any more: %s", self._agent, error)
            self.close()
            self._begun = True
            return
        self._written += len(line)


class Traffic:
    """The recorders of all agents, each of the agent's last run."""

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self._folder = folder
        self._redactor = redactor
        self._on = False
        self._recorders: dict[str, Recorder] = {}

    def recorder(self, agent: str, environment: Mapping[str, str]) -> Recorder:
        """A recorder for an agent that is about to start; `environment` is what it was given of its own."""
        if (last := self._recorders.get(agent)) is not None:
            last.log(False)
        self._redactor.learn_environment(environment)
        recorder = self._recorders[agent] = Recorder(agent, self._folder, self._redactor)
        recorder.log(self._on)
        return recorder

    def log(self, on: bool) -> None:
        """Whether everything is written as it comes."""
        self._on = on
        for recorder in self._recorders.values():
            recorder.log(on)

    def forget(self, roots: Iterable[str]) -> None:
        """Removes the files of sessions in these folders."""
        marks = [json.dumps(root)[:-1].encode() for root in roots]
        for path in self._folder.glob("*.ndjson"):
            with suppress(OSError):
                with path.open("rb") as file:
                    head = file.read(4 * HEAD)
                if any(mark in head for mark in marks):
                    path.unlink()

    def save(self, agent: str) -> Path | None:
        """Writes what is kept of that agent's last run; None if it never ran. Raises OSError."""
        recorder = self._recorders.get(agent)
        return None if recorder is None else recorder.save()


def _parsed(line: bytes) -> Json:
    return json.loads(line.decode("utf-8", "replace").removeprefix("\ufeff"))


def _create(folder: Path, agent: str) -> tuple[Path, TextIO]:
    """A new file that only its owner can read; the oldest ones go."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    name = re.sub(r"[^\w.-]+", "_", agent)[:60].lstrip(".") or "agent"
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    for number in itertools.count(1):
        path = folder / f"{name}-{stamp}{f'-{number}' if number > 1 else ''}.ndjson"
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        _tidy(folder, path)
        return path, open(descriptor, "w", encoding="utf-8", newline="\n")
    raise AssertionError


def _tidy(folder: Path, newest: Path) -> None:
    def age(path: Path) -> float:
        try:
            return path.stat().st_mtime
        except OSError:  # somebody else's tidying
            return 0.0

    others = sorted((path for path in folder.glob("*.ndjson") if path != newest), key=age)
    for path in others[: max(0, len(others) + 1 - MAX_FILES)]:
        with suppress(OSError):
            path.unlink()
