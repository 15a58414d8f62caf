"""All that an agent may send about a session, as one sum type."""

from __future__ import annotations

from typing import TypeAlias

from acp_editor.core.model.asks import PermissionRequest
from acp_editor.core.model.calls import ToolCallContentChunk, ToolCallUpsert
from acp_editor.core.model.fork import Fork
from acp_editor.core.model.session import (
    CommandsUpdate,
    CompactionChunk,
    CompactionUpdate,
    ConfigUpdate,
    ModeUpdate,
    Notice,
    PlanUpdate,
    Replay,
    SessionInfoUpdate,
    StateUpdate,
    TerminalChunk,
    TerminalUpsert,
    UnknownUpdate,
    UsageUpdate,
)
from acp_editor.core.model.transcript import MessageChunk, MessageUpsert

Update: TypeAlias = (
    ToolCallUpsert
    | ToolCallContentChunk
    | MessageChunk
    | MessageUpsert
    | PlanUpdate
    | CommandsUpdate
    | ConfigUpdate
    | ModeUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | StateUpdate
    | TerminalUpsert
    | TerminalChunk
    | Notice
    | CompactionUpdate
    | CompactionChunk
    | Replay
    | Fork
    | PermissionRequest
    | UnknownUpdate
)
