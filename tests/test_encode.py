"""What we say to an agent is valid in its version."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from acp_schemas import check, schema
from decoded_updates import TEXT

from acp_editor.acp import encode, v1, v2
from acp_editor.acp.encode import Workspace
from acp_editor.core.model import (
    ConfigOption,
    ElicitationAnswer,
    McpServer,
)

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
