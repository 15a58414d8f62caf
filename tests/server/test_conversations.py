"""Whole conversations that the cases do not have: queues, ends, several agents, questions, settings."""

from __future__ import annotations

import copy
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from . import drive

SERVER = [sys.executable, "-m", "acp_editor"]
HERE = Path(__file__).resolve().parent

pytestmark = pytest.mark.anyio

Step = dict[str, Any]

PROMPT: Step = {"on": "session/prompt", "as": "p"}
DONE: Step = {"reply": "p", "result": {"stopReason": "end_turn"}}
OPTIONS = [
    {"optionId": "yes", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject once", "kind": "reject_once"},
]
IDLE: Step = {"state": "sessions[0].state", "is": "idle", "timeout": 10}


def say(text: str, session: str = "s1") -> Step:
    content = {"type": "text", "text": text}
    return {"update": {"sessionUpdate": "agent_message_chunk", "content": content}, "session": session}


def call(call_id: str, session: str = "s1", **fields: Any) -> Step:
    update = {"sessionUpdate": "tool_call", "toolCallId": call_id, "title": f"Call {call_id}", **fields}
    return {"update": {"kind": "other", "status": "pending", **update}, "session": session}


def ask(call_id: str, ident: int = 7, session: str = "s1") -> Step:
    params = {"sessionId": session, "toolCall": {"toolCallId": call_id}, "options": OPTIONS}
    return {"request": "session/request_permission", "as": call_id, "id": ident, "params": params}


def prompt(text: str, **more: Any) -> Step:
    return {"command": "acpEditor.prompt", "args": {"text": text, **more}}


def got_prompt(text: str) -> Step:
    return {"method": "session/prompt", "params": {"prompt": [{"text": text}]}}


def initialized(capabilities: dict[str, Any], **more: Any) -> dict[str, Any]:
    info = {"name": "scripted", "version": "1"}
    return {
        "initialize": {
            "protocolVersion": 1,
            "agentCapabilities": capabilities,
            "authMethods": [],
            "agentInfo": info,
            **more,
        }
    }


async def play(agent: list[Step], editor: list[Step], **case: Any) -> None:
    whole = {"title": "conversation", "agent": agent, "editor": editor, **copy.deepcopy(case)}
    _, failed = await drive.run(whole, SERVER, verbose=False, keep=False)
    assert failed is None, failed


# -- turns -----------------------------------------------------------------------------------------


async def test_prompts_during_a_turn_are_sent_one_after_another_in_order() -> None:
    await play(
        [PROMPT, call("c1"), ask("c1"), {"await": "c1"}, DONE, PROMPT, DONE, PROMPT, DONE],
        [
            prompt("one"),
            {"state": "permissions", "size": 1},
            prompt("two"),
            prompt("three"),
            {"state": "sessions[0].queued", "is": 2},
            {"agent_not_got": got_prompt("two")},
            {"command": "acpEditor.permission.approve"},
            {"agent_got": got_prompt("three"), "timeout": 10},
            IDLE,
            {"agent_got_in_order": [got_prompt("one"), got_prompt("two"), got_prompt("three")]},
            {"agent_got_count": {"method": "session/prompt"}, "is": 3},
        ],
    )


async def test_prompts_that_come_at_once_make_one_session_and_keep_their_order() -> None:
    await play(
        [PROMPT, DONE, PROMPT, DONE, PROMPT, DONE],
        [
            {"together": [prompt("one"), prompt("two"), prompt("three")]},
            {"agent_got": got_prompt("three"), "timeout": 10},
            IDLE,
            {"agent_got_in_order": [got_prompt("one"), got_prompt("two"), got_prompt("three")]},
            {"agent_got_count": {"method": "session/new"}, "is": 1},
            {"state": "sessions", "size": 1},
        ],
    )


async def test_cancel_empties_the_queue_and_goes_out_before_the_cancelled_answers() -> None:
    await play(
        [
            PROMPT,
            call("c1"),
            ask("c1"),
            {"on": "session/cancel"},
            {"await": "c1"},
            # What was asked before the cancel arrived is answered without the person.
            ask("c1", 8),
            {"await": "c1"},
            {"reply": "p", "result": {"stopReason": "cancelled"}},
        ],
        [
            prompt("one"),
            {"state": "permissions", "size": 1},
            prompt("two"),
            {"command": "acpEditor.cancel"},
            {"agent_got": {"id": 8, "result": {"outcome": {"outcome": "cancelled"}}}},
            {"state": "sessions[0]", "has": {"state": "idle", "stopReason": "cancelled", "queued": 0}},
            {"agent_got_in_order": [{"method": "session/cancel"}, {"id": 7}]},
            {"agent_not_got": got_prompt("two")},
            {"command": "acpEditor.cancel"},
        ],
    )


async def test_an_agent_that_ignores_a_cancel_and_answers_late_ends_no_later_turn() -> None:
    await play(
        [
            {"on": "session/prompt", "as": "first"},
            {"on": "session/prompt", "as": "second"},
            {"reply": "first", "result": {"stopReason": "cancelled"}},
            call("c2"),
            ask("c2"),
            {"await": "c2"},
            {"reply": "second", "result": {"stopReason": "end_turn"}},
        ],
        [
            prompt("one"),
            {"agent_got": got_prompt("one")},
            {"command": "acpEditor.cancel"},
            {"state": "sessions[0]", "has": {"state": "idle", "stopReason": "cancelled"}},
            prompt("two"),
            {"state": "permissions", "size": 1},
            {"still": "sessions[0].state", "is": "requires_action", "for": 200},
            {"command": "acpEditor.permission.approve"},
            {"state": "sessions[0]", "has": {"state": "idle", "stopReason": "end_turn"}},
        ],
        settings={"cancelGrace": 0.2},
    )


# -- sessions --------------------------------------------------------------------------------------


async def test_two_agents_that_choose_the_same_session_id() -> None:
    await play(
        [PROMPT, say("from scripted"), DONE],
        [
            {"command": "acpEditor.session.new", "as": "a"},
            {"command": "acpEditor.session.new", "args": {"agent": "other"}, "as": "b"},
            {"state": "activeSessionId", "is": "other:s1"},
            prompt("to the other", sessionId="other:s1"),
            prompt("to the first", sessionId="s1"),
            {"agent_got": got_prompt("to the other"), "of": "other"},
            {"agent_got": {"method": "session/prompt", "params": {"sessionId": "s1"}}, "of": "other"},
            {"state": "sessions[sessionId=other:s1].messages[-1].text", "is": "from other"},
            {"state": "sessions[sessionId=s1].messages[-1].text", "is": "from scripted"},
            {"command": "acpEditor.session.list", "args": {"agent": "other"}, "as": "rows"},
            {"command": "acpEditor.session.resume", "args": {"sessionId": "s1", "agent": "other"}},
            {"state": "activeSessionId", "is": "other:s1"},
            {"command": "acpEditor.session.close", "args": {"sessionId": "other:s1"}},
            {"state": "sessions", "size": 1},
            {"state": "activeSessionId", "is": "s1"},
        ],
        others={"other": {"agent": [PROMPT, say("from other"), DONE]}},
    )


async def test_list_resume_with_history_select_and_close() -> None:
    old = call("c0", "old", kind="edit", status="in_progress", locations=[{"path": "{cwd}/a.py", "line": 2}])
    listed = {"sessions": [{"sessionId": "old", "cwd": "{cwd}/sub", "title": "Last week"}]}
    await play(
        [
            {"on": "session/list", "result": listed},
            {"on": "session/load", "as": "load"},
            say("as it was", "old"),
            old,
            {"reply": "load", "result": {}},
            {"on": "session/new", "result": {"sessionId": "fresh"}},
            {"on": "session/close", "result": {}},
            say("a late word", "old"),
            call("late", "old"),
        ],
        [
            {"open": "a.py"},
            {"command": "acpEditor.session.list", "as": "rows"},
            {"command": "acpEditor.session.resume", "args": {"sessionId": "old"}},
            {"agent_got": {"method": "session/load", "params": {"sessionId": "old", "cwd": "~/sub"}}},
            {"state": "sessions[0].messages[0].text", "is": "as it was"},
            {"state": "sessions[0].toolCalls[0]", "has": {"toolCallId": "c0", "active": False}},
            {"command": "acpEditor.session.new"},
            {"state": "activeSessionId", "is": "fresh"},
            {"command": "acpEditor.session.select", "args": {"sessionId": "old"}},
            {"state": "activeSessionId", "is": "old"},
            {"command": "acpEditor.session.close"},
            {"agent_got": {"method": "session/close", "params": {"sessionId": "old"}}},
            {"state": "activeSessionId", "is": "fresh"},
            {"still": "sessions", "size": 1, "for": 300},
            {"not_shown": "a.py"},
            {"not_notified": "acpEditor/decorations"},
        ],
        files={"a.py": "1\n2\n3\n", "sub/x": ""},
        defaults=initialized({"loadSession": True, "sessionCapabilities": {"list": {}, "close": {}}}),
    )


async def test_a_session_that_cannot_be_resumed_leaves_nothing_behind() -> None:
    await play(
        [{"on": "session/load", "error": {"code": -32002, "message": "no such session"}}],
        [
            {
                "command": "acpEditor.session.resume",
                "args": {"sessionId": "gone"},
                "error": "no such session",
            },
            {"state": "sessions", "size": 0},
            {"state": "activeSessionId", "is": None},
        ],
        defaults=initialized({"loadSession": True}),
    )


async def test_a_session_closed_in_mid_turn_is_over_for_everything() -> None:
    await play(
        [
            PROMPT,
            call("c1"),
            ask("c1"),
            {"await": "c1"},
            say("still here"),
            PROMPT,
            {"write": "a.txt", "text": "changed\n"},
            DONE,
        ],
        [
            prompt("one"),
            {"state": "permissions", "size": 1},
            {"command": "acpEditor.session.close"},
            {"agent_got": {"id": 7, "result": {"outcome": {"outcome": "cancelled"}}}},
            {"state": "permissions", "size": 0},
            {"still": "sessions", "size": 0, "for": 200},
            # The agent counts its sessions from 1 again: that is a new one, and its turn is a turn.
            prompt("two"),
            {"state": "sessions[0].messages", "size": 1},
            IDLE,
            {"state": "changes[0].hunks", "size": 1},
        ],
        files={"a.txt": "as it was\n"},
        settings={"cancelGrace": 0.1},
    )


async def test_a_dead_agent_is_started_again_and_takes_its_session_up() -> None:
    await play(
        [PROMPT, say("before"), {"exit": 3}],
        [
            prompt("one"),
            {"state": "agents.scripted", "has": {"state": "failed", "error": "~code 3"}},
            prompt("two"),
            {"agent_got": {"method": "session/resume", "params": {"sessionId": "s1"}}},
            {"agent_got": got_prompt("two")},
            {"state": "sessions[0].messages[-1].text", "is": "after"},
            {"state": "sessions", "size": 1},
            {"state": "agents.scripted", "has": {"state": "ready", "error": None}},
        ],
        again=[{"on": "session/resume", "result": {}}, PROMPT, say("after"), DONE],
        defaults=initialized({"sessionCapabilities": {"resume": {}}}),
    )


async def test_a_dead_agent_that_cannot_resume_gets_one_new_session_and_the_person_is_told() -> None:
    await play(
        [PROMPT, {"exit": 3}],
        [
            prompt("one"),
            {"state": "agents.scripted.state", "is": "failed"},
            prompt("two", sessionId="s1"),
            {"notified": "window/showMessage", "where": {"message": "~new session"}},
            {"state": "activeSessionId", "is": "s2"},
            {"state": "sessions[sessionId=s2].state", "is": "idle"},
            # The old name means the session that took its place.
            prompt("three", sessionId="s1"),
            {"agent_got": got_prompt("three")},
            {"agent_got_count": {"method": "session/new"}, "is": 2},
        ],
        again=[{"on": "session/new", "result": {"sessionId": "s2"}}, PROMPT, DONE, PROMPT, DONE],
    )


# -- questions -------------------------------------------------------------------------------------

FORM = {
    "sessionId": "s1",
    "mode": "form",
    "message": "Which?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "color": {"type": "string", "title": "Color", "enum": ["red", "blue"]},
            "sure": {"type": "boolean", "title": "Sure"},
        },
        "required": ["color"],
    },
}
WAY = {
    "sessionId": "s1",
    "mode": "url",
    "message": "Log in",
    "elicitationId": "e1",
    "url": "https://x.example/a",
}


