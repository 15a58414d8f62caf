"""What we may ask of an agent, by the commands for it, and only where the agent offers it."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import pytest

from .steps import DONE, IDLE, PROMPT, Step, call, initialized, play, prompt, say

pytestmark = pytest.mark.anyio

SESSION: Step = {"command": "acpEditor.session.new"}


def initialized_v2(session: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    info = {"name": "scripted", "version": "1"}
    answer = {"protocolVersion": 2, "info": info, "capabilities": {"session": session or {}}, **more}
    return {"initialize": answer, "session/new": {"sessionId": "s1"}}


def told(**update: Any) -> Step:
    return {"update": {**update}}


RUNNING = told(sessionUpdate="state_update", state="running")
OVER = told(sessionUpdate="state_update", state="idle", stopReason="end_turn")


# -- sessions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "defaults",
    [
        initialized({"sessionCapabilities": {"fork": {}, "list": {}}}),
        initialized_v2({"fork": {}}),
    ],
    ids=["version 1", "version 2"],
)
async def test_a_session_is_forked_where_the_agent_offers_it(defaults: dict[str, Any]) -> None:
    listed = {"sessions": [{"sessionId": "old", "cwd": "{cwd}", "title": "Old"}]}
    await play(
        [
            {"on": "session/list", "result": listed},
            {"on": "session/fork", "result": {"sessionId": "s2"}},
            {"on": "session/fork", "result": {"sessionId": "s3"}},
            PROMPT,
            DONE,
        ],
        [
            SESSION,
            {"state": "agents.scripted.can", "has": ["fork"]},
            {"command": "acpEditor.session.list"},
            {"command": "acpEditor.session.fork", "args": {"sessionId": "s1"}, "as": "fork"},
            {"state": "activeSessionId", "is": "s2"},
            {"state": "sessions", "size": 2},
            {"agent_got": {"method": "session/fork", "params": {"sessionId": "s1", "cwd": "{cwd}"}}},
            {"command": "acpEditor.session.fork", "args": {"sessionId": "old"}},
            {"agent_got": {"method": "session/fork", "params": {"sessionId": "old", "cwd": "{cwd}"}}},
            {"state": "activeSessionId", "is": "s3"},
            prompt("go"),
            {"agent_got": {"method": "session/prompt", "params": {"sessionId": "s3"}}},
        ],
        defaults=defaults,
    )


def told_in(version: int, session: str, *texts: str) -> list[Step]:
    """Messages in turns, the person's first, as that version tells them."""
    kinds = ("user_message_chunk", "agent_message_chunk")
    return [
        {
            "update": {
                "sessionUpdate": kinds[at % 2],
                "content": {"type": "text", "text": text},
                **({"messageId": f"m{at}"} if version == 2 else {}),
            },
            "session": session,
        }
        for at, text in enumerate(texts)
    ]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("before", "after", "known"),
    [
        ([], [], ["go", "as before"]),
        (["go, as told"], [], ["go, as told"]),
        ([], ["go, as told", "then"], ["go, as told", "then"]),
    ],
    ids=["it says nothing", "it tells all before its answer", "it tells all after its answer"],
)
async def test_a_fork_shows_the_conversation_so_far(
    version: int, before: list[str], after: list[str], known: list[str]
) -> None:
    defaults = initialized_v2({"fork": {}})
    turn: list[Step] = [{"on": "session/prompt", "result": {}}, RUNNING]
    turn += [*told_in(2, "s1", "go", "as before"), OVER]
    if version == 1:
        defaults = initialized({"sessionCapabilities": {"fork": {}}})
        turn = [PROMPT, say("as before"), DONE]
    on = told(sessionUpdate="user_message", messageId="on", content=[{"type": "text", "text": "on"}])
    echo = [{**step, "session": "s2"} for step in (RUNNING, on)]
    await play(
        [
            *turn,
            {"on": "session/fork", "as": "fork"},
            *told_in(version, "s2", *before),
            {"reply": "fork", "result": {"sessionId": "s2"}},
            *told_in(version, "s2", *after),
            *([PROMPT, DONE] if version == 1 else [{"on": "session/prompt", "result": {}}, *echo, OVER]),
        ],
        [
            prompt("go"),
            IDLE,
            {"command": "acpEditor.session.fork", "args": {"sessionId": "s1"}},
            {"state": "activeSessionId", "is": "s2"},
            {"state": "sessions[sessionId=s2].messages", "has": [{"text": text} for text in known]},
            {"state": "sessions[sessionId=s2].messages", "size": len(known)},
            {"text": "acp-session:/s2.md", "has": known[-1]},
            prompt("on"),
            {"state": "sessions[sessionId=s2].messages", "size": len(known) + 1},
            {"state": "sessions[sessionId=s1].messages", "size": 2},
        ],
        defaults=defaults,
    )


