"""`session/update` in version 1."""

from __future__ import annotations

from typing import Final

from acp_editor.acp.blocks import read_option, read_plan_entry
from acp_editor.acp.lenient import (
    Faults,
    Object,
    list_items,
    missing,
    required_string,
)
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
    ModeUpdate,
    PlanUpdate,
    TerminalChunk,
    TerminalUpsert,
    Update,
    is_object,
)


def _read_diff(item: Object, what: str, faults: Faults) -> Object | None:
    return item if isinstance(item.get("path"), str) and isinstance(item.get("newText"), str) else None


CALL_RULES: Final = CallRules(
    null_clears=False,
    statuses=frozenset({"pending", "in_progress", "completed", "failed"}),
    read_content=content_reader(_read_diff),
)


def _read_call(update: Object, what: str, faults: Faults) -> Updates | Update | None:
    call = read_call(update, what, faults, CALL_RULES, what == "tool_call")
    if call is None:
        return None
    if what == "tool_call" and not isinstance(call.title, str):
        missing(faults, what, "title", "a string", update)
    if is_object(call.meta) and any(key.startswith("terminal_") for key in call.meta):
        return (call, *_terminal(call.meta, call.raw_input))
    return call


def _terminal(meta: Object, raw_input: Json) -> Updates:
    """An agent's own terminal, which version 1 has no place for. Source: Zed's `_meta` convention."""
    updates: list[Update] = []
    for key in ("terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"):
        part: Json = meta.get(key)
        if not is_object(part) or not isinstance(part.get("terminal_id"), str):
            continue
        terminal_id: str = part["terminal_id"]
        data: Json = part.get("data")
        match key:
            case "terminal_info":
                cwd: Json = part.get("cwd")
                command: Json = raw_input.get("command") if is_object(raw_input) else None
                updates.append(
                    TerminalUpsert(
                        terminal_id,
                        command=command if isinstance(command, str) else UNSET,
                        cwd=cwd if isinstance(cwd, str) else UNSET,
                    )
                )
            case "terminal_exit":
                code, signal = part.get("exit_code"), part.get("signal")
                status = ExitStatus(
                    code if isinstance(code, int) else None, signal if isinstance(signal, str) else None
                )
                updates.append(TerminalUpsert(terminal_id, exit_status=status))
            case _ if isinstance(data, str):
                updates.append(TerminalChunk(terminal_id, data.encode("utf-8", "replace"), known_only=True))
            case _:
                pass
    return tuple(updates)


def _read_plan(update: Object, what: str, faults: Faults) -> Update:
    return PlanUpdate(list_items(update, "entries", what, faults, read_plan_entry))


def _read_mode(update: Object, what: str, faults: Faults) -> Update | None:
    mode = required_string(update, "currentModeId", what, faults)
    return None if mode is None else ModeUpdate(mode)


def read_config_option(item: Json, what: str, faults: Faults) -> ConfigOption | None:
    return read_option(item, "id", "group", what, faults)


_READERS: Final[dict[str, Reader]] = {
    "user_message_chunk": chunk_reader("user", needs_id=False),
    "agent_message_chunk": chunk_reader("agent", needs_id=False),
    "agent_thought_chunk": chunk_reader("thought", needs_id=False),
    "tool_call": _read_call,
    "tool_call_update": _read_call,
    "plan": _read_plan,
    "available_commands_update": read_commands,
    "current_mode_update": _read_mode,
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
