"""Rules as they are written: `what` or `what(pattern)`. Pure; what they decide is in `decide.py`."""

# ruff: noqa: SIM905 (long lists of names are easier to read and to extend as text)
from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias, cast

from pathspec import GitIgnoreSpec

Effect: TypeAlias = Literal["allow", "ask", "deny"]
Source: TypeAlias = Literal["builtin", "user", "workspace", "managed", "session", "saved"]

STRICTNESS: Final[Mapping[Effect, int]] = {"allow": 0, "ask": 1, "deny": 2}

KINDS: Final = frozenset("read edit delete move search execute think fetch switch_mode other".split())
FILE_KINDS: Final = KINDS - {"execute"}
_SHELL_CHARACTERS: Final = re.compile(r"[;&|<>()$`\n]")
_RULE: Final = re.compile(r"(\*|[A-Za-z_][\w.:/-]*\*?)(?:\((.*)\))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule as it was written (`text`), with what it does and where it stands."""

    text: str
    what: str
    pattern: str | None = None
    effect: Effect = "allow"
    source: Source = "user"


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """A rule that cannot be read or does not count. `what` is the kind it seems to be about, "*" for any."""

    text: str
    message: str
    what: str = "*"
    effect: Effect = "allow"
    source: Source = "user"


@dataclass(frozen=True, slots=True)
class RuleSet:
    rules: tuple[Rule, ...] = ()
    problems: tuple[RuleProblem, ...] = ()

    def __add__(self, other: RuleSet) -> RuleSet:
        return RuleSet(self.rules + other.rules, self.problems + other.problems)


def parse_rule(text: object, effect: Effect = "allow", source: Source = "user") -> Rule | RuleProblem:
    """Reads one rule; whatever `text` is, the answer is a rule or what is wrong with it."""
    if not isinstance(text, str):
        return RuleProblem(repr(text)[:200], "A rule is a text.", "*", effect, source)
    stripped = text.strip()
    found = _RULE.fullmatch(stripped)
    if found is None:
        head = re.match(r"[A-Za-z_][\w.:-]*", stripped)
        message = "A rule is `what` or `what(pattern)`, such as `edit(src/**)` or `execute(git status:*)`."
        return RuleProblem(text, message, head[0] if head else "*", effect, source)
    what, pattern = found[1], found[2]
    rule = Rule(stripped, what, pattern.strip() if pattern is not None else None, effect, source)
    if rule.pattern is not None and (message := _pattern_problem(what, rule.pattern)):
        return RuleProblem(text, message, what, effect, source)
    return rule


def _pattern_problem(what: str, pattern: str) -> str | None:
    if not pattern:
        return f"The pattern is empty; `{what}` without brackets is for every call."
    as_command, as_paths = _command_problem(pattern), _paths_problem(pattern)
    if what == "execute":
        return as_command
    if what in FILE_KINDS:
        return as_paths
    return as_command and as_paths


def _command_problem(pattern: str) -> str | None:
    words = pattern_words(pattern)
    if pattern.endswith(":*") and not words:
        return "`:*` needs plain words before it, without operators, variables or an open quote."
    return None


def _paths_problem(pattern: str) -> str | None:
    if pattern.startswith(("!", "#", "~")) or ".." in pattern.split("/"):
        return "A pattern for files is a glob relative to the workspace, without `!`, `#`, `~` and `..`."
    try:
        return None if len(spec(pattern)) else "The pattern names no file."
    except ValueError as error:
        return f"The pattern for files cannot be read: {error}."


def rules_from(settings: object, source: Source) -> RuleSet:
    """Reads `{"allow": […], "ask": […], "deny": […]}`; a workspace's `allow` does not count."""
    if not isinstance(settings, Mapping):
        problem = "Rules are an object with `allow`, `ask` and `deny`."
        return RuleSet((), (RuleProblem(repr(settings)[:200], problem, "*", "deny", source),))
    rules: list[Rule] = []
    problems: list[RuleProblem] = []
    given = cast("Mapping[str, object]", settings)
    for effect in STRICTNESS:
        texts = given.get(effect) or ()
        if isinstance(texts, str) or not isinstance(texts, Sequence):
            problems.append(
                RuleProblem(repr(texts)[:200], f"`{effect}` is a list of rules.", "*", effect, source)
            )
            continue
        for text in cast("Sequence[object]", texts):
            match parse_rule(text, effect, source):
                case Rule() as rule if source == "workspace" and effect == "allow":
                    message = (
                        "A workspace may tighten what is allowed, not loosen it: this rule does not count."
                    )
                    problems.append(RuleProblem(rule.text, message, rule.what, effect, source))
                case Rule() as rule:
                    rules.append(rule)
                case problem:
                    problems.append(problem)
    return RuleSet(tuple(rules), tuple(problems))


@lru_cache(maxsize=1024)
def spec(pattern: str) -> GitIgnoreSpec:
    """Raises ValueError for what is no pattern."""
    try:
        return GitIgnoreSpec.from_lines([pattern])
    except (re.error, OverflowError, RecursionError) as error:  # it makes a regular expression of it
        raise ValueError(str(error)) from error


@lru_cache(maxsize=1024)
def pattern_words(pattern: str) -> tuple[str, ...] | None:
    """The words of a command pattern, without its `:*`; None where they are not plain words."""
    text = pattern.removesuffix(":*")
    if _SHELL_CHARACTERS.search(text):
        return None
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return None
