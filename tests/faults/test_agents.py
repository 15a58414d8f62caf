"""Whatever an agent does, the server answers, counts it, and gets rid of the agent."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from descendants import left_of
from fault_editor import ACTS, Editor
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pace import Pace

ANSWERS_WITHIN = 0.2
"""Seconds that are promised for `acpEditor.state`, on a machine with nothing else to do."""

FLOODS: dict[str, ACTS] = {
    "updates of few calls": [["flood", 5000]],
    "many calls": [["many_calls", 3000, 2000]],
    "chunks of one message": [["chunks", 5000, 1000, "m"]],
    "many messages": [["many_messages", 5000, 200]],
    "cumulative output": [["growing", 150, 4000]],
    "sessions that nobody made": [["sessions", 2000]],
    "permission requests": [["permissions", 1000], ["permissions", 100]],
    "notices": [["notices", 3000]],
    "stderr": [["stderr", 20_000_000]],
    "any JSON and any bytes": [["junk", 3, 2000]],
    "answers to nothing": [["stray_answers", 1000]],
    "files": [["write_by_client", "a.txt", "x", 300]],
}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("flood", "version"),
    [(flood, version) for flood in FLOODS for version in (1, 2) if (flood, version) != ("files", 2)],
)
async def test_the_state_is_answered_while_an_agent_floods(tmp_path: Path, flood: str, version: int) -> None:
    with Pace() as pace:
        async with Editor(tmp_path, {"one": {"version": version}}) as editor:
            async with editor.watched() as took:
                await editor.prompt([*FLOODS[flood], ["say", "the end"]])
                await editor.until(_said("the end"))
                await asyncio.sleep(0.2)
            await editor.command("session.close")  # whatever it still asks is withdrawn
            assert (await editor.state())["permissions"] == []
            assert editor.wrong == []
            assert left_of([editor.process.pid], 0)
    assert max(took) < ANSWERS_WITHIN * pace.slowness, f"{max(took):.3f} s at {pace.slowness:.1f}"


def _said(text: str) -> Any:
    return lambda state: any(
        text in message["text"] for session in state["sessions"] for message in session["messages"][-3:]
    )


# -- anything at once --------------------------------------------------------------------------------

_small = st.integers(1, 60)
_ending: st.SearchStrategy[list[Any]] = st.one_of(
    st.builds(lambda n: ["die_at", n], st.integers(0, 3000)),
    st.sampled_from(
        [["exit", 0], ["exit", 7], ["hang"], ["close_stdout"], ["close_stdin"], ["never"], ["answer_twice"]]
    ),
    st.builds(lambda n: ["answer_other_id", n], st.sampled_from([1, -1, 1000])),
)
_act: st.SearchStrategy[list[Any]] = st.one_of(
    st.builds(lambda seed, n: ["junk", seed, n], st.integers(0, 10**6), st.integers(1, 150)),
    st.builds(lambda name, n: [name, n], st.sampled_from(["flood", "chunks", "many_calls"]), _small),
    st.builds(
        lambda name, n: [name, n], st.sampled_from(["permissions", "stray_answers", "sessions"]), _small
    ),
    st.sampled_from(
        [
            ["children", 1],
            ["children", 1, True],
            ["daemons", 1],
            ["ignore_signals"],
            ["stderr", 300_000],
            ["terminals", 1],
            ["write_by_client", "a.txt", "agent ", 20],
            ["refuse", "session/cancel", "session/close"],
            ["split", 1],
            ["long_line", 500_000],
            ["edit", "a.txt", "of the agent\n"],
        ]
    ),
)
_turn = st.tuples(st.lists(_act, min_size=1, max_size=5), _ending).map(lambda turn: [*turn[0], turn[1]])


@settings(
    derandomize=True,
    max_examples=4,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@example(1, [[["ignore_signals"], ["children", 1], ["close_stdout"]], [["junk", 5, 100], ["close_stdin"]]])
@example(2, [[["permissions", 30], ["die_at", 2000], ["flood", 50]], [["terminals", 1], ["answer_twice"]]])
@given(st.sampled_from([1, 2]), st.lists(_turn, min_size=1, max_size=3))
def test_whatever_an_agent_does(version: int, turns: list[ACTS]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_whatever(Path(folder), version, turns))


async def _whatever(folder: Path, version: int, turns: list[ACTS]) -> None:
    with Pace() as pace:
        editor = Editor(folder, {"one": {"version": version, "load": True, "resume": True}})
        editor.own_settings = {"cancelGrace": 0.5}
        async with editor:
            (editor.cwd / "a.txt").write_text("of the person\n")
            async with editor.watched() as took:
                for acts in turns:
                    await _turn_of(editor, acts)
            # It is still of use: a new agent, a new turn, and an answer to it.
            await editor.command("agent.restart")
            await editor.prompt("are you there")
            await editor.until(_said("ok"))
            state = await editor.until(lambda state: all(map(_over, state["sessions"])))
            assert state["permissions"] == []
            pids = editor.pids()
            process = editor.process
            server_left = await editor.end()
        answered = Counter(
            message["id"]
            for message in editor.log("one")
            if "method" not in message and str(message.get("id")).startswith("r")
        )
        # Each start counts from r1 again.
        starts = sum(note.get("fault") == "started" for note in editor.log("one"))
        assert all(count <= starts for count in answered.values()), answered
    assert process.returncode is not None
    assert left_of(pids, 0) == []
    assert editor.wrong == []
    assert server_left < 5 * pace.slowness
    assert max(took) < ANSWERS_WITHIN * pace.slowness, f"{max(took):.3f} s at {pace.slowness:.1f}"


async def _turn_of(editor: Editor, acts: ACTS) -> None:
    """One turn to its end, however it ends: by itself, by death, or by a cancel and its grace."""
    try:
        await editor.prompt(acts)
    except RuntimeError:  # as a person would be told
        return
    try:
        await editor.idle(2)
    except AssertionError:
        await editor.command("cancel")
        # Version 2 may ask outside of turns, so that an end of the turn is no answer.
        await editor.until(lambda state: all(_over(session) for session in state["sessions"]), 60)


def _over(session: Any) -> bool:
    return session["state"] != "running"


@pytest.mark.anyio
async def test_files_that_are_written_while_they_are_undone(tmp_path: Path) -> None:
    """What the agent writes meanwhile wins or loses whole; in the end the person can undo it all."""
    async with Editor(tmp_path, {"one": {"version": 1}}) as editor:
        path = editor.cwd / "a.txt"
        path.write_text("before\n")
        await editor.prompt([["keep_writing", "a.txt", 1.5], ["say", "ok"]])
        undone = refused = 0
        while not any(note.get("fault") == "wrote" for note in editor.log("one")):
            try:
                undone += (await editor.command("review.undo"))["undone"]
            except RuntimeError:
                refused += 1
            text = path.read_text()
            assert text in ("", "before\n") or len(set(text.splitlines())) == 1
        await editor.idle()
        await editor.until(lambda state: len(state["changes"]) == 1 or path.read_text() == "before\n")
        if path.read_text() != "before\n":
            assert (await editor.command("review.undo"))["undone"] == 1
        assert path.read_text() == "before\n"


@pytest.mark.anyio
async def test_a_thousand_permissions_are_all_answered_once(tmp_path: Path) -> None:
    async with Editor(tmp_path, {"one": {"version": 1}}) as editor:
        await editor.prompt([["permissions", 1000, True], ["say", "all answered"]])
        state = await editor.until(lambda state: len(state["permissions"]) == 100)
        assert [one["requestId"] for one in state["permissions"]] == [f"p{n}" for n in range(1, 101)]
        for number in range(1000):
            if number % 50 == 0:  # those that are shown are not all that wait
                await editor.until(lambda state: len(state["permissions"]) > 0)
            await editor.command("permission.approve")
        await editor.until(_said("all answered"))
        answers = [m for m in editor.log("one") if "method" not in m and str(m.get("id")).startswith("r")]
        assert Counter(answer["id"] for answer in answers) == {f"r{n}": 1 for n in range(1, 1001)}
        chosen = {json.dumps(answer["result"]["outcome"]) for answer in answers}
        assert chosen == {json.dumps({"outcome": "selected", "optionId": "yes"})}