def question(params: dict[str, Any]) -> list[Step]:
    asked = {"request": "elicitation/create", "as": "q", "id": 9, "params": params}
    return [PROMPT, asked, {"await": "q"}, DONE]


async def test_a_form_is_asked_by_an_editor_that_declares_it() -> None:
    await play(
        question(FORM),
        [
            prompt("go"),
            {"asked": "Which?"},
            {"state": "sessions[0].state", "is": "requires_action"},
            {"elicit": {"action": "accept", "content": {"color": "blue"}}},
            {"agent_got": {"id": 9, "result": {"action": "accept", "content": {"color": "blue"}}}},
            IDLE,
        ],
        editor_draws=[*drive.ALL, "elicitation"],
    )


async def test_an_answer_that_does_not_fit_its_form_is_not_sent() -> None:
    await play(
        question(FORM),
        [
            {"elicit": {"action": "accept", "content": {"color": "green"}}},
            prompt("go"),
            {"agent_got": {"id": 9, "result": {"action": "cancel"}}},
            {"notified": "window/showMessage"},
            IDLE,
        ],
        editor_draws=[*drive.ALL, "elicitation"],
    )


async def test_a_form_is_withdrawn_when_its_turn_is_cancelled() -> None:
    cancelled: Step = {"reply": "p", "result": {"stopReason": "cancelled"}}
    await play(
        [*question(FORM)[:-1], {"on": "session/cancel"}, cancelled],
        [
            prompt("go"),
            {"asked": "Which?"},
            {"command": "acpEditor.cancel"},
            {"agent_got": {"id": 9, "result": {"action": "cancel"}}},
            {"agent_got_in_order": [{"method": "session/cancel"}, {"id": 9}]},
            {"state": "sessions[0].stopReason", "is": "cancelled"},
            {"withdrawn": "acpEditor/elicit"},
        ],
        editor_draws=[*drive.ALL, "elicitation"],
    )


