"""What an agent asks for in one message holds nothing up for long."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fault_editor import Editor
from test_growth import PROBE, held


@pytest.mark.anyio
@pytest.mark.parametrize(("hunks", "requests"), [(4000, 1), (1000, 20)])
async def test_a_patch_that_fits_everywhere_holds_nothing_up(
    tmp_path: Path, hunks: int, requests: int
) -> None:
    probe = tmp_path / "probe.json"
    server = [sys.executable, str(PROBE), str(probe)]
    async with Editor(tmp_path, {"one": {"version": 2}}, server=server) as editor:
        text = "a\nb\n" * 25_000
        (editor.cwd / "a.txt").write_text(text)
        editor.open("a.txt")
        await editor.prompt("hello")
        await editor.idle()
        await held(editor, probe)
        await editor.prompt([["propose", "a.txt", hunks, 20, requests]])
        state = await editor.until(lambda state: len(state["permissions"]) == requests, 120)
        # Without a bound each hunk took 2 ms and more for each look: ten seconds and a minute.
        assert (await held(editor, probe))["held"]["processor"] < 4000
        (row,) = state["permissions"][-1]["diffs"]
        shown = {
            side: (await editor.ask("workspace/textDocumentContent", {"uri": row[side]}))["text"]
            for side in ("original", "modified")
        }
        assert shown["original"].startswith("b\na\nb\n")
        assert shown["modified"].startswith("b\na\nb\n")
        assert shown["modified"].count("new\n") == hunks
