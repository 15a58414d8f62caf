"""Whole conversations about sessions, and how they and the server end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from . import drive
from .steps import DONE, HERE, IDLE, PROMPT, Step, ask, call, got_prompt, initialized, play, prompt, say

pytestmark = pytest.mark.anyio


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


# -- ends ------------------------------------------------------------------------------------------


async def test_who_waits_for_a_prompt_is_told_what_the_agent_said_last() -> None:
    told = {"sessionId": "s1", "stopReason": "end_turn"}
    await play(
        [
            PROMPT,
            say("I look."),
            call("c1"),
            call("c1", status="completed"),
            say("It is "),
            say("fine."),
            DONE,
            PROMPT,
            DONE,
        ],
        [
            {
                "command": "acpEditor.prompt",
                "args": {"text": "go", "wait": True},
                "result": "",
                "is": {**told, "said": "It is fine."},
            },
            {
                "command": "acpEditor.prompt",
                "args": {"text": "go on", "wait": True},
                "result": "",
                "is": {**told, "said": ""},
            },
        ],
    )


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
        "import asyncio, json, pathlib, sys; sys.path.insert(0, sys.argv[1]);"
        "from server import drive; case = json.loads(sys.argv[2]); root = pathlib.Path(sys.argv[3])\n"
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
    arguments = [sys.executable, "-c", code, str(HERE.parent), json.dumps(case), str(tmp_path)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as editor:
        assert editor.stdout is not None
        pids = json.loads(editor.stdout.readline())
        assert len(pids) == 2
        os.kill(editor.pid, signal.SIGKILL)
    end = time.monotonic() + 5
    while left := [pid for pid in pids if drive.alive(pid)]:
        assert time.monotonic() < end, f"left running: {left}"
        time.sleep(0.02)