async def test_a_form_is_withdrawn_when_its_session_is_closed_or_its_agent_dies() -> None:
    for end in (
        {"command": "acpEditor.session.close"},
        {"command": "acpEditor.agent.stop", "args": {"agent": "scripted"}},
    ):
        await play(
            question(FORM),
            [prompt("go"), {"asked": "Which?"}, end, {"withdrawn": "acpEditor/elicit"}],
            editor_draws=[*drive.ALL, "elicitation"],
        )


async def test_a_form_and_an_address_are_asked_by_messages_elsewhere() -> None:
    await play(
        question(FORM),
        [
            {"answer": "red"},
            {"answer": "Yes"},
            prompt("go"),
            {
                "agent_got": {
                    "id": 9,
                    "result": {"action": "accept", "content": {"color": "red", "sure": True}},
                }
            },
            IDLE,
        ],
        editor_draws=[],
    )
    await play(
        question(WAY),
        [
            {"answer": "Open in the browser"},
            prompt("go"),
            {"asked": "https://x.example/a"},
            {"agent_got": {"id": 9, "result": {"action": "accept"}}},
            IDLE,
        ],
        editor_draws=[],
    )


async def test_an_address_that_is_not_of_the_web_is_declined() -> None:
    await play(
        question({**WAY, "url": "file:///bin/sh"}),
        [prompt("go"), {"agent_got": {"id": 9, "result": {"action": "decline"}}}, IDLE],
    )


