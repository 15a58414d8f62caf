"""What a workspace's own settings cannot do, in a folder that the person trusts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from driver import Editor, wait_for


@pytest.fixture
def folder(folder: Path, tmp_path: Path) -> Path:
    """The sample, with settings that would start programs and allow everything."""
    theirs = {
        "acpEditor.agents": {"theirs": {"command": "touch", "args": [str(tmp_path / "agent started")]}},
        "acpEditor.server.command": ["touch", str(tmp_path / "server started")],
        "acpEditor.mcpServers": {"theirs": {"command": "touch", "args": [str(tmp_path / "mcp started")]}},
        "acpEditor.permissions.allow": ["*"],
        "acpEditor.permissions.readInside": True,
    }
    (folder / ".vscode").mkdir(exist_ok=True)
    (folder / ".vscode/settings.json").write_text(json.dumps(theirs), encoding="utf-8")
    return folder


def test_a_workspace_starts_and_allows_nothing_by_itself(
    editor: Editor, folder: Path, tmp_path: Path
) -> None:
    asked = wait_for(lambda: [n for n in editor.notifications if "touch" in n], "its agent is asked about")
    assert "agent started" in asked[0], "the whole command is to be read"
    editor.screenshot("consent")
    editor.notification("touch").get_by_text("Don't Allow", exact=True).click()
    before = (folder / "orrery/almanac.py").read_bytes()
    editor.prompt("/rename CLOSE NEAR")
    wait_for(lambda: editor.status_says("waiting"), "the person is asked in spite of the workspace's rules")
    assert (folder / "orrery/almanac.py").read_bytes() == before
    editor.palette("ACP: Reject")
    wait_for(lambda: editor.status_says("ready"), "the turn is over")
    assert not list(tmp_path.glob("* started"))
