"""Review in VS Code: what the agent changed is listed, marked, compared, kept and undone, to the byte."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from driver import Editor, wait_for
from review_page import (
    ALLOWED,
    FILES,
    changes,
    confirm,
    counted,
    dialog,
    hover,
    hunk_rows,
    lenses,
    press_in_notification,
    press_in_row,
    press_in_title,
    press_lens,
    renamed,
    row,
    show_changes,
    sidebar,
)

ALMANAC = "orrery/almanac.py"
CALENDAR = "orrery/calendar.py"
KEEP_UNDO = "Keep | Undo"

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def settings() -> dict[str, object]:
    return ALLOWED


def as_renamed(text: str) -> str:
    return re.sub(r"\bplace\b", "spot", text)


def texts(folder: Path) -> dict[str, bytes]:
    """Every file of the workspace, to the byte."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


def on_disk(folder: Path, name: str, expected: str) -> None:
    path = folder / name
    wait_for(lambda: path.read_bytes() == expected.encode(), f"{name} is as it has to be")


def committed(folder: Path, message: str) -> None:
    git = ["git", "-c", "user.name=A Person", "-c", "user.email=person@example.org"]
    subprocess.run([*git, "commit", "-qam", message], cwd=folder, check=True)


def test_hunks_are_kept_and_undone_above_the_lines_and_the_persons_line_stays(
    editor: Editor, folder: Path
) -> None:
    before = (folder / ALMANAC).read_text()
    after = as_renamed(before)
    renamed(editor)
    show_changes(editor)
    words = {name: f"{count} changes · orrery" for name, count in FILES.items()}
    words["test_sky.py"] = "2 changes · tests"
    wait_for(lambda: changes(editor) == words, "the files are listed with their counts")

    editor.open_file("almanac.py")
    wait_for(lambda: list(editor.colours) == [6, 16, 23, 24, 25], "the changed lines are marked")
    wait_for(lambda: lenses(editor) == [KEEP_UNDO] * 3, "each hunk has its lenses")
    assert 'place(find("Earth"), centuries)' in hover(editor, 23, "Before the agent's change")
    editor.screenshot("review-marks")

    press_lens(editor, "Keep", 0)
    wait_for(lambda: lenses(editor) == [KEEP_UNDO] * 2, "the lenses of the kept hunk are gone")
    wait_for(lambda: 6 not in editor.colours, "and its mark")
    on_disk(folder, ALMANAC, after)

    editor.go_to_line(10)
    editor.type("# mine\n")
    wait_for(lambda: list(editor.colours) == [17, 24, 25, 26], "the marks move with the text")
    press_lens(editor, "Undo", 0)
    wait_for(lambda: editor.lines[17] == "        where = place(body, centuries)", "the line is back")
    wait_for(lambda: lenses(editor) == [KEEP_UNDO], "one hunk is left")
    assert editor.lines[10] == "# mine"
    on_disk(folder, ALMANAC, after)  # what the person has not saved is not saved for them

    lines = after.splitlines(keepends=True)
    lines[9] = "# mine\n\n"
    lines[15] = "        where = place(body, centuries)\n"
    editor.press("Control+S")
    on_disk(folder, ALMANAC, "".join(lines))
    editor.press("Control+Z")
    wait_for(lambda: editor.lines[17] == "        where = spot(body, centuries)", "the undo is undone")
    assert editor.lines[10] == "# mine"
    wait_for(lambda: lenses(editor) == [KEEP_UNDO] * 2, "its hunk is there again")
    assert changes(editor)["chart.py"] == "2 changes · orrery"

    removed = (folder / "orrery/bodies.py").read_text().splitlines()[9]
    editor.prompt("/run sed -i 10d orrery/bodies.py")
    wait_for(lambda: changes(editor).get("bodies.py") == "1 change · orrery", "a removed line is a change")
    editor.open_file("bodies.py")
    wait_for(lambda: lenses(editor) == [f"{KEEP_UNDO} | 1 line removed"], "where it was, that is said")
    assert removed in hover(editor, 10, "Before the agent's change")
    editor.screenshot("review-removed")


