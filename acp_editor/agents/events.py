"""What an agent of our own does in a turn, as a stream of events that knows no protocol version.

`Mapper` turns them into `session/update` payloads. Lines count from 1, paths are absolute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from acp_editor.core.model import Json, Location, PlanEntry

# -- the content of a tool call ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextContent:
    """Markdown that a tool call shows."""

    text: str


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file before and after, whole; `old` is None for a new file, `new` for a deleted one."""

    path: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class TerminalContent:
    """A terminal, by the id that the client (version 1) or the agent (version 2) gave it."""

    terminal_id: str


ToolContent: TypeAlias = TextContent | FileDiff | TerminalContent

# -- events ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Text:
    """The next piece of what the agent says."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The next piece of what the agent thinks."""

    text: str


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The whole plan of the turn."""

    entries: tuple[PlanEntry, ...]


@dataclass(frozen=True, slots=True)
class ToolCallBegan:
    """A call is announced; `title` defaults to the tool's name."""

    call_id: str
    name: str
    title: str | None = None
    kind: str = "other"
    locations: tuple[Location, ...] = ()
    cancellable: bool = False
    """Takes version 2's `tool_call/cancel`."""


@dataclass(frozen=True, slots=True)
class ToolArgumentsDelta:
    """The next piece of the arguments' JSON text."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolArgumentsDone:
    """The arguments are whole; `text` replaces the pieces where the source has it whole."""

    call_id: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """The call goes on: what is None stays, what is given replaces."""

    call_id: str
    title: str | None = None
    status: str | None = None
    content: tuple[ToolContent, ...] | None = None
    locations: tuple[Location, ...] | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The call is over; `output` is its raw output, `outcome` "cancelled" where it was stopped."""

    call_id: str
    output: Json = None
    outcome: Literal["completed", "failed", "cancelled"] = "completed"
    content: tuple[ToolContent, ...] | None = None
    locations: tuple[Location, ...] | None = None


@dataclass(frozen=True, slots=True)
class ApprovalWanted:
    """Somebody has to allow a tool to run with `arguments` (a JSON value, or its text).

    `call_id` is None where the source of the stream knows no more than a name and arguments.
    """

    name: str
    arguments: Json = None
    call_id: str | None = None
    title: str | None = None
    description: str | None = None
    command: str | None = None
    """The command line where that is what is asked for; `cwd` goes with it."""
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class TerminalBegan:
    """The agent itself runs a command (not the client's terminal)."""

    terminal_id: str
    call_id: str
    command: str
    cwd: str
    cancellable: bool = False


@dataclass(frozen=True, slots=True)
class TerminalOutput:
    """The next bytes of the output of the agent's own terminal; characters may be split."""

    terminal_id: str
    data: bytes


@dataclass(frozen=True, slots=True)
class TerminalExited:
    """The agent's own terminal ended, with a code or by a signal's name."""

    terminal_id: str
    exit_code: int | None
    signal: str | None = None


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """Nothing more comes: calls still open are closed, as cancelled or as failed."""

    cancelled: bool = False


Event: TypeAlias = (
    Text
    | Reasoning
    | PlanChanged
    | ToolCallBegan
    | ToolArgumentsDelta
    | ToolArgumentsDone
    | ToolProgress
    | ToolResult
    | TerminalBegan
    | TerminalOutput
    | TerminalExited
    | TurnEnded
)
"""What `Mapper.updates` takes; an `ApprovalWanted` goes to `Mapper.approval`, since it has an answer."""
