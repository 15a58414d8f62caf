"""Whole conversations in which hooks and slash commands have their say."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from . import drive
from .steps import (
    DONE,
    FAST,
    IDLE,
    MODE,
    NEW,
    PROMPT,
    SERVER,
    TOLD,
    Step,
    ask,
    call,
    change,
    got_prompt,
    play,
    prompt,
    say,
    started,
)

pytestmark = pytest.mark.anyio


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
