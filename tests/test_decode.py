"""Both protocol versions, read into the model: what is said, what falls back, and which fault is noted."""

from __future__ import annotations

import base64
import json
import time
import timeit
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

import pytest
from acp_schemas import check, schema
from hypothesis import given
from hypothesis import strategies as st

from acp_editor.acp import encode, v1, v2
from acp_editor.acp.encode import Workspace
from acp_editor.acp.negotiate import offer, spoken
from acp_editor.acp.wire import Unreadable
from acp_editor.core.model import (
    UNSET,
    AuthMethod,
    Choice,
    Command,
    CommandsUpdate,
    CompactionChunk,
    CompactionUpdate,
    ConfigOption,
    ConfigUpdate,
    ElicitationAnswer,
    ExitStatus,
    Location,
    McpServer,
    MessageChunk,
    MessageUpsert,
    ModeUpdate,
    Notice,
    PermissionOption,
    PlanEntry,
    PlanUpdate,
    SessionInfoUpdate,
    StateUpdate,
    TerminalChunk,
    TerminalUpsert,
    ToolCallContentChunk,
    ToolCallUpsert,
    UnknownUpdate,
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


# -- what is right ---------------------------------------------------------------------------------

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


@pytest.mark.parametrize(
    ("version", "kind", "fields", "expected"),
    [(v1, *row) for row in BOTH + FIRST] + [(v2, *row) for row in BOTH + SECOND],
)
def test_every_update_is_read(version: ModuleType, kind: str, fields: dict[str, Any], expected: Any) -> None:
    check(version.VERSION, "SessionUpdate", {"sessionUpdate": kind, **fields})
    assert decoded(version, kind, **fields) == ([expected], [])


@pytest.mark.parametrize("version", [v1, v2])
def test_every_update_of_the_schema_has_a_reader(version: ModuleType) -> None:
    branches = schema(version.VERSION)["$defs"]["SessionUpdate"]
    names = {
        name
        for branch in branches.get("oneOf") or branches["anyOf"]
        if (name := branch.get("properties", {}).get("sessionUpdate", {}).get("const"))
    }
    assert names
    unread = {n for n in names if "unknown_update" in decoded(version, n)[1]}
    assert not unread


# -- what is wrong ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "kind", "fields", "updates", "codes"),
    [
        (v1, "tool_call_update", {"toolCallId": 7}, [], ["missing_field"]),
        (
            v1,
            "tool_call_update",
            {
                "toolCallId": "c",
                "title": 3,
                "kind": [],
                "status": {},
                "content": "x",
                "locations": {"path": 1},
            },
            [ToolCallUpsert("c", announces=False)],
            ["wrong_type"] * 5,
        ),
        (
            v1,
            "tool_call_update",
            {"toolCallId": "c", "locations": [{"line": 3}, None, 7, {"path": "/a", "line": 2}]},
            [ToolCallUpsert("c", locations=(Location("/a", 2),), announces=False)],
            ["invalid_item"] * 3,
        ),
        (
            v1,
            "tool_call_update",
            {
                "toolCallId": "c",
                "content": [{"type": "content"}, None, CONTENT, {"type": "diff", "path": "/a"}],
            },
            [ToolCallUpsert("c", content=(CONTENT,), announces=False)],
            ["invalid_item"] * 3,
        ),
        (
            v1,
            "tool_call_update",
            {"toolCallId": "c", "kind": "banana", "status": "_mine", "content": [{"type": "hologram"}]},
            [
                ToolCallUpsert(
                    "c", kind="banana", status="_mine", content=({"type": "hologram"},), announces=False
                )
            ],
            ["unknown_value"] * 2,
        ),
        (
            v1,
            "tool_call_update",
            {"toolCallId": "c", "locations": [{"path": "rel/a", "line": 0}, {"path": "/b", "line": "3"}]},
            [ToolCallUpsert("c", locations=(Location("rel/a"), Location("/b")), announces=False)],
            ["relative_path", "line_from_zero", "wrong_type"],
        ),
        (v1, "tool_call", {"toolCallId": "c"}, [ToolCallUpsert("c", announces=True)], ["missing_field"]),
        (v1, "agent_message_chunk", {"content": {"type": "text"}}, [], ["missing_field"]),
        (
            v1,
            "state_update",
            {"state": "idle"},
            [UnknownUpdate("state_update", {"sessionUpdate": "state_update", "state": "idle"})],
            ["unknown_update"],
        ),
        (v1, "_mine", {}, [UnknownUpdate("_mine", {"sessionUpdate": "_mine"})], []),
        (
            v1,
            "plan",
            {"entries": [{"content": "a"}, {}]},
            [PlanUpdate((PlanEntry("a"),))],
            ["missing_field", "invalid_item"],
        ),
        (v1, "plan", {}, [PlanUpdate(())], ["missing_field"]),
        (v1, "usage_update", {"used": "5", "size": 1}, [], ["missing_field"]),
        (v1, "config_option_update", {"configOptions": [{"id": "x"}]}, [ConfigUpdate(())], ["invalid_item"]),
        (
            v1,
            "config_option_update",
            {"configOptions": [{"id": "x", "name": "X", "type": "slider", "currentValue": 3}]},
            [ConfigUpdate((ConfigOption("x", "X", "slider", 3),))],
            ["unknown_value"],
        ),
        (
            v2,
            "agent_message_chunk",
            {"content": TEXT},
            [MessageChunk("agent", None, TEXT)],
            ["missing_field"],
        ),
        (v2, "terminal_output_chunk", {"terminalId": "t", "data": "!"}, [], ["bad_base64"]),
        (
            v2,
            "terminal_update",
            {"terminalId": "t", "output": {"data": 1}},
            [TerminalUpsert("t")],
            ["missing_field"],
        ),
        (v2, "state_update", {"state": "dreaming"}, [StateUpdate("dreaming")], ["unknown_value"]),
        (
            v2,
            "state_update",
            {"state": "idle", "stopReason": 4, "background": 1},
            [StateUpdate("idle")],
            ["wrong_type"] * 2,
        ),
        (
            v2,
            "tool_call_update",
            {
                "toolCallId": "c",
                "content": [{"type": "diff", "changes": [{"operation": "move", "path": "/b"}]}],
            },
            [ToolCallUpsert("c", content=({"type": "diff", "changes": []},))],
            ["invalid_item"],
        ),
        (
            v2,
            "plan_update",
            {"plan": {"type": "tree", "planId": "p"}},
            [
                PlanUpdate((), "p"),
                UnknownUpdate(
                    "plan_update", {"sessionUpdate": "plan_update", "plan": {"type": "tree", "planId": "p"}}
                ),
            ],
            ["unknown_value"],
        ),
        (
            v2,
            "tool_call",
            {"toolCallId": "c"},
            [UnknownUpdate("tool_call", {"sessionUpdate": "tool_call", "toolCallId": "c"})],
            ["unknown_update"],
        ),
    ],
)
def test_what_is_wrong_falls_back_and_is_told(
    version: ModuleType, kind: str, fields: dict[str, Any], updates: list[Any], codes: list[str]
) -> None:
    assert decoded(version, kind, **fields) == (updates, codes)


