"""Updates of both versions as they are sent, with what they are read as."""

from __future__ import annotations

import base64
from types import ModuleType
from typing import Any

from acp_editor.core.model import (
    UNSET,
    Choice,
    Command,
    CommandsUpdate,
    CompactionChunk,
    CompactionUpdate,
    ConfigOption,
    ConfigUpdate,
    ExitStatus,
    Location,
    MessageChunk,
    MessageUpsert,
    ModeUpdate,
    Notice,
    PlanEntry,
    PlanUpdate,
    SessionInfoUpdate,
    StateUpdate,
    TerminalChunk,
    TerminalUpsert,
    ToolCallContentChunk,
    ToolCallUpsert,
    UsageUpdate,
)

TEXT = {"type": "text", "text": "hi"}
CONTENT = {"type": "content", "content": TEXT}
DIFF = {"type": "diff", "path": "/a.py", "oldText": None, "newText": "x"}
CHANGES = {
    "type": "diff",
    "changes": [{"operation": "move", "oldPath": "/a", "path": "/b", "fileType": "text"}],
    "patch": {"format": "git_patch", "text": ""},
}
TERMINAL = {"type": "terminal", "terminalId": "t"}


def decoded(version: ModuleType, kind: str, /, **fields: Any) -> tuple[list[Any], list[str]]:
    """The updates and the codes of the faults."""
    session_id, updates, faults = version.decode_update(
        {"sessionId": "s", "update": {"sessionUpdate": kind, **fields}}
    )
    assert session_id == "s"
    return list(updates), [fault.code for fault in faults]


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


BOTH: list[tuple[str, dict[str, Any], Any]] = [
    (
        "available_commands_update",
        {
            "availableCommands": [
                {
                    "type": "command",
                    "name": "web",
                    "description": "Search",
                    "input": {"type": "text", "hint": "q"},
                }
            ]
        },
        CommandsUpdate((Command("web", "Search", "q"),)),
    ),
    ("session_info_update", {"title": "T"}, SessionInfoUpdate("T")),
    ("session_info_update", {"title": None, "_meta": {"a": 1}}, SessionInfoUpdate(None, UNSET, {"a": 1})),
    (
        "usage_update",
        {"used": 5, "size": 10, "cost": {"amount": 0.1, "currency": "USD"}},
        UsageUpdate(5, 10, {"amount": 0.1, "currency": "USD"}),
    ),
    ("notice", {"severity": "warning", "title": "T"}, Notice("warning", "T")),
    (
        "compaction_update",
        {"compactionId": "k", "status": "in_progress"},
        CompactionUpdate("k", "in_progress"),
    ),
    (
        "compaction_update",
        {"compactionId": "k", "status": "completed", "summary": [TEXT], "error": None},
        CompactionUpdate("k", "completed", (TEXT,), None),
    ),
    ("compaction_summary_chunk", {"compactionId": "k", "content": TEXT}, CompactionChunk("k", TEXT)),
    ("agent_message_chunk", {"messageId": "m", "content": TEXT}, MessageChunk("agent", "m", TEXT)),
    ("agent_thought_chunk", {"messageId": "m", "content": TEXT}, MessageChunk("thought", "m", TEXT)),
    ("user_message_chunk", {"messageId": "m", "content": TEXT}, MessageChunk("user", "m", TEXT)),
]

