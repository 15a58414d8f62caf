"""What an agent told us, as values: the one model that both protocol versions decode into.

Standard library only, no I/O. Field names follow the protocol (snake case); `content`, `raw_input`
and other open shapes stay the JSON that the agent sent, so that nothing unknown is lost.
Source: the Agent Client Protocol's schemas, versions 1 and 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Literal, TypeAlias, TypeGuard

Json: TypeAlias = Any
"""Any JSON value, as `json.loads` gives it."""


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    return isinstance(value, dict)


def is_array(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list)


class Unset(Enum):
    """The third state of a patched field: absent, so unchanged."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> Literal[False]:
        return False


UNSET: Final = Unset.UNSET

FINAL_STATUSES: Final = frozenset({"completed", "failed", "cancelled"})
"""Statuses after which a call does no more work; any other value, known or not, is still going."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that an agent did and the protocol forbids.

    `code` is stable and snake case, `message` a sentence that the agent's maker can act on,
    `detail` the offending piece, cut to 500 characters.
    """

    code: str
    message: str
    detail: str = ""


# -- tool calls --------------------------------------------------------------------------------


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

    @property
    def active(self) -> bool:
        """Whether it is still going: neither final nor left behind by its turn."""
        return not self.ended and self.status not in FINAL_STATUSES


@dataclass(frozen=True, slots=True)
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


# -- messages ----------------------------------------------------------------------------------

Role: TypeAlias = Literal["user", "agent", "thought"]


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody said: `content` are the blocks as sent, adjacent text blocks joined.

    `first` is its place among the session's updates, as `ToolCall.first` is.
    """

    role: Role
    message_id: str | None
    content: tuple[Json, ...] = ()
    first: int = 0

    @property
    def text(self) -> str:
        return "".join(
            block["text"] for block in self.content if is_object(block) and isinstance(block.get("text"), str)
        )


@dataclass(frozen=True, slots=True)
class MessageChunk:
    """One more block of a message. Without an id (version 1) it goes on with the last one of its role."""

    role: Role
    message_id: str | None
    content: Json


@dataclass(frozen=True, slots=True)
class MessageUpsert:
    """A whole message (version 2): `content` replaces what its chunks said so far."""

    role: Role
    message_id: str
    content: tuple[Json, ...] | Unset | None = UNSET


# -- the rest of a session ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlanEntry:
    content: str
    priority: str = "medium"
    status: str = "pending"


@dataclass(frozen=True, slots=True)
class PlanUpdate:
    """The whole of one plan; version 1 has one without an id."""

    entries: tuple[PlanEntry, ...]
    plan_id: str | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command of the agent, `name` without the slash."""

    name: str
    description: str = ""
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class CommandsUpdate:
    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of an option; `group` is the heading it stands under, if any."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class ConfigOption:
    """An option of the session. `kind` is "choice", "boolean" or the agent's own unknown type.

    `origin` says how it is set: "option" (session/set_config_option), "mode" (session/set_mode) or
    "model" (session/set_model, which some version 1 agents have).
    """

    config_id: str
    name: str
    kind: str
    value: Json
    description: str | None = None
    category: str | None = None
    choices: tuple[Choice, ...] = ()
    origin: Literal["option", "mode", "model"] = "option"


@dataclass(frozen=True, slots=True)
class ConfigUpdate:
    """The whole list of options of one origin; those of the other origins stay."""

    options: tuple[ConfigOption, ...]
    origin: Literal["option", "mode", "model"] = "option"


@dataclass(frozen=True, slots=True)
class ModeUpdate:
    """The current mode or model changed (version 1's current_mode_update)."""

    value: str
    origin: Literal["mode", "model"] = "mode"


@dataclass(frozen=True, slots=True)
class SessionInfoUpdate:
    title: str | Unset | None = UNSET
    updated_at: str | Unset | None = UNSET
    meta: Mapping[str, Json] | Unset | None = UNSET


@dataclass(frozen=True, slots=True)
class UsageUpdate:
    """Tokens used of the context's size; `cost` is `{amount, currency}` as sent."""

    used: int
    size: int
    cost: Json = None


SessionState: TypeAlias = Literal["idle", "running", "requires_action"]


