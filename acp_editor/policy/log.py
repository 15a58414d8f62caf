"""The log of decisions: time, session, tool, verdict and what decided. No contents, no commands, no paths."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from acp_editor.policy.check import CheckInput, Verdict


def _now() -> datetime:
    return datetime.now(UTC)


class DecisionLog:
    """Newline-delimited JSON in the state folder, for the person's eyes only; the oldest of it goes.

    `limit` is the size in bytes at which a file is put aside, `kept` how many of those stay.
    """

    def __init__(
        self,
        path: Path,
        limit: int = 1_000_000,
        kept: int = 2,
        now: Callable[[], datetime] = _now,
        workspace: str | None = None,
    ) -> None:
        self._path = path
        self._workspace = _mark(workspace) if workspace is not None else None
        self._limit = limit
        self._kept = kept
        self._now = now

    def add(self, call: CheckInput, verdict: Verdict, outcome: str | None = None) -> None:
        """Writes one decision; `outcome` is what the person answered, if they were asked. Raises OSError."""
        entry = {
            "time": self._now().isoformat(timespec="milliseconds"),
            "workspace": self._workspace,
            "session": call.session_id,
            "agent": call.agent,
            "call": call.tool_call_id,
            "tool": call.tool,
            "kind": call.kind,
            "decision": verdict.decision,
            "answers": verdict.answers,
            "outcome": outcome,
            # A rule's pattern may hold a command or a path; what it is about and where it stands is enough.
            "rule": verdict.rule.partition("(")[0] if verdict.rule else None,
            "source": verdict.source,
            "hook": verdict.hook,
            "setting": verdict.setting,
        }
        line = json.dumps({key: value for key, value in entry.items() if value is not None}) + "\n"
        self._rotate(len(line))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8") as file:
            file.write(line)

    def last(self, count: int = 200) -> list[dict[str, Any]]:
        """The newest decisions, the oldest of them first; lines that cannot be read are left out."""
        found: list[dict[str, Any]] = []
        for path in [self._path, *(self._aside(number) for number in range(1, self._kept + 1))]:
            try:
                lines = path.read_text("utf-8", "replace").splitlines()
            except FileNotFoundError:
                break
            found = [entry for line in lines if (entry := _entry(line))] + found
            if len(found) >= count:
                break
        return found[-count:]

    def forget(self) -> None:
        """Removes what was decided in this workspace. Raises OSError."""
        for path in [self._path, *(self._aside(number) for number in range(1, self._kept + 1))]:
            if not path.exists():
                continue
            lines = path.read_text("utf-8", "replace").splitlines(keepends=True)
            rest = [line for line in lines if (_entry(line) or {}).get("workspace") != self._workspace]
            if len(rest) != len(lines):
                beside = path.with_name(f"{path.name}.new")
                descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    file.writelines(rest)
                beside.replace(path)

    def _aside(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")

    def _rotate(self, more: int) -> None:
        try:
            if self._path.stat().st_size + more <= self._limit:
                return
        except FileNotFoundError:
            return
        for number in range(self._kept, 1, -1):
            if self._aside(number - 1).exists():
                self._aside(number - 1).replace(self._aside(number))
        self._path.replace(self._aside(1))


def _mark(workspace: str) -> str:
    """Tells one workspace from another, and not which it is."""
    return hashlib.sha256(os.fsencode(os.path.realpath(workspace))).hexdigest()[:12]


def _entry(line: str) -> dict[str, Any] | None:
    try:
        found: Any = json.loads(line)
    except ValueError:
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None
