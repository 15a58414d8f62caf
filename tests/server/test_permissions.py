"""Whole conversations about who may do what: rules, running without asking, and nobody there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .steps import (
    DONE,
    IDLE,
    NEW,
    OPTIONS,
    PROMPT,
    Step,
    ask,
    call,
    play,
    prompt,
)

pytestmark = pytest.mark.anyio


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
