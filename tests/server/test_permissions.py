"""Whole conversations about who may do what: options, commands, hooks, rules, and nobody there."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from . import drive
from .test_conversations import (
    DONE,
    IDLE,
    OPTIONS,
    PROMPT,
    SERVER,
    Step,
    ask,
    call,
    got_prompt,
    play,
    prompt,
    say,
)

pytestmark = pytest.mark.anyio

MODE = {
    "id": "mode",
    "name": "Mode",
    "category": "mode",
    "type": "select",
    "currentValue": "ask",
    "options": [
        {"group": "careful", "name": "Careful", "options": [{"value": "ask", "name": "Ask"}]},
        {"group": "bold", "name": "Bold", "options": [{"value": "go", "name": "Go ahead"}]},
    ],
}
FAST = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False}
NOTE = {"id": "note", "name": "Note", "type": "string", "currentValue": "none"}
DEPTH = {"id": "depth", "name": "Depth", "type": "integer", "currentValue": 3}


def started(*options: dict[str, Any]) -> dict[str, Any]:
    return {"session/new": {"sessionId": "s1", "configOptions": list(options)}}


def answers(*options: dict[str, Any]) -> Step:
    return {"on": "session/set_config_option", "result": {"configOptions": list(options)}}


def change(key: str, value: Any, **more: Any) -> Step:
    return {"command": "acpEditor.config.set", "args": {"configId": key, "value": value}, **more}


NEW: Step = {"command": "acpEditor.session.new"}
TOLD: Step = {"last": "acpEditor/session", "key": {"sessionId": "s1"}}

# -- options ---------------------------------------------------------------------------------------


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


# -- hooks -----------------------------------------------------------------------------------------

HOOK = """
from dataclasses import replace
from acp_editor.core.model import Command
from acp_editor.policy.hooks import HIDDEN, Answer, hookimpl

@hookimpl
def acp_check_tool_call(call):
    return Answer("deny", "No pushing here.") if "push" in (call.command or "") else None

@hookimpl
def acp_lock_option(option):
    return "The house decides." if option.config_id == "mode" else None

@hookimpl
def acp_describe_option(option):
    return replace(option, name="Quick") if option.config_id == "fast" else None

@hookimpl
def acp_check_option(option, value):
    return "Never fast." if option.config_id == "fast" and value else None

@hookimpl
def acp_commands():
    return [Command("ticket", "Says where tickets are", hint="a number")]

@hookimpl
def acp_answer_command(name, arguments):
    return f"https://tickets.example/{arguments}" if name == "ticket" else None

@hookimpl
def acp_describe_command(command):
    return HIDDEN if command.name == "secret" else None
"""


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that is installed beside the server."""
    site = tmp_path / "site"
    info = site / "house_rules-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "house_rules.py").write_text(HOOK)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[acp_editor]\nhouse-rules = house_rules\n")
    known = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(site), known])))


COMMANDS: Step = {
    "update": {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [
            {"name": "web", "description": "Search", "input": {"hint": "query"}},
            {"name": "secret", "description": "Hidden here"},
        ],
    }
}


