"""What an agent says of itself: its version, what it can, its options."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from acp_schemas import check

from acp_editor.acp import v1, v2
from acp_editor.acp.negotiate import offer, spoken
from acp_editor.acp.wire import Unreadable
from acp_editor.core.model import (
    AuthMethod,
    Choice,
    ConfigOption,
    ConfigUpdate,
)


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
