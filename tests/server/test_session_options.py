"""Whole conversations about what can be set in a session, and who may."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from . import drive
from .steps import (
    DEPTH,
    DONE,
    FAST,
    IDLE,
    MODE,
    NEW,
    NOTE,
    PROMPT,
    TOLD,
    Step,
    answers,
    change,
    got_prompt,
    play,
    prompt,
    started,
)

pytestmark = pytest.mark.anyio


async def test_options_of_every_kind_are_rows_of_one_list() -> None:
    await play(
        [
            answers(MODE, FAST, {**NOTE, "currentValue": "be brief"}, DEPTH),
        ],
        [
            NEW,
            {
                "state": "sessions[0].config[configId=mode]",
                "has": {
                    "kind": "choice",
                    "source": "scripted",
                    "locked": None,
                    "options": [{"value": "ask", "group": "Careful"}, {"value": "go", "group": "Bold"}],
                },
            },
            {"state": "sessions[0].config[configId=fast].kind", "is": "boolean"},
            {"state": "sessions[0].config[configId=note].kind", "is": "text"},
            {"state": "sessions[0].config[configId=depth].kind", "is": "number"},
            {
                "state": "sessions[0].config[configId=acpEditor.follow.resumeAfter]",
                "has": {"kind": "number", "value": 10.0, "source": "acp-editor", "least": 0},
            },
            change("depth", 2.5, error="whole number"),
            change("note", 5, error="is a text"),
            change("fast", "yes", error="either true or false"),
            change("nothing", 1, error="no option 'nothing'"),
            change("note", "be brief", result="[configId=note].value", **{"is": "be brief"}),
            {"agent_got_count": {"method": "session/set_config_option"}, "is": 1},
        ],
        defaults=started(MODE, FAST, NOTE, DEPTH),
    )


async def test_what_the_agent_answers_is_what_is_shown_also_of_other_rows() -> None:
    await play(
        [answers({**MODE, "currentValue": "go"}, {**FAST, "currentValue": True})],
        [
            NEW,
            change("mode", "go", result="[configId=fast].value", **{"is": True}),
            {
                **TOLD,
                "at": "config[configId=mode].value",
                "is": "go",
            },
        ],
        defaults=started(MODE, FAST),
    )


async def test_an_agent_that_refuses_says_why_and_nothing_changes() -> None:
    refusal = {"code": -32602, "message": "not while it rains"}
    await play(
        [{"on": "session/set_config_option", "error": refusal}],
        [
            NEW,
            change("mode", "go", error="not while it rains"),
            {"state": "sessions[0].config[configId=mode].value", "is": "ask"},
        ],
        defaults=started(MODE),
    )


def own(key: str) -> str:
    return f"[configId=acpEditor.{key}].value"


async def test_our_own_settings_hold_until_their_setting_changes() -> None:
    """Reading inside is the session's, following the window's."""
    arguments = {"tool": "read", "kind": "read", "files": ["a.py"]}
    read: Step = {"command": "acpEditor.permission.check", "args": arguments, "result": "decision"}
    inside, after = "permissions.readInside", "follow.resumeAfter"
    await play(
        [
            {"on": "session/new", "result": {"sessionId": "s1"}},
            {"on": "session/new", "result": {"sessionId": "s2"}},
        ],
        [
            NEW,
            {**read, "is": "ask"},
            change(f"acpEditor.{inside}", True, result=own(inside), **{"is": True}),
            {**read, "is": "allow"},
            {
                "command": "acpEditor.permission.rules",
                "result": f"[where=acpEditor.{inside}].source",
                "is": "builtin",
            },
            change("acpEditor.follow.enabled", False),
            {"state": "follow.enabled", "is": False},
            {"command": "acpEditor.follow.toggle", "args": {"enabled": True}},
            {"state": f"sessions[0].config{own('follow.enabled')}", "is": True},
            change(f"acpEditor.{after}", -1, error="at least 0"),
            change(f"acpEditor.{after}", 2.5, result=own(after), **{"is": 2.5}),
            NEW,
            {**read, "is": "ask"},
            {"state": f"sessions[1].config{own(after)}", "is": 2.5},
            {"settings": {"follow": {"resumeAfter": 7}}},
            {"state": f"sessions[0].config{own(after)}", "is": 7.0},
            {"state": f"sessions[0].config{own(inside)}", "is": True},
            {"state": f"sessions[1].config{own(inside)}", "is": False},
            {"agent_not_got": {"method": "session/set_config_option"}},
        ],
    )


async def test_an_agent_is_not_told_what_was_undone_where_the_session_says_so() -> None:
    """The note goes with the next prompt of a session that wants it told."""
    write = {"write": "a.py", "text": "changed\n"}
    key = "acpEditor.review.tellAgent"
    note = {"method": "session/prompt", "params": {"prompt": [{"text": "~a.py"}]}}
    await play(
        [PROMPT, write, DONE, PROMPT, DONE, PROMPT, DONE],
        [
            prompt("one"),
            {"state": "changes", "size": 1},
            IDLE,
            {"command": "acpEditor.review.undo"},
            change(key, False, result=own("review.tellAgent"), **{"is": False}),
            prompt("two"),
            {"agent_got": got_prompt("two")},
            IDLE,
            {"agent_not_got": note},
            change(key, True),
            prompt("three"),
            {"agent_got": note},
            IDLE,
        ],
        files={"a.py": "as it was\n"},
    )


async def test_every_session_is_told_when_following_is_switched() -> None:
    await play(
        [],
        [
            NEW,
            {"command": "acpEditor.follow.toggle", "args": {"enabled": False}},
            {
                **TOLD,
                "at": f"config{own('follow.enabled')}",
                "is": False,
            },
        ],
    )


def managed_server(content: object, folder: Path) -> list[str]:
    """The server on a machine with that administrator's file."""
    path = folder / "managed.json"
    path.write_text(json.dumps(content))
    code = (
        "import pathlib, sys, acp_editor.policy.managed as managed\n"
        f"managed.managed_file = lambda: pathlib.Path({str(path)!r})\n"
        "from acp_editor.cli import main\nsys.exit(main([]))\n"
    )
    return [sys.executable, "-c", code]


async def test_an_administrator_locks_options_and_what_stands_above_the_ceiling(tmp_path: Path) -> None:
    content = {
        "most": "ask",
        "options": {"mode": ["ask"], "fast": [False, True], "acpEditor.follow.enabled": []},
    }
    who = "a managed setting of this machine"
    case = {
        "title": "managed",
        "defaults": started(MODE, FAST),
        "agent": [answers(MODE, {**FAST, "currentValue": True})],
        "editor": [
            NEW,
            {
                "state": "sessions[0].config[configId=mode]",
                "has": {"locked": who, "options": [{"value": "ask"}]},
            },
            {"state": "sessions[0].config[configId=acpEditor.follow.enabled].locked", "is": who},
            {"state": "sessions[0].config[configId=acpEditor.permissions.readInside].locked", "is": who},
            change("mode", "go", error=f"locked by {who}"),
            change("acpEditor.follow.enabled", False, error=f"locked by {who}"),
            change("acpEditor.permissions.readInside", True, error=f"locked by {who}"),
            change("fast", True, result="[configId=fast].value", **{"is": True}),
            {"agent_got_count": {"method": "session/set_config_option"}, "is": 1},
        ],
    }
    _, failed = await drive.run(case, managed_server(content, tmp_path), verbose=False, keep=False)
    assert failed is None, failed
