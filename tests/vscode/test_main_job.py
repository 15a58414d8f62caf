"""The main job, as a person does it: prompt, watch, look at the proposed edit, answer, see the result."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from driver import Editor, wait_for

RENAME = "/rename CLOSE NEAR"
"""Touches one file of the sample: almanac.py, in lines 8 and 39."""
ALMANAC = "orrery/almanac.py"


def waiting(editor: Editor) -> None:
    """Until a permission is to be answered."""
    wait_for(lambda: editor.status_says("waiting"), "the status bar tells of a waiting permission")


def idle(editor: Editor) -> None:
    wait_for(lambda: editor.status_says("ready"), "the status bar says that the agent is ready")


def text_of(folder: Path) -> str:
    return (folder / ALMANAC).read_text(encoding="utf-8")


def test_following_opens_the_file_at_the_line_and_leaves_the_focus(editor: Editor) -> None:
    editor.palette("View: Focus into Primary Side Bar")
    before = wait_for(lambda: editor.focus if "sidebar" in editor.focus else "", "the side bar has the focus")
    editor.prompt(RENAME)
    wait_for(lambda: editor.active_tab == "almanac.py", "the agent's file is shown")
    wait_for(lambda: editor.lines.get(8, "").startswith("CLOSE"), "its line is to be seen")
    waiting(editor)
    assert editor.focus == before


def test_the_place_is_marked(editor: Editor) -> None:
    editor.prompt(RENAME)
    waiting(editor)
    wait_for(lambda: editor.active_tab == "almanac.py", "the agent's file is shown")
    wait_for(lambda: 8 in editor.colours, "line 8 is marked")
    wait_for(lambda: editor.labels.get(8), "line 8 says what happens there")


def test_an_edit_waits_for_its_approval(editor: Editor, folder: Path) -> None:
    before = text_of(folder)
    editor.prompt(RENAME)
    waiting(editor)
    editor.palette("ACP: Show Proposed Edit")
    wait_for(lambda: "NEAR = 2.0" in (editor.diff_sides or ("", ""))[1], "the right side has the new text")
    left, right = editor.diff_sides or ("", "")
    assert "CLOSE = 2.0" in left
    assert "NEAR = 2.0" in right
    assert "CLOSE" not in right
    assert text_of(folder) == before
    editor.palette("ACP: Approve")
    wait_for(lambda: text_of(folder) == before.replace("CLOSE", "NEAR"), "the edit is on the disk")
    idle(editor)


@pytest.mark.parametrize("settings", [{"acpEditor.follow.resumeAfter": 3}])
def test_a_proposed_edit_stays_until_it_is_answered_and_then_its_file_is_there(editor: Editor) -> None:
    editor.prompt(RENAME)
    waiting(editor)
    wait_for(lambda: editor.active_tab == "almanac.py", "the agent's file is shown")
    editor.palette("ACP: Show Proposed Edit")
    wait_for(lambda: "NEAR = 2.0" in (editor.diff_sides or ("", ""))[1], "the right side has the new text")
    wait_for(lambda: editor.status_says("paused"), "who looks at an edit is not to be led away")
    wait_for(lambda: not editor.status_says("paused"), "following goes on")
    assert editor.offers("ACP: Approve")  # in the meantime a jump would have been made
    assert "NEAR = 2.0" in (editor.diff_sides or ("", ""))[1]
    editor.palette("ACP: Approve")
    wait_for(lambda: editor.diff_sides is None, "the diff is gone")
    wait_for(lambda: editor.lines.get(8, "").startswith("NEAR"), "the file that was edited is in its place")
    assert editor.active_tab == "almanac.py"
    assert editor.tabs == ["almanac.py"]
    wait_for(lambda: editor.focus == "editor almanac.py", "it has the focus that the diff had")
    idle(editor)


def test_what_the_agent_says_in_the_end_is_told(editor: Editor) -> None:
    editor.prompt("Show me around")
    waiting(editor)
    editor.palette("ACP: Reject")
    waiting(editor)  # now for the command
    editor.palette("ACP: Reject")
    wait_for(lambda: editor.notification("That was the tour").count(), "the agent's last words are there")
    assert any(text.startswith("Demo agent: ") for text in editor.notifications)
    editor.press_on("That was the tour", "Show Session")
    wait_for(lambda: (editor.active_tab or "").endswith(".md"), "the conversation is shown")


def test_a_rejected_edit_is_not_made(editor: Editor, folder: Path) -> None:
    before = text_of(folder)
    editor.prompt(RENAME)
    waiting(editor)
    editor.palette("ACP: Reject")
    idle(editor)
    assert text_of(folder) == before


def test_a_permission_is_listed_and_can_be_answered_by_any_option(editor: Editor, folder: Path) -> None:
    editor.prompt(RENAME)
    waiting(editor)
    wait_for(lambda: editor.notification("almanac.py").count(), "a notification asks")
    editor.palette("ACP: Answer Permission…")
    rows = wait_for(editor.rows, "the options are listed")
    assert any("Allow all edits" in row for row in rows)
    editor.pick("Allow all edits")
    wait_for(lambda: "NEAR" in text_of(folder), "the edit is on the disk")
    idle(editor)


def test_approve_is_offered_only_while_a_permission_waits(editor: Editor) -> None:
    idle_first = editor.offers("ACP: Approve")
    editor.prompt(RENAME)
    waiting(editor)
    assert not idle_first
    assert editor.offers("ACP: Approve")
    editor.palette("ACP: Reject")
    idle(editor)
    assert not editor.offers("ACP: Approve")


@pytest.mark.parametrize("settings", [{"acpEditor.follow.openIn": "beside"}])
def test_typing_goes_on_where_the_person_types(editor: Editor) -> None:
    editor.open_file("README.md")
    editor.go_to_line(2)
    editor.prompt("/tour")
    wait_for(lambda: len(editor.visible_tabs) == 2, "followed files open beside")
    wait_for(lambda: editor.focus == "editor README.md", "the person's editor has the focus again")
    editor.type("typed while the agent works")
    wait_for(lambda: editor.lines.get(2) == "typed while the agent works", "it landed in the README")
    assert editor.focus == "editor README.md"


def test_typing_pauses_following(editor: Editor) -> None:
    editor.open_file("README.md")
    editor.go_to_line(2)
    editor.prompt(RENAME)
    waiting(editor)
    wait_for(lambda: editor.active_tab == "almanac.py", "the agent's file is shown")
    editor.open_file("README.md")
    editor.type("mine")
    wait_for(lambda: editor.status_says("paused"), "the status bar says that following pauses")
    editor.palette("ACP: Approve")
    idle(editor)
    assert editor.active_tab == "README.md"


def test_a_killed_agent_is_told_and_the_next_prompt_works(editor: Editor, folder: Path) -> None:
    editor.prompt(RENAME)
    waiting(editor)
    for process in editor.processes("demo-agent"):
        os.kill(process, signal.SIGKILL)
    wait_for(lambda: editor.status_says("failed"), "the status bar tells of it")
    assert editor.status_says("ended by signal 9")
    wait_for(lambda: not editor.status_says("waiting"), "nothing waits any more")
    editor.prompt(RENAME)
    waiting(editor)
    editor.palette("ACP: Approve")
    wait_for(lambda: "NEAR" in text_of(folder), "the edit is on the disk")


def test_nothing_is_left_when_the_window_closes(editor: Editor) -> None:
    editor.prompt("/run sleep 1000")
    waiting(editor)
    editor.palette("ACP: Approve")
    wait_for(lambda: editor.processes("sleep 1000"), "the command runs")
    assert editor.processes("acp_editor")
    editor.close()
    wait_for(lambda: not editor.processes("acp_editor"), "server and agent are gone")
    wait_for(lambda: not editor.processes("sleep 1000"), "the command is gone")


def test_the_session_is_a_document_that_grows(editor: Editor) -> None:
    editor.prompt("/todo")
    idle(editor)
    editor.palette("ACP: Show Session")
    wait_for(lambda: any("/todo" in text for text in editor.lines.values()), "the prompt is in it")
    wait_for(lambda: any("left to do" in text for text in editor.lines.values()), "and the answer")


def test_the_session_view_lists_calls_plan_and_places(editor: Editor) -> None:
    editor.prompt("/todo")
    idle(editor)
    editor.palette("ACP: Focus on Session View")
    wait_for(lambda: any("Search for TODO" in row for row in editor.tree), "the call is listed")
    wait_for(lambda: any("too close to the Sun" in row for row in editor.tree), "and the plan")
