"""The main job with an agent that nobody here wrote, its language model scripted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import mock_llm
import pytest
from driver import Editor, wait_for

import lab

AGENT = "gemini"
pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with mock_llm.serving() as address:
        yield address


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    target = tmp_path / "demo"
    lab.prepare(target)
    return target


@pytest.fixture
def settings(tmp_path: Path, model: str) -> dict[str, object]:
    home = tmp_path / "home"
    home.mkdir()
    return {"acpEditor.agents": {AGENT: lab.settings(AGENT, home, model)}, "acpEditor.agent": AGENT}


def test_from_the_prompt_to_the_finished_edit(editor: Editor, folder: Path) -> None:
    before = (folder / "app.py").read_text()
    editor.prompt(f"SCENARIO:editonly WS:{folder}")
    wait_for(lambda: editor.status_says("waiting"), "the agent asks", 90)
    wait_for(lambda: editor.active_tab == "app.py", "its file is shown")
    editor.palette("ACP: Show Proposed Edit")
    wait_for(lambda: 'f"Hello, {name}!"' in (editor.diff_sides or ("", ""))[1], "the diff is there")
    assert (folder / "app.py").read_text() == before
    editor.palette("ACP: Approve")
    wait_for(lambda: 'f"Hello, {name}!"' in (folder / "app.py").read_text(), "the edit is on the disk")
    wait_for(lambda: editor.status_says("ready"), "the turn has ended")
