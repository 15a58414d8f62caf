"""`session/update` as both versions have it; `v1.py` and `v2.py` make their tables of these readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from acp_editor.acp.blocks import (
    note_unknown,
    read_block,
    read_command,
    read_location,
)
from acp_editor.acp.lenient import (
    Faults,
    Object,
    is_extension,
    list_items,
    missing,
    optional_string,
    patched_object,
    patched_string,
    read_items,
    required_string,
    wrong_type,
)
from acp_editor.acp.rpc import fault
from acp_editor.core.model import (
    UNSET,
    CommandsUpdate,
    CompactionChunk,
    CompactionUpdate,
    ConfigOption,
    ConfigUpdate,
    Json,
    Location,
    MessageChunk,
    Notice,
    Role,
    SessionInfoUpdate,
    ToolCallUpsert,
    UnknownUpdate,
    Unset,
    Update,
    UsageUpdate,
    is_object,
)

T = TypeVar("T")

Updates: TypeAlias = tuple[Update, ...]
Decoded: TypeAlias = tuple[str | None, Updates, Faults]
"""The session's id, what the notification says in the model's terms, and what is wrong with it."""

Reader: TypeAlias = Callable[[Object, str, Faults], Update | Updates | None]

KINDS: Final = frozenset(
    {"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"}
)
COMPACTION_STATUSES: Final = frozenset({"in_progress", "completed", "failed", "cancelled"})
SEVERITIES: Final = frozenset({"info", "warning", "error"})


def decode(params: Json, readers: Mapping[str, Reader]) -> Decoded:
    """Reads the params of one `session/update`; never raises."""
    faults: Faults = []
    if not is_object(params):
        wrong_type(faults, "session/update", "params", "an object", params)
        return None, (), faults
    session_id = params.get("sessionId")
    if not isinstance(session_id, str):
        missing(faults, "session/update", "sessionId", "a string", params)
        return None, (), faults
    update = params.get("update")
    if not is_object(update):
        missing(faults, "session/update", "update", "an object", params)
        return session_id, (), faults
    kind = update.get("sessionUpdate")
    if not isinstance(kind, str):
        missing(faults, "session/update", "sessionUpdate", "a string", params)
        return session_id, (UnknownUpdate("", update),), faults
    reader = readers.get(kind)
    if reader is None:
        if not is_extension(kind):
            faults.append(
                fault("unknown_update", f"No update of this protocol version is called {kind[:80]}.", update)
            )
        return session_id, (UnknownUpdate(kind, update),), faults
    found = reader(update, kind, faults)
    if found is None:
        return session_id, (), faults
    return session_id, found if isinstance(found, tuple) else (found,), faults


# -- tool calls ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CallRules:
    """What the versions do differently in tool calls."""

    null_clears: bool
    statuses: frozenset[str]
    read_content: Callable[[Json, str, Faults], Object | None]


def read_call(
    update: Object, what: str, faults: Faults, rules: CallRules, announces: bool | None
) -> ToolCallUpsert | None:
    """Called for every update, so it looks only at the keys that are there."""
    call_id = update.get("toolCallId")
    if not isinstance(call_id, str):
        missing(faults, what, "toolCallId", "a string", update)
        return None
    name: str | Unset | None = UNSET
    title: str | Unset | None = UNSET
    kind: str | Unset | None = UNSET
    status: str | Unset | None = UNSET
    content: tuple[Json, ...] | Unset | None = UNSET
    locations: tuple[Location, ...] | Unset | None = UNSET
    raw_input: Json | Unset = UNSET
    raw_output: Json | Unset = UNSET
    capabilities: Json | Unset = UNSET
    meta: Object | Unset | None = UNSET
    for key, value in update.items():
        if value is None and not rules.null_clears:
            continue
        match key:
            case "sessionUpdate" | "toolCallId":
                pass
            case "status":
                status = _word(value, rules.statuses, key, what, faults)
            case "content":
                content = None if value is None else _items(value, key, what, faults, rules.read_content)
            case "rawInput":
                raw_input = value
            case "rawOutput":
                raw_output = value
            case "title":
                title = _text(value, key, what, faults)
            case "locations":
                locations = None if value is None else _items(value, key, what, faults, read_location)
            case "kind":
                kind = _word(value, KINDS, key, what, faults)
            case "_meta":
                if value is None or is_object(value):
                    meta = value
                else:
                    wrong_type(faults, what, key, "an object", value)
            case "name":
                name = _text(value, key, what, faults)
            case "capabilities":
                capabilities = value
            case _:
                pass
    return ToolCallUpsert(
        call_id,
        name,
        title,
        kind,
        status,
        content,
        locations,
        raw_input,
        raw_output,
        capabilities,
        meta,
        announces,
    )


def _items(
    value: Json, key: str, what: str, faults: Faults, read: Callable[[Json, str, Faults], T | None]
) -> tuple[T, ...] | Unset:
    items = read_items(value, key, what, faults, read)
    return UNSET if items is None else items


def _text(value: Json, key: str, what: str, faults: Faults) -> str | Unset | None:
    if value is None or isinstance(value, str):
        return value
    wrong_type(faults, what, key, "a string", value)
    return UNSET


def _word(value: Json, known: frozenset[str], key: str, what: str, faults: Faults) -> str | Unset | None:
    if isinstance(value, str):
        if value not in known:
            note_unknown(value, key, what, faults)
        return value
    return _text(value, key, what, faults)


# -- the same in both versions -------------------------------------------------------------------


def content_reader(
    read_diff: Callable[[Object, str, Faults], Object | None],
) -> Callable[[Json, str, Faults], Object | None]:
    """Reads an item of a call's content; what the versions write differently in it are diffs."""

    def read(item: Json, what: str, faults: Faults) -> Object | None:
        if not is_object(item):
            return None
        match item.get("type"):
            case "content":
                return item if read_block(item.get("content"), what, faults) is not None else None
            case "diff":
                return read_diff(item, what, faults)
            case "terminal":
                return item if isinstance(item.get("terminalId"), str) else None
            case str(other):
                note_unknown(other, "content type", what, faults)
                return item
            case _:
                return None

    return read


