"""Notifications: what the server shows, and what the editor tells of the person."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from acp_editor.lsp.messages.permissions import Permission
from acp_editor.lsp.messages.places import Range
from acp_editor.lsp.messages.review import Change, ChangesTotal
from acp_editor.lsp.messages.session import Command, ConfigOption, PlanEntry, ToolCall, Usage


class StatusSession(TypedDict):
    sessionId: str
    title: str | None
    state: str
    stopReason: str | None
    usage: Usage | None


class StatusFollow(TypedDict):
    enabled: bool
    paused: bool


class StatusParams(TypedDict):
    """`acpEditor/status`. `permissions` and `changes` are counts; `agent` is the active session's."""

    agent: str
    state: str
    error: str | None
    session: StatusSession | None
    follow: StatusFollow
    permissions: int
    changes: int
    title: NotRequired[str | None]
    can: NotRequired[list[str]]
    """As in the snapshot's agents."""


class ToolCallParams(TypedDict):
    """`acpEditor/toolCall`."""

    sessionId: str
    toolCall: ToolCall


class Decoration(TypedDict):
    """A mark. `kind` is the tool call's, or added, modified, removed for a hunk; `hover` is Markdown."""

    range: Range
    kind: str
    status: str | None
    toolCallId: str | None
    hover: str
    hunkId: NotRequired[str]


class DecorationsParams(TypedDict):
    """`acpEditor/decorations`; an empty list clears."""

    uri: str
    decorations: list[Decoration]


class PermissionsParams(TypedDict):
    """`acpEditor/permissions`."""

    permissions: list[Permission]


class ChangesParams(TypedDict):
    """`acpEditor/changes`. `changesTotal`: where not all files or hunks are listed."""

    changes: list[Change]
    changesTotal: NotRequired[ChangesTotal]


class SessionParams(TypedDict):
    """`acpEditor/session`."""

    sessionId: str
    plan: list[PlanEntry]
    commands: list[Command]
    config: list[ConfigOption]
    usage: Usage | None
    title: str | None
    state: str


class UserActivityParams(TypedDict):
    """`acpEditor/userActivity`: the person typed, scrolled, selected or switched editors by hand."""

    uri: NotRequired[str | None]
