"""Whole conversations about prompts, and the files and documents that they are about."""

from __future__ import annotations

import pytest

from .steps import DONE, IDLE, PROMPT, call, got_prompt, play, prompt

pytestmark = pytest.mark.anyio


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
