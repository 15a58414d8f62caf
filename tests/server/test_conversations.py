"""Whole conversations about turns, settings, servers and options, and what is too much."""

from __future__ import annotations

import json
import sys

import pytest

from .steps import DONE, IDLE, PROMPT, ask, call, got_prompt, play, prompt, say

pytestmark = pytest.mark.anyio


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
            *[{"command": "acpEditor.state", "timeout": 2}] * 20,
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
