"""Tool calls: as they are, and what an agent sends to change one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from acp_editor.core.model.values import UNSET, Json, Unset, offers

FINAL_STATUSES: Final = frozenset({"completed", "failed", "cancelled"})
"""Statuses after which a call does no more work; any other value, known or not, is still going."""


@dataclass(frozen=True, slots=True)
class Location:
    """A place as the agent named it: `path` maybe relative, `line` counted from 1, None for none."""

    path: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call, merged from all that was said of it.

    `status` is what the agent last said, known or not; `ended` says that the turn it belonged to is
    over. `sequence` grows with every update in the session, `first` is its value at first sight.
    """

    tool_call_id: str
    name: str | None = None
    title: str | None = None
    kind: str = "other"
    status: str | None = None
    content: tuple[Json, ...] = ()
    locations: tuple[Location, ...] = ()
    raw_input: Json = None
    raw_output: Json = None
    capabilities: Json = None
    meta: Mapping[str, Json] = field(default_factory=dict[str, Json])
    ended: bool = False
    replayed: bool = False
    first: int = 0
    sequence: int = 0
    truncated: bool = False
    """Some of its content was too much to be kept."""

    @property
    def active(self) -> bool:
        """Whether it is still going: neither final nor left behind by its turn."""
        return not self.ended and self.status not in FINAL_STATUSES

    @property
    def cancellable(self) -> bool:
        """Whether the agent offers now to cancel it alone."""
        return self.status not in FINAL_STATUSES and offers(self.capabilities, "cancel")


@dataclass(slots=True)  # not frozen: there is one for each update, and freezing doubles the time to make one
class ToolCallUpsert:
    """Makes or patches a call: UNSET leaves a field, None clears it, a value replaces it whole.

    Version 1's null has become UNSET by the time it is here. `meta` is merged by its top-level keys
    (a key with None goes). `announces` is true for version 1's `tool_call`, false for its update, and
    None in version 2, where any update may be the first.
    """

    tool_call_id: str
    name: str | Unset | None = UNSET
    title: str | Unset | None = UNSET
    kind: str | Unset | None = UNSET
    status: str | Unset | None = UNSET
    content: tuple[Json, ...] | Unset | None = UNSET
    locations: tuple[Location, ...] | Unset | None = UNSET
    raw_input: Json | Unset = UNSET
    raw_output: Json | Unset = UNSET
    capabilities: Json | Unset = UNSET
    meta: Mapping[str, Json] | Unset | None = UNSET
    announces: bool | None = None


@dataclass(frozen=True, slots=True)
class ToolCallContentChunk:
    """One more item at the end of a call's content (version 2)."""

    tool_call_id: str
    content: Json
