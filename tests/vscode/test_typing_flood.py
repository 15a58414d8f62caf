"""Typing while an agent floods: every key arrives, and the window goes on painting."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from driver import Editor, wait_for

from benchmarks import made
from benchmarks.editor import AGENT_COMMAND

RATE = 2000
"""Updates a second."""
SECONDS = 60
"""For which the agent goes on; nobody waits for its end."""
NOTES = "notes.txt"
WORDS = "every key that a person presses has to arrive in its order, whatever an agent says and how often "

FRAMES = """() => {
  window.frameTimes = [];
  let last = performance.now();
  const note = (now) => {
    window.frameTimes.push(now - last);
    last = now;
    requestAnimationFrame(note);
  };
  requestAnimationFrame(note);
}"""


@pytest.fixture
def settings() -> dict[str, object]:
    agent = {"command": AGENT_COMMAND[0], "args": list(AGENT_COMMAND[1:])}
    return {
        "acpEditor.agents": {"pour": agent},
        "acpEditor.agent": "pour",
        # The file stays in view, and the calls mark its lines.
        "acpEditor.follow.enabled": False,
    }


@pytest.fixture
def flood(folder: Path, tmp_path: Path) -> Path:
    """Updates of calls that are in the file that is typed into and in others."""
    notes = folder / NOTES
    notes.write_text("\n" * 60)
    lines = list(made.calls(folder, 10_000, 200))
    module, here = str(folder / "module_00.py").encode(), str(notes).encode()
    return made.write(tmp_path / "flood", (line.replace(module, here) for line in lines))


def frames(editor: Editor) -> list[float]:
    """Milliseconds between the frames since the last time."""
    return list(editor.page.evaluate("() => window.frameTimes.splice(0)"))


def typed(editor: Editor, text: str) -> list[float]:
    """Types as a quick person does, and gives the frames of that time."""
    frames(editor)
    editor.page.keyboard.type(text, delay=30)
    return frames(editor)


def test_no_key_is_lost_while_an_agent_floods(editor: Editor, folder: Path, flood: Path) -> None:
    editor.open_file(NOTES)
    editor.page.evaluate(FRAMES)
    rest = typed(editor, WORDS)
    editor.prompt(f"paced {flood} {RATE} {SECONDS}")
    wait_for(lambda: editor.status_says("working"), "the agent is at work")
    wait_for(lambda: editor.focus_in_editor, "the file has the focus again")
    wait_for(lambda: editor.colours, "the calls mark the file")
    during = typed(editor, WORDS)
    assert editor.status_says("working"), "the flood has to go on until all is typed"
    editor.press("Control+S")
    wait_for(
        lambda: (folder / NOTES).read_text().split("\n")[0] == WORDS + WORDS,
        "all that was typed is in the file",
    )
    if target := os.environ.get("ACP_EDITOR_FRAMES"):
        told = {"rest": rest, "flood": during, "keys": len(WORDS)}
        Path(target).write_text(json.dumps(told))
    assert during