async def test_a_session_without_a_title_is_listed_by_what_was_asked_first() -> None:
    await play(
        [PROMPT, DONE, {"on": "session/list", "result": {"sessions": [{"sessionId": "s1", "cwd": "{cwd}"}]}}],
        [
            prompt("\n  Please tidy up the parser, and do not touch what is beside it, nor its tests\nnow"),
            IDLE,
            {
                "command": "acpEditor.session.list",
                "result": "[0].title",
                "is": "Please tidy up the parser, and do not touch what is beside…",
            },
        ],
        defaults=initialized({"sessionCapabilities": {"list": {}}}),
    )


async def test_the_details_of_a_refusal_are_told() -> None:
    wrong = {"code": -32603, "message": "Internal error", "data": {"details": "The disk is full."}}
    await play(
        [
            {"on": "session/new", "error": wrong},
            {"on": "session/new", "result": {"sessionId": "s1"}},
            {"on": "session/prompt", "error": wrong},
        ],
        [
            {**SESSION, "error": "refused the session: Internal error: The disk is full."},
            prompt("go"),
            {"state": "agents.scripted.error", "is": "Internal error: The disk is full."},
        ],
    )


async def test_a_session_is_not_forked_or_deleted_where_nobody_offered_it() -> None:
    await play(
        [],
        [
            SESSION,
            {"state": "agents.scripted.can", "is": []},
            {
                "command": "acpEditor.session.fork",
                "args": {"sessionId": "s1"},
                "error": "cannot fork sessions",
            },
            {
                "command": "acpEditor.session.delete",
                "args": {"sessionId": "s1"},
                "error": "cannot delete sessions",
            },
            {"agent_not_got": {"method": "session/fork"}},
            {"agent_not_got": {"method": "session/delete"}},
        ],
    )


async def test_a_deleted_session_is_gone_from_everything() -> None:
    await play(
        [{"on": "session/delete", "result": {}}, {"on": "session/delete", "result": {}}],
        [
            SESSION,
            {"command": "acpEditor.session.delete", "args": {"sessionId": "s1"}},
            {"agent_got": {"method": "session/delete", "params": {"sessionId": "s1"}}},
            {"state": "sessions", "size": 0},
            {"state": "activeSessionId", "is": None},
            {"command": "acpEditor.session.delete", "args": {"sessionId": "kept by the agent"}},
            {"agent_got": {"method": "session/delete", "params": {"sessionId": "kept by the agent"}}},
        ],
        defaults=initialized({"sessionCapabilities": {"delete": {}}}),
    )


@pytest.mark.parametrize(
    ("defaults", "asked"),
    [
        (initialized({"loadSession": True}), "session/load"),
        (initialized({"sessionCapabilities": {"resume": {}}}), "session/resume"),
        (initialized_v2({"resume": {}}), "session/resume"),
    ],
    ids=["load", "resume", "version 2"],
)
async def test_history_that_the_agent_does_not_tell_stays_with_us(
    defaults: dict[str, Any], asked: str
) -> None:
    turn = [PROMPT, say("as before"), DONE]
    if "capabilities" in defaults["initialize"]:
        turn = [{"on": "session/prompt", "result": {}}, RUNNING, *told_in(2, "s1", "go", "as before"), OVER]
    await play(
        turn,
        [
            prompt("go"),
            IDLE,
            {"command": "acpEditor.agent.restart"},
            {"command": "acpEditor.session.resume", "args": {"sessionId": "s1"}},
            {"agent_got": {"method": asked, "params": {"sessionId": "s1"}}},
            {"state": "sessions[0].messages", "has": [{"text": "go"}, {"text": "as before"}]},
        ],
        again=[{"on": asked, "result": {}}],
        defaults=defaults,
    )


# -- single calls and terminals --------------------------------------------------------------------


