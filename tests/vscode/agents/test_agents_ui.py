"""What of agents is looked at and stopped: sessions, terminals, pictures, notices."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path

import pytest
from agent_script import (
    NEW,
    initialized,
    initialized_2,
    ready,
    received,
    scripted,
    updates,
)
from driver import PATIENCE, Editor, wait_for

pytestmark = pytest.mark.timeout(240)


# -- sessions --------------------------------------------------------------------------------------


def test_sessions_are_gone_to_closed_and_deleted(editor: Editor) -> None:
    editor.prompt("/todo")
    ready(editor)
    editor.palette("ACP: New Session")
    editor.prompt("/todo first")
    ready(editor)
    editor.palette("ACP: Sessions…")
    wait_for(lambda: len(editor.rows()) == 2, "both sessions are listed")
    assert "/todo first" in editor.rows()[0]
    assert "open" in editor.rows()[1]
    editor.screenshot("agents-sessions")
    editor.press("ArrowDown", "Enter")
    wait_for(lambda: not editor.quick_input().count(), "the list is gone")
    editor.palette("ACP: Show Session")
    wait_for(lambda: any("/todo" in text for text in editor.lines.values()), "the first one is shown")
    assert not any("/todo first" in text for text in editor.lines.values())
    editor.palette("ACP: Sessions…")
    wait_for(lambda: len(editor.rows()) == 2, "both sessions are listed")
    editor.press_in_row("/todo first", "Close Session")
    wait_for(lambda: any("/todo first" in row and "open" not in row for row in editor.rows()), "it is closed")
    editor.press_in_row("/todo first", "Delete Session")
    wait_for(lambda: editor.dialog.count(), "it is asked once more")
    editor.screenshot("agents-session-deleted")
    editor.press_in_dialog("Delete")
    wait_for(lambda: len(editor.rows()) == 1, "it is gone")
    editor.press("Escape")


@scripted(
    initialized({"sessionCapabilities": {"list": {}, "fork": {}, "resume": {}}}),
    NEW,
    {
        "take": "session/list",
        "result": {"sessions": [{"sessionId": "old", "cwd": "/", "title": "An old one"}]},
    },
    {"take": "session/fork", "result": {"sessionId": "s2"}},
    {"take": "session/prompt", "result": {"stopReason": "end_turn"}},
    {
        "take": "session/list",
        "result": {"sessions": [{"sessionId": "old", "cwd": "/", "title": "A renamed one"}]},
    },
    {"take": "session/resume", "result": {}},
)
def test_sessions_that_the_agent_keeps_are_forked_and_resumed(editor: Editor, record: Path) -> None:
    editor.palette("ACP: New Session")
    wait_for(lambda: received(record, "session/new"), "there is a session")
    editor.palette("ACP: Sessions…")
    wait_for(lambda: any("An old one" in row for row in editor.rows()), "the agent's own is listed")
    editor.screenshot("agents-sessions-kept")
    editor.press_in_row("An old one", "Fork Session")
    wait_for(lambda: received(record, "session/fork"), "it is forked")
    assert received(record, "session/fork")[0]["params"]["sessionId"] == "old"
    wait_for(lambda: not editor.quick_input().count(), "the list is gone")
    editor.prompt("go on")
    wait_for(lambda: received(record, "session/prompt"), "the prompt is there")
    assert received(record, "session/prompt")[0]["params"]["sessionId"] == "s2"
    editor.palette("ACP: Sessions…")
    wait_for(lambda: any("An old one (fork)" in row for row in editor.rows()), "the fork is listed")
    editor.screenshot("agents-sessions-forked")
    editor.pick("A renamed one")
    wait_for(lambda: received(record, "session/resume"), "it is taken up")


# -- terminals -------------------------------------------------------------------------------------

COLOURED = r"/run printf '\033[32mgreen\033[0m and \033[1;31mred\033[0m\n'; sleep 1000"


@pytest.mark.parametrize("agent", ["demo", "demo in version 1"], ids=["the agent's", "ours"])
def test_a_terminal_is_looked_at_in_colours_and_stopped(editor: Editor, agent: str) -> None:
    editor.prompt(COLOURED)
    wait_for(lambda: editor.status_says("waiting"), "it asks")
    editor.palette("ACP: Approve")
    wait_for(lambda: editor.processes("sleep 1000"), "the command runs")
    editor.palette("ACP: Show Agent Terminal…")
    wait_for(lambda: "green and red" in editor.terminal, "its output is shown")
    wait_for(lambda: len(set(editor.terminal_colours("green", "red"))) == 2, "in two colours")
    editor.page.locator(".terminal-wrapper.active .xterm-screen").click()
    editor.type("ignored")
    editor.screenshot(f"agents-terminal-{agent.replace(' ', '-')}")
    editor.press("Control+c")
    wait_for(lambda: not editor.processes("sleep 1000"), "Ctrl+C ends what runs")
    wait_for(lambda: any("The command ended with" in line for line in editor.terminal), "it is told")
    assert not any("ignored" in line for line in editor.terminal)
    ready(editor)


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


@scripted(
    initialized_2(),
    NEW,
    {"take": "session/prompt", "result": {}},
    updates(
        {"sessionUpdate": "state_update", "state": "running"},
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c1",
            "title": "Build",
            "kind": "execute",
            "status": "in_progress",
            "capabilities": {"cancel": {}},
            "content": [{"type": "terminal", "terminalId": "t1"}],
        },
        {
            "sessionUpdate": "terminal_update",
            "terminalId": "t1",
            "command": "make \x1b]0;evil\x07all",
            "size": {"cols": 60, "rows": 12},
            "output": {"data": b64("grüß".encode() + b"\xf0\x9f")},
        },
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t1", "data": b64(b"\x91\x8b \x1b[3")},
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t1", "data": b64(b"5mdone\x1b[0m\n")},
    ),
    {"take": "tool_call/cancel", "result": {}},
    updates(
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c1",
            "status": "cancelled",
            "capabilities": None,
        },
        {"sessionUpdate": "terminal_update", "terminalId": "t1", "exitStatus": {"exitCode": 130}},
        {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"},
    ),
)
def test_a_call_is_stopped_alone_and_its_terminal_shown(editor: Editor, record: Path) -> None:
    editor.palette("ACP: Focus on Session View")
    editor.prompt("build")
    wait_for(lambda: any("Build" in row for row in editor.tree), "the call is listed")
    editor.press_in_tree("Build", "Show Agent Terminal…")
    wait_for(lambda: any("grüß👋 done" in line for line in editor.terminal), "split characters are whole")
    assert any("make" in line and "all" in line for line in editor.terminal)
    editor.screenshot("agents-call")
    editor.press_in_tree("Build", "Stop This Call")
    wait_for(lambda: any("Build" in row and "cancelled" in row for row in editor.tree), "it is cancelled")
    assert received(record, "tool_call/cancel")[0]["params"] == {"sessionId": "s1", "toolCallId": "c1"}
    wait_for(lambda: any("ended with 130" in line for line in editor.terminal), "and its terminal has ended")
    ready(editor)


# -- notices, pictures, the end --------------------------------------------------------------------


def png() -> bytes:
    """One red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0\xff\0\0")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