async def test_a_permission_request_that_the_agent_withdraws_leaves_the_list() -> None:
    await play(
        [
            PROMPT,
            call("c1"),
            ask("c1"),
            {"sleep": 300},
            {"notify": "$/cancel_request", "params": {"requestId": 7}},
            {"await": "c1"},
            DONE,
        ],
        [
            prompt("go"),
            {"state": "permissions", "size": 1},
            {"state": "permissions", "size": 0},
            {
                "command": "acpEditor.permission.answer",
                "args": {"requestId": "p1", "optionId": "yes"},
                "error": "withdrawn",
            },
            {"agent_got": {"id": 7, "error": {"code": -32800}}},
            IDLE,
        ],
    )


async def test_a_late_answer_to_a_message_is_ignored_and_told() -> None:
    await play(
        [PROMPT, call("c1"), ask("c1"), {"await": "c1"}, DONE],
        [
            prompt("go"),
            {"asked": "Call c1"},
            {"command": "acpEditor.permission.reject"},
            {"answer": "Allow once"},
            {"notified": "window/showMessage", "where": {"message": "~Too late"}},
            {"agent_got": {"id": 7, "result": {"outcome": {"optionId": "no"}}}},
            {"agent_got_count": {"id": 7}, "is": 1},
            IDLE,
        ],
        editor_draws=[],
    )


