"""Permissions in an editor that draws nothing of ours: messages, a few at a time, in the order of asking."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from acp_editor.app.plain_questions import MOST_OPEN

from . import drive
from .steps import DONE, IDLE, PROMPT, SERVER, Step, ask, call, prompt

pytestmark = pytest.mark.anyio

MANY = 12
CALLS = [f"c{number}" for number in range(1, MANY + 1)]


@contextlib.asynccontextmanager
async def asked(folder: Path, *between: Step) -> AsyncIterator[drive.Editor]:
    """An editor whose agent asks all at once, and then waits for all answers."""
    asks = [step for number, name in enumerate(CALLS) for step in (call(name), ask(name, 100 + number))]
    agent = [PROMPT, *asks, *between, *({"await": name} for name in CALLS), DONE]
    (folder / "ws").mkdir()
    case: dict[str, Any] = {"agent": agent, "editor_draws": []}
    (folder / "case.json").write_text(json.dumps(case))
    editor = drive.Editor(case, SERVER, folder, False)
    await editor.start()
    try:
        await editor.play(prompt("go"))
        await editor.play({"state": "permissions", "size": MANY})
        await until(lambda: len(editor.questions) == MOST_OPEN)
        yield editor
    finally:
        await editor.stop()
        assert editor.wrong == []


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(drive.PATIENCE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def questions(editor: drive.Editor) -> list[str]:
    """The calls that the person was asked about, in the order of the questions."""
    return re.findall(r"Call (c\d+)", " ".join(question["message"] for question in editor.questions))


async def test_a_few_are_open_and_the_next_comes_with_each_answer(tmp_path: Path) -> None:
    async with asked(tmp_path) as editor:
        for answered in range(MANY):
            open_by_now = min(MANY, answered + MOST_OPEN)
            await editor.play({"state": "permissions", "size": MANY - answered})
            await until(lambda count=open_by_now: len(editor.questions) >= count)
            assert questions(editor) == CALLS[:open_by_now]
            editor.answers.append("Allow once")
        await editor.play(IDLE)
        assert questions(editor) == CALLS


async def test_what_is_answered_elsewhere_makes_room_and_is_not_asked(tmp_path: Path) -> None:
    async with asked(tmp_path) as editor:
        for number in (*range(5, 11), 1, 2):
            args = {"requestId": f"p{number}", "optionId": "no"}
            await editor.play({"command": "acpEditor.permission.answer", "args": args})
        await until(lambda: len(editor.questions) == MOST_OPEN + 2)
        assert questions(editor) == ["c1", "c2", "c3", "c4", "c11"]
        await editor.play({"command": "acpEditor.permission.approve"})
        await until(lambda: len(editor.questions) == MOST_OPEN + 3)
        assert questions(editor)[-1] == "c12"
        for _ in range(3):
            await editor.play({"command": "acpEditor.permission.approve"})
        await editor.play(IDLE)
        assert len(editor.questions) == MOST_OPEN + 3


async def test_a_dismissed_one_makes_room_and_goes_on_waiting(tmp_path: Path) -> None:
    async with asked(tmp_path) as editor:
        editor.answers.append(None)
        await until(lambda: len(editor.questions) == MOST_OPEN + 1)
        assert questions(editor) == CALLS[: MOST_OPEN + 1]
        await editor.play({"state": "permissions", "size": MANY})
        await editor.play({"command": "acpEditor.cancel"})
        await editor.play(IDLE)
        assert len(editor.questions) == MOST_OPEN + 1


async def test_what_the_agent_takes_back_is_not_asked(tmp_path: Path) -> None:
    back = [{"until": "go"}, {"notify": "$/cancel_request", "params": {"requestId": 103}}]
    async with asked(tmp_path, *back) as editor:
        (editor.cwd / "go").touch()
        await editor.play({"state": "permissions", "size": MANY - 1})
        editor.answers += ["Allow once"] * (MANY - 1)
        await editor.play(IDLE)
        assert questions(editor) == [name for name in CALLS if name != "c4"]
