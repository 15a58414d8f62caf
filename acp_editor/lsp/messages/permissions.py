"""Requests that wait for an answer, and the rules that answer others."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from acp_editor.lsp.messages.places import Location


class PermissionOption(TypedDict):
    optionId: str
    name: str
    kind: str


class RuleOffer(TypedDict):
    """A rule that would decide the request at hand, to be saved with `acpEditor.permission.remember`."""

    rule: str
    effect: str
    label: str


class Rule(TypedDict):
    """A rule with where it stands: a session's id, a folder or a file, or the name of a setting.

    `scope` is session, workspace or everywhere for a saved one, which can be edited and revoked, else null.
    `problem` says why it cannot be read or does not count.
    """

    rule: str
    effect: str
    source: str
    scope: str | None
    where: str
    problem: NotRequired[str]


class ProposedDiff(TypedDict):
    """What one file would become: two documents to show side by side."""

    uri: str
    original: str
    modified: str


class Permission(TypedDict):
    """A request that waits for an answer. Oldest first in every list."""

    requestId: str
    sessionId: str
    toolCallId: str | None
    title: str
    kind: str | None
    description: str | None
    command: str | None
    options: list[PermissionOption]
    locations: list[Location]
    diffs: list[ProposedDiff]
    reason: NotRequired[str]
    """Why the person is asked."""
    readOnly: NotRequired[bool]
    dangerous: NotRequired[str]
    """What is destructive about it, as the end of "it …"."""
    outside: NotRequired[list[str]]
    """Paths of it that lie outside of the workspace."""
    offers: NotRequired[list[RuleOffer]]