@pytest.mark.parametrize("version", [v1, v2])
@pytest.mark.parametrize(
    "params", [None, [], 7, {}, {"sessionId": 1}, {"sessionId": "s"}, {"sessionId": "s", "update": {}}]
)
def test_a_notification_that_is_no_update_is_a_fault(version: ModuleType, params: Any) -> None:
    _, updates, faults = version.decode_update(params)
    assert [type(update) for update in updates] in ([], [UnknownUpdate])
    assert [fault.code for fault in faults] in (["missing_field"], ["wrong_type"])
    assert all(fault.message.endswith(".") for fault in faults)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KINDS = sorted({row[0] for row in BOTH + FIRST + SECOND})
KEYS = sorted({key for row in BOTH + FIRST + SECOND for key in row[1]})


@pytest.mark.parametrize("version", [v1, v2])
@given(kind=st.sampled_from(KINDS), fields=st.dictionaries(st.sampled_from(KEYS), JSON, max_size=5))
def test_nothing_that_is_sent_raises(version: ModuleType, kind: str, fields: dict[str, Any]) -> None:
    decoded(version, kind, **fields)


@pytest.mark.parametrize("version", [v1, v2])
@given(
    raw=JSON
    | st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(
            [
                "info",
                "agentInfo",
                "capabilities",
                "agentCapabilities",
                "authMethods",
                "configOptions",
                "modes",
                "options",
                "sessionId",
                "subject",
                "toolCall",
            ],
            JSON,
        ),
    )
)
def test_answers_and_requests_are_read_or_are_unreadable(version: ModuleType, raw: Any) -> None:
    spoken(raw)
    version.decode_options(raw, [])
    for read in (version.decode_info, version.decode_permission):
        with suppress(Unreadable):
            read(raw, [])
    version.decode_session(raw, "s", [])


