"""Whole conversations in which the agent asks the person something."""

from __future__ import annotations

from typing import Any

import pytest

from . import drive
from .steps import DONE, IDLE, PROMPT, Step, ask, call, initialized, play, prompt

pytestmark = pytest.mark.anyio


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
