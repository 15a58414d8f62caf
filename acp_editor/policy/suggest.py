"""Rules of the right width for the call at hand, for "Always allow…" and "Never…".

Each is checked before it is offered: it decides this very call, so what the person chose is what happens.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from acp_editor.policy.check import CheckInput
from acp_editor.policy.commands import Parsed, SimpleCommand
from acp_editor.policy.decide import decide
from acp_editor.policy.matching import File
from acp_editor.policy.programs import OPAQUE, program
from acp_editor.policy.rules import KINDS, Rule, RuleSet, parse_rule

Width: TypeAlias = Literal["command", "prefix", "file", "folder", "tool"]

_SUBCOMMANDS: Final = frozenset(
    {
        "git", "npm", "pnpm", "yarn", "bun", "cargo", "go", "docker", "podman", "kubectl", "pip", "pip3",
        "uv", "poetry", "hatch", "pdm", "gh", "apt", "apt-get", "brew", "dotnet", "gradle", "mvn", "rustup",
        "systemctl", "terraform", "conda", "composer", "bundle", "rake", "nix", "deno", "helm",
    }
)  # fmt: skip
"""Programs of which the first word alone says too little."""

_SCRIPTS: Final = frozenset({"run", "exec", "x", "tool", "compose"})
"""Subcommands that take the name of what they run."""

_TOO_WIDE: Final = OPAQUE | frozenset(
    {
        "sh", "bash", "dash", "zsh", "ksh", "python", "python3", "node", "perl", "ruby", "php", "awk",
        "eval", "exec", "env", "sudo", "doas", "xargs", "source", ".", "curl", "wget", "rm", "dd", "chmod",
        "chown", "find", "make",
    }
)  # fmt: skip
"""Programs whose beginning words say nothing of what they do: only the whole command is offered."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A rule to offer: `label` says in words which calls it is about."""

    rule: str
    label: str
    width: Width


def suggestions(call: CheckInput, effect: Literal["allow", "deny"]) -> tuple[Suggestion, ...]:
    """What to offer, the narrowest first; each would decide this call by itself."""
    subject = call.subject()
    found: dict[str, Suggestion] = {}
    for suggestion in _all(call, subject.command, effect):
        rule = parse_rule(suggestion.rule, effect, "saved")
        if suggestion.rule in found or not isinstance(rule, Rule):
            continue
        if decide(RuleSet((rule,)), subject).effect == effect:
            found[suggestion.rule] = suggestion
    return tuple(found.values())


def _all(call: CheckInput, command: Parsed | None, effect: str) -> Iterator[Suggestion]:
    if command is not None:
        yield from _for_command(command, effect)
    else:
        yield from _for_files(call.kind, call.files)
    if call.tool and call.tool not in KINDS:
        yield Suggestion(call.tool, f"everything that the tool {call.tool} does", "tool")
    elif effect == "deny" or call.kind not in ("execute", "other"):
        yield Suggestion(call.kind, f"every call of the kind {call.kind}", "tool")


def _for_command(command: Parsed, effect: str) -> Iterator[Suggestion]:
    text = command.text.strip()
    if "\n" not in text and not text.endswith(":*"):
        yield Suggestion(f"execute({text})", f"exactly `{text}`", "command")
    innermost = [one for top in command.commands for one in _effective(top)]
    if len(innermost) != 1 and effect == "allow":
        return
    for one in innermost:
        if begin := _beginning(one, effect):
            shown = " ".join(begin)
            yield Suggestion(
                f"execute({shlex.join(begin)}:*)", f"commands that begin with `{shown}`", "prefix"
            )


def _effective(command: SimpleCommand) -> list[SimpleCommand]:
    """What counts of a command: what a transparent wrapper runs, else itself."""
    if command.transparent and command.inner:
        return [one for inner in command.inner for one in _effective(inner)]
    return [command]


def _beginning(command: SimpleCommand, effect: str) -> tuple[str, ...] | None:
    """The words that say what a command is, without what it is done to."""
    words: list[str] = []
    for word in command.words:
        if word is None:
            break
        words.append(word)
    if not words or not re.fullmatch(r"[\w./+-]+", words[0]):
        return None
    name = program(words[0])
    if effect == "allow" and name in _TOO_WIDE:
        return None
    count = 1
    if name in _SUBCOMMANDS:
        if len(words) < 2 or not re.fullmatch(r"[a-z][\w:-]*", words[1]):
            return None
        count = 3 if words[1] in _SCRIPTS and len(words) > 2 and not words[2].startswith("-") else 2
    return tuple(words[: max(count, command.needs)])


def _for_files(kind: str, files: tuple[File, ...]) -> Iterator[Suggestion]:
    names = [file.relative for file in files if file.relative is not None and file.relative != "."]
    if not files or len(names) != len(files):
        return
    if len(names) == 1:
        yield Suggestion(f"{kind}(/{_escaped(names[0])})", f"{kind} {names[0]}", "file")
    folder = posixpath.commonpath([posixpath.dirname(name) for name in names])
    while folder:
        yield Suggestion(f"{kind}(/{_escaped(folder)}/**)", f"{kind} anything in {folder}/", "folder")
        folder = posixpath.dirname(folder)
    yield Suggestion(f"{kind}(**)", f"{kind} anything in the workspace", "folder")


def _escaped(path: str) -> str:
    """A path as a glob that means just that path."""
    return re.sub(r"([\\*?\[\]!#])", r"\\\1", path)