# -- terminals that version 1 has no place for -----------------------------------------------------


def test_terminals_told_in_meta_become_terminals() -> None:
    meta = {
        "terminal_info": {"terminal_id": "t", "cwd": "/ws"},
        "terminal_output": {"terminal_id": "t", "data": "é"},
        "terminal_exit": {"terminal_id": "t", "exit_code": 3, "signal": None},
    }
    updates, codes = decoded(v1, "tool_call_update", toolCallId="c", rawInput={"command": "ls"}, _meta=meta)
    assert updates[1:] == [
        TerminalUpsert("t", "ls", "/ws"),
        TerminalChunk("t", "é".encode(), known_only=True),
        TerminalUpsert("t", exit_status=ExitStatus(3)),
    ]
    assert codes == []


# -- initialize ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        ({"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {}}, v2),
        ({"protocolVersion": 2, "info": {"name": "a"}, "agentCapabilities": {}}, v1),
        ({"protocolVersion": 2, "agentInfo": {"name": "a"}}, v1),
        ({"protocolVersion": 2}, v1),
        ({"protocolVersion": 1, "info": {"name": "a", "version": "1"}}, v1),
        ({"protocolVersion": 99, "agentCapabilities": {}}, v1),
        (None, v1),
    ],
)
def test_the_version_is_told_by_the_shape_of_the_answer(answer: Any, version: ModuleType) -> None:
    assert spoken(answer) is version


def test_the_offer_has_the_fields_of_both_versions_and_a_forced_one_only_its_own() -> None:
    client = {"name": "c", "version": "1"}
    both = offer("auto", client)
    assert both["protocolVersion"] == 2
    assert {"clientInfo", "clientCapabilities", "info", "capabilities"} < set(both)
    for version in (1, 2):
        check(version, "InitializeRequest", both)
        check(version, "InitializeRequest", offer(version, client))
    assert set(offer(1, client)) == {"protocolVersion", "clientInfo", "clientCapabilities"}
    assert set(offer(2, client)) == {"protocolVersion", "info", "capabilities"}


def test_what_an_agent_can_is_read_in_version_1() -> None:
    faults: list[Any] = []
    raw = {
        "protocolVersion": 1,
        "agentInfo": {"name": "a", "title": "A", "version": "1"},
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {"image": True, "audio": "yes"},
            "mcpCapabilities": {"http": True},
            "sessionCapabilities": {"list": {}, "close": None, "fork": {}},
            "auth": {"logout": {}},
            "_meta": {"claudeCode": {"promptQueueing": True}},
        },
        "authMethods": [
            {"id": "web", "name": "Browser"},
            {"id": "tty", "name": "Terminal", "type": "terminal", "args": ["login"], "env": {"A": "b"}},
            {"name": "nameless"},
        ],
    }
    info = v1.decode_info(raw, faults)
    can = info.capabilities
    assert (info.protocol, info.name, info.title, info.version) == (1, "a", "A", "1")
    assert (can.load, can.list, can.close, can.fork, can.logout, can.resume) == (
        True,
        True,
        False,
        True,
        True,
        False,
    )
    assert (can.image, can.audio, can.mcp_stdio, can.mcp_http, can.prompt_queueing) == (
        True,
        False,
        True,
        True,
        True,
    )
    assert info.auth_methods == (
        AuthMethod("web", "Browser"),
        AuthMethod("tty", "Terminal", None, "terminal", ("login",), {"A": "b"}),
    )
    assert [fault.code for fault in faults] == ["invalid_item"]


