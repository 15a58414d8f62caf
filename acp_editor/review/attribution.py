"""Who made a change: the tool call whose words or time fit it best."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from acp_editor.core.diffs import proposals
from acp_editor.core.model import ToolCall
from acp_editor.review.work import COMMANDS, READING

_ENOUGH = 2000
"""Lines of a hunk after which no more are held against what a call says."""
_PIECE = 100
"""Bytes of a piece of text without its letters."""
HEAVIEST = 32 * 1024 * 1024
"""Bytes of what all calls say; of the oldest beyond it only the names of their files stay."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a call says of one file: pieces of text that it puts in and takes out."""

    new: frozenset[str] = frozenset()
    old: frozenset[str] = frozenset()

    @property
    def weight(self) -> int:
        """About the bytes that it takes."""
        return sum(_PIECE + len(text) for text in itertools.chain(self.new, self.old))


@dataclass(frozen=True, slots=True)
class Evidence:
    """A tool call as far as it tells about files; `order` grows with every word of it."""

    call_id: str
    kind: str
    active: bool
    order: int
    paths: dict[str, Words]

    @property
    def may_write_anything(self) -> bool:
        """Whether it may write files that it does not name."""
        return self.kind in COMMANDS or (self.kind not in READING and not self.paths)


def evidence(call: ToolCall, cwd: str, order: int) -> Evidence:
    """What the call says; a change that it shows for a path is remembered by its lines."""
    paths: dict[str, Words] = {}
    if call.kind not in READING:
        for location in call.locations:
            paths[os.path.normpath(os.path.join(cwd, location.path))] = Words()
    for proposal in proposals(call, cwd):
        new, old = _pieces(proposal.new_text), _pieces(proposal.old_text)
        for hunk in proposal.hunks:
            new |= {text.strip() for mark, text in hunk.lines if mark == "+"}
            old |= {text.strip() for mark, text in hunk.lines if mark == "-"}
        known = paths.get(proposal.path, Words())
        paths[proposal.path] = Words(known.new | new, known.old | old)
        if proposal.old_path:
            paths.setdefault(proposal.old_path, Words())
    return Evidence(call.tool_call_id, call.kind, call.active, order, paths)


def _pieces(text: str | None) -> frozenset[str]:
    return frozenset(line.strip() for line in text.splitlines()) - {""} if text else frozenset()


@dataclass(frozen=True, slots=True)
class Author:
    """A call and how sure it is: 3 its text fits, 2 it names the file, 1 it was at work just then."""

    call_id: str | None = None
    strength: int = 0


class Witnesses:
    """What the calls of this turn and of the ones before say, the newest last."""

    def __init__(self, limit: int = 200) -> None:
        self._limit = limit
        self._calls: dict[str, Evidence] = {}
        self._weights: dict[str, int] = {}
        self._weight = 0
        self._order = 0

    def get(self, call_id: str) -> Evidence | None:
        """What was heard of a call."""
        return self._calls.get(call_id)

    def hear(self, call: ToolCall, cwd: str) -> Evidence:
        """Takes note of a call as it is now."""
        self._order += 1
        found = evidence(call, cwd, self._order)
        known = self._calls.pop(call.tool_call_id, None)
        if known is not None and not found.active and not known.active:
            found = replace(found, order=known.order)
        self._keep(found)
        while len(self._calls) > self._limit:
            oldest = next(iter(self._calls))
            del self._calls[oldest]
            self._weight -= self._weights.pop(oldest, 0)
        for call_id in list(self._weights)[:-1] if self._weight > HEAVIEST else ():
            if self._weight > HEAVIEST * 3 // 4:
                old = self._calls[call_id]
                self._calls[call_id] = replace(old, paths=dict.fromkeys(old.paths, Words()))
                self._weight -= self._weights.pop(call_id)
        return found

    def _keep(self, found: Evidence) -> None:
        """As the newest."""
        self._weight -= self._weights.pop(found.call_id, 0)
        self._calls[found.call_id] = found
        if weight := sum(words.weight for words in found.paths.values()):
            self._weights[found.call_id] = weight
            self._weight += weight

    def candidates(self, path: str, at_work: Collection[str]) -> list[Evidence]:
        """The calls that may have changed a file: those that name it, and of those `at_work`, which may."""
        return [
            call
            for call in self._calls.values()
            if path in call.paths or (call.call_id in at_work and call.may_write_anything)
        ]

    @property
    def commands_run(self) -> bool:
        """Whether a call is at work that may write any file."""
        return any(call.active and call.may_write_anything for call in self._calls.values())

    @property
    def command_runs(self) -> bool:
        """Whether a command of the agent is running."""
        return any(call.active and call.kind == "execute" for call in self._calls.values())

    def turn_over(self) -> None:
        """Nothing is at work any more."""
        self._calls = {name: replace(call, active=False) for name, call in self._calls.items()}


def author(
    path: str, candidates: Iterable[Evidence], removed: Iterable[bytes], added: Iterable[bytes]
) -> Author:
    """Whose the change is that took lines out of a file and put others in."""
    new = {line.decode("utf-8", "replace").strip() for line in itertools.islice(added, _ENOUGH)} - {""}
    old = {line.decode("utf-8", "replace").strip() for line in itertools.islice(removed, _ENOUGH)} - {""}
    best = Author()
    best_key: tuple[int, int, int] = (0, 0, 0)
    for call in candidates:
        strength, fitting = 1, 0
        if (words := call.paths.get(path)) is not None:
            fitting = len(new & words.new) + (0 if new else len(old & words.old))
            strength = 3 if fitting else 2
        key = (strength, fitting, call.order)
        if key > best_key:
            best, best_key = Author(call.call_id, strength), key
    return best