FIRST: list[tuple[str, dict[str, Any], Any]] = [
    ("agent_message_chunk", {"content": TEXT}, MessageChunk("agent", None, TEXT)),
    (
        "tool_call",
        {"toolCallId": "c", "title": "T", "kind": "edit", "status": "pending", "content": [DIFF, TERMINAL]},
        ToolCallUpsert(
            "c", title="T", kind="edit", status="pending", content=(DIFF, TERMINAL), announces=True
        ),
    ),
    (
        "tool_call_update",
        {
            "toolCallId": "c",
            "title": None,
            "content": None,
            "rawInput": None,
            "_meta": None,
            "status": "failed",
        },
        ToolCallUpsert("c", status="failed", announces=False),
    ),
    (
        "tool_call_update",
        {"toolCallId": "c", "locations": [{"path": "/a", "line": 3}, {"path": "C:\\b"}], "content": []},
        ToolCallUpsert("c", locations=(Location("/a", 3), Location("C:\\b")), content=(), announces=False),
    ),
    (
        "plan",
        {"entries": [{"content": "look", "priority": "high", "status": "completed"}]},
        PlanUpdate((PlanEntry("look", "high", "completed"),)),
    ),
    ("current_mode_update", {"currentModeId": "plan"}, ModeUpdate("plan")),
    (
        "config_option_update",
        {"configOptions": [{"id": "b", "name": "B", "type": "boolean", "currentValue": True}]},
        ConfigUpdate((ConfigOption("b", "B", "boolean", True),)),
    ),
]

SECOND: list[tuple[str, dict[str, Any], Any]] = [
    (
        "tool_call_update",
        {
            "toolCallId": "c",
            "title": None,
            "kind": None,
            "locations": None,
            "rawInput": {"k": 1},
            "content": [CHANGES],
        },
        ToolCallUpsert("c", title=None, kind=None, locations=None, raw_input={"k": 1}, content=(CHANGES,)),
    ),
    (
        "tool_call_update",
        {"toolCallId": "c", "status": "paused", "capabilities": {"cancel": {}}, "_meta": {"a": None}},
        ToolCallUpsert("c", status="paused", capabilities={"cancel": {}}, meta={"a": None}),
    ),
    ("tool_call_content_chunk", {"toolCallId": "c", "content": CONTENT}, ToolCallContentChunk("c", CONTENT)),
    ("agent_message", {"messageId": "m", "content": [TEXT]}, MessageUpsert("agent", "m", (TEXT,))),
    ("agent_thought", {"messageId": "m", "content": None}, MessageUpsert("thought", "m", None)),
    ("user_message", {"messageId": "m"}, MessageUpsert("user", "m")),
    ("state_update", {"state": "running", "background": []}, StateUpdate("running")),
    ("state_update", {"state": "idle"}, StateUpdate("idle")),
    ("state_update", {"state": "idle", "stopReason": "max_tokens"}, StateUpdate("idle", "max_tokens")),
    (
        "state_update",
        {
            "state": "idle",
            "stopReason": "error",
            "error": {"code": 1, "message": "m"},
            "background": [TERMINAL],
        },
        StateUpdate("idle", "error", {"code": 1, "message": "m"}, (TERMINAL,)),
    ),
    (
        "terminal_update",
        {
            "terminalId": "t",
            "command": "ls",
            "output": {"data": b64(b"a\xff")},
            "size": {"cols": 80, "rows": 24},
        },
        TerminalUpsert("t", "ls", output=b"a\xff", size={"cols": 80, "rows": 24}),
    ),
    (
        "terminal_update",
        {"terminalId": "t", "cwd": None, "output": None, "exitStatus": {"exitCode": 3}},
        TerminalUpsert("t", cwd=None, output=None, exit_status=ExitStatus(3)),
    ),
    ("terminal_output_chunk", {"terminalId": "t", "data": b64(b"caf\xc3")}, TerminalChunk("t", b"caf\xc3")),
    (
        "plan_update",
        {
            "plan": {
                "type": "items",
                "planId": "p",
                "entries": [{"content": "a", "priority": "low", "status": "pending"}],
            }
        },
        PlanUpdate((PlanEntry("a", "low"),), "p"),
    ),
    (
        "config_option_update",
        {
            "configOptions": [
                {
                    "configId": "m",
                    "name": "M",
                    "category": "model",
                    "type": "select",
                    "currentValue": "a",
                    "options": [{"groupId": "g", "name": "G", "options": [{"value": "a", "name": "A"}]}],
                }
            ]
        },
        ConfigUpdate((ConfigOption("m", "M", "choice", "a", None, "model", (Choice("a", "A", None, "G"),)),)),
    ),
]
