"""The options of a session as rows: what each may be set to, and who keeps it from being set. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from acp_editor.core.model import ConfigOption, Json

OWN: Final = "acp-editor"
"""The source of rows that are ours, as an agent's name is that of its own."""

_KINDS: Final[Mapping[str, str]] = {
    "choice": "choice",
    "boolean": "boolean",
    "text": "text",
    "string": "text",
    "number": "number",
    "integer": "number",
}
"""Kinds of rows by the words of agents; the protocol has only the first two."""

_MOST_TEXT: Final = 10_000


@dataclass(frozen=True, slots=True)
class Row:
    """One option as it is shown. `source` is the agent, or `OWN`; `locked` says by whom and why.

    `least` and `most` bound a number. `allowed` are the only values that it may be set to, where somebody
    says so.
    """

    option: ConfigOption
    source: str
    locked: str | None = None
    least: float | None = None
    most: float | None = None
    allowed: tuple[Json, ...] | None = None

    @property
    def kind(self) -> str:
        """choice, boolean, text or number; else the agent's own word, which is not to be set."""
        return _KINDS.get(self.option.kind, self.option.kind)


def row_of(option: ConfigOption, source: str, managed: Mapping[str, tuple[Json, ...]]) -> Row:
    """The row of an option under an administrator's settings."""
    return restricted(Row(option, source), managed)


def restricted(row: Row, managed: Mapping[str, tuple[Json, ...]]) -> Row:
    """The row with only those choices that an administrator left, locked where they left none."""
    option = row.option
    if row.kind not in _KINDS.values():
        return replace(row, locked=f"acp-editor: it does not know options of the kind {row.kind!r}")
    if (allowed := managed.get(option.config_id)) is None:
        return row
    choices = tuple(one for one in option.choices if one.value in allowed or one.value == option.value)
    left = [value for value in allowed if not _same(value, option.value)]
    if row.kind == "choice":
        left = [one.value for one in choices if one.value != option.value]
    locked = None if left else "a managed setting of this machine"
    return replace(row, option=replace(option, choices=choices), locked=locked, allowed=allowed)


def problem(row: Row, value: Json) -> str | None:
    """Why the row cannot be set to that; None where it can."""
    name = row.option.name
    if row.locked is not None:
        return f"{name} is locked by {row.locked}"
    wrong = _wrong(row, value)
    if wrong is None and row.allowed is not None and not any(_same(one, value) for one in row.allowed):
        return f"{name} cannot be {value!r}: a managed setting of this machine does not allow it"
    return wrong


def _wrong(row: Row, value: Json) -> str | None:
    name = row.option.name
    match row.kind:
        case "boolean":
            return None if isinstance(value, bool) else f"{name} is either true or false"
        case "choice":
            return None if isinstance(value, str) and value in _values(row) else _not_offered(row, value)
        case "number":
            return _number_wrong(row, value)
        case _:
            if not isinstance(value, str):
                return f"{name} is a text"
            return None if len(value) <= _MOST_TEXT else f"{name} is longer than {_MOST_TEXT} characters"


def _number_wrong(row: Row, value: Json) -> str | None:
    name = row.option.name
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return f"{name} is a number"
    if row.option.kind == "integer" and value != int(value):
        return f"{name} is a whole number"
    if row.least is not None and value < row.least:
        return f"{name} is at least {row.least:g}"
    if row.most is not None and value > row.most:
        return f"{name} is at most {row.most:g}"
    return None


def _values(row: Row) -> Sequence[str]:
    return [choice.value for choice in row.option.choices]


def _not_offered(row: Row, value: Json) -> str:
    return f"{row.option.name} cannot be {value!r}; it can be {', '.join(_values(row)) or 'nothing'}"


def _same(one: Json, other: Json) -> bool:
    """As JSON sees it: `true` is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)
