"""What the rules say of one call, together. Pure: files are resolved and commands parsed by the caller.

Rules that forbid match as soon as any part of a call does, rules that allow only where every part is covered;
where it cannot be told whether a forbidding rule matches, the person is asked.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from acp_editor.policy.commands import Parsed, SimpleCommand, Words
from acp_editor.policy.matching import File, Match, Subject, either, file_matches, names_tool, words_match
from acp_editor.policy.rules import FILE_KINDS, KINDS, Effect, Rule, RuleProblem, RuleSet, pattern_words

_WRITING_KINDS: Final = frozenset({"edit", "delete", "move"})


@dataclass(frozen=True, slots=True)
class Decision:
    effect: Effect
    reason: str
    rule: Rule | None = None


# -- rules that forbid -------------------------------------------------------------------------


def _forbids(rule: Rule, subject: Subject) -> Match:
    """Whether a rule that denies or asks is about any part of a call."""
    command = subject.command
    redirected = command.writes if command else ()
    shown = {
        "execute": command is not None,
        "edit": subject.changes or bool(redirected),
        "read": command is not None and bool(command.reads),
    }
    named = names_tool(rule, subject.tool) or subject.tool == rule.what
    if not (rule.what in ("*", subject.kind) or named or shown.get(rule.what, False)):
        return "no"
    if rule.pattern is None:
        return "yes"
    matches: list[Match] = []
    if rule.what not in FILE_KINDS and (command is not None or "execute" in (rule.what, subject.kind)):
        matches.append(_forbids_command(rule.pattern, command))
    if rule.what != "execute" and not (command is not None and rule.what not in FILE_KINDS | {"*"}):
        matches.append(_forbids_files(rule, subject))
    return either(matches)


def _forbids_command(pattern: str, command: Parsed | None) -> Match:
    if command is None:
        return "perhaps"
    if pattern == command.text.strip():
        return "yes"
    faces = [face for one in command.commands for face in one.faces()]
    if not command.understood:
        faces += command.suspects
    found = either(words_match(pattern, face.words, True) for face in faces)
    return "perhaps" if found == "no" and not command.understood else found


def _forbids_files(rule: Rule, subject: Subject) -> Match:
    pattern, command = rule.pattern or "", subject.command
    files: list[File | None] = list(subject.files)
    if command is not None:
        names = {"read": command.reads, "edit": command.writes}.get(rule.what, command.reads + command.writes)
        files += [subject.targets.get(name) for name in names]
    elif not files and subject.kind != "execute":
        return "perhaps"
    if subject.more_files:
        files.append(None)
    return either(
        "perhaps"
        if file is None
        else "yes"
        if file_matches(pattern, file, True)
        else "perhaps"
        if file.folder and subject.kind in _WRITING_KINDS
        else "no"
        for file in files
    )


# -- rules that allow --------------------------------------------------------------------------


def _required_kinds(subject: Subject) -> tuple[str, ...]:
    """The kinds that have to be allowed; what a call shows counts more than what it says that it is."""
    if subject.command is not None:
        return ("execute",)
    if subject.changes and subject.kind not in _WRITING_KINDS:
        return ("edit",) if subject.kind not in KINDS - {"other"} else (subject.kind, "edit")
    return (subject.kind,)


def _allows(rules: Sequence[Rule], subject: Subject) -> Decision:
    """Whether the rules that allow cover all of a call together."""
    deciding: Rule | None = None
    for kind in _required_kinds(subject):
        about = [rule for rule in rules if rule.what in ("*", kind) or names_tool(rule, subject.tool)]
        if not about:
            return Decision("ask", "No rule is about it, so it is for you to say.")
        whole = next((rule for rule in about if rule.pattern is None), None)
        if whole is not None:
            deciding = deciding or whole
            continue
        if kind == "execute":
            edits = [rule for rule in rules if rule.what == "edit"]
            decision = _allows_command(about, edits, subject)
        else:
            decision = _allows_files(about, subject)
        if decision.effect != "allow":
            return decision
        deciding = deciding or decision.rule
    return Decision("allow", f"The rule `{deciding.text if deciding else ''}` allows it.", deciding)


def _allows_files(rules: Sequence[Rule], subject: Subject) -> Decision:
    if not subject.files:
        return Decision("ask", "It names no file, so a rule for files does not cover it.")
    if subject.more_files:
        return Decision("ask", "It names too many files for a rule to cover them all.")
    deciding: Rule | None = None
    for file in subject.files:
        rule = next((one for one in rules if one.pattern and file_matches(one.pattern, file, False)), None)
        if rule is None:
            place = file.relative if file.relative is not None else f"{file.path} (outside the workspace)"
            return Decision("ask", f"No rule allows it for {place}.")
        deciding = deciding or rule
    return Decision("allow", "", deciding)


def _allows_command(rules: Sequence[Rule], edits: Sequence[Rule], subject: Subject) -> Decision:
    command = subject.command
    if command is None:
        return Decision("ask", "It does not say what it runs, so a rule for commands does not cover it.")
    if not command.understood:
        return Decision("ask", f"The command line cannot be judged: {command.why}.")
    if subject.astray:
        return Decision("ask", "It runs in a folder outside the workspace.")
    text = command.text.strip()
    if exact := next((rule for rule in rules if rule.pattern == text and text != "*"), None):
        return Decision("allow", "", exact)
    if not command.commands:
        return Decision("ask", "There is no command in it that a rule could be about.")
    deciding: Rule | None = None
    for one in command.commands:
        rule = _allowing(rules, one)
        if rule is None:
            return Decision("ask", f"No rule allows `{_shown(one.words)}`.")
        deciding = deciding or rule
    for name in command.writes:
        target = subject.targets.get(name)
        covered = target is not None and any(
            rule.pattern is None or file_matches(rule.pattern, target, False) for rule in edits
        )
        if not covered:
            return Decision("ask", f"It writes to {name}, and no rule allows to edit that.")
    return Decision("allow", "", deciding)


def _allowing(rules: Sequence[Rule], command: SimpleCommand) -> Rule | None:
    """The rule that covers a command and all that it runs in turn."""
    inner = [_allowing(rules, one) for one in command.inner]
    inner_rule = next((rule for rule in inner if rule), None) if all(inner) else None
    if command.transparent and inner_rule is not None:
        return inner_rule
    for rule in rules:
        pattern = rule.pattern or ""
        if words_match(pattern, command.words, False) != "yes":
            continue
        covered = len(pattern_words(pattern) or ()) if pattern.endswith(":*") else len(command.words)
        if pattern == "*":
            covered = 1
        if covered >= command.needs or inner_rule is not None:
            return rule
    return None


def _shown(words: Words) -> str:
    shown = " ".join("…" if word is None else shlex.quote(word) for word in words)
    return shown if len(shown) <= 80 else shown[:79] + "…"


# -- together ----------------------------------------------------------------------------------


def decide(rules: RuleSet, subject: Subject) -> Decision:
    """What the rules say together: deny before ask before allow, and ask where none is about the call."""
    doubt: Decision | None = None
    for effect, verb in (("deny", "forbids"), ("ask", "says to ask about")):
        for rule in rules.rules:
            if rule.effect != effect:
                continue
            match _forbids(rule, subject):
                case "yes":
                    if effect == "deny":
                        return Decision("deny", f"The rule `{rule.text}` {verb} it.", rule)
                    return Decision("ask", f"The rule `{rule.text}` {verb} it.", rule)
                case "perhaps":
                    if effect == "deny" and subject.more_files:
                        # The person does not see all of them either.
                        reason = f"It names too many files to tell whether the rule `{rule.text}` forbids it."
                        return Decision("deny", reason, rule)
                    reason = f"It cannot be told whether the rule `{rule.text}` {verb} it."
                    if subject.command is not None and not subject.command.understood:
                        reason += f" The command line cannot be judged: {subject.command.why}."
                    doubt = doubt or Decision("ask", reason, rule)
                case "no":
                    pass
    if broken := _broken(rules, subject):
        return Decision("ask", f"A rule that forbids cannot be read (`{broken.text}`): {broken.message}")
    if doubt is not None:
        return doubt
    return _allows([rule for rule in rules.rules if rule.effect == "allow"], subject)


def _broken(rules: RuleSet, subject: Subject) -> RuleProblem | None:
    """A deny or ask rule that cannot be read and seems to be about this kind of call."""
    for problem in rules.problems:
        if problem.effect != "allow":
            about = Rule(problem.text, problem.what, None, problem.effect, problem.source)
            if _forbids(about, subject) == "yes":
                return problem
    return None