async def test_a_login_in_a_terminal_is_run_by_the_editor_or_told() -> None:
    methods = [{"id": "sso", "name": "Sign in", "type": "terminal", "args": ["--login"], "env": {"A": "1"}}]
    case = {"defaults": initialized({}, authMethods=methods)}
    await play(
        [],
        [{"command": "acpEditor.auth.login"}, {"asked": "--login"}],
        editor_draws=[*drive.ALL, "terminal"],
        **case,
    )
    await play([], [{"command": "acpEditor.auth.login", "error": "--login"}], **case)


# -- MCP servers and options -----------------------------------------------------------------------


async def test_mcp_servers_reach_new_sessions_with_their_variables_filled_in() -> None:
    servers = {
        "own": {"command": sys.executable, "args": ["${workspaceFolder}/x.py"], "env": {"K": "${env:HOME}"}},
        "lost": {"command": sys.executable, "env": {"K": "${env:NOT_SET_ANYWHERE}"}},
    }
    await play(
        [],
        [
            {"command": "acpEditor.session.new"},
            {
                "agent_got": {
                    "method": "session/new",
                    "params": {
                        "mcpServers": [{"name": "own", "args": ["{cwd}/x.py"], "env": [{"value": "~/home"}]}]
                    },
                }
            },
            {"agent_not_got": {"method": "session/new", "params": {"mcpServers": [{"name": "lost"}]}}},
            {"notified": "window/showMessage", "where": {"message": "~NOT_SET_ANYWHERE"}},
        ],
        settings={"mcpServers": servers},
    )


@pytest.mark.parametrize("consent", [True, False])
async def test_mcp_servers_of_the_workspace_need_consent(consent: bool) -> None:
    wanted = {"method": "session/new", "params": {"mcpServers": [{"name": "ws"}]}}
    await play(
        [],
        [
            {"answer": "Use Them" if consent else None},
            {"command": "acpEditor.session.new"},
            {"asked": "mcp.json"},
            {"agent_got": wanted} if consent else {"agent_not_got": wanted},
            {"command": "acpEditor.session.new"},  # asked once
        ],
        files={".vscode/mcp.json": json.dumps({"servers": {"ws": {"command": sys.executable}}})},
    )


