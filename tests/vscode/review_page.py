"""What of the review is to be seen and pressed in a window of VS Code."""

from __future__ import annotations

import re

from driver import ACTIVE, PATIENCE, Editor, wait_for
from playwright.sync_api import Locator

ALLOWED: dict[str, object] = {"acpEditor.permissions.allow": ["edit", "execute"]}
"""Settings with which the agent is not asked about, so that a test can look at what it leaves."""
FILES = {"almanac.py": 3, "chart.py": 2, "kepler.py": 3, "test_sky.py": 2}
"""The hunks that `RENAME` makes in the sample, by file."""
RENAME = "/rename place spot"


def renamed(editor: Editor) -> None:
    """The agent has renamed a word all over the sample."""
    editor.prompt(RENAME)
    wait_for(lambda: editor.status_says("ready") and counted(editor) == len(FILES), "all files are counted")


def counted(editor: Editor) -> int:
    """The number of changed files in the status bar."""
    found = re.search(r"(\d+) changed files?", editor.status)
    return int(found[1]) if found else 0


def changes(editor: Editor) -> dict[str, str]:
    """The files of the Changes view, with what stands behind their names."""
    rows = _rows(editor).evaluate_all(
        """rows => rows.filter(row => row.getAttribute('aria-level') === '1').map(row =>
            ['.label-name', '.label-description'].map(part => row.querySelector(part)?.textContent))"""
    )
    return {str(name): str(words or "") for name, words in rows}


def hunk_rows(editor: Editor) -> list[str]:
    rows = _rows(editor).evaluate_all(
        "rows => rows.filter(row => row.getAttribute('aria-level') === '2').map(row => row.textContent)"
    )
    return [str(row) for row in rows]


def _rows(editor: Editor) -> Locator:
    pane = editor.page.locator(".part.sidebar .pane", has=editor.page.get_by_label("Changes Section"))
    return pane.locator(".monaco-list-row")


def show_changes(editor: Editor) -> None:
    editor.palette("ACP: Focus on Changes View")
    wait_for(lambda: changes(editor) or "No changes" in sidebar(editor), "the view is there")


def sidebar(editor: Editor) -> str:
    return editor.page.locator(".part.sidebar").inner_text()


def row(editor: Editor, name: str) -> Locator:
    """The row of the Changes view with that file, or that hunk's line."""
    exact = editor.page.locator(".label-name", has_text=re.compile(rf"^{re.escape(name)}$"))
    return _rows(editor).filter(has=exact).first


def press_in_row(editor: Editor, name: str, action: str) -> None:
    """An inline action of a row, which is there while the mouse is."""
    row(editor, name).hover()
    row(editor, name).locator(f'a.action-label[aria-label^="{action}"]').click()


def press_in_title(editor: Editor, action: str) -> None:
    """An action in the title of the Changes view."""
    row(editor, next(iter(changes(editor)))).hover()
    editor.page.locator(f'.part.sidebar .pane-header a.action-label[aria-label^="{action}"]').click()


_LENSES = f"{ACTIVE} .codelens-decoration"
_TOPS = (
    "all => all.map(lens => lens.getClientRects().length && lens.querySelector('a') ? lens.offsetTop : -1)"
)
"""What VS Code remembers of an earlier look at the file is text without links, until it has asked again."""


def _seen(editor: Editor) -> list[Locator]:
    """The code lenses of the active editor that are to be seen, from top to bottom."""
    found = editor.page.locator(_LENSES)
    tops = found.evaluate_all(_TOPS)
    return [
        found.nth(number) for number in sorted(range(len(tops)), key=lambda n: tops[n]) if tops[number] >= 0
    ]


def lenses(editor: Editor) -> list[str]:
    """What the lenses say that are to be seen."""
    texts = [lens.text_content(timeout=1000) or "" for lens in _seen(editor)]
    return [text.replace("\u00a0", " ").replace("\n", "") for text in texts]


def press_lens(editor: Editor, title: str, index: int) -> None:
    """Of the lens with that place among those to be seen, the part with that title.

    It is not pressed again where that fails: there may be another one at its place by then.
    """
    lens = wait_for(lambda: _seen(editor)[index : index + 1], f"lens {index} is there")[0]
    lens.get_by_text(title, exact=True).click(timeout=PATIENCE * 1000)


def hover(editor: Editor, line: int, words: str) -> str:
    """What the hover says at a line of the active editor."""
    text = editor.lines[line].strip()
    place = editor.page.locator(f"{ACTIVE} .view-line").filter(has_text=text).first

    def shown() -> str:
        place.hover(position={"x": 60, "y": 9})
        said = " ".join(editor.page.locator(".monaco-hover:visible").all_inner_texts())
        return said if words in said.replace("\u00a0", " ") else ""

    return wait_for(shown, f"the hover at line {line} says {words}")


def press_in_notification(editor: Editor, words: str, button: str) -> None:
    found = editor.notification(words).locator(".monaco-button", has_text=re.compile(f"^{button}$"))
    found.first.click(timeout=PATIENCE * 1000)


def dialog(editor: Editor) -> str:
    """What a modal dialog asks; empty where none is open."""
    return " ".join(editor.page.locator(".monaco-dialog-box").all_inner_texts())


def confirm(editor: Editor, button: str) -> None:
    chosen = editor.page.locator(".monaco-dialog-box .monaco-button", has_text=re.compile(f"^{button}$"))
    chosen.click(timeout=PATIENCE * 1000)
    wait_for(lambda: not dialog(editor), "the dialog has closed")
