"""Sessions that an agent makes up weigh no more together than one that the person opened may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fault_editor import Editor

from acp_editor.core import limits

SETTINGS = {"cancelGrace": 1}


@pytest.mark.anyio
async def test_the_oldest_that_nobody_looks_at_are_closed(tmp_path: Path) -> None:
    async with Editor(tmp_path, {"one": {"version": 2}}) as editor:
        mine = await editor.prompt([["heavy_sessions", 1, 1]])
        await editor.until(lambda state: said(state, "heavy0"))
        await editor.command("session.select", {"sessionId": "heavy0"})
        await editor.prompt([["heavy_sessions", 10, 14], ["say", "told"]], sessionId=mine)
        state = await editor.until(lambda state: any("told" in m["text"] for m in said(state, mine)), 120)
        left = [session["sessionId"] for session in state["sessions"]]
        # The person has looked at the first; of the nine others, six fit.
        assert left[:2] == [mine, "heavy0"]
        assert left[2:] == [f"heavy{number}" for number in range(10 - len(left) + 2, 10)]
        assert 3 <= len(left[2:]) <= limits.UNINVITED // 14_000_000
        assert {fault["code"] for fault in state["faults"]} == {"uninvited_closed"}


@pytest.mark.anyio
async def test_where_all_seem_to_be_at_work_what_more_they_say_is_not_kept(tmp_path: Path) -> None:
    async with Editor(tmp_path, {"one": {"version": 2}}, settings=SETTINGS) as editor:
        mine = await editor.prompt([["heavy_sessions", 10, 14, True], ["say", "told"]])
        state = await editor.until(lambda state: any("told" in m["text"] for m in said(state, mine)), 120)
        sessions = {session["sessionId"]: session for session in state["sessions"]}
        assert set(sessions) == {mine, *(f"heavy{number}" for number in range(10))}
        assert sessions["heavy0"]["messages"]
        assert sessions["heavy9"]["messages"] == []
        assert sessions["heavy9"]["state"] == "running"
        assert {fault["code"] for fault in state["faults"]} == {"uninvited_left_out"}


def said(state: Any, session: str) -> list[Any]:
    return next((one["messages"] for one in state["sessions"] if one["sessionId"] == session), [])