@pytest.mark.usefixtures("house")
async def test_a_hook_has_its_word_everywhere_and_is_listed_with_it() -> None:
    push = call("c1", kind="execute", rawInput={"command": "git push"})
    await play(
        [COMMANDS, PROMPT, push, ask("c1"), {"await": "c1"}, DONE],
        [
            NEW,
            # its word comes a moment later than the row
            {
                "state": "sessions[0].config[configId=mode].locked",
                "is": "the hook house-rules: The house decides.",
            },
            {"state": "sessions[0].config[configId=fast].name", "is": "Quick"},
            {
                **TOLD,
                "at": "config[configId=fast].name",
                "is": "Quick",
            },
            change("mode", "go", error="locked by the hook house-rules: The house decides."),
            change("fast", True, error="locked by the hook house-rules: Never fast."),
            {"agent_not_got": {"method": "session/set_config_option"}},
            {"command": "acpEditor.commands", "result": "", "lacks": [{"name": "secret"}]},
            {
                "command": "acpEditor.commands",
                "result": "",
                "has": [{"name": "web", "source": "scripted"}, {"name": "ticket", "source": "house-rules"}],
            },
            {"command": "acpEditor.prompt", "args": {"text": "/secret"}, "error": "no command /secret"},
            {
                "command": "acpEditor.command.run",
                "args": {"name": "ticket", "arguments": "7"},
                "result": "printed",
                "is": "https://tickets.example/7",
            },
            prompt("go"),
            {"agent_got": {"id": 7, "result": {"outcome": {"optionId": "no"}}}},
            IDLE,
            {
                "command": "acpEditor.hooks",
                "result": "[name=house-rules]",
                "has": {
                    "package": "house-rules 1.0",
                    "takesPart": ["acp_check_tool_call", "acp_lock_option"],
                    "said": {"deny": 1, "refused": 1, "answered": 1},
                    "last": [{"about": "execute", "said": "deny", "reason": "No pushing here."}],
                    "problems": [],
                },
            },
            {"command": "acpEditor.permission.log", "result": "[-1].hook", "is": "house-rules"},
        ],
        defaults=started(MODE, FAST),
    )


# -- commands --------------------------------------------------------------------------------------


async def test_running_a_command_says_what_it_printed() -> None:
    await play(
        [COMMANDS, PROMPT, say("found "), say("it"), DONE],
        [
            NEW,
            {"state": "sessions[0].commands", "size": 2},
            {"command": "acpEditor.command.run", "args": {"name": "nope"}, "error": "there is /web, /secret"},
            {
                "command": "acpEditor.command.run",
                "args": {"name": "web", "arguments": "cats and dogs"},
                "result": "",
                "is": {"sessionId": "s1", "printed": "found it", "stopReason": "end_turn"},
            },
            {"agent_got": got_prompt("/web cats and dogs")},
            {"agent_got_count": {"method": "session/prompt"}, "is": 1},
        ],
    )


async def test_a_command_behind_a_turn_says_what_it_printed_itself() -> None:
    await play(
        [PROMPT, say("first"), call("c1"), ask("c1"), {"await": "c1"}, DONE, PROMPT, say("second"), DONE],
        [
            prompt("go"),
            {"state": "permissions", "size": 1},
            {
                "together": [
                    {
                        "command": "acpEditor.command.run",
                        "args": {"name": "web"},
                        "result": "printed",
                        "is": "second",
                    },
                    {"command": "acpEditor.permission.approve"},
                ]
            },
            IDLE,
        ],
    )


async def test_a_command_that_is_cancelled_in_the_queue_is_said_to_be(tmp_path: Path) -> None:
    cancelled: Step = {"reply": "p", "result": {"stopReason": "cancelled"}}
    case = {"title": "cancelled", "agent": [PROMPT, say("first"), {"on": "session/cancel"}, cancelled]}
    editor = drive.Editor(case, SERVER, tmp_path, False)
    editor.cwd.mkdir()
    (tmp_path / "case.json").write_text(json.dumps(case))
    await editor.start()
    try:
        await editor.play(prompt("go"))
        await editor.play({"state": "sessions[0].messages", "size": 2})
        ran = asyncio.create_task(editor.command("acpEditor.command.run", {"name": "web"}))
        await editor.play({"state": "sessions[0].queued", "is": 1})
        await editor.play({"command": "acpEditor.cancel"})
        assert await ran == {"sessionId": "s1", "printed": "", "stopReason": "cancelled"}
        await editor.play({"agent_got_count": {"method": "session/prompt"}, "is": 1})
    finally:
        await editor.stop()


