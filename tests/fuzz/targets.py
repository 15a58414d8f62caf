"""What is fuzzed: functions of bytes that must not raise, whatever the bytes are, and what holds of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from acp_editor.acp import rpc, v1, v2
from acp_editor.acp.wire import Unreadable
from acp_editor.app import render, snapshot
from acp_editor.app.transcript import Transcript
from acp_editor.core import diffs, limits, marks, places
from acp_editor.core.finite import dumps
from acp_editor.core.model import Fault, PermissionRequest, StateUpdate
from acp_editor.core.patches import parse_patch
from acp_editor.core.session import Session
from acp_editor.policy.commands import parse_command
from acp_editor.policy.rules import Rule, RuleProblem, parse_rule

ODD: list[Any] = [
    *(
        None,
        True,
        0,
        -1,
        2**63,
        10**25,
        0.5,
        1e300,
        float("inf"),
        "",
        "a",
        "/",
        "../../etc/passwd",
        "\x00\x1b[2J\u202e",
    ),
    *("completed", "diff", "terminal", "text", "x" * 300, [], {}, [[]], {"": None}, [None, 1, "a"]),
    *({"type": "text", "text": "b"}, {"type": "diff", "path": "/a", "oldText": None, "newText": "c"}),
    *([{"type": "content", "content": {"type": "text", "text": "d"}}], [{"path": "a.py", "line": 10**9}]),
]


def lines(data: bytes) -> None:
    """The reader gives the same lines however the stream is cut, and each is a message or a fault."""
    size, stream = data[:1], data[1:]
    whole = _read([stream])
    step = max(1, size[0] if size else 1)
    assert _read([stream[i : i + step] for i in range(0, len(stream), step)]) == whole
    for line in whole:
        faults: list[Fault] = []
        message = rpc.decode(line, faults.append)
        if message is not None and rpc.classify(message, faults.append) is not None:
            assert len(dumps(message)) > 0
        assert all(len(fault.detail) <= 500 for fault in faults)


def _read(chunks: list[bytes]) -> list[bytes]:
    reader = rpc.LineReader(lambda fault: None, max_line=200)
    return [*(line for chunk in chunks for line in reader.feed(chunk)), reader.finish()]


def version1(data: bytes) -> None:
    _decode(v1, data)


def version2(data: bytes) -> None:
    _decode(v2, data)


def _decode(dialect: Any, data: bytes) -> None:
    """Any message can be decoded, applied and shown; damaged at random places where it is valid JSON."""
    message = rpc.decode(data, lambda fault: None)
    if message is None:
        return
    _whole(dialect, message)
    chance = random.Random(data)
    for _ in range(4):
        message = _damaged(message, chance)
        # As it would have come: only what can be written is ever read.
        line = json.dumps(message).replace("Infinity", "1e999").encode()
        again = rpc.decode(line, lambda fault: None)
        if again is not None:
            _whole(dialect, again)


def _whole(dialect: Any, message: dict[str, Any]) -> None:
    rpc.classify(message, lambda fault: None)
    params, result = message.get("params"), message.get("result")
    session = Session("s", "agent", "/w")
    session.apply(StateUpdate("running", None, None))
    _, updates, _ = dialect.decode_update(params)
    for update in updates:
        session.apply(update)
    for decode in (dialect.decode_info, dialect.decode_options):
        _unless_unreadable(decode, result)
    _unless_unreadable(dialect.decode_session, result, "s")
    request = _unless_unreadable(dialect.decode_permission, params)
    if isinstance(request, PermissionRequest):
        session.apply(request)
    session.apply(StateUpdate("idle", None, None))
    session.take_faults()
    _show(session)


def _unless_unreadable(decode: Callable[..., Any], *arguments: Any) -> Any:
    faults: list[Fault] = []
    try:
        return decode(*arguments, faults)
    except Unreadable as error:
        assert str(error)  # noqa: PT017
        return None


def _show(session: Session) -> None:
    """What editors are sent can be made of it, and written."""
    rendered: list[Any] = []
    for call in session.tool_calls.values():
        changes = diffs.proposals(call, "/w")
        diffs.apply(changes, "a\nb\n")
        found = places.places(call, "/w", lambda path: "a\nb\n")
        shown = [render.location(place, "file:///w", None) for place in found]
        rendered.append(render.tool_call(call, shown))
        rendered.append(marks.hover(call))
    (share,) = snapshot.shares([session])
    rendered.append(render.session(session, "idle", snapshot.rows(session, share), [], [], 0))
    rendered.append(Transcript().markdown(session, "agent"))
    json.loads(dumps(rendered), parse_constant=_refuse)
    assert limits.weight(rendered) > 0


def _refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} is not JSON")


def _damaged(value: Any, chance: random.Random) -> Any:
    """The same with one thing in it replaced, left out, said twice or put elsewhere."""
    if chance.random() < 0.15 or not value:
        return chance.choice(ODD)
    if isinstance(value, dict):
        copy: dict[Any, Any] = dict(value)
        key = chance.choice(list(copy))
        match chance.randrange(6):
            case 0:
                del copy[key]
            case 1:
                copy[chance.choice(list(copy))] = copy[key]
            case _:
                copy[key] = _damaged(copy[key], chance)
        return copy
    if isinstance(value, list):
        items: list[Any] = list(value)
        at = chance.randrange(len(items))
        items[at] = _damaged(items[at], chance)
        return items * chance.choice([1, 1, 2])
    return chance.choice(ODD)


def patches(data: bytes) -> None:
    """Every patch is read in some way, and what is read can be told and applied."""
    text = data.decode("utf-8", "replace")
    for part in parse_patch(text):
        for hunk in part.hunks:
            assert all(mark in (" ", "+", "-") for mark, _ in hunk.lines)
            assert sum(len(line) for _, line in hunk.lines) <= len(text)


def commands(data: bytes) -> None:
    """A command line is taken apart or not, and never only half: what runs is all named, or it is opaque."""
    parsed = parse_command(data.decode("utf-8", "replace"))
    for command in parsed.commands:
        assert all(isinstance(word, str | type(None)) for word in command.words)


def rules(data: bytes) -> None:
    """A rule is one, and says the same when it is read again, or it is told what is wrong with it."""
    text = data.decode("utf-8", "replace")
    match parse_rule(text):
        case Rule() as rule:
            assert parse_rule(rule.text) == rule
        case RuleProblem() as problem:
            assert problem.message


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (lines, version1, version2, patches, commands, rules)
}