NOTICES = [
    ("info", "Index rebuilt", "[click](command:workbench.action.quit)"),
    ("warning", "Nearly out of tokens", "5% are left"),
    ("error", "The model is gone", None),
]


@scripted(
    initialized_2(prompt={"image": {}}),
    NEW,
    {"take": "session/prompt", "result": {}},
    updates(
        {"sessionUpdate": "state_update", "state": "running"},
        *(
            {"sessionUpdate": "notice", "severity": severity, "title": title, "description": text}
            for severity, title, text in NOTICES
        ),
        {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"},
    ),
)
def test_a_picture_is_attached_and_notices_are_shown_and_the_agent_stopped(
    editor: Editor, folder: Path, record: Path
) -> None:
    (folder / "shot.png").write_bytes(png())
    editor.palette("ACP: New Session")
    wait_for(lambda: received(record, "session/new"), "there is a session")
    editor.palette("ACP: Prompt Agent…")
    editor.quick_input().wait_for()
    editor.quick_input().fill("what is this?")
    editor.press_button("Attach Files…")
    wait_for(lambda: "Attach Files" in editor.input_title, "files are asked for")
    editor.quick_input().fill(str(folder / "shot.png"))
    editor.press("Enter")
    wait_for(lambda: "with shot.png" in editor.input_says, "it is attached", PATIENCE)
    editor.screenshot("agents-picture")
    assert editor.quick_input().input_value() == "what is this?"
    editor.press("Enter")
    wait_for(lambda: received(record, "session/prompt"), "the prompt is there")
    text, image = received(record, "session/prompt")[0]["params"]["prompt"]
    assert text["text"] == "what is this?"
    assert (image["type"], image["mimeType"]) == ("image", "image/png")
    assert base64.b64decode(image["data"]) == png()
    for _, title, _ in NOTICES:
        wait_for(lambda title=title: editor.notification(title).count(), f"“{title}” is shown")
    assert not editor.notification("Index rebuilt").locator(".notification-list-item-message a").count()
    editor.screenshot("agents-notices")
    ready(editor)
    editor.palette("ACP: Stop Agent")
    wait_for(lambda: editor.status_says("not started"), "it is stopped")
    assert not editor.processes("scripted_agent.py")
