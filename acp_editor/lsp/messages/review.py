"""What agents changed and nobody reviewed yet."""

from __future__ import annotations

from typing import Literal, TypedDict

from acp_editor.lsp.messages.places import LineRange


class Hunk(TypedDict):
    hunkId: str
    original: LineRange
    modified: LineRange
    toolCallId: str | None


class Change(TypedDict):
    """One file that the agent changed and nobody reviewed yet."""

    uri: str
    operation: Literal["add", "modify", "delete", "move"]
    oldUri: str | None
    hunks: list[Hunk]


class ChangesTotal(TypedDict):
    """How much there is, where that is more than is listed."""

    files: int
    hunks: int
