"""Variables in the entries of MCP servers."""

from __future__ import annotations

import pytest

from acp_editor.app.mcp import resolve
from acp_editor.core.model import McpServer


def filled(text: str) -> tuple[str, set[str]]:
    ready, missing = resolve(McpServer("x", "stdio", text), "/ws/project", {"TOKEN": "s3cret ${env:OTHER}"})
    return ready.command, missing


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("plain", "plain"),
        ("${workspaceFolder}/a", "/ws/project/a"),
        ("${workspaceFolderBasename}", "project"),
        ("a${env:TOKEN}b", "as3cret ${env:OTHER}b"),  # values are not looked into
        ("$TOKEN $${} {env:TOKEN}", None),
    ],
)
def test_what_is_filled_in(text: str, becomes: str | None) -> None:
    command, missing = filled(text)
    assert command == (becomes if becomes is not None else text)
    assert bool(missing) is (becomes is None)


@pytest.mark.parametrize("text", ["${env:NONE}", "${input:password}", "${config:x}", "${command:y}"])
def test_what_cannot_be_filled_in_is_named(text: str) -> None:
    assert filled(text)[1] == {text}


def test_every_field_is_filled_in() -> None:
    server = McpServer(
        "x",
        "http",
        args=("${env:A}",),
        env={"K": "${env:A}"},
        url="http://${env:A}",
        headers={"H": "${env:A}"},
    )
    ready, missing = resolve(server, "/ws", {"A": "1"})
    assert (ready.args, ready.env, ready.url, ready.headers) == (("1",), {"K": "1"}, "http://1", {"H": "1"})
    assert not missing