async def test_modes_of_version_1_are_an_option() -> None:
    modes = {
        "currentModeId": "ask",
        "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
    }
    await play(
        [{"on": "session/new", "result": {"sessionId": "s1", "modes": modes}}, {"on": "session/set_mode"}],
        [
            {"command": "acpEditor.session.new"},
            {"state": "sessions[0].config[0]", "has": {"configId": "mode", "value": "ask", "kind": "choice"}},
            {
                "command": "acpEditor.config.set",
                "args": {"configId": "mode", "value": "x"},
                "error": "cannot be",
            },
            {"command": "acpEditor.config.set", "args": {"configId": "mode", "value": "code"}, "as": "all"},
            {"agent_got": {"method": "session/set_mode", "params": {"modeId": "code"}}},
            {"state": "sessions[0].config[0].value", "is": "code"},
        ],
    )


# -- what is too much ------------------------------------------------------------------------------


async def test_a_flood_leaves_the_server_free_to_answer() -> None:
    place = [{"path": "{cwd}/a.py", "line": 7}]
    await play(
        [
            PROMPT,
            {"repeat": 500, "steps": [call("c{i}", kind="read", locations=place)]},
            {"repeat": 19500, "steps": [say("word ")]},
            DONE,
        ],
        [
            prompt("go"),
            *[{"command": "acpEditor.state", "timeout": 1}] * 20,
            {"state": "sessions[0].state", "is": "idle", "timeout": 30},
            {"state": "sessions[0].toolCalls", "size": 500},
        ],
        files={"a.py": "some line of text\n" * 20_000},
    )


async def test_long_texts_are_cut_and_said_to_be() -> None:
    await play(
        [PROMPT, say("x" * 300_000), call("c1", rawInput={"text": "y" * 300_000}), DONE],
        [
            prompt("go"),
            IDLE,
            {"state": "sessions[0].messages[-1].truncated", "is": True},
            {"state": "sessions[0].messages[-1].text", "size": 200_000},
            {"state": "sessions[0].toolCalls[0].truncated", "is": True},
            {"notified": "acpEditor/toolCall", "where": {"toolCall": {"truncated": True}}},
        ],
    )


# -- ends ------------------------------------------------------------------------------------------

STUBBORN: list[Step] = [PROMPT, call("c1"), ask("c1"), {"sleep": 600_000}]


async def test_an_editor_that_closes_its_pipes_leaves_no_process() -> None:
    await play(STUBBORN, [prompt("go"), {"state": "permissions", "size": 1}, {"hang_up": True}])


async def test_an_editor_that_goes_while_a_command_runs_leaves_no_process() -> None:
    await play(
        [{"on": "session/new", "as": "never"}, {"sleep": 600_000}],
        [
            {"tell": "$/ignored"},
            {"unanswered": "acpEditor.session.new"},
            {"agent_got": {"method": "session/new"}},
            {"hang_up": True},
        ],
    )


