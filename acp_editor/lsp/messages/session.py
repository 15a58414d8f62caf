"""A session as a snapshot has it, and its parts."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from acp_editor.lsp.messages.places import Location


class ToolCall(TypedDict):
    """A tool call, merged; `content` as the agent sent it, `status` as it last said it.

    `cancellable`: the agent offers to cancel it alone, with `acpEditor.toolCall.cancel`.
    """

    toolCallId: str
    name: str | None
    title: str | None
    kind: str
    status: str | None
    active: bool
    locations: list[Location]
    content: list[Any]
    rawInput: Any
    rawOutput: Any
    meta: dict[str, Any]
    cancellable: bool
    fault: NotRequired[str]
    """What the agent did wrong with it, as running it without asking."""
    truncated: NotRequired[bool]


class Message(TypedDict):
    role: Literal["user", "agent", "thought"]
    messageId: str | None
    text: str
    content: list[Any]
    truncated: NotRequired[bool]


class PlanEntry(TypedDict):
    content: str
    priority: str
    status: str


class ExitStatus(TypedDict):
    exitCode: int | None
    signal: str | None


class TerminalSize(TypedDict):
    """In character cells."""

    cols: int
    rows: int


class Terminal(TypedDict):
    """A terminal of the agent's, or one that it has in the editor (`owner` is "client").

    `size` is null where it is not known. `cancellable`: `acpEditor.terminal.cancel` ends what runs in it.
    """

    terminalId: str
    owner: Literal["agent", "client"]
    command: str | None
    cwd: str | None
    output: str
    exitStatus: ExitStatus | None
    size: TerminalSize | None
    cancellable: bool
    truncated: NotRequired[bool]


class Command(TypedDict):
    """A slash command; `name` without the slash."""

    name: str
    description: str
    hint: str | None


class SourcedCommand(Command):
    """`source` names the agent or the hook that it comes from."""

    source: str


class Choice(TypedDict):
    value: str
    name: str
    description: NotRequired[str | None]
    group: NotRequired[str | None]


class ConfigOption(TypedDict):
    """An option of the session. `kind` is "choice", "boolean", "text", "number" or the agent's own word.

    `source` is the agent, or "acp-editor" for a setting of ours that concerns the session. `locked` says by
    whom and why it cannot be set, null where it can. `least` and `most` bound a number.
    """

    configId: str
    name: str
    description: str | None
    kind: str
    category: str | None
    value: Any
    options: list[Choice]
    source: str
    locked: str | None
    least: NotRequired[float]
    most: NotRequired[float]


class Usage(TypedDict):
    """Tokens; `cost` is `{amount, currency}` or null."""

    used: int
    size: int
    cost: Any


class Notice(TypedDict):
    severity: str
    title: str
    description: str | None


class Session(TypedDict):
    sessionId: str
    agent: str
    cwd: str
    title: str | None
    state: Literal["idle", "running", "requires_action"]
    stopReason: str | None
    toolCalls: list[ToolCall]
    messages: list[Message]
    plan: list[PlanEntry]
    terminals: list[Terminal]
    commands: list[Command]
    config: list[ConfigOption]
    usage: Usage | None
    notices: list[Notice]
    queued: int
    truncated: NotRequired[bool]
