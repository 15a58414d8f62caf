"""A person at VS Code: what they can press, type and see, on a page of a real browser."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from playwright.sync_api import BrowserContext, Error, Locator, Page, ViewportSize

import package
import workbench as served
from cached import CACHE

SCREENSHOTS = CACHE / "screenshots"
SIZE: ViewportSize = {"width": 1280, "height": 800}
SERVER = [str(package.BIN / "python"), "-m", "acp_editor"]
SETTINGS: dict[str, object] = {
    "acpEditor.server.command": SERVER,
    "editor.minimap.enabled": False,
    "files.autoSave": "off",
    "window.confirmBeforeClose": "never",
    "workbench.editor.enablePreview": True,
}
MARK = f"ACP_EDITOR_TEST={uuid.uuid4().hex}"
"""In the environment of everything that these tests start, so that what is left over can be told."""
ACTIVE = ".editor-group-container.active .monaco-editor"
PATIENCE = 20.0
"""Seconds that a condition may take to come true; what takes longer is a defect."""
OPENING = 60_000
"""Milliseconds that a window may take to open."""
GLANCE = 1.0
"""Seconds that one look at the page may wait for something in it while a condition is awaited: what was there
when the look began may be gone, and then it has to look again."""
SETTLED = 8
"""Looks in a row, 50 ms apart, at which a list that fills itself has to be the same."""
T = TypeVar("T")


_pages: list[Page] = []
_glances = 0


@contextmanager
def glancing() -> Iterator[None]:
    """Inside, no look at any open page waits for longer than a glance."""
    global _glances
    _glances += 1
    try:
        _patience()
        yield
    finally:
        _glances -= 1
        _patience()


def _patience() -> None:
    for page in _pages:
        page.set_default_timeout(1000 * (GLANCE if _glances else PATIENCE))


def wait_for(condition: Callable[[], T | None], what: str, patience: float = PATIENCE) -> T:
    """The first true value of `condition`; a page that is just being redrawn counts as not yet."""
    deadline = time.monotonic() + patience
    last: object = None
    while time.monotonic() < deadline:
        try:
            with glancing():
                last = condition()
        except Error as error:
            last = error
        else:
            if last:
                return last
        time.sleep(0.05)
    raise AssertionError(f"after {patience:g} s still not: {what} (last: {last!r})")


def processes(mark: str, words: str) -> list[int]:
    """Ids of processes with that in their environment and these words in their command line."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if words in command and mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:  # it ended in the meantime
            continue
    return found


