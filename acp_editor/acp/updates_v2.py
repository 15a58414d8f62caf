"""`session/update` in version 2."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from acp_editor.acp.blocks import (
    note_unknown,
    read_block,
    read_exit_status,
    read_option,
    read_plan_entry,
)
from acp_editor.acp.lenient import (
    Faults,
    Object,
    is_absolute,
    list_items,
    missing,
    patched_object,
    patched_string,
    read_items,
    required_string,
    wrong_type,
)
from acp_editor.acp.rpc import fault
from acp_editor.acp.updates import (
    CallRules,
    Decoded,
    Reader,
    Updates,
    chunk_reader,
    config_reader,
    content_reader,
    decode,
    read_call,
    read_commands,
    read_compaction,
    read_compaction_chunk,
    read_notice,
    read_session_info,
    read_usage,
)
from acp_editor.core.model import (
    UNSET,
    ConfigOption,
    ExitStatus,
    Json,
    MessageUpsert,
    PlanUpdate,
    Role,
    StateUpdate,
    TerminalChunk,
    TerminalUpsert,
    ToolCallContentChunk,
    UnknownUpdate,
    Unset,
    Update,
    is_array,
    is_object,
)

STATES: Final = frozenset({"idle", "running", "requires_action"})
OPERATIONS: Final = frozenset({"add", "delete", "modify", "move", "copy"})


def _read_diff(item: Object, what: str, faults: Faults) -> Object | None:
    changes = item.get("changes")
    if not is_array(changes):
        return None
    good = read_items(changes, "changes", what, faults, _read_change) or ()
    return item if len(good) == len(changes) else {**item, "changes": list(good)}


def _read_change(change: Json, what: str, faults: Faults) -> Object | None:
    if not is_object(change) or not isinstance(change.get("operation"), str):
        return None
    operation: str = change["operation"]
    if operation not in OPERATIONS:
        note_unknown(operation, "operation", what, faults)
        return change
    paths = [change.get("path")] + ([change.get("oldPath")] if operation in ("move", "copy") else [])
    for path in paths:
        if not isinstance(path, str):
            return None
        if not is_absolute(path):
            faults.append(
                fault("relative_path", f"A change of {what} has a path that is not absolute.", path)
            )
    return change


_read_content = content_reader(_read_diff)

CALL_RULES: Final = CallRules(
    null_clears=True,
    statuses=frozenset({"pending", "in_progress", "paused", "completed", "failed", "cancelled"}),
    read_content=_read_content,
)


def _read_call(update: Object, what: str, faults: Faults) -> Update | None:
    return read_call(update, what, faults, CALL_RULES, None)


def _read_call_chunk(update: Object, what: str, faults: Faults) -> Update | None:
    call_id = required_string(update, "toolCallId", what, faults)
    before = len(faults)
    content = _read_content(update.get("content"), what, faults)
    if content is None and len(faults) == before:
        missing(faults, what, "content", "an item of a tool call's content", update)
    return None if call_id is None or content is None else ToolCallContentChunk(call_id, content)


def _message_reader(role: Role) -> Reader:
    def read_message(update: Object, what: str, faults: Faults) -> Update | None:
        message_id = required_string(update, "messageId", what, faults)
        if message_id is None:
            return None
        content: tuple[Json, ...] | Unset | None = UNSET
        if "content" in update:
            raw = update["content"]
            content = None if raw is None else read_items(raw, "content", what, faults, read_block)
        return MessageUpsert(role, message_id, content)

    return read_message


def _read_state(update: Object, what: str, faults: Faults) -> Update | None:
    state = required_string(update, "state", what, faults)
    if state is None:
        return None
    if state not in STATES:
        note_unknown(state, "state", what, faults)
    background: Json = update.get("background")
    if background is not None and not is_array(background):
        wrong_type(faults, what, "background", "an array", background)
    error = patched_object(update, "error", what, faults)
    return StateUpdate(
        state,
        patched_string(update, "stopReason", what, faults) if state == "idle" else UNSET,
        None if isinstance(error, Unset) else error,
        tuple(background) if is_array(background) else (),
    )


def _read_terminal(update: Object, what: str, faults: Faults) -> Update | None:
    terminal_id = required_string(update, "terminalId", what, faults)
    if terminal_id is None:
        return None
    exit_status: ExitStatus | Unset | None = UNSET
    raw = patched_object(update, "exitStatus", what, faults)
    if not isinstance(raw, Unset):
        exit_status = read_exit_status(raw, what, faults)
    output: bytes | Unset | None = UNSET
    snapshot = patched_object(update, "output", what, faults)
    if snapshot is None:
        output = None
    elif not isinstance(snapshot, Unset):
        data = _bytes(snapshot, what, faults)
        output = UNSET if data is None else data
    return TerminalUpsert(
        terminal_id,
        patched_string(update, "command", what, faults),
        patched_string(update, "cwd", what, faults),
        output,
        exit_status,
        patched_object(update, "size", what, faults),
        patched_object(update, "capabilities", what, faults),
    )


def _read_terminal_chunk(update: Object, what: str, faults: Faults) -> Update | None:
    terminal_id = required_string(update, "terminalId", what, faults)
    data = _bytes(update, what, faults)
    return None if terminal_id is None or data is None else TerminalChunk(terminal_id, data)


def _bytes(whole: Object, what: str, faults: Faults) -> bytes | None:
    data = required_string(whole, "data", what, faults)
    if data is None:
        return None
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        faults.append(fault("bad_base64", f"`data` of {what} is not base64.", data))
        return None


def _read_plan(update: Object, what: str, faults: Faults) -> Update | Updates | None:
    plan: Json = update.get("plan")
    if not is_object(plan):
        missing(faults, what, "plan", "an object", update)
        return None
    plan_id = required_string(plan, "planId", what, faults)
    kind = required_string(plan, "type", what, faults)
    if kind == "items" or (kind is None and "entries" in plan):
        return PlanUpdate(list_items(plan, "entries", what, faults, read_plan_entry), plan_id)
    if kind is not None:
        note_unknown(kind, "type of plan", what, faults)
    # It replaces the plan of that id all the same.
    unknown = UnknownUpdate(what, update)
    return unknown if plan_id is None else (PlanUpdate((), plan_id), unknown)


def read_config_option(item: Json, what: str, faults: Faults) -> ConfigOption | None:
    return read_option(item, "configId", "groupId", what, faults)


_READERS: Final[dict[str, Reader]] = {
    "user_message_chunk": chunk_reader("user", needs_id=True),
    "user_message": _message_reader("user"),
    "agent_message_chunk": chunk_reader("agent", needs_id=True),
    "agent_message": _message_reader("agent"),
    "agent_thought_chunk": chunk_reader("thought", needs_id=True),
    "agent_thought": _message_reader("thought"),
    "state_update": _read_state,
    "tool_call_update": _read_call,
    "tool_call_content_chunk": _read_call_chunk,
    "terminal_update": _read_terminal,
    "terminal_output_chunk": _read_terminal_chunk,
    "plan_update": _read_plan,
    "available_commands_update": read_commands,
    "config_option_update": config_reader(read_config_option),
    "session_info_update": read_session_info,
    "usage_update": read_usage,
    "notice": read_notice,
    "compaction_update": read_compaction,
    "compaction_summary_chunk": read_compaction_chunk,
}


def decode_update(params: Json) -> Decoded:
    """Reads the params of a `session/update`; never raises."""
    return decode(params, _READERS)
