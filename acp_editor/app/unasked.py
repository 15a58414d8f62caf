"""Agents that run a tool which they were refused, or without asking where a rule says that they have to."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from acp_editor.app.sessions import Entry
from acp_editor.core.limits import CALLS, MIB
from acp_editor.core.model import Fault, Json, ToolCall
from acp_editor.core.newest import Newest
from acp_editor.policy.check import Ceiling, CheckInput, check, ran_unasked
from acp_editor.policy.rules import RuleSet

_CALLS: Final = 5 * CALLS
"""Calls of which something is remembered, the newest of all sessions."""
_WEIGHT: Final = 8 * MIB
_LOOSE: Final = 200
"""Requests of a session without a call of their own: what they were for runs soon, or not at all."""


class Unasked:
    """What was asked for and refused, and which calls ran all the same. Told once for a call, at the call."""

    def __init__(self, ceiling: Ceiling, told: Callable[[Entry, Fault], None]) -> None:
        self._ceiling = ceiling
        self._told = told
        self._asked: Newest[tuple[str, str], None] = Newest(_CALLS, _WEIGHT)
        self._allowed: Newest[tuple[str, str], None] = Newest(_CALLS, _WEIGHT)
        self._refused: Newest[tuple[str, str], Json] = Newest(_CALLS, _WEIGHT)
        """What calls had put out when they were refused, of which nothing was ever allowed."""
        self._loose: dict[str, deque[CheckInput]] = {}
        self._faults: Newest[tuple[str, str], str] = Newest(_CALLS, _WEIGHT)

    def asked(self, entry: Entry, call: CheckInput, call_id: str | None) -> None:
        """Permission was asked for: by the id of a call, or of one that nobody has announced."""
        if call_id is not None:
            self._asked[entry.key, call_id] = None
        if call_id is None or entry.session.tool_call(call_id) is None:
            kept = call.model_copy(update={"input": None})  # what `_same` does not look at may be large
            self._loose.setdefault(entry.key, deque(maxlen=_LOOSE)).append(kept)

    def answered(self, entry: Entry, call_id: str, *, allowed: bool) -> bool:
        """What was asked for a call was allowed, or else rejected or cancelled; true: look at it.

        Of a call that asks more than once, what was allowed has run: the rest cannot be told from it.
        """
        key = (entry.key, call_id)
        if allowed:
            self._allowed[key] = None
            self._refused.pop(key, None)
            return False
        if key in self._allowed:
            return False
        call = entry.session.tool_call(call_id)
        if key not in self._refused:
            self._refused[key] = call.raw_output if call else None
        return call is not None and call.status == "completed"  # it has not waited

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
            if call.replayed or not _ran(call):
                continue
            if key in self._refused:
                if call.status == "completed" or call.raw_output != self._refused[key]:
                    del self._refused[key]
                    self._tell(key, entry, _ran_refused(call))
                    found.append((entry, call.tool_call_id))
                continue
            if key in self._asked:
                continue
            if entry.key not in known:
                known[entry.key] = _forbidding(rules(entry))
            if (held := known[entry.key]) is None:
                continue
            given = input_of(entry, call)
            verdict = check(given, held, self._ceiling)
            if verdict.rule is None or verdict.decision == "allow":
                continue
            self._asked[key] = None
            fault = ran_unasked(call.tool_call_id, verdict)
            if fault is None or any(_same(given, one) for one in self._loose.get(entry.key, ())):
                continue
            self._tell(key, entry, fault)
            found.append((entry, call.tool_call_id))
        return found

    def _tell(self, key: tuple[str, str], entry: Entry, fault: Fault) -> None:
        self._faults[key] = fault.message
        self._told(entry, fault)

    def forget(self, entry: Entry) -> None:
        for known in (self._asked, self._allowed, self._refused, self._faults):
            for key in [key for key in known if key[0] == entry.key]:
                del known[key]
        self._loose.pop(entry.key, None)


def _ran(call: ToolCall) -> bool:
    """Whether a tool surely ran: some agents say in_progress before they ask."""
    return call.status == "completed" or (call.status == "in_progress" and call.raw_output is not None)


def _ran_refused(call: ToolCall) -> Fault:
    return Fault(
        "ran_refused",
        "The agent says that it ran a tool that it had asked for, though it was refused.",
        call.tool_call_id[:500],
    )


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
