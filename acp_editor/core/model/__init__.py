"""What an agent told us, as values: the one model that both protocol versions decode into.

Standard library only, no I/O. Field names follow the protocol (snake case); `content`, `raw_input`
and other open shapes stay the JSON that the agent sent, so that nothing unknown is lost.
Source: the Agent Client Protocol's schemas, versions 1 and 2.
"""

from __future__ import annotations

from acp_editor.core.model.agent import (
    AgentInfo,
    AuthMethod,
    Capabilities,
    McpServer,
    SessionStart,
    SessionSummary,
)
from acp_editor.core.model.asks import Elicitation, ElicitationAnswer, PermissionOption, PermissionRequest
from acp_editor.core.model.calls import (
    FINAL_STATUSES,
    Location,
    ToolCall,
    ToolCallContentChunk,
    ToolCallUpsert,
)
from acp_editor.core.model.fork import Fork
from acp_editor.core.model.session import (
    Choice,
    Command,
    CommandsUpdate,
    CompactionChunk,
    CompactionUpdate,
    ConfigOption,
    ConfigUpdate,
    ExitStatus,
    ModeUpdate,
    Notice,
    PlanEntry,
    PlanUpdate,
    Replay,
    SessionInfoUpdate,
    SessionState,
    StateUpdate,
    Terminal,
    TerminalChunk,
    TerminalUpsert,
    UnknownUpdate,
    UsageUpdate,
)
from acp_editor.core.model.transcript import Message, MessageChunk, MessageUpsert, Role
from acp_editor.core.model.updates import Update
from acp_editor.core.model.values import UNSET, Fault, Json, Unset, is_array, is_object

__all__ = [
    "FINAL_STATUSES",
    "UNSET",
    "AgentInfo",
    "AuthMethod",
    "Capabilities",
    "Choice",
    "Command",
    "CommandsUpdate",
    "CompactionChunk",
    "CompactionUpdate",
    "ConfigOption",
    "ConfigUpdate",
    "Elicitation",
    "ElicitationAnswer",
    "ExitStatus",
    "Fault",
    "Fork",
    "Json",
    "Location",
    "McpServer",
    "Message",
    "MessageChunk",
    "MessageUpsert",
    "ModeUpdate",
    "Notice",
    "PermissionOption",
    "PermissionRequest",
    "PlanEntry",
    "PlanUpdate",
    "Replay",
    "Role",
    "SessionInfoUpdate",
    "SessionStart",
    "SessionState",
    "SessionSummary",
    "StateUpdate",
    "Terminal",
    "TerminalChunk",
    "TerminalUpsert",
    "ToolCall",
    "ToolCallContentChunk",
    "ToolCallUpsert",
    "UnknownUpdate",
    "Unset",
    "Update",
    "UsageUpdate",
    "is_array",
    "is_object",
]