async def test_a_call_is_cancelled_alone_while_the_agent_offers_it() -> None:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c1"}
    await play(
        [
            {"on": "session/prompt", "result": {}},
            RUNNING,
            told(**update, title="Search", kind="search", status="in_progress"),
        ],
        [
            prompt("go"),
            {"state": "sessions[0].toolCalls[0].status", "is": "in_progress"},
            {"state": "sessions[0].toolCalls[0].cancellable", "is": False},
            {
                "command": "acpEditor.toolCall.cancel",
                "args": {"toolCallId": "c1"},
                "error": "does not offer to cancel",
            },
            {"command": "acpEditor.toolCall.cancel", "args": {"toolCallId": "x"}, "error": "no tool call"},
            {"agent_not_got": {"method": "tool_call/cancel"}},
        ],
        defaults=initialized_v2(),
    )
    await play(
        [
            {"on": "session/prompt", "result": {}},
            RUNNING,
            told(**update, title="Search", status="in_progress", capabilities={"cancel": {}}),
            {"on": "tool_call/cancel", "result": {}},
            told(**update, status="cancelled", capabilities=None),
            OVER,
        ],
        [
            prompt("go"),
            {"state": "sessions[0].toolCalls[0].cancellable", "is": True},
            {
                "notified": "acpEditor/toolCall",
                "where": {"toolCall": {"toolCallId": "c1", "cancellable": True}},
            },
            {"command": "acpEditor.toolCall.cancel", "args": {"toolCallId": "c1"}},
            {"agent_got": {"method": "tool_call/cancel", "params": {"sessionId": "s1", "toolCallId": "c1"}}},
            {"state": "sessions[0].toolCalls[0].status", "is": "cancelled"},
            {"state": "sessions[0].toolCalls[0].cancellable", "is": False},
            IDLE,
        ],
        defaults=initialized_v2(),
    )


async def test_a_terminal_of_the_agents_is_read_and_ended_where_it_offers_that() -> None:
    terminal = {"sessionUpdate": "terminal_update", "terminalId": "t1"}
    output = base64.b64encode(b"\x1b[32mbuilding\x1b[0m\r\n").decode()
    await play(
        [
            {"on": "session/prompt", "result": {}},
            RUNNING,
            told(**terminal, command="make", cwd="{cwd}", size={"cols": 100, "rows": 30}),
            told(sessionUpdate="terminal_output_chunk", terminalId="t1", data=output),
            told(**terminal, capabilities={"cancel": {}}),
            {"on": "terminal/cancel", "result": {}},
            told(**terminal, exitStatus={"exitCode": None, "signal": "SIGTERM"}, capabilities=None),
            OVER,
        ],
        [
            prompt("go"),
            {"state": "sessions[0].terminals[0].cancellable", "is": True},
            {
                "state": "sessions[0].terminals[0]",
                "has": {"owner": "agent", "size": {"cols": 100, "rows": 30}, "output": "~\x1b[32mbuilding"},
            },
            {"command": "acpEditor.terminal.read", "args": {"terminalId": "t1"}, "as": "read"},
            {"command": "acpEditor.terminal.cancel", "args": {"terminalId": "t1"}},
            {"agent_got": {"method": "terminal/cancel", "params": {"sessionId": "s1", "terminalId": "t1"}}},
            {"state": "sessions[0].terminals[0].exitStatus.signal", "is": "SIGTERM"},
            {
                "command": "acpEditor.terminal.cancel",
                "args": {"terminalId": "t1"},
                "error": "has already ended",
            },
            {"command": "acpEditor.terminal.read", "args": {"terminalId": "t9"}, "error": "no terminal"},
            IDLE,
        ],
        defaults=initialized_v2(),
    )


async def test_a_command_in_the_editors_terminal_is_ended_by_the_person() -> None:
    create = {"sessionId": "s1", "command": "echo started; sleep 1000"}
    await play(
        [
            PROMPT,
            {"request": "terminal/create", "as": "made", "id": 5, "params": create},
            {"await": "made"},
            {
                "request": "terminal/wait_for_exit",
                "as": "ended",
                "id": 6,
                "params": {"sessionId": "s1", "terminalId": "terminal-1"},
            },
            {"await": "ended"},
            DONE,
        ],
        [
            prompt("go"),
            {"state": "sessions[0].terminals[0].output", "has": "started"},
            {"state": "sessions[0].terminals[0]", "has": {"owner": "client", "cancellable": True}},
            {"command": "acpEditor.terminal.cancel", "args": {"terminalId": "terminal-1"}},
            {"agent_got": {"id": 6, "result": {"signal": "SIGTERM"}}},
            {"state": "sessions[0].terminals[0].cancellable", "is": False},
            IDLE,
        ],
    )


# -- what goes with a prompt -----------------------------------------------------------------------