def config_reader(read_option: Callable[[Json, str, Faults], ConfigOption | None]) -> Reader:
    def read(update: Object, what: str, faults: Faults) -> Update:
        return ConfigUpdate(list_items(update, "configOptions", what, faults, read_option))

    return read


def chunk_reader(role: Role, *, needs_id: bool) -> Reader:
    def read(update: Object, what: str, faults: Faults) -> Update | None:
        if needs_id:
            message_id = required_string(update, "messageId", what, faults)
        else:
            message_id = optional_string(update, "messageId", what, faults)
        block = _required_block(update, what, faults)
        return None if block is None else MessageChunk(role, message_id, block)

    return read


def _required_block(update: Object, what: str, faults: Faults) -> Object | None:
    before = len(faults)
    block = read_block(update.get("content"), what, faults)
    if block is None and len(faults) == before:
        missing(faults, what, "content", "a content block", update)
    return block


def read_commands(update: Object, what: str, faults: Faults) -> Update:
    return CommandsUpdate(list_items(update, "availableCommands", what, faults, read_command))


def read_session_info(update: Object, what: str, faults: Faults) -> Update:
    return SessionInfoUpdate(
        patched_string(update, "title", what, faults),
        patched_string(update, "updatedAt", what, faults),
        patched_object(update, "_meta", what, faults),
    )


def read_usage(update: Object, what: str, faults: Faults) -> Update | None:
    used, size = update.get("used"), update.get("size")
    if not isinstance(used, int) or not isinstance(size, int):
        missing(faults, what, "used` and `size", "whole numbers", update)
        return None
    cost = update.get("cost")
    if cost is not None and not (is_object(cost) and isinstance(cost.get("amount"), int | float)):
        wrong_type(faults, what, "cost", "an object with an amount and a currency", cost)
        cost = None
    return UsageUpdate(used, size, cost)


def read_notice(update: Object, what: str, faults: Faults) -> Update | None:
    title = required_string(update, "title", what, faults)
    severity = required_string(update, "severity", what, faults) or "info"
    if severity not in SEVERITIES:
        note_unknown(severity, "severity", what, faults)
    description = optional_string(update, "description", what, faults)
    return None if title is None else Notice(severity, title, description)


def read_compaction(update: Object, what: str, faults: Faults) -> Update | None:
    compaction_id = required_string(update, "compactionId", what, faults)
    status = required_string(update, "status", what, faults)
    if compaction_id is None or status is None:
        return None
    if status not in COMPACTION_STATUSES:
        note_unknown(status, "status", what, faults)
    summary: tuple[Json, ...] | Unset | None = UNSET
    if "summary" in update:
        raw = update["summary"]
        summary = None if raw is None else read_items(raw, "summary", what, faults, read_block)
    return CompactionUpdate(compaction_id, status, summary, patched_string(update, "error", what, faults))


def read_compaction_chunk(update: Object, what: str, faults: Faults) -> Update | None:
    compaction_id = required_string(update, "compactionId", what, faults)
    block = _required_block(update, what, faults)
    return None if compaction_id is None or block is None else CompactionChunk(compaction_id, block)