def test_what_an_agent_can_is_read_in_version_2() -> None:
    raw = {
        "protocolVersion": 2,
        "info": {"name": "a", "version": "1"},
        "capabilities": {"session": {"prompt": {"image": {}}, "mcp": {"http": {}}, "delete": {}}},
        "authMethods": [
            {"type": "terminal", "methodId": "tty", "name": "T", "env": [{"name": "A", "value": "b"}]}
        ],
    }
    check(2, "InitializeResponse", raw)
    info = v2.decode_info(raw, [])
    can = info.capabilities
    assert (info.protocol, info.title) == (2, "a")
    assert (can.load, can.resume, can.list, can.close, can.delete, can.fork) == (
        True,
        True,
        True,
        True,
        True,
        False,
    )
    assert (can.image, can.mcp_stdio, can.mcp_http, can.logout) == (True, False, True, True)
    assert info.auth_methods == (AuthMethod("tty", "T", None, "terminal", (), {"A": "b"}),)
    none = v2.decode_info({"info": {"name": "a"}, "capabilities": {}}, []).capabilities
    assert (none.load, none.list, none.logout) == (False, False, False)


def test_modes_and_models_are_options_of_their_own() -> None:
    faults: list[Any] = []
    start = v1.decode_session(
        {
            "sessionId": "s",
            "modes": {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {}]},
            "models": {"currentModelId": "x", "availableModels": [{"modelId": "x", "name": "X"}]},
        },
        None,
        faults,
    )
    assert start.session_id == "s"
    assert start.updates == (
        ConfigUpdate(
            (ConfigOption("mode", "Mode", "choice", "ask", None, "mode", (Choice("ask", "Ask"),), "mode"),),
            "mode",
        ),
        ConfigUpdate(
            (ConfigOption("model", "Model", "choice", "x", None, "model", (Choice("x", "X"),), "model"),),
            "model",
        ),
    )
    assert [fault.code for fault in faults] == ["invalid_item"]
    with pytest.raises(Unreadable):
        v1.decode_session({}, None, [])
    assert v2.decode_session({}, "known", []).session_id == "known"


# -- permissions -----------------------------------------------------------------------------------

OPTIONS = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]


