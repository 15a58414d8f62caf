"""Agents that run a tool without asking, though a rule of the person's says that they have to."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from acp_editor.app.sessions import Entry
from acp_editor.core.model import Fault, ToolCall
from acp_editor.policy.check import Ceiling, CheckInput, check, ran_unasked
from acp_editor.policy.rules import RuleSet


class Unasked:
    """What was asked for, and which calls ran all the same. Told once for a call, at the call."""

    def __init__(self, ceiling: Ceiling, told: Callable[[Entry, Fault], None]) -> None:
        self._ceiling = ceiling
        self._told = told
        self._asked: set[tuple[str, str]] = set()
        self._loose: dict[str, list[CheckInput]] = {}
        self._faults: dict[tuple[str, str], str] = {}

    def asked(self, entry: Entry, call: CheckInput, call_id: str | None) -> None:
        """Permission was asked for: by the id of a call, or of one that nobody has announced."""
        if call_id is not None:
            self._asked.add((entry.key, call_id))
        if call_id is None or entry.session.tool_call(call_id) is None:
            self._loose.setdefault(entry.key, []).append(call)

    def fault(self, entry: Entry, call_id: str) -> str | None:
        """What is wrong with a call, as a sentence."""
        return self._faults.get((entry.key, call_id))

    def look(
        self,
        calls: Iterable[tuple[Entry, ToolCall]],
        rules: Callable[[Entry], RuleSet],
        input_of: Callable[[Entry, ToolCall], CheckInput],
    ) -> list[tuple[Entry, str]]:
        """Looks at calls that have changed; those that are told of now. Rules are read once for a session."""
        known: dict[str, RuleSet | None] = {}
        found: list[tuple[Entry, str]] = []
        for entry, call in calls:
            key = (entry.key, call.tool_call_id)
            if key in self._asked or call.replayed or not _ran(call):
                continue
            if entry.key not in known:
                known[entry.key] = _forbidding(rules(entry))
            if (held := known[entry.key]) is None:
                continue
            given = input_of(entry, call)
            verdict = check(given, held, self._ceiling)
            if verdict.rule is None or verdict.decision == "allow":
                continue
            self._asked.add(key)
            fault = ran_unasked(call.tool_call_id, verdict)
            if fault is None or any(_same(given, one) for one in self._loose.get(entry.key, ())):
                continue
            self._faults[key] = fault.message
            self._told(entry, fault)
            found.append((entry, call.tool_call_id))
        return found

    def forget(self, entry: Entry) -> None:
        self._asked = {key for key in self._asked if key[0] != entry.key}
        self._faults = {key: text for key, text in self._faults.items() if key[0] != entry.key}
        self._loose.pop(entry.key, None)


def _ran(call: ToolCall) -> bool:
    """Whether a tool surely ran: some agents say in_progress before they ask."""
    return call.status == "completed" or (call.status == "in_progress" and call.raw_output is not None)


def _forbidding(rules: RuleSet) -> RuleSet | None:
    """The rules, if any of them denies or asks."""
    return rules if any(rule.effect != "allow" for rule in rules.rules) else None


def _same(one: CheckInput, other: CheckInput) -> bool:
    """Whether permission that was asked for without a call of its own was for this one."""
    if one.command is not None or other.command is not None:
        return one.command == other.command
    if other.files:
        return {file.path for file in one.files} <= {file.path for file in other.files}
    return one.kind == other.kind
