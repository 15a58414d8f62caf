"""What is wrong in what an agent sends falls back to something, and is told."""

from __future__ import annotations

from contextlib import suppress
from types import ModuleType
from typing import Any

import pytest
from decoded_updates import BOTH, CONTENT, FIRST, SECOND, TEXT, decoded
from hypothesis import given
from hypothesis import strategies as st

from acp_editor.acp import v1, v2
from acp_editor.acp.negotiate import spoken
from acp_editor.acp.wire import Unreadable
from acp_editor.core.model import (
    ConfigOption,
    ConfigUpdate,
    Location,
    MessageChunk,
    PlanEntry,
    PlanUpdate,
    StateUpdate,
    TerminalUpsert,
    ToolCallUpsert,
    UnknownUpdate,
)


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