def test_a_permission_in_version_1_is_about_a_call() -> None:
    request = v1.decode_permission(
        {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": OPTIONS}, []
    )
    assert request.options == (PermissionOption("y", "Yes", "allow_once"),)
    assert (request.title, request.tool_call, request.tool_call_id) == (
        None,
        ToolCallUpsert("c", announces=False),
        "c",
    )


@pytest.mark.parametrize(
    ("subject", "expected", "codes"),
    [
        (None, (None, None, None), []),
        ({"type": "tool_call", "toolCall": {"toolCallId": "c"}}, ("c", None, None), []),
        (
            {"type": "command", "command": "ls", "cwd": "/ws", "toolCallId": "c", "terminalId": "t"},
            ("c", "ls", "/ws"),
            [],
        ),
        ({"type": "_moon"}, (None, None, None), []),
        ({"type": "moon"}, (None, None, None), ["unknown_value"]),
        ({"type": "tool_call"}, (None, None, None), ["missing_field"]),
        (7, (None, None, None), ["wrong_type"]),
    ],
)
def test_a_permission_in_version_2_has_a_subject(subject: Any, expected: Any, codes: list[str]) -> None:
    faults: list[Any] = []
    request = v2.decode_permission(
        {"sessionId": "s", "title": "T", "description": "D", "options": OPTIONS, "subject": subject}, faults
    )
    assert (request.title, request.description, request.subject) == ("T", "D", subject)
    assert (request.tool_call_id, request.command, request.cwd) == expected
    assert [fault.code for fault in faults] == codes


@pytest.mark.parametrize("version", [v1, v2])
@pytest.mark.parametrize("options", [None, [], [{"optionId": 1}], "x"])
def test_a_permission_without_options_cannot_be_answered(version: ModuleType, options: Any) -> None:
    with pytest.raises(Unreadable, match="options"):
        version.decode_permission({"sessionId": "s", "title": "T", "toolCall": {}, "options": options}, [])


# -- what we say -----------------------------------------------------------------------------------

STDIO = McpServer("files", command="/bin/files", args=("-v",), env={"KEY": "secret"})
HTTP = McpServer("web", "http", url="https://example.com", headers={"Authorization": "secret"})
SSE = McpServer("old", "sse", url="https://example.com")
CHOICE = ConfigOption("model", "Model", "choice", "a")
BOOLEAN = ConfigOption("fast", "Fast", "boolean", False)


def test_secrets_are_not_in_the_text_of_a_server() -> None:
    assert "secret" not in repr((STDIO, HTTP))


CALLS = [
    (version, call)
    for version, servers in ((v1, (STDIO, HTTP, SSE)), (v2, (STDIO, HTTP)))
    for call in (
        version.new_session(Workspace("/ws")),
        version.new_session(Workspace("/ws", ("/more",), servers)),
        version.load_session("s", Workspace("/ws", (), servers)),
        version.resume_session("s", Workspace("/ws", ("/more",), servers)),
        version.login("web"),
        version.logout(),
        version.set_config("s", CHOICE, "b"),
        version.set_config("s", BOOLEAN, True),
        encode.list_sessions(None, None),
        encode.list_sessions("/ws", "next"),
        encode.close_session("s"),
        encode.delete_session("s"),
        encode.prompt("s", [TEXT]),
        encode.cancel("s"),
    )
]


@pytest.mark.parametrize(("version", "call"), CALLS)
def test_what_we_say_is_valid(version: ModuleType, call: tuple[str, Any]) -> None:
    method, params = call
    names = [
        name
        for name, type_ in schema(version.VERSION)["$defs"].items()
        if type_.get("x-method") == method and not name.endswith("Response")
    ]
    assert names, method
    check(version.VERSION, names[0], params)


def test_an_option_is_set_the_way_it_came() -> None:
    mode = ConfigOption("mode", "Mode", "choice", "a", origin="mode")
    model = ConfigOption("model", "Model", "choice", "a", origin="model")
    assert v1.set_config("s", mode, "b") == ("session/set_mode", {"sessionId": "s", "modeId": "b"})
    assert v1.set_config("s", model, "b") == ("session/set_model", {"sessionId": "s", "modelId": "b"})
    assert v1.set_config("s", BOOLEAN, True)[1]["type"] == "boolean"
    assert v1.set_config("s", CHOICE, "b")[1] == {"sessionId": "s", "configId": "model", "value": "b"}
    assert v2.set_config("s", CHOICE, "b")[1]["type"] == "id"


@pytest.mark.parametrize("version", [1, 2])
def test_answers_are_valid(version: Any) -> None:
    for option in (None, "y"):
        check(version, "RequestPermissionResponse", encode.permission_answer(option))
    for answer in (
        ElicitationAnswer("accept", {"name": "x", "tags": ["a"], "n": 1, "ok": True}),
        ElicitationAnswer("accept"),
        ElicitationAnswer("decline"),
        ElicitationAnswer("cancel"),
    ):
        check(version, "CreateElicitationResponse", encode.elicitation_answer(answer))


# -- speed -----------------------------------------------------------------------------------------


def test_reading_an_update_costs_little_more_than_its_json() -> None:
    raw = json.dumps(
        {
            "sessionId": "s",
            "update": {
                "sessionUpdate": "tool_call_update",
                "toolCallId": "c",
                "title": "Edit a.py",
                "kind": "edit",
                "status": "in_progress",
                "locations": [{"path": "/ws/a.py", "line": 3}],
                "rawInput": {"path": "/ws/a.py"},
                "content": [CONTENT],
            },
        }
    )
    params = json.loads(raw)

    def cost(run: Callable[[], object]) -> float:
        return min(timeit.repeat(run, number=1_000, repeat=7, timer=time.process_time))

    assert cost(lambda: v1.decode_update(params)) < 8 * cost(lambda: json.loads(raw))