async def test_an_unknown_name_is_said_to_be_unknown_unless_it_is_meant_as_text() -> None:
    await play(
        [COMMANDS, PROMPT, DONE],
        [
            NEW,
            {"state": "sessions[0].commands", "size": 2},
            {"command": "acpEditor.prompt", "args": {"text": "/usr is full"}, "error": "no command /usr"},
            {"agent_not_got": {"method": "session/prompt"}},
            prompt("/usr is full", asText=True),
            {"agent_got": got_prompt("/usr is full")},
            IDLE,
        ],
    )


# -- rules -----------------------------------------------------------------------------------------


def remember(rule: str, effect: str, scope: str, **more: Any) -> Step:
    return {
        "command": "acpEditor.permission.remember",
        "args": {"rule": rule, "effect": effect, "scope": scope},
        **more,
    }


async def test_every_rule_is_listed_with_where_it_stands_edited_and_revoked() -> None:
    rules: Step = {"command": "acpEditor.permission.rules"}
    saved = {"rule": "execute(make:*)", "effect": "allow", "scope": "everywhere"}
    check = {"tool": "execute", "command": "make"}
    make: Step = {"command": "acpEditor.permission.check", "args": check}
    await play(
        [],
        [
            NEW,
            remember("execute(make:*)", "allow", "everywhere"),
            remember("execute(rm:*)", "deny", "session"),
            {
                **rules,
                "result": "[rule=edit(src/**)]",
                "has": {"source": "user", "where": "acpEditor.permissions"},
            },
            {**rules, "result": "[rule=edit(].problem", "has": "A rule is"},
            {**rules, "result": "[rule=read].problem", "has": "may tighten"},
            {**rules, "result": "[rule=execute(rm:*)]", "has": {"scope": "session", "where": "s1"}},
            {
                **make,
                "result": "",
                "has": {"decision": "allow", "source": "saved", "rule": "execute(make:*)"},
            },
            {
                "command": "acpEditor.permission.edit",
                "args": {**saved, "to": "execute(make test:*)"},
                "result": "",
                "has": {"rule": "execute(make test:*)", "scope": "everywhere"},
            },
            {**make, "result": "decision", "is": "ask"},
            {
                "command": "acpEditor.permission.edit",
                "args": {**saved, "to": "x"},
                "error": "no saved rule allow 'execute(make:*)'",
            },
            {
                "command": "acpEditor.permission.edit",
                "args": {**saved, "rule": "execute(make test:*)", "to": "edit("},
                "error": "was not changed: A rule is",
            },
            {"command": "acpEditor.permission.revoke", "args": {**saved, "rule": "execute(make test:*)"}},
            {**rules, "result": "", "lacks": [{"rule": "execute(make test:*)"}]},
            remember("edit(", "allow", "everywhere", error="was not saved: A rule is"),
            remember("edit", "forbid", "everywhere", error="allows, asks or denies"),
            remember("edit", "allow", "house", error="session, the workspace or everywhere"),
        ],
        settings={
            "permissions": {"allow": ["edit(src/**)", "edit("]},
            "workspacePermissions": {"allow": ["read"]},
        },
    )


async def test_the_rules_of_a_session_end_with_it() -> None:
    check = {"tool": "execute", "command": "make"}
    make: Step = {"command": "acpEditor.permission.check", "args": check, "result": "decision"}
    await play(
        [],
        [
            NEW,
            remember("execute(make)", "allow", "session"),
            {**make, "is": "allow"},
            {"command": "acpEditor.session.close"},
            NEW,
            {**make, "is": "ask"},
        ],
    )


async def test_a_rule_of_another_window_holds_at_once() -> None:
    """Two servers share the file of saved rules."""
    check = {"tool": "execute", "command": "make"}
    make: Step = {"command": "acpEditor.permission.check", "args": check, "result": "decision"}
    content = json.dumps({"everywhere": {"allow": ["execute(make)"]}})
    write = (
        f"mkdir -p ../home/config/acp-editor; echo '{content}' > ../home/config/acp-editor/permissions.json"
    )
    await play([], [NEW, {**make, "is": "ask"}, {"shell": write}, {**make, "is": "allow"}])


