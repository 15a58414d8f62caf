"""An agent that dies is started again by the next prompt and takes its session up, but not for ever."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest
from fault_editor import Editor

from acp_editor.app.restarts import MOST, WINDOW, Restarts

pytestmark = pytest.mark.anyio


def test_the_first_restart_is_at_once_and_the_next_ones_wait_longer() -> None:
    now = 100.0
    restarts = Restarts(lambda: now)
    delays: list[float] = []
    for _ in range(MOST):
        assert not restarts.exhausted
        restarts.ended()
        delays.append(restarts.delay)
        now += 1
    assert delays == [0, 0.5, 1, 2, 4]
    assert restarts.exhausted
    now += WINDOW
    assert (restarts.exhausted, restarts.delay, restarts.count) == (False, 0, 0)


def test_a_restart_by_the_person_forgets_what_was() -> None:
    restarts = Restarts()
    for _ in range(MOST):
        restarts.ended()
    restarts.forget()
    assert (restarts.exhausted, restarts.delay) == (False, 0)


@pytest.mark.parametrize(("version", "ability"), [(1, "load"), (1, "resume"), (2, "resume")])
async def test_the_next_prompt_starts_it_again_and_its_session_goes_on(
    tmp_path: Path, version: int, ability: str
) -> None:
    async with Editor(tmp_path, {"one": {"version": version, ability: True}}) as editor:
        (editor.cwd / "a.txt").write_text("before\n")
        session = await editor.prompt(
            [["edit", "a.txt", "after\n"], ["permissions", 2], ["die_at", 300], ["flood"]]
        )
        state = await editor.until(lambda state: state["agents"]["one"]["state"] == "failed")
        assert state["sessions"][0]["state"] == "idle"
        assert state["permissions"] == []
        await editor.until(lambda state: len(state["changes"]) == 1)
        assert await editor.prompt("go on") == session
        state = await editor.idle()
        assert [one["sessionId"] for one in state["sessions"]] == [session]
        assert "was ended by signal" not in str(state["agents"])
        methods = [message.get("method") for message in editor.log("one")]
        assert methods.count(f"session/{ability}") == 1
        assert methods.count("session/new") == 1
        assert methods.count("session/prompt") == 2
        told = [params["message"] for method, params in editor.notes if method == "window/showMessage"]
        assert "one was started again and has taken the session up." in told
        # The review has outlived the agent, and the dead one's questions were never answered.
        assert (await editor.command("review.undo"))["undone"] == 1
        assert (editor.cwd / "a.txt").read_text() == "before\n"
        assert [message for message in editor.log("one") if "method" not in message and "id" in message] == []


async def test_one_that_cannot_take_its_session_up_gets_a_new_one_and_that_is_told(tmp_path: Path) -> None:
    async with Editor(tmp_path, {"one": {"version": 1}}) as editor:
        session = await editor.prompt([["exit", 3]])
        await editor.until(lambda state: state["agents"]["one"]["state"] == "failed")
        assert await editor.prompt("go on") != session
        told = [params["message"] for method, params in editor.notes if method == "window/showMessage"]
        assert any("exited with code 3" in text for text in told)
        assert any("it does not know the last one" in text for text in told)


async def test_one_that_dies_again_and_again_is_left_alone_until_the_person_restarts_it(
    tmp_path: Path,
) -> None:
    async with Editor(tmp_path, {"one": {"version": 1, "load": True}}) as editor:
        for number in range(1, MOST + 1):
            await editor.prompt([["exit", number]])
            await editor.until(lambda state: state["agents"]["one"]["state"] == "failed")
        with pytest.raises(RuntimeError, match=f"{MOST} times within a minute .* code {MOST}"):
            await editor.prompt("once more")
        starts = sum(note.get("fault") == "started" for note in editor.log("one"))
        assert starts == MOST
        await editor.command("agent.restart")
        await editor.prompt("and now")
        await editor.idle()


async def test_prompts_that_wait_for_a_start_make_one_start(tmp_path: Path) -> None:
    async with Editor(tmp_path, {"one": {"version": 1, "load": True}}) as editor:
        await editor.prompt("first")
        await editor.idle()
        (pid,) = editor.pids()
        os.kill(pid, signal.SIGKILL)
        await editor.until(lambda state: state["agents"]["one"]["state"] == "failed")
        prompts = [editor.prompt(json.dumps([["say", str(number)]])) for number in range(5)]
        sessions = await asyncio.gather(*prompts)
        assert len(set(sessions)) == 1
        await editor.until(
            lambda state: state["sessions"][0]["state"] == "idle" and not state["sessions"][0]["queued"]
        )
        assert len(editor.pids()) == 2
        prompted = [message for message in editor.log("one") if message.get("method") == "session/prompt"]
        assert len(prompted) == 6
