"""What a rule is held against, and whether it matches: files by globs, commands by their words. Pure."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from acp_editor.policy.commands import Parsed, Words
from acp_editor.policy.rules import KINDS, Rule, pattern_words, spec

Match: TypeAlias = Literal["yes", "perhaps", "no"]

_FOLDS_CASE: Final = sys.platform in ("win32", "darwin")


@dataclass(frozen=True, slots=True)
class File:
    """A file of a call, links resolved by the caller.

    `path` is absolute; `relative` is the resolved path under its workspace folder, with `/`, None outside;
    `named` is the path as the agent named it, likewise. A rule that forbids looks at both.
    """

    path: str
    relative: str | None
    named: str | None = None
    folder: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """What rules are held against. `changes`: it shows an edit, whatever kind it says that it is.

    `targets` are the files behind the names that the command redirects to or from; a name that is missing
    there could not be resolved. `astray`: it runs in a folder outside the workspace. `more_files`: it names
    more files than these.
    """

    kind: str
    tool: str | None = None
    files: tuple[File, ...] = ()
    command: Parsed | None = None
    targets: Mapping[str, File] = field(default_factory=dict[str, File])
    changes: bool = False
    astray: bool = False
    more_files: bool = False


def names_tool(rule: Rule, tool: str | None) -> bool:
    """Whether a rule is about a tool by its own name; the names of kinds are not names of tools."""
    if tool is None or rule.what in KINDS or rule.what == "*":
        return False
    if rule.what.endswith("*"):
        return tool.startswith(rule.what[:-1])
    return tool == rule.what


def either(matches: Iterable[Match]) -> Match:
    found = set(matches)
    return "yes" if "yes" in found else "perhaps" if "perhaps" in found else "no"


def words_match(pattern: str, words: Words, forbid: bool) -> Match:
    """Whether words are those of a pattern; a word known only when it runs may be any number of words."""
    if pattern == "*":
        return "yes"
    wanted = pattern_words(pattern)
    if not wanted:
        return "no"
    for index, want in enumerate(wanted):
        if index >= len(words):
            return "no"
        word = words[index]
        if word is None:
            return "perhaps"
        if word != want and not (forbid and index == 0 and word.rpartition("/")[2] == want):
            return "no"
    rest = words[len(wanted) :]
    if pattern.endswith(":*") or not rest:
        return "yes"
    return "perhaps" if all(word is None for word in rest) else "no"


def file_matches(pattern: str, file: File, forbid: bool) -> bool:
    glob = spec(pattern)
    if not forbid:
        return file.relative is not None and glob.match_file(file.relative)
    names = [name for name in (file.relative, file.named) if name is not None]
    if file.relative is None and (pattern.startswith("**/") or "/" not in pattern.rstrip("/")):
        names.append(re.sub(r"^[A-Za-z]:", "", file.path.replace("\\", "/")).lstrip("/"))
    if _FOLDS_CASE:
        folded = spec(pattern.casefold())
        return any(glob.match_file(name) or folded.match_file(name.casefold()) for name in names)
    return any(glob.match_file(name) for name in names)