@dataclass(frozen=True, slots=True)
class StateUpdate:
    """Where the turn stands. Version 1's prompt and its answer become `running` and `idle` too.

    `state` is the agent's own word, known or not. `error` is the JSON-RPC error of a turn that failed.
    """

    state: str
    stop_reason: str | Unset | None = UNSET
    error: Json = None
    background: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class ExitStatus:
    exit_code: int | None = None
    signal: str | None = None


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal, the agent's own or ours. `output` are raw bytes, the oldest cut at a limit."""

    terminal_id: str
    command: str | None = None
    cwd: str | None = None
    output: bytes = b""
    truncated: bool = False
    exit_status: ExitStatus | None = None
    size: Json = None
    capabilities: Json = None
    owner: Literal["agent", "client"] = "agent"


@dataclass(frozen=True, slots=True)
class TerminalUpsert:
    """`output` replaces all of it (a snapshot)."""

    terminal_id: str
    command: str | Unset | None = UNSET
    cwd: str | Unset | None = UNSET
    output: bytes | Unset | None = UNSET
    exit_status: ExitStatus | Unset | None = UNSET
    size: Json | Unset = UNSET
    capabilities: Json | Unset = UNSET
    owner: Literal["agent", "client"] = "agent"


@dataclass(frozen=True, slots=True)
class TerminalChunk:
    """More bytes; one character may be split between two of these.

    `known_only`: not worth a terminal of its own if none of that id was ever announced.
    """

    terminal_id: str
    data: bytes
    known_only: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    severity: str
    title: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class CompactionUpdate:
    compaction_id: str
    status: str
    summary: tuple[Json, ...] | Unset | None = UNSET
    error: str | Unset | None = UNSET


@dataclass(frozen=True, slots=True)
class CompactionChunk:
    compaction_id: str
    content: Json


@dataclass(frozen=True, slots=True)
class Replay:
    """Old history is played from here on (it replaces what is known of it), or no longer."""

    active: bool


@dataclass(frozen=True, slots=True)
class UnknownUpdate:
    """An update of a kind that no schema names, kept as it came."""

    kind: str
    raw: Json


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """`kind` is allow_once, allow_always, reject_once, reject_always or the agent's own word."""

    option_id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """A request to allow something, from either version; as an update, what it says of its call.

    `tool_call` is the patch that came with it (to be applied to the session before it is shown), None
    where the subject is a command, unknown or nothing. `title` is None in version 1.
    """

    session_id: str
    options: tuple[PermissionOption, ...]
    title: str | None = None
    description: str | None = None
    tool_call: ToolCallUpsert | None = None
    command: str | None = None
    cwd: str | None = None
    terminal_id: str | None = None
    tool_call_id: str | None = None
    subject: Json = None


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
    | PermissionRequest
    | UnknownUpdate
)


# -- what an agent asks ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Elicitation:
    """A question to the person: a form (`schema`, JSON Schema of flat properties) or a `url`."""

    message: str
    mode: Literal["form", "url"]
    schema: Json = None
    url: str | None = None
    elicitation_id: str | None = None
    session_id: str | None = None
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ElicitationAnswer:
    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Json] | None = None


# -- what an agent is --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AuthMethod:
    method_id: str
    name: str
    description: str | None = None
    kind: str = "agent"
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an agent says that it can, in either version."""

    load: bool = False
    resume: bool = False
    list: bool = False
    close: bool = False
    delete: bool = False
    fork: bool = False
    image: bool = False
    audio: bool = False
    embedded_context: bool = False
    mcp_stdio: bool = True
    mcp_http: bool = False
    mcp_sse: bool = False
    logout: bool = False
    additional_directories: bool = False
    prompt_queueing: bool = False
    """Takes a prompt in mid turn."""


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """The answer to initialize."""

    protocol: Literal[1, 2]
    title: str | None = None
    version: str | None = None
    auth_methods: tuple[AuthMethod, ...] = ()
    capabilities: Capabilities = Capabilities()
    name: str | None = None
    """The agent's own name for itself, for a program to compare."""


@dataclass(frozen=True, slots=True)
class SessionStart:
    """The answer to session/new, load, resume or fork.

    `updates` are the options, modes, models and commands that came with it, empty once they have been
    reported like any other update, at their place in the wire's order.
    """

    session_id: str
    updates: tuple[Update, ...] = ()


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server of the Model Context Protocol that the agent is to use in a session.

    `env` and `headers` may hold secrets and are left out of its text.
    """

    name: str
    kind: Literal["stdio", "http", "sse"] = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One row of session/list."""

    session_id: str
    cwd: str
    title: str | None = None
    updated_at: str | None = None
