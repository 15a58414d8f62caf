"""The check of a tool call: rules, then the ceiling, then hooks, and who has to answer.

The chain only ever tightens what needs the person, and nothing ends above the ceiling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from acp_editor.core.model import Fault
from acp_editor.policy.commands import Parsed, parse_command, parse_words
from acp_editor.policy.danger import danger
from acp_editor.policy.decide import Decision, decide
from acp_editor.policy.matching import File, Subject
from acp_editor.policy.rules import STRICTNESS, Effect, Rule, RuleSet, Source, rules_from


class CheckInput(BaseModel):
    """One tool call to be judged.

    `tool` is the agent's own name for it, `command` the command line, `words` set instead where a program is
    run without a shell. `targets` are the files behind the names that a command redirects to or from.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: str = "other"
    tool: str | None = None
    input: Any = None
    files: tuple[File, ...] = ()
    command: str | None = None
    words: tuple[str, ...] | None = None
    targets: Mapping[str, File] = Field(default_factory=dict[str, File])
    changes: bool = False
    astray: bool = False
    """It runs in a folder outside the workspace."""
    more_files: bool = False
    """It names more files than are looked at, which `files` has."""
    agent: str | None = None
    read_only: bool = False
    session_id: str | None = None
    tool_call_id: str | None = None

    def parsed(self) -> Parsed | None:
        """The command taken apart; None where none is run."""
        if self.words is not None:
            return parse_words(self.words)
        return parse_command(self.command) if self.command is not None else None

    def subject(self) -> Subject:
        return Subject(
            self.kind,
            self.tool,
            self.files,
            self.parsed(),
            dict(self.targets),
            self.changes,
            self.astray,
            self.more_files,
        )


class HookWord(BaseModel):
    """What one hook said of a call; `failed` says why it counts as ask."""

    model_config = ConfigDict(frozen=True)

    hook: str
    decision: Effect
    reason: str
    failed: bool = False


class Verdict(BaseModel):
    """What becomes of a call, why, and by whose word; at most one of `rule`, `hook` and `setting` decided."""

    model_config = ConfigDict(frozen=True)

    decision: Effect
    reason: str
    rule: str | None = None
    source: Source | None = None
    hook: str | None = None
    setting: str | None = None
    answers: Literal["rules", "person", "nobody"] = "person"
    """Who has to answer; "nobody" where the person is asked and is not there."""
    read_only: bool = False
    dangerous: str | None = None
    """What is destructive about it, as the end of "it …"."""
    outside: tuple[str, ...] = ()
    """Files of it that are outside the workspace."""
    hooks: tuple[HookWord, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The shape that editors get."""
        found = self.model_dump(exclude_none=True, exclude_defaults=True)
        if found.pop("read_only", False):
            found["readOnly"] = True
        return {**found, "decision": self.decision, "reason": self.reason, "answers": self.answers}


class Hook(Protocol):
    """One that has a word in the chain; it never raises, a failure is a word too."""

    @property
    def name(self) -> str: ...

    def check(self, call: CheckInput, verdict: Verdict) -> HookWord | None: ...


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most that may ever be allowed: an effect, and an administrator's rules.

    Where `rules` has rules that allow, a call that they do not cover is at most asked. `options` are the
    values that options may be set to, by their keys; an option that is not there may be set to anything.
    """

    most: Effect = "allow"
    rules: RuleSet = field(default_factory=RuleSet)
    options: Mapping[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])

    def of(self, subject: Subject) -> Decision:
        """The most that a call may get."""
        allows = any(rule.effect == "allow" for rule in self.rules.rules)
        open_rules = () if allows else (Rule("*", "*", None, "allow", "managed"),)
        found = decide(RuleSet((*self.rules.rules, *open_rules), self.rules.problems), subject)
        if STRICTNESS[found.effect] >= STRICTNESS[self.most]:
            return found
        return Decision(self.most, f"The most that may be allowed here is `{self.most}`.")