# -- running without asking ------------------------------------------------------------------------


async def test_an_agent_that_does_not_ask_is_told_of_at_the_call() -> None:
    run = {"kind": "execute", "rawInput": {"command": "rm -r x"}}
    done = {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}}
    fine = call("c2", kind="execute", status="completed", rawInput={"command": "ls"})
    await play(
        [PROMPT, call("c1", **run), done, fine, DONE],
        [
            prompt("go"),
            IDLE,
            {
                "state": "sessions[0].toolCalls[toolCallId=c1].fault",
                "has": "without asking, though it has to not do it: The rule `execute(rm:*)`",
            },
            {"state": "sessions[0].toolCalls[toolCallId=c2].fault", "absent": True},
            {
                "last": "acpEditor/toolCall",
                "key": {"toolCall": {"toolCallId": "c1"}},
                "at": "toolCall.fault",
                "has": "without asking",
            },
            {"state": "faults[code=ran_unasked]", "has": {"count": 1, "detail": "c1"}},
        ],
        settings={"permissions": {"deny": ["execute(rm:*)"]}},
    )


async def test_an_agent_that_asks_after_it_said_in_progress_is_not_accused() -> None:
    run = {"kind": "execute", "status": "in_progress", "rawInput": {"command": "rm -r x"}}
    done = {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}}
    await play(
        [PROMPT, call("c1", **run), {"sleep": 100}, ask("c1"), {"await": "c1"}, done, DONE],
        [
            prompt("go"),
            {"state": "permissions", "size": 1},
            {"command": "acpEditor.permission.approve"},
            IDLE,
            {"state": "faults", "lacks": [{"code": "ran_unasked"}]},
        ],
        settings={"permissions": {"ask": ["execute(rm:*)"]}},
    )


def went_on(status: str, **fields: Any) -> Step:
    return {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": status, **fields}}


def asks(version: int) -> list[Step]:
    """A turn of that version, up to the answer to its question."""
    if version == 1:
        return [PROMPT, call("c1", kind="execute"), ask("c1"), {"await": "c1"}]
    subject = {"type": "tool_call", "toolCall": {"toolCallId": "c1", "kind": "execute", "title": "Run"}}
    question = {"sessionId": "s1", "title": "Run it?", "subject": subject, "options": OPTIONS}
    return [
        {"on": "session/prompt", "result": {"messageId": "u1"}},
        {"update": {"sessionUpdate": "state_update", "state": "running"}},
        {"request": "session/request_permission", "as": "c1", "id": 7, "params": question},
        {"await": "c1"},
    ]


def initialized(version: int) -> dict[str, Any]:
    if version == 1:
        return {}
    answer = {"protocolVersion": 2, "info": {"name": "scripted", "version": "1"}}
    return {"initialize": {**answer, "capabilities": {"session": {}}, "authMethods": []}}


OVER = {1: DONE, 2: {"update": {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}}}
TOLD_AT_THE_CALL: list[Step] = [
    {"state": "sessions[0].toolCalls[toolCallId=c1].fault", "has": "though it was refused"},
    {"state": "faults[code=ran_refused]", "has": {"count": 1, "detail": "c1"}},
]
NOT_TOLD: list[Step] = [{"state": "faults", "lacks": [{"code": "ran_refused"}]}]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("answer", "then", "told"),
    [
        ("reject", [went_on("completed", rawOutput="done")], TOLD_AT_THE_CALL),
        ("reject", [went_on("in_progress"), went_on("failed", rawOutput="refused")], NOT_TOLD),
        ("reject", [went_on("in_progress", rawOutput="working")], TOLD_AT_THE_CALL),
        ("approve", [went_on("completed", rawOutput="done")], NOT_TOLD),
    ],
    ids=["ran", "left it", "runs", "allowed"],
)
async def test_an_agent_that_runs_what_it_was_refused_is_told_of_at_the_call(
    version: int, answer: str, then: list[Step], told: list[Step]
) -> None:
    await play(
        [*asks(version), *then, OVER[version]],
        [
            prompt("go"),
            {"state": "permissions", "size": 1},
            {"command": f"acpEditor.permission.{answer}"},
            IDLE,
            *told,
        ],
        defaults=initialized(version),
    )


