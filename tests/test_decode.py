"""What both versions send is read into one model."""

from __future__ import annotations

import json
import time
import timeit
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from acp_schemas import check, schema
from decoded_updates import BOTH, CONTENT, FIRST, SECOND, decoded

from acp_editor.acp import v1, v2
from acp_editor.acp.wire import Unreadable
from acp_editor.core.model import (
    ExitStatus,
    PermissionOption,
    TerminalChunk,
    TerminalUpsert,
    ToolCallUpsert,
)

# -- what is right ----------------------------------------------------------------------------------


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