def test_an_editor_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    case = {"agent": STUBBORN, "files": {}}
    code = (
        "import asyncio, pathlib, sys; sys.path.insert(0, sys.argv[1]);"
        "import drive, json; case = json.loads(sys.argv[2]); root = pathlib.Path(sys.argv[3])\n"
        "async def main():\n"
        "    editor = drive.Editor(case, [sys.executable, '-m', 'acp_editor'], root, False)\n"
        "    editor.cwd.mkdir(); (root / 'case.json').write_text(json.dumps(case))\n"
        "    await editor.start()\n"
        "    await editor.play({'command': 'acpEditor.prompt', 'args': {'text': 'go'}})\n"
        "    await editor.play({'state': 'permissions', 'size': 1, 'timeout': 20})\n"
        "    print(json.dumps([editor.process.pid, *editor.pids()]), flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    arguments = [sys.executable, "-c", code, str(HERE), json.dumps(case), str(tmp_path)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as editor:
        assert editor.stdout is not None
        pids = json.loads(editor.stdout.readline())
        assert len(pids) == 2
        os.kill(editor.pid, signal.SIGKILL)
    end = time.monotonic() + 5
    while left := [pid for pid in pids if drive.alive(pid)]:
        assert time.monotonic() < end, f"left running: {left}"
        time.sleep(0.02)


# -- rules and settings ----------------------------------------------------------------------------


async def test_a_remembered_rule_answers_what_waits_survives_a_restart_and_can_be_revoked() -> None:
    rule = {"rule": "execute(npm test:*)", "effect": "allow", "scope": "workspace"}
    run = [
        PROMPT,
        call("c1", kind="execute", rawInput={"command": "npm test"}),
        ask("c1"),
        {"await": "c1"},
        DONE,
    ]
    check = {"command": "acpEditor.permission.check", "args": {"tool": "execute", "command": "npm test"}}
    await play(
        run,
        [
            prompt("go"),
            {"state": "permissions", "size": 1},
            {"command": "acpEditor.permission.remember", "args": rule},
            {"agent_got": {"id": 7, "result": {"outcome": {"optionId": "yes"}}}},
            {"state": "permissions", "size": 0},
            {"restart": True},
            prompt("again"),
            IDLE,
            {"agent_got_count": {"id": 7, "result": {"outcome": {"optionId": "yes"}}}, "is": 2},
            {"command": "acpEditor.permission.revoke", "args": rule},
            {**check, "as": "verdict"},
            {"command": "acpEditor.permission.revoke", "args": rule, "error": "no saved rule"},
        ],
    )


async def test_settings_that_change_hold_at_once() -> None:
    place = [{"path": "{cwd}/a.py", "line": 2}]
    await play(
        [
            PROMPT,
            call("c1", kind="edit", status="in_progress", locations=place),
            ask("c1"),
            {"await": "c1"},
            {"write": "a.py", "text": "changed\n"},
            DONE,
        ],
        [
            {"open": "a.py"},
            prompt("go"),
            {"state": "permissions", "size": 1},
            {"notified": "acpEditor/decorations", "where": {"decorations": [{"toolCallId": "c1"}]}},
            {"settings": {"decorations": {"enabled": False}, "review": {"enabled": False}}},
            {"last": "acpEditor/decorations", "at": "decorations", "size": 0},
            {"settings": {"permissions": {"allow": ["edit"]}, "agents": {"more": {"command": "x"}}}},
            {"agent_got": {"id": 7, "result": {"outcome": {"optionId": "yes"}}}},
            {"state": "agents.more.state", "is": "stopped"},
            IDLE,
            {"disk": "a.py", "is": "changed\n"},
            {"still": "changes", "size": 0, "for": 200},
            {"settings": {"review": {"enabled": True}}},
            {"command": "acpEditor.review.keep", "eventually": True},
        ],
        files={"a.py": "1\n2\n3\n"},
    )


async def test_a_session_whose_agent_left_the_settings_can_be_closed() -> None:
    await play(
        [],
        [
            {"command": "acpEditor.session.new", "args": {"agent": "other"}},
            {"command": "acpEditor.agent.stop", "args": {"agent": "other"}},
            {"drop_agent": "other"},
            {"state": "agents.other", "absent": True},
            {"alive": True},
            prompt("go", sessionId="s1") | {"error": "no agent"},
            {"command": "acpEditor.session.close"},
            {"state": "sessions", "size": 0},
        ],
        others={"other": {"agent": []}},
    )


# -- prompts and documents -------------------------------------------------------------------------


async def test_context_is_links_for_an_agent_without_embedded_context() -> None:
    await play(
        [PROMPT, DONE],
        [
            prompt("look", context=[{"uri": "{uri:my file é.py}"}]),
            {
                "agent_got": {
                    "method": "session/prompt",
                    "params": {
                        "prompt": [
                            {"type": "resource_link", "uri": "{uri:my file é.py}", "name": "my file é.py"}
                        ]
                    },
                }
            },
            IDLE,
        ],
        files={"my file é.py": "x\n"},
    )


async def test_a_slash_command_that_nobody_knows_is_an_error() -> None:
    known = {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [{"name": "plan", "description": ""}],
    }
    await play(
        [{"on": "session/new", "result": {"sessionId": "s1"}}, {"update": known}, PROMPT, DONE],
        [
            {"command": "acpEditor.session.new"},
            {"state": "sessions[0].commands", "size": 1},
            prompt("/paln it") | {"error": "no command /paln"},
            {"agent_not_got": {"method": "session/prompt"}},
            prompt("/plan it"),
            {"agent_got": got_prompt("/plan it")},
            IDLE,
        ],
    )


async def test_paths_with_spaces_and_other_letters_and_a_second_folder() -> None:
    file = "my files/naïve (1) #2%.py"
    await play(
        [
            PROMPT,
            call("c1", kind="edit", status="in_progress", locations=[{"path": "{cwd}/" + file, "line": 2}]),
            {
                "request": "fs/write_text_file",
                "as": "w",
                "params": {"sessionId": "s1", "path": "{cwd}/" + file, "content": "1\nzwei\n"},
            },
            {"await": "w"},
            {
                "request": "fs/write_text_file",
                "as": "w2",
                "id": 77,
                "params": {"sessionId": "s1", "path": "{cwd}/../second/b.txt", "content": "b\n"},
            },
            {"await": "w2"},
            DONE,
        ],
        [
            {"open": file},
            prompt("go"),
            {"shown": file, "line": 1},
            {"agent_got": {"id": 77, "result": {}}},
            IDLE,
            {"buffer": file, "is": "1\nzwei\n"},
            {"disk": file, "is": "1\nzwei\n"},
            {"disk": "../second/b.txt", "is": "b\n"},
            {"state": "changes", "size": 2},
            {
                "last": "acpEditor/decorations",
                "key": {"uri": "{uri:" + file + "}"},
                "at": "decorations",
                "absent": False,
            },
        ],
        files={file: "1\n2\n"},
        folders=["second"],
    )


async def test_a_write_that_the_editor_refuses_is_an_error_and_loses_nothing() -> None:
    write = {"sessionId": "s1", "path": "{cwd}/a.py", "content": "of the agent\n"}
    await play(
        [
            PROMPT,
            {"request": "fs/write_text_file", "as": "w", "id": 9, "params": write},
            {"await": "w"},
            DONE,
        ],
        [
            {"open": "a.py"},
            {"type": "a.py", "at": [0, 0, 0, 0], "text": "mine "},
            {"refuse_edits": True},
            prompt("go"),
            {"agent_got": {"id": 9, "error": {"message": "~a.py"}}},
            IDLE,
            {"buffer": "a.py", "is": "mine text\n"},
            {"disk": "a.py", "is": "text\n"},
            {"refuse_edits": False},
            {"type": "a.py", "at": [0, 0, 0, 0], "text": "all "},
            {"save": "a.py"},
            {"still": "changes", "size": 0, "for": 300},
        ],
        files={"a.py": "text\n"},
    )


async def test_an_open_document_that_is_moved_or_deleted() -> None:
    await play(
        [PROMPT, {"move": ["a.py", "b.py"]}, {"delete": "c.py"}, DONE],
        [
            {"open": "a.py"},
            {"open": "c.py"},
            prompt("go"),
            IDLE,
            {"state": "changes", "has": [{"operation": "delete", "uri": "{uri:c.py}"}]},
            {"command": "acpEditor.review.undo"},
            {"disk": "a.py", "is": "a\n" * 20},
            {"disk": "c.py", "is": "c\n"},
            {"no_file": "b.py"},
            {"state": "changes", "size": 0},
        ],
        files={"a.py": "a\n" * 20, "c.py": "c\n"},
    )