class Editor:
    """One window of VS Code on one folder."""

    def __init__(self, server: served.Workbench, context: BrowserContext, folder: Path, mark: str) -> None:
        self.server = server
        self.mark = mark
        self.folder = folder
        context.add_init_script(path=Path(__file__).with_name("page.js"))
        self.page: Page = context.new_page()
        _pages.append(self.page)
        _patience()
        self.console: list[str] = []
        self.page.on("console", lambda message: self.console.append(f"{message.type}: {message.text}"))

    # -- the window --------------------------------------------------------------------------------

    def open(self) -> None:
        self.page.goto(self.server.address(self.folder), timeout=OPENING)
        self.page.wait_for_selector(".monaco-workbench .statusbar", timeout=OPENING)
        # the explorer shows the folder once the remote host answers
        wait_for(lambda: self.explorer.count() > 0, "the explorer lists the folder", OPENING / 1000)
        wait_for(lambda: self.status, "the extension is there", OPENING / 1000)

    def reload(self) -> None:
        self.page.reload(timeout=OPENING)
        self.page.wait_for_selector(".monaco-workbench .statusbar", timeout=OPENING)

    def close(self) -> None:
        """As a person closes the tab: what the page does on unload, it does."""
        if self.page in _pages:
            _pages.remove(self.page)
        if not self.page.is_closed():
            self.page.goto("about:blank")
            self.page.close()

    def screenshot(self, name: str) -> Path:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        self.page.screenshot(path=path)
        return path

    # -- the hands ---------------------------------------------------------------------------------

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def quick_input(self) -> Locator:
        return self.page.locator(".quick-input-widget:visible input.input").first

    def rows(self) -> list[str]:
        """What the open quick pick offers."""
        found = self.page.locator(".quick-input-widget:visible .quick-input-list .monaco-list-row")
        return [text.strip() for text in found.all_inner_texts()]

    def row(self, label: str) -> Locator:
        """The row of the open quick pick with just that label."""
        exact = re.compile(rf"^\s*{re.escape(label.rstrip('…'))}…?\s*$")
        rows = self.page.locator(".quick-input-widget:visible .monaco-list-row")
        return rows.filter(has=self.page.locator(".label-name", has_text=exact))

    def palette(self, title: str) -> None:
        """Runs a command from the command palette, only if the palette offers just that title."""

        def offered() -> bool:
            if self._palette_answers(title) and self.row(title).count():
                return True
            if any("No matching" in row or "similar commands" in row for row in self.rows()):
                self.press("Escape")  # what it lists is settled when it opens
            return False

        wait_for(offered, f"the palette offers {title}")
        self.row(title).first.click()  # once: what it opens has an input of the same kind

    def _palette_answers(self, title: str) -> bool:
        """To be tried again: an input that is about to close is there at first and then is not."""
        if not self.quick_input().count():
            self.press("F1")
            self.quick_input().wait_for()
        query = f">{title.rstrip('…')}"  # it finds nothing for an ellipsis
        if self.quick_input().input_value() != query:
            self.quick_input().fill(query)
        return bool(self.rows())

    def offers(self, title: str) -> bool:
        """Whether the palette has the command now."""
        wait_for(lambda: self._palette_answers(title), "the palette answers")
        seen: list[list[str]] = []

        def settled() -> bool:
            seen.append(self.rows())
            return len(seen) > SETTLED and all(rows == seen[-1] for rows in seen[-SETTLED:])

        wait_for(settled, "the palette lists no more")
        found = self.row(title).count() > 0
        self.press("Escape")
        return found

    def answer(self, text: str) -> None:
        """Types into the input box that is open, or about to be, and confirms it."""
        wait_for(self._input_box_is_open, "an input box has the focus")
        self.quick_input().fill(text)
        self.press("Enter")

    def _input_box_is_open(self) -> bool:
        """Not the list from which it was asked for, whose input is of the same kind and closes late."""
        lists = self.page.locator(".quick-input-widget:visible .quick-input-list:visible")
        return not lists.count() and bool(
            self.quick_input().evaluate("input => input === document.activeElement")
        )

    def prompt(self, text: str) -> None:
        """As a person prompts: the command from the palette, the text, Enter."""
        self.palette("ACP: Prompt Agent…")
        self.answer(text)

    def pick(self, label: str) -> None:
        """Takes a row of the open quick pick."""
        rows = self.page.locator(".quick-input-widget:visible .monaco-list-row").filter(has_text=label)
        rows.first.wait_for(timeout=PATIENCE * 1000)
        rows.first.click()

    def press_on(self, notification: str, button: str) -> None:
        """Presses a button of the notification with that text."""
        buttons = self.notification(notification).locator(".monaco-button").filter(has_text=button)
        wait_for(buttons.count, f"the notification {notification!r} offers {button!r}")
        buttons.first.click()

    def press_in_dialog(self, button: str) -> None:
        """One dialog may follow another."""
        exact = self.dialog.locator(".monaco-button").filter(has_text=re.compile(rf"^{re.escape(button)}$"))
        wait_for(exact.count, f"a dialog offers {button!r}")
        exact.first.click()
        wait_for(lambda: not exact.count(), "the dialog is gone")

    def press_in_row(self, row: str, button: str) -> None:
        """A button of a row of the open quick pick, which shows when the mouse is over the row."""
        found = self.page.locator(".quick-input-widget:visible .monaco-list-row").filter(has_text=row).first
        found.hover()
        found.locator(f'.action-label[aria-label^="{button}"]').click()

    def press_in_tree(self, row: str, button: str) -> None:
        """A button of a row of the views in the side bar."""
        found = self.page.locator(".part.sidebar .pane-body .monaco-list-row").filter(has_text=row).first
        found.hover()
        found.locator(f'.action-label[aria-label^="{button}"]').click()

    def press_button(self, title: str) -> None:
        """A button in the title of the open quick input."""
        self.page.locator(f'.quick-input-titlebar .action-label[aria-label^="{title}"]').first.click()

    def status_item(self, name: str) -> Locator:
        """One of our other items in the status bar: mode, model."""
        return self.page.locator(f'.statusbar .statusbar-item[id$="acpEditor.{name}"]:visible')

    def open_file(self, name: str) -> None:
        self.press("Control+P")
        self.quick_input().wait_for()
        self.quick_input().fill(name)
        row = self.page.locator(".quick-input-widget:visible .monaco-list-row").filter(has_text=name)
        row.first.click()
        wait_for(lambda: self.active_tab == Path(name).name, f"{name} is the active editor")
        wait_for(lambda: self.focus_in_editor, f"{name} has the focus")

    def go_to_line(self, line: int) -> None:
        """`line` from 1, as the person says it."""
        self.press("Control+G")
        self.quick_input().wait_for()
        self.quick_input().fill(f":{line}")
        self.press("Enter")
        wait_for(lambda: self.cursor is not None and self.cursor[0] == line, f"the cursor is in line {line}")

    # -- the eyes ----------------------------------------------------------------------------------

    @property
    def explorer(self) -> Locator:
        return self.page.locator(".explorer-folders-view .monaco-list-row")

    @property
    def status_bar(self) -> list[str]:
        items = self.page.locator(".statusbar .statusbar-item:visible")
        return [text.strip().replace("\u00a0", " ") for text in items.all_inner_texts() if text.strip()]

    @property
    def status(self) -> str:
        """The text of our own item in the status bar, with its icons' names."""
        item = self.page.locator('.statusbar .statusbar-item[id*="acp-editor"]').first
        return str(item.get_attribute("aria-label") or item.inner_text()) if item.count() else ""

    def status_says(self, words: str) -> bool:
        return words.lower() in self.status.lower()

    @property
    def notifications(self) -> list[str]:
        toasts = self.page.locator(".notification-toast .notification-list-item-message")
        return [text.strip() for text in toasts.all_inner_texts()]

    def notification(self, text: str) -> Locator:
        return self.page.locator(".notification-toast").filter(has_text=text)

    @property
    def dialog(self) -> Locator:
        """The modal dialog."""
        return self.page.locator(".monaco-dialog-box")

    @property
    def input_title(self) -> str:
        """Title and step of the open quick input."""
        found = self.page.locator(".quick-input-widget:visible .quick-input-title")
        return str(found.first.inner_text()) if found.count() else ""

    @property
    def input_says(self) -> str:
        """What stands below the open input: its prompt, or what is wrong."""
        found = self.page.locator(".quick-input-widget:visible .quick-input-message")
        return " ".join(found.all_inner_texts())

    @property
    def terminal(self) -> list[str]:
        """The lines of the visible terminal, which has to be drawn as text."""
        rows = self.page.locator(".terminal-wrapper.active .xterm-rows > div").all_inner_texts()
        return [row.replace("\u00a0", " ").rstrip() for row in rows]

    def terminal_colours(self, *words: str) -> list[str]:
        """The colours in which these words stand in the visible terminal."""
        spans = self.page.locator(".terminal-wrapper.active .xterm-rows span")
        found = [spans.filter(has_text=re.compile(rf"^{re.escape(word)}$")).first for word in words]
        return [str(one.evaluate("e => getComputedStyle(e).color")) for one in found]

    @property
    def announcements(self) -> list[str]:
        """What a screen reader was told."""
        return self.page.locator(".monaco-aria-container div").all_inner_texts()

    @property
    def tabs(self) -> list[str]:
        """The open editors of all groups."""
        return self._tabs(".tabs-container .tab")

    @property
    def active_tab(self) -> str | None:
        """The visible editor's name in the active group."""
        return next(iter(self._tabs(".editor-group-container.active .tab.active")), None)

    @property
    def visible_tabs(self) -> list[str]:
        """The visible editor of each group."""
        return self._tabs(".tabs-container .tab.active")

    def _tabs(self, where: str) -> list[str]:
        script = "tabs => tabs.map(tab => tab.dataset.resourceName ?? '')"
        return list(self.page.locator(where).evaluate_all(script))

    @property
    def cursor(self) -> tuple[int, int] | None:
        """Line and column from 1, as the status bar tells of the active editor."""
        found = re.search(r"Ln (\d+), Col (\d+)", " ".join(self.status_bar))
        return (int(found[1]), int(found[2])) if found else None

    @property
    def focus_in_editor(self) -> bool:
        return bool(self.page.evaluate("look.inEditor()"))

    @property
    def focus(self) -> str:
        """Where keys go now, in words."""
        return str(self.page.evaluate("look.focus()"))

    @property
    def lines(self) -> dict[int, str]:
        """The lines of the active group's editor that are to be seen, by number from 1."""
        return self._by_line("lines", ACTIVE)

    @property
    def colours(self) -> dict[int, str]:
        """Lines of the active editor that the extension marks, and their background."""
        return self._by_line("colours", ACTIVE)

    @property
    def labels(self) -> dict[int, str]:
        """Texts that decorations put beside lines of the active editor."""
        return self._by_line("labels", ACTIVE)

    def _by_line(self, what: str, selector: str) -> dict[int, str]:
        found = self.page.evaluate(f"selector => look.{what}(selector)", selector)
        return {int(number): str(text) for number, text in found}

    @property
    def diff_sides(self) -> tuple[str, str] | None:
        """Both texts of the visible diff editor, as far as they are to be seen."""
        if not self.page.locator(".monaco-diff-editor:visible").count():
            return None

        def side(name: str) -> str:
            lines = self._by_line("lines", f".monaco-diff-editor .editor.{name}")
            return "\n".join(lines[number] for number in sorted(lines))

        return side("original"), side("modified")

    @property
    def tree(self) -> list[str]:
        """The rows of the views in the side bar."""
        rows = self.page.locator(".part.sidebar .pane-body .monaco-list-row:visible")
        return [" ".join(text.split()) for text in rows.all_inner_texts()]

    def processes(self, words: str) -> list[int]:
        """Ids of what this VS Code started, whose command line has these words."""
        return processes(self.mark, words)

    # -- settings ----------------------------------------------------------------------------------

    def configure(self, settings: Mapping[str, object]) -> None:
        """Into the person's settings file, as if they had edited it."""
        configure(self.server, settings)


def configure(server: served.Workbench, settings: Mapping[str, object]) -> None:
    file = server.settings_file
    file.write_text(json.dumps({**json.loads(file.read_text()), **settings}, indent=1))