async def test_what_runs_against_a_rule_that_answered_is_told_of_too() -> None:
    run = {"kind": "execute", "rawInput": {"command": "rm -r x"}}
    await play(
        [PROMPT, call("c1", **run), ask("c1"), {"await": "c1"}, went_on("completed"), DONE],
        [prompt("go"), IDLE, *TOLD_AT_THE_CALL, {"state": "faults", "lacks": [{"code": "ran_unasked"}]}],
        settings={"permissions": {"deny": ["execute(rm:*)"]}},
    )


# -- nobody there ----------------------------------------------------------------------------------

NOBODY = "Nobody is there to be asked, so it is denied."
ASKS: list[Step] = [
    PROMPT,
    call("c1", kind="execute", rawInput={"command": "make"}),
    ask("c1"),
    {"await": "c1"},
    call("c2", kind="execute", rawInput={"command": "make"}),
    ask("c2", 8),
    {"await": "c2"},
    DONE,
]
DENIED: list[Step] = [
    {"agent_got": {"id": 7, "result": {"outcome": {"optionId": "no"}}}},
    {"agent_got": {"id": 8, "result": {"outcome": {"optionId": "no"}}}},
    IDLE,
    {"state": "permissions", "size": 0},
    {
        "command": "acpEditor.permission.log",
        "result": "",
        "has": [{"decision": "deny", "answers": "nobody", "outcome": "reject_once"}],
    },
]


@pytest.mark.parametrize("draws", [["headless"], ["headless", "permissions"]], ids=str)
async def test_in_a_headless_run_what_would_be_asked_is_denied(draws: list[str]) -> None:
    check = {"command": "acpEditor.permission.check", "args": {"tool": "execute", "command": "make"}}
    verdict = {"decision": "deny", "answers": "nobody", "reason": f"~{NOBODY}"}
    await play(ASKS, [prompt("go"), *DENIED, {**check, "result": "", "has": verdict}], editor_draws=draws)


async def test_an_editor_that_cannot_ask_is_nobody() -> None:
    told = {"notified": "window/showMessage", "where": {"message": "~The editor cannot ask you"}}
    await play(ASKS, [prompt("go"), *DENIED, told], editor_draws=[], cannot_ask=True)


async def test_with_nobody_there_a_request_that_cannot_be_refused_is_cancelled() -> None:
    params = {"sessionId": "s1", "toolCall": {"toolCallId": "c1"}, "options": OPTIONS[:1]}
    request = {"request": "session/request_permission", "as": "c1", "id": 7, "params": params}
    for more in ({"editor_draws": ["headless"]}, {"editor_draws": [], "cannot_ask": True}):
        await play(
            [PROMPT, call("c1", kind="execute"), request, {"await": "c1"}, DONE],
            [prompt("go"), {"agent_got": {"id": 7, "result": {"outcome": {"outcome": "cancelled"}}}}, IDLE],
            **more,
        )


async def test_with_nobody_there_a_rule_still_allows() -> None:
    await play(
        [PROMPT, call("c1", kind="execute", rawInput={"command": "make"}), ask("c1"), {"await": "c1"}, DONE],
        [prompt("go"), {"agent_got": {"id": 7, "result": {"outcome": {"optionId": "yes"}}}}, IDLE],
        editor_draws=["headless"],
        settings={"permissions": {"allow": ["execute(make)"]}},
    )
