"""The harness itself: a window opens, a file opens, a key types."""

from __future__ import annotations

from driver import Editor, wait_for


def test_a_file_opens_and_takes_what_is_typed(editor: Editor) -> None:
    editor.open_file("README.md")
    editor.go_to_line(1)
    editor.press("Home")
    editor.type("typed ")
    wait_for(lambda: editor.lines.get(1, "").startswith("typed "), "the text is in the buffer")
    editor.screenshot("window")
