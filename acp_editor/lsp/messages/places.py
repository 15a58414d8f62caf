"""Where something is, in LSP's terms."""

from __future__ import annotations

from typing import TypedDict


class Position(TypedDict):
    line: int
    character: int


class Range(TypedDict):
    start: Position
    end: Position


class LineRange(TypedDict):
    """Lines from 0, the end not included."""

    start: int
    end: int


class Location(TypedDict):
    """Where a tool call is. `range` is null where only a file is known; `inferred`: the line is ours."""

    uri: str
    range: Range | None
    inferred: bool
