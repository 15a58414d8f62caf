"""Everything at once, as `acpEditor.state` answers."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from acp_editor.lsp.messages.agent import Agent
from acp_editor.lsp.messages.permissions import Permission
from acp_editor.lsp.messages.places import Range
from acp_editor.lsp.messages.review import Change, ChangesTotal
from acp_editor.lsp.messages.session import Session


class FollowLocation(TypedDict):
    uri: str
    range: Range | None


class Follow(TypedDict):
    enabled: bool
    paused: bool
    location: FollowLocation | None


class Fault(TypedDict):
    """What the agent did that the protocol forbids, how often, and the last instance."""

    code: str
    message: str
    count: int
    detail: NotRequired[str]
    agent: NotRequired[str]


class State(TypedDict):
    """The answer to `acpEditor.state`: everything at once."""

    agents: dict[str, Agent]
    activeSessionId: str | None
    sessions: list[Session]
    permissions: list[Permission]
    changes: list[Change]
    changesTotal: NotRequired[ChangesTotal]
    follow: Follow
    faults: list[Fault]
