"""The rest of a session: plan, commands, options, state, usage, terminals, notices, compaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from acp_editor.core.model.values import UNSET, Json, Unset, offers


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

    @property
    def cancellable(self) -> bool:
        """Whether what runs in it can be ended: always in ours, in the agent's where it offers that now."""
        if self.exit_status is not None:
            return False
        return self.owner == "client" or offers(self.capabilities, "cancel")


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