def default_rules(read_inside: bool = False) -> RuleSet:
    """What holds without any settings: the person is asked, but for reading inside if they turned that on."""
    return rules_from({"allow": ["read(**)", "search(**)"]} if read_inside else {}, "builtin")


def check(
    call: CheckInput,
    rules: RuleSet,
    ceiling: Ceiling | None = None,
    hooks: Sequence[Hook] = (),
    *,
    somebody: bool = True,
) -> Verdict:
    """Decides about a call; pure but for what hooks do. `somebody`: there is a person who can answer."""
    subject = call.subject()
    command = subject.command
    verdict = _verdict(decide(rules, subject)).model_copy(
        update={
            "read_only": call.read_only
            or (call.kind in ("read", "search") and not call.changes and command is None),
            "dangerous": danger(call.kind, command),
            "outside": _outside(call, command),
        }
    )
    most = (ceiling or Ceiling()).of(subject)
    verdict = _under(verdict, most)
    floor = verdict.decision
    for hook in hooks:
        word = hook.check(call, verdict)
        if word is not None:
            verdict = _heard(verdict, word, floor)
            if verdict.decision == "ask" or word.failed:
                floor = _stricter(floor, "ask")
    return _answered(verdict, somebody)


def _verdict(decision: Decision) -> Verdict:
    rule = decision.rule
    return Verdict(
        decision=decision.effect,
        reason=decision.reason,
        rule=rule.text if rule else None,
        source=rule.source if rule else None,
    )


def _outside(call: CheckInput, command: Parsed | None) -> tuple[str, ...]:
    targets = [call.targets.get(name) for name in command.writes + command.reads] if command else []
    files = [*call.files, *(target for target in targets if target is not None)]
    return tuple(dict.fromkeys(file.path for file in files if file.relative is None))


def _under(verdict: Verdict, most: Decision) -> Verdict:
    """Lowers a verdict to the ceiling."""
    if STRICTNESS[verdict.decision] >= STRICTNESS[most.effect]:
        return verdict
    return verdict.model_copy(
        update={
            "decision": most.effect,
            "reason": most.reason if most.rule else f"{most.reason} (A managed setting of this machine.)",
            "rule": most.rule.text if most.rule else None,
            "source": "managed",
            "hook": None,
            "setting": None if most.rule else "managed",
        }
    )


def _heard(verdict: Verdict, word: HookWord, floor: Effect) -> Verdict:
    """The verdict once a hook has spoken: the last word wins, but not below `floor`."""
    heard = verdict.model_copy(update={"hooks": (*verdict.hooks, word)})
    decision = _stricter(word.decision, verdict.decision if word.failed else floor)
    if decision != word.decision:
        return heard
    return heard.model_copy(
        update={
            "decision": decision,
            "reason": word.reason,
            "rule": None,
            "source": None,
            "hook": word.hook,
            "setting": None,
        }
    )


def _stricter(one: Effect, other: Effect) -> Effect:
    return one if STRICTNESS[one] >= STRICTNESS[other] else other


def _answered(verdict: Verdict, somebody: bool) -> Verdict:
    if verdict.decision != "ask":
        return verdict.model_copy(update={"answers": "rules"})
    return verdict.model_copy(update={"answers": "person"}) if somebody else unanswered(verdict)


def unanswered(verdict: Verdict) -> Verdict:
    """What becomes of a call that is for the person to decide, where nobody is there."""
    reason = f"{verdict.reason} Nobody is there to be asked, so it is denied."
    return verdict.model_copy(update={"decision": "deny", "answers": "nobody", "reason": reason})


def ran_unasked(tool_call_id: str, verdict: Verdict) -> Fault | None:
    """The fault of an agent that ran a call without asking though the verdict says ask or deny."""
    if verdict.decision == "allow":
        return None
    wanted = "ask before it" if verdict.decision == "ask" else "not do it"
    return Fault(
        "ran_unasked",
        f"The agent ran a tool without asking, though it has to {wanted}: {verdict.reason}",
        tool_call_id[:500],
    )
