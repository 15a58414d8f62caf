"""Where the person's saved rules are kept: in the config folder.

A rule for one workspace is kept there too, never in the workspace, which anybody may write.
"""

from __future__ import annotations

import copy
import json
import os
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from acp_editor.policy.rules import Effect, Rule, RuleProblem, RuleSet, parse_rule, rules_from

if sys.platform != "win32":
    import fcntl

Scope: TypeAlias = Literal["session", "workspace", "everywhere"]
_Stamp: TypeAlias = tuple[int, int, int]

_FRESH: Final = 1_000_000_000
"""Nanoseconds for which a file that was written is not yet trusted to stay."""


@dataclass(frozen=True, slots=True)
class SavedRule:
    """A rule with where it stands: `where` is the session's id, the workspace's folder, or the file."""

    rule: Rule
    scope: Scope
    where: str


class RuleStore:
    """The rules that the person saved, shared by all servers that run.

    Another server's change is seen at the next look: the file is read again once it is another one.
    """

    def __init__(self, config_folder: Path) -> None:
        self._path = config_folder / "permissions.json"
        self._sessions: dict[str, list[Rule]] = {}
        self._seen: tuple[_Stamp, dict[str, Any]] | None = None

    @property
    def path(self) -> Path:
        return self._path

    def rules_for(self, workspace: str | None, session_id: str | None) -> RuleSet:
        """All saved rules that hold in a session; a file that cannot be read makes every call asked."""
        found = RuleSet(tuple(self._sessions.get(session_id or "", ())))
        try:
            content = self._read()
        except ValueError as error:
            message = f"{self._path} cannot be read: {error}"
            return found + RuleSet((), (RuleProblem(str(self._path), message, "*", "deny", "saved"),))
        found += rules_from(content.get("everywhere") or {}, "saved")
        if workspace is not None:
            found += rules_from(_workspaces(content).get(_key(workspace)) or {}, "saved")
        return found

    def listed(self, workspace: str | None = None, session_id: str | None = None) -> tuple[SavedRule, ...]:
        """Every saved rule with where it stands; with a workspace or session only what holds there."""
        rows = [
            SavedRule(rule, "session", name)
            for name, rules in self._sessions.items()
            if session_id in (None, name)
            for rule in rules
        ]
        content = self._read()
        for folder, given in _workspaces(content).items():
            if workspace is None or _key(workspace) == folder:
                rows += [SavedRule(rule, "workspace", folder) for rule in rules_from(given, "saved").rules]
        everywhere = rules_from(content.get("everywhere") or {}, "saved").rules
        return (*rows, *(SavedRule(rule, "everywhere", str(self._path)) for rule in everywhere))

    def add(self, text: str, effect: Effect, scope: Scope, where: str = "") -> SavedRule:
        """Saves a rule; `where` is the session's id or the workspace's folder. Raises ValueError."""
        rule = parse_rule(text, effect, "session" if scope == "session" else "saved")
        if isinstance(rule, RuleProblem):
            raise ValueError(rule.message)
        if scope == "session":
            rules = self._sessions.setdefault(where, [])
            if rule not in rules:
                rules.append(rule)
            return SavedRule(rule, scope, where)
        with self._changed() as content:
            texts = _texts(content, scope, where, effect)
            if rule.text not in texts:
                texts.append(rule.text)
        return SavedRule(rule, scope, _key(where) if scope == "workspace" else str(self._path))

    def revoke(self, saved: SavedRule) -> None:
        """Takes a rule back; raises LookupError where it is no longer there."""
        rule = saved.rule
        if saved.scope == "session":
            try:
                self._sessions[saved.where].remove(rule)
            except (KeyError, ValueError):
                raise LookupError(f"There is no rule `{rule.text}` in this session.") from None
            return
        with self._changed() as content:
            texts = _texts(content, saved.scope, saved.where, rule.effect)
            if rule.text not in texts:
                raise LookupError(f"There is no rule `{rule.text}` any more.")
            texts.remove(rule.text)

    def edit(self, saved: SavedRule, text: str) -> SavedRule:
        """Puts another rule in the place of one; on a ValueError or LookupError nothing changed."""
        rule = parse_rule(text, saved.rule.effect, saved.rule.source)
        if isinstance(rule, RuleProblem):
            raise ValueError(rule.message)
        if saved.scope == "session":
            self.revoke(saved)
            return self.add(text, rule.effect, saved.scope, saved.where)
        with self._changed() as content:
            texts = _texts(content, saved.scope, saved.where, rule.effect)
            if saved.rule.text not in texts:
                raise LookupError(f"There is no rule `{saved.rule.text}` any more.")
            texts[texts.index(saved.rule.text)] = rule.text
        return SavedRule(rule, saved.scope, saved.where)

    def forget_workspace(self, folder: str) -> None:
        """Removes the rules that were saved for a workspace. Raises ValueError or OSError."""
        if _key(folder) not in _workspaces(self._read()):
            return
        with self._changed() as content:
            _workspaces(content).pop(_key(folder), None)

    def forget_session(self, session_id: str) -> None:
        self._sessions.pop(session_id, None)

    def _read(self) -> dict[str, Any]:
        """The file's content; raises ValueError where it holds something else."""
        try:
            stamp = _stamp(self._path)
            if self._seen is not None and self._seen[0] == stamp:
                return self._seen[1]
            found: Any = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise ValueError(str(error)) from error
        if not isinstance(found, dict):
            raise ValueError("it is not an object")
        content = cast("dict[str, Any]", found)
        # One that was just written may be written again within the same tick of its clock.
        self._seen = (stamp, content) if time.time_ns() - stamp[1] > _FRESH else None
        return content

    @contextmanager
    def _changed(self) -> Generator[dict[str, Any]]:
        """The content to be changed, written back whole; no other process writes in between."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if sys.platform != "win32":
                fcntl.flock(lock, fcntl.LOCK_EX)
            self._seen = None
            content = copy.deepcopy(self._read())
            yield content
            self._write(content)
        finally:
            os.close(lock)

    def _write(self, content: Mapping[str, Any]) -> None:
        temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2, ensure_ascii=False)
            file.write("\n")
        temporary.replace(self._path)


def _stamp(path: Path) -> _Stamp:
    """Tells one state of a file from another: it is always replaced, so that a new one is another file."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _key(workspace: str) -> str:
    return os.path.realpath(workspace)


def _workspaces(content: Mapping[str, Any]) -> dict[str, Any]:
    found: Any = content.get("workspaces")
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _texts(content: dict[str, Any], scope: Scope, where: str, effect: Effect) -> list[Any]:
    """The list to change, made where it is missing; raises ValueError where something else stands there."""
    keys = ("workspaces", _key(where), effect) if scope == "workspace" else ("everywhere", effect)
    texts: Any = content
    for key in keys:
        inner: Any = [] if key == effect else {}
        texts = cast("dict[str, Any]", texts).setdefault(key, inner) if isinstance(texts, dict) else None
    if not isinstance(texts, list):
        raise ValueError(
            "The file of saved rules holds something else where rules belong; it is left as it is."
        )
    return cast("list[Any]", texts)
