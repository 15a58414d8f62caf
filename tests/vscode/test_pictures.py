"""The README's pictures; with ACP_EDITOR_SCREENSHOTS=FOLDER (`make screenshots`) they are put there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from driver import Editor, wait_for

DARK = {"workbench.colorTheme": "Default Dark Modern", "workbench.tree.indent": 12}


def keep(picture: Path) -> None:
    if wanted := os.environ.get("ACP_EDITOR_SCREENSHOTS"):
        Path(wanted).mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, Path(wanted) / picture.name)


@pytest.mark.parametrize("settings", [DARK], ids=["dark"])
def test_picture_of_an_approval(editor: Editor) -> None:
    editor.palette("ACP: Focus on Session View")
    editor.prompt("/rename CLOSE NEAR")
    wait_for(lambda: editor.status_says("waiting"), "a permission waits")
    editor.palette("ACP: Show Proposed Edit")
    wait_for(lambda: "NEAR = 2.0" in (editor.diff_sides or ("", ""))[1], "the diff is there")
    wait_for(lambda: any("Rename" in row for row in editor.tree), "the call is listed")
    wait_for(lambda: editor.notification("Rename").count(), "the notification is there")
    keep(editor.screenshot("approval"))


@pytest.mark.parametrize("settings", [DARK | {"acpEditor.permissions.notify": False}], ids=["dark"])
def test_picture_of_following(editor: Editor) -> None:
    editor.palette("ACP: Focus on Session View")
    editor.prompt("/rename CLOSE NEAR")
    wait_for(lambda: editor.status_says("waiting"), "the agent has come to an edit")
    wait_for(lambda: editor.active_tab == "almanac.py", "its file is shown")
    wait_for(lambda: "● waits for you" in editor.labels.get(8, ""), "its line is marked")
    wait_for(lambda: any("Rename" in row for row in editor.tree), "the calls are listed")
    keep(editor.screenshot("following"))
