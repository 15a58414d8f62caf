"""What the built-in agent can do to a text: rename a word, replace a phrase, find what is left to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from acp_editor.agents.workspace import File, Found, lines_with
from acp_editor.core.model import PlanEntry

TASK: Final = re.compile(r"(?:#|//|/\*|<!--|--|;|%|^\s*\*)\s*(?:.*\s)?(TODO|FIXME|HACK)\b[:(]?\s*(.*)")
"""A comment that says what is left to do: the word, and what follows it."""

_PRIORITIES: Final = {"FIXME": "high", "TODO": "medium", "HACK": "low"}
_CLOSERS: Final = re.compile(r"\s*(?:\*/|-->)\s*$")


def whole_word(word: str) -> re.Pattern[str]:
    """Finds `word` where no letter, digit or underscore touches it."""
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")


def phrase(text: str) -> re.Pattern[str]:
    """Finds exactly `text`."""
    return re.compile(re.escape(text))


def rewrite(text: str, pattern: re.Pattern[str], new: str) -> str:
    """`text` with `new`, taken literally, for each match."""
    return pattern.sub(lambda _: new, text)


def tasks(files: Iterable[File]) -> list[Found]:
    """The lines whose comments have a TODO, FIXME or HACK."""
    return [found for file in files for found in lines_with(file, TASK)]


def task_entry(found: Found) -> PlanEntry:
    """A task as a row of a plan: FIXME is urgent, HACK can wait."""
    match = TASK.search(found.text)
    if match is None:
        raise ValueError(f"no task in {found.text!r}")
    word, rest = match.groups()
    told = _CLOSERS.sub("", rest).strip() or "(nothing said)"
    return PlanEntry(f"{word} {found.name}:{found.line} {told}", _PRIORITIES[word])