def test_diffs_follow_what_is_kept_and_keys_go_through_all_files(editor: Editor, folder: Path) -> None:
    renamed(editor)
    editor.open_file("kepler.py")
    editor.palette("ACP: Show Changes in File")
    wait_for(lambda: "A place seen" in (editor.diff_sides or ("", ""))[0], "the left side has the old text")
    assert "A spot seen" in (editor.diff_sides or ("", ""))[1]
    assert not editor.colours  # the diff has its own
    editor.screenshot("review-diff")

    wait_for(lambda: editor.cursor == (11, 1), "the cursor is in the first change")
    editor.press("Control+Alt+A", "Control+Alt+K")
    wait_for(lambda: "A spot seen" in (editor.diff_sides or ("", ""))[0], "the left side has what was kept")
    editor.press("Control+Alt+A", "Control+Alt+ArrowDown")
    wait_for(lambda: editor.cursor == (26, 1), "the next change is in this diff")
    editor.press("Control+Alt+A", "Control+Alt+U")
    wait_for(lambda: "The same place" in (editor.diff_sides or ("", ""))[1], "the right side is as it was")
    wait_for(lambda: b"The same place" in (folder / "orrery/kepler.py").read_bytes(), "and saved")

    editor.palette("View: Close All Editors")
    editor.open_file("chart.py")
    editor.go_to_line(33)
    for key, name, place in [
        ("ArrowDown", "kepler.py", (43, 1)),
        ("ArrowDown", "test_sky.py", (13, 1)),
        ("ArrowDown", "test_sky.py", (27, 1)),
        ("ArrowDown", "almanac.py", (6, 1)),
        ("ArrowUp", "test_sky.py", (27, 1)),
    ]:
        editor.press("Control+Alt+A", f"Control+Alt+{key}")
        wait_for(lambda n=name, p=place: (editor.active_tab, editor.cursor) == (n, p), f"{name} {place}")

    editor.palette("ACP: Show Changes")
    wait_for(
        lambda: editor.page.locator(".multiDiffEntry:visible").count() >= 2, "all are shown in one editor"
    )
    wait_for(lambda: "almanac.py" in editor.page.locator(".multiDiffEntry").first.inner_text(), "in order")
    editor.screenshot("review-all")


def test_files_and_all_are_kept_undone_and_restored_from_the_view(editor: Editor, folder: Path) -> None:
    before = texts(folder)
    renamed(editor)
    agents = texts(folder)
    show_changes(editor)
    press_in_row(editor, "chart.py", "Keep Changes in File")
    wait_for(lambda: "chart.py" not in changes(editor), "the kept file is off the list")
    press_in_row(editor, "kepler.py", "Undo Changes in File")
    wait_for(lambda: "kepler.py" not in changes(editor), "the undone file is off the list")
    name = "orrery/kepler.py"
    wait_for(lambda: (folder / name).read_bytes() == before[name], "and as it was before")
    wait_for(lambda: counted(editor) == 2, "two files are counted")

    row(editor, "almanac.py").locator(".monaco-tl-twistie").click()
    wait_for(
        lambda: [line[:7] for line in hunk_rows(editor)] == ["Line 6+", "Line 16", "Line 23"], "its hunks"
    )
    press_in_row(editor, "Line 6", "Undo Change")
    wait_for(lambda: len(hunk_rows(editor)) == 2, "one hunk less")
    wait_for(lambda: b"import place" in (folder / ALMANAC).read_bytes(), "its line is back")

    press_in_title(editor, "Undo All Changes")
    wait_for(lambda: "Undo 4 changes in 2 files?" in dialog(editor), "it asks, since much is at stake")
    editor.screenshot("review-undo-all")
    editor.press("Escape")
    wait_for(lambda: not dialog(editor), "no is an answer")
    assert counted(editor) == 2
    press_in_title(editor, "Undo All Changes")
    confirm(editor, "Undo All")
    wait_for(lambda: counted(editor) == 0, "nothing is left to review")
    kept = {"orrery/chart.py": agents["orrery/chart.py"]}
    assert texts(folder) == before | kept
    editor.palette("ACP: Restore Last Undo")
    wait_for(lambda: counted(editor) == 2, "the last undo is taken back")
    mixed = (folder / ALMANAC).read_bytes().replace(b"import place", b"import spot")
    assert mixed == agents[ALMANAC]
    assert texts(folder)["tests/test_sky.py"] == agents["tests/test_sky.py"]


def test_a_file_with_a_hundred_hunks_stays_readable(editor: Editor, folder: Path) -> None:
    blocks = [f"def step_{n}(x):\n    y = alpha * {n}\n    return x + y\n\n\n" for n in range(1, 101)]
    long = folder / "orrery/long.py"
    long.write_text("".join(blocks))
    editor.prompt("/rename alpha beta")
    wait_for(lambda: counted(editor) == 1 and editor.status_says("ready"), "the file is counted")
    show_changes(editor)
    wait_for(lambda: changes(editor) == {"long.py": "100 changes · orrery"}, "it is listed as one row")
    editor.open_file("long.py")
    wait_for(lambda: len(lenses(editor)) > 3, "the lenses are there")
    wait_for(lambda: {2, 7, 12} <= set(editor.colours), "and the marks")
    editor.screenshot("review-hundred")
    editor.go_to_line(497)
    wait_for(lambda: 497 in editor.colours and lenses(editor), "the last one has its marks and lenses")
    editor.press("Control+Alt+A", "Control+Alt+U")
    wait_for(lambda: editor.lines.get(497) == "    y = alpha * 100", "the last one is undone")
    wait_for(lambda: changes(editor) == {"long.py": "99 changes · orrery"}, "99 are left")
    press_in_row(editor, "long.py", "Undo Changes in File")
    wait_for(lambda: long.read_text() == "".join(blocks), "the file is as it was")