def png() -> bytes:
    """One red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0\xff\0\0")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


PICTURE = base64.b64encode(png()).decode()
FILES = {"shot.png": {"hex": png().hex()}, "fake.png": "no picture"}


@pytest.mark.parametrize(
    "defaults",
    [initialized({"promptCapabilities": {"image": True}}), initialized_v2({"prompt": {"image": {}}})],
    ids=["version 1", "version 2"],
)
async def test_pictures_go_to_an_agent_that_takes_them(defaults: dict[str, Any]) -> None:
    block = {"type": "image", "mimeType": "image/png", "data": PICTURE}
    items = [{"uri": "{uri:shot.png}"}, {"uri": "{uri:fake.png}"}]
    given = {"context": items, "images": [{"mimeType": "image/png", "data": PICTURE}]}
    link = {"type": "resource_link", "uri": "{uri:fake.png}", "name": "fake.png"}
    await play(
        [{"on": "session/prompt", "result": {"stopReason": "end_turn"}}],
        [
            prompt("look", **given),
            {"agent_got": {"params": {"prompt": [{**block, "uri": "{uri:shot.png}"}, block, link]}}},
            {
                "command": "acpEditor.prompt",
                "args": {"text": "x", "images": [{"data": "??"}]},
                "error": "PNG",
            },
        ],
        files=FILES,
        defaults=defaults,
    )


async def test_pictures_are_links_for_an_agent_that_takes_none() -> None:
    images = [{"mimeType": "image/png", "data": PICTURE}]
    link = {"type": "resource_link", "uri": "{uri:shot.png}", "name": "shot.png", "mimeType": "image/png"}
    await play(
        [PROMPT, DONE],
        [
            {
                "command": "acpEditor.prompt",
                "args": {"text": "look", "images": images},
                "error": "takes no pictures",
            },
            prompt("look", context=[{"uri": "{uri:shot.png}"}]),
            {"agent_got": {"params": {"prompt": [link]}}},
            IDLE,
        ],
        files=FILES,
    )


async def test_a_range_counts_in_the_encoding_that_was_agreed_on() -> None:
    """An editor that counts in UTF-8 gets just what it marked."""
    start, end = {"line": 0, "character": 5}, {"line": 0, "character": 8}
    given = {"context": [{"uri": "{uri:a.py}", "range": {"start": start, "end": end}}]}
    await play(
        [PROMPT, DONE],
        [
            prompt("look", **given),
            {"agent_got": {"params": {"prompt": [{"resource": {"text": "abc"}}]}}},
            IDLE,
        ],
        files={"a.py": "😀 abc def\n"},
        defaults=initialized({"promptCapabilities": {"embeddedContext": True}}),
        encodings=["utf-8"],
    )


# -- logging in and out ----------------------------------------------------------------------------


async def test_a_session_that_needs_a_login_says_so_and_to_whom() -> None:
    refusal = {"code": -32000, "message": "Authentication required"}
    method = {"id": "key", "name": "API key"}
    await play(
        [
            {"on": "session/new", "error": refusal},
            {"on": "authenticate", "result": {}},
            {"on": "session/new", "result": {"sessionId": "s1"}},
            {"on": "logout", "result": {}},
        ],
        [
            {"command": "acpEditor.agent.start", "as": "started"},
            {"state": "agents.scripted.authMethods[0].id", "is": "key"},
            {"state": "agents.scripted.can", "has": ["logout"]},
            {
                "command": "acpEditor.session.new",
                "error": "log in with API key",
                "data": {"login": "scripted"},
            },
            {"command": "acpEditor.auth.login", "args": {"methodId": "key"}},
            {"agent_got": {"method": "authenticate", "params": {"methodId": "key"}}},
            SESSION,
            {"command": "acpEditor.auth.logout"},
            {"agent_got": {"method": "logout"}},
        ],
        defaults=initialized({"auth": {"logout": {}}}, authMethods=[method]),
    )


async def test_logging_in_and_out_in_version_2() -> None:
    method = {"methodId": "key", "name": "API key", "type": "agent"}
    await play(
        [{"on": "auth/login", "result": {}}, {"on": "auth/logout", "result": {}}],
        [
            {"command": "acpEditor.auth.login"},
            {"agent_got": {"method": "auth/login", "params": {"methodId": "key"}}},
            {"command": "acpEditor.auth.logout"},
            {"agent_got": {"method": "auth/logout"}},
        ],
        defaults=initialized_v2(authMethods=[method]),
    )


async def test_an_agent_is_stopped_and_starts_again_with_the_next_prompt() -> None:
    await play(
        [PROMPT, call("c1", status="in_progress")],
        [
            prompt("go"),
            {"state": "sessions[0].toolCalls", "size": 1},
            {"command": "acpEditor.agent.stop", "args": {"agent": "scripted"}},
            {"state": "agents.scripted.state", "is": "stopped"},
            IDLE,
            {"state": "sessions[0].toolCalls[0].active", "is": False},
            prompt("again"),
            {"state": "agents.scripted.state", "is": "ready"},
            {"agent_got": {"method": "session/prompt", "params": {"prompt": [{"text": "again"}]}}},
            IDLE,
        ],
        again=[PROMPT, DONE],
    )
