"""What an agent sends against the schema is found, and said without the message that it was seen in."""

from __future__ import annotations

from typing import Any

import pytest
from acp_schemas import Deviations, Version


def update(**fields: Any) -> dict[str, Any]:
    params = {"sessionId": "s1", "update": fields}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def found(version: Version, *messages: tuple[str, dict[str, Any]]) -> list[str]:
    deviations = Deviations(version)
    for way, message in messages:
        deviations.see(way, message)
    return list(deviations.found)


CALL = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Read"}


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        (update(**CALL), None),
        (update(**CALL, status="done"), "session/update tool_call: update.status: 'done' is not a value"),
        (update(**CALL | {"title": 3}), "session/update tool_call: update.title: not of type string"),
        (update(sessionUpdate="tool_call", title="x"), "session/update tool_call: update: 'toolCallId' is"),
        (
            update(sessionUpdate="hum"),
            "session/update hum: update.sessionUpdate: 'hum' is not a value of the schema",
        ),
        (
            update(**CALL, content=[{"type": "content", "content": {"type": "text", "text": 5}}]),
            "session/update tool_call: update.content.*.content.text: not of type string",
        ),
        ({"method": "fs/remove", "id": 1, "params": {}}, "fs/remove: not in the schema"),
        ({"method": "_own/thing", "params": {}}, None),
    ],
    ids=lambda value: str(value)[-40:],
)
def test_what_the_schema_does_not_allow(message: dict[str, Any], sentence: str | None) -> None:
    told = found(1, ("in", message), ("in", message))

    assert [text[: len(sentence or "")] for text in told] == ([sentence] if sentence else [])


@pytest.mark.parametrize("version", [1, 2])
def test_answers_are_held_against_what_was_asked(version: Version) -> None:
    asked = ("out", {"id": 7, "method": "session/new", "params": {}})

    assert found(version, asked, ("in", {"id": 7, "result": {"sessionId": "s1"}})) == []
    assert found(version, asked, ("in", {"id": 7, "result": {}})) == [
        "session/new: 'sessionId' is a required property"
    ]
    assert found(version, asked, ("in", {"id": 7, "error": {"code": "x", "message": "y"}})) == [
        "session/new: code: not of type integer"
    ]