def test_typed_text_and_what_the_agent_wrote_under_it_are_both_kept(editor: Editor, folder: Path) -> None:
    original = (folder / CALENDAR).read_text()
    editor.open_file("calendar.py")
    editor.go_to_line(3)
    editor.press("End")
    editor.type("  # mine")
    editor.prompt(f"/run sed -i s/36525.0/36525.25/ {CALENDAR}")
    wait_for(lambda: editor.lines.get(8) == "CENTURY = 36525.25", "the agent's line is in the unsaved text")
    wait_for(lambda: editor.notification("its changes are in your unsaved text").count(), "that is told")
    assert editor.lines[3] == "from datetime import date  # mine"
    agents = original.replace("36525.0", "36525.25")
    on_disk(folder, CALENDAR, agents)
    editor.open_file("calendar.py")
    editor.press("Control+S")
    press_in_notification(editor, "file is newer", "Overwrite")
    on_disk(folder, CALENDAR, agents.replace("import date\n", "import date  # mine\n"))
    wait_for(lambda: lenses(editor) == [KEEP_UNDO], "the agent's hunk is still to be reviewed")
    press_lens(editor, "Undo", 0)
    mine = original.replace("import date\n", "import date  # mine\n")
    on_disk(folder, CALENDAR, mine)

    editor.go_to_line(8)
    editor.press("End")
    editor.type("  # days")
    editor.prompt(f"/run sed -i s/36525.0/36524.125/ {CALENDAR}")
    wait_for(lambda: editor.notification("the same lines on the disk").count(), "the conflict is told")
    assert editor.lines[8] == "CENTURY = 36525.0  # days"
    on_disk(folder, CALENDAR, mine.replace("36525.0", "36524.125"))
    editor.open_file("calendar.py")
    editor.press("Control+S")
    press_in_notification(editor, "file is newer", "Compare")
    wait_for(lambda: "36524.125" in (editor.diff_sides or ("", ""))[0], "the agent's line is on the left")
    wait_for(lambda: "36525.0  # days" in (editor.diff_sides or ("", ""))[1], "the person's on the right")
    editor.screenshot("review-conflict")
    on_disk(folder, CALENDAR, mine.replace("36525.0", "36524.125"))  # undecided until the person decides


def test_what_is_pending_outlasts_window_and_server_until_it_is_committed(
    editor: Editor, folder: Path
) -> None:
    before = texts(folder)
    renamed(editor)
    editor.reload()
    wait_for(lambda: counted(editor) == len(FILES), "a new window has all of it", 60)
    editor.open_file("almanac.py")
    wait_for(lambda: lenses(editor) == [KEEP_UNDO] * 3, "the lenses too")

    press_lens(editor, "Keep", 0)
    wait_for(lambda: len(lenses(editor)) == 2, "one is kept")
    killed = editor.processes("-m acp_editor")
    for process in killed:
        os.kill(process, signal.SIGKILL)
    wait_for(lambda: set(editor.processes("-m acp_editor")) - set(killed), "the server is there again", 60)
    wait_for(lambda: counted(editor) == len(FILES), "with the changes as they were", 60)
    wait_for(lambda: lenses(editor) == [KEEP_UNDO] * 2, "and their lenses")
    wait_for(lambda: list(editor.colours) == [16, 23, 24, 25], "and their marks")
    press_lens(editor, "Undo", 0)
    wait_for(lambda: b"where = place(" in (folder / ALMANAC).read_bytes(), "which can be undone")

    editor.prompt("/rename CLOSE NEAR")  # a rule allows it: it is asked about nowhere
    wait_for(lambda: editor.lines.get(8) == "NEAR = 2.0", "the rules are as they were")
    wait_for(lambda: editor.status_says("ready"), "the agent is done")
    committed(folder, "What the agent did")
    wait_for(lambda: counted(editor) == 0, "a commit keeps what it contains")
    wait_for(lambda: not lenses(editor) and not editor.colours, "marks and lenses are gone")

    editor.prompt("/rename NEAR CLOSE")
    wait_for(lambda: counted(editor) == 1 and editor.status_says("ready"), "something new is listed")
    agents = texts(folder)
    editor.palette("ACP: Forget This Workspace…")
    wait_for(lambda: "Forget what is stored" in dialog(editor), "it asks")
    confirm(editor, "Forget")
    show_changes(editor)
    wait_for(lambda: "No changes to review" in sidebar(editor), "nothing is left to review", 60)
    assert texts(folder) == agents != before
