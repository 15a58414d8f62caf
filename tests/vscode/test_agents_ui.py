"""What agents ask and show beside their edits: questions, logins, sessions, terminals, notices, pictures."""

from __future__ import annotations

import base64
import json
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from driver import PATIENCE, Editor, wait_for

from cached import ROOT

AGENT = ROOT / "tests/scripted_agent.py"
Step = dict[str, Any]

pytestmark = pytest.mark.timeout(240)

# -- scripted agents -------------------------------------------------------------------------------


def initialized(capabilities: Step | None = None, **more: Any) -> Step:
    info = {"name": "scripted", "title": "Scripted", "version": "1"}
    answer = {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": capabilities or {}, **more}
    return {"take": "initialize", "result": answer}


def initialized_2(**session: Any) -> Step:
    info = {"name": "scripted", "title": "Scripted", "version": "2"}
    return {
        "take": "initialize",
        "result": {"protocolVersion": 2, "info": info, "capabilities": {"session": session}},
    }


NEW: Step = {"take": "session/new", "result": {"sessionId": "s1"}}
PROMPTED: Step = {"take": "session/prompt"}
DONE: Step = {"answer": "session/prompt", "result": {"stopReason": "end_turn"}}


def asks(ident: int, message: str, **params: Any) -> Step:
    asked = {"sessionId": "s1", "message": message, **params}
    return {"say": [{"id": ident, "method": "elicitation/create", "params": asked}]}


def updates(*found: Step) -> Step:
    return {
        "say": [
            {"method": "session/update", "params": {"sessionId": "s1", "update": update}} for update in found
        ]
    }


@pytest.fixture
def steps() -> list[Step]:
    """The script of the agent; none: the built-in one is used."""
    return []


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """What the agent received."""
    return tmp_path / "received.ndjson"


@pytest.fixture
def agent(steps: list[Step]) -> str:
    return "scripted" if steps else "demo"


@pytest.fixture
def settings(tmp_path: Path, steps: list[Step], record: Path, agent: str) -> dict[str, object]:
    script = tmp_path / "script.json"
    text = json.dumps([{"record": str(record)}, *steps]).replace("{tmp}", str(tmp_path))
    script.write_text(text)
    agents = {
        "scripted": {"command": sys.executable, "args": [str(AGENT), str(script)]},
        "demo in version 1": {
            "command": sys.executable,
            "args": ["-m", "acp_editor", "demo-agent"],
            "protocol": 1,
        },
    }
    return {
        "acpEditor.agents": agents,
        "acpEditor.agent": agent,
        "terminal.integrated.gpuAcceleration": "off",  # so that a test can read it
        "terminal.integrated.minimumContrastRatio": 1,
        "workbench.colorTheme": "Default Dark Modern",
    }


def received(record: Path, method: str | None = None, ident: int | None = None) -> list[Any]:
    """Messages of that method, or answers to that request."""
    if not record.exists():
        return []
    messages = [json.loads(line) for line in record.read_text().splitlines()]
    if method is not None:
        return [message for message in messages if message.get("method") == method]
    return [message["result"] for message in messages if "method" not in message and message["id"] == ident]


def ready(editor: Editor) -> None:
    wait_for(lambda: editor.status_says("ready"), "the turn has ended")


def scripted(*steps: Step) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("steps", [list(steps)], ids=["scripted"])


# -- questions -------------------------------------------------------------------------------------

FORM = {
    "type": "object",
    "properties": {
        "name": {
            "type": "string",
            "title": "Name",
            "description": "of the release",
            "pattern": "^[a-z-]+$",
            "maxLength": 12,
        },
        "mail": {"type": "string", "title": "Mail", "format": "email"},
        "count": {"type": "integer", "title": "Copies", "minimum": 1, "maximum": 5, "default": 2},
        "ratio": {"type": "number", "title": "Ratio"},
        "signed": {"type": "boolean", "title": "Sign it?", "default": True},
        "channel": {
            "type": "string",
            "title": "Channel",
            "oneOf": [
                {"const": "dev", "title": "Development"},
                {"const": "beta", "title": "Beta"},
                {"const": "stable", "title": "Stable"},
            ],
            "default": "beta",
        },
        "targets": {
            "type": "array",
            "title": "Targets",
            "items": {"type": "string", "enum": ["linux", "mac", "windows"]},
            "minItems": 1,
            "maxItems": 2,
            "default": ["linux"],
        },
    },
    "required": ["name", "count", "signed", "channel", "targets"],
}


@scripted(
    initialized(),
    NEW,
    PROMPTED,
    asks(7, "How shall it be released?", mode="form", requestedSchema=FORM),
    {"take_answer": 7},
    DONE,
)
def test_a_form_is_asked_step_by_step(editor: Editor, record: Path) -> None:
    editor.prompt("release it")
    wait_for(lambda: editor.status_says("waiting"), "the status bar says that the agent waits")
    wait_for(lambda: editor.notification("How shall it be released?").count(), "the question is told")
    editor.screenshot("agents-form-asked")
    editor.press_on("How shall it be released?", "Answer…")

    def step(number: int) -> None:
        wait_for(lambda: f"({number}/7)" in editor.input_title, f"step {number} is asked")

    step(1)
    assert "Name: of the release" in editor.input_says
    editor.press("Enter")
    wait_for(lambda: "Name: an answer is needed" in editor.input_says, "what is required cannot be left out")
    editor.answer("No Capitals")
    wait_for(lambda: "Name: it has to match" in editor.input_says, "what does not match is told")
    editor.screenshot("agents-form-text")
    editor.answer("first-light")
    step(2)
    editor.answer("nobody")
    wait_for(lambda: "a mail address" in editor.input_says, "the format is told")
    editor.answer("")
    step(3)
    assert editor.quick_input().input_value() == "2"
    editor.answer("6")
    wait_for(lambda: "Copies: at most 5" in editor.input_says, "the bounds are told")
    editor.answer("3")
    step(4)
    editor.press_button("Back")
    step(3)
    assert editor.quick_input().input_value() == "3"
    editor.press("Enter")
    step(4)
    editor.answer("0.5")
    step(5)
    editor.screenshot("agents-form-boolean")
    editor.press("Enter")
    step(6)
    wait_for(lambda: editor.rows() == ["Development", "Beta", "Stable"], "all that is required, and no more")
    editor.screenshot("agents-form-choice")
    editor.press("Enter")
    step(7)
    editor.pick("mac")
    editor.pick("windows")
    editor.press("Enter")
    wait_for(
        lambda: editor.quick_input().get_attribute("placeholder") == "Targets: at most 2", "not too many"
    )
    editor.screenshot("agents-form-choices")
    editor.pick("linux")
    editor.press("Enter")
    wait_for(lambda: received(record, ident=7), "the agent has its answer")
    assert received(record, ident=7) == [
        {
            "action": "accept",
            "content": {
                "name": "first-light",
                "count": 3,
                "ratio": 0.5,
                "signed": True,
                "channel": "beta",
                "targets": ["mac", "windows"],
            },
        }
    ]
    ready(editor)


SHORT = {
    "type": "object",
    "properties": {"a": {"type": "string", "title": "First"}, "b": {"type": "boolean", "title": "Second"}},
}


@scripted(
    initialized(),
    NEW,
    PROMPTED,
    asks(7, "To be declined?", mode="form", requestedSchema=SHORT),
    {"take_answer": 7},
    asks(8, "To be left?", mode="form", requestedSchema=SHORT),
    {"take_answer": 8},
    asks(9, "To be withdrawn?", mode="form", requestedSchema=SHORT),
    {"take": "session/cancel"},
    {"answer": "session/prompt", "result": {"stopReason": "cancelled"}},
    {"take": "session/prompt"},
    asks(10, "Nothing but a yes?", mode="form", requestedSchema={"type": "object", "properties": {}}),
    {"take_answer": 10},
    DONE,
)
def test_a_question_is_declined_left_withdrawn_or_simply_accepted(editor: Editor, record: Path) -> None:
    editor.prompt("ask")
    editor.press_on("To be declined?", "Decline")
    wait_for(lambda: received(record, ident=7) == [{"action": "decline"}], "it is declined")
    editor.palette("ACP: Answer Question…")
    wait_for(lambda: "(1/2)" in editor.input_title, "it can be answered without its notification")
    editor.press("Escape")
    wait_for(lambda: received(record, ident=8) == [{"action": "cancel"}], "it was left")
    editor.press_on("To be withdrawn?", "Answer…")
    wait_for(lambda: "(1/2)" in editor.input_title, "it is asked")
    editor.answer("half a")
    wait_for(lambda: "(2/2)" in editor.input_title, "and the next field")
    editor.press("Control+Alt+a", "Control+Alt+c")
    wait_for(lambda: received(record, ident=9) == [{"action": "cancel"}], "it goes with its turn")
    wait_for(lambda: not editor.quick_input().count(), "and so does the input")
    ready(editor)
    editor.prompt("again")
    editor.press_on("Nothing but a yes?", "Accept")
    wait_for(lambda: received(record, ident=10) == [{"action": "accept", "content": {}}], "it is accepted")


QUERY = "?next=https%3A%2F%2Fx.example%2F%3Fa%3D1%26b%3D2&state=a%2Bb"


@scripted(
    initialized(),
    NEW,
    PROMPTED,
    asks(7, "Log in there", mode="url", elicitationId="e1", url=f"https://login.example/login{QUERY}"),
    {"take_answer": 7},
    {"say": [{"method": "elicitation/complete", "params": {"elicitationId": "e1"}}]},
    asks(
        8, "And there", mode="url", elicitationId="e2", url=f"https://login.example/{'long/' * 60}end{QUERY}"
    ),
    {"take_answer": 8},
    asks(9, "Or elsewhere", mode="url", elicitationId="e3", url="https://login.example/elsewhere"),
    {"take_answer": 9},
    DONE,
)
def test_an_address_is_shown_whole_and_opened_only_with_consent(editor: Editor, record: Path) -> None:
    opened: list[str] = []
    editor.page.context.on("request", lambda request: opened.append(request.url))

    def visited(words: str) -> list[str]:
        return [url for url in opened if url.startswith("https://login.example/") and words in url]

    editor.prompt("log in")
    wait_for(lambda: editor.notification(f"https://login.example/login{QUERY}").count(), "it is shown whole")
    editor.screenshot("agents-address")
    assert not visited("")
    editor.press_on("Log in there", "Open in the Browser")
    editor.press_in_dialog("Open")  # VS Code asks about domains that it does not know
    wait_for(lambda: received(record, ident=7) == [{"action": "accept"}], "the agent knows")
    wait_for(lambda: visited("login"), "it is opened")
    assert visited("login")[0].endswith(QUERY)
    wait_for(lambda: editor.notification("is done").count(), "what came of it is told")
    editor.press_on("And there", "Show the Address…")
    wait_for(lambda: editor.dialog.count(), "the dialog is there")
    assert f"{'long/' * 60}end{QUERY}" in editor.dialog.inner_text()
    editor.screenshot("agents-long-address")
    assert not visited("long")
    editor.press_in_dialog("Open in the Browser")
    editor.press_in_dialog("Open")
    wait_for(lambda: received(record, ident=8) == [{"action": "accept"}], "the agent knows")
    editor.press_on("Or elsewhere", "Decline")
    wait_for(lambda: received(record, ident=9) == [{"action": "decline"}], "the agent knows")
    assert not visited("elsewhere")
    ready(editor)


# -- logins ----------------------------------------------------------------------------------------

REFUSED = {"code": -32000, "message": "Authentication required"}


@scripted(
    initialized({"auth": {"logout": {}}}, authMethods=[{"id": "key", "name": "API key"}]),
    {"take": "session/new", "error": REFUSED},
    {"take": "authenticate", "result": {}},
    NEW,
    PROMPTED,
    DONE,
    {"take": "logout", "result": {}},
)
def test_an_agent_that_needs_a_login_is_logged_in_to_and_out_of(editor: Editor, record: Path) -> None:
    editor.prompt("hello")
    wait_for(lambda: editor.notification("needs a login").count(), "it is told")
    editor.screenshot("agents-login")
    editor.press_on("needs a login", "Log In…")
    wait_for(lambda: editor.notification("Logged in to scripted").count(), "it says that it worked")
    assert received(record, "authenticate")[0]["params"] == {"methodId": "key"}
    editor.prompt("hello")
    wait_for(lambda: received(record, "session/prompt"), "the prompt is there")
    ready(editor)
    editor.palette("ACP: Log Out")
    wait_for(lambda: editor.notification("Logged out of scripted").count(), "and out again")
    assert received(record, "logout")


WAYS = [
    {"id": "key", "name": "API key"},
    {"id": "tty", "name": "In the terminal", "type": "terminal", "args": ["--login", "{tmp}/code"]},
]


@scripted(initialized(authMethods=WAYS))
def test_a_login_in_a_terminal_is_typed_there_and_the_agent_started_anew(
    editor: Editor, tmp_path: Path, record: Path
) -> None:
    editor.palette("ACP: Log In…")
    wait_for(lambda: any("API key" in row for row in editor.rows()), "the ways are listed")
    editor.screenshot("agents-login-ways")
    editor.pick("In the terminal")
    wait_for(lambda: any("Code:" in line for line in editor.terminal), "the agent's own program asks")
    editor.screenshot("agents-login-terminal")
    editor.type("1234")
    editor.press("Enter")
    wait_for(lambda: editor.notification("Logged in to scripted").count(), "it says that it worked")
    assert (tmp_path / "code").read_text() == "1234"
    wait_for(lambda: len(received(record, "initialize")) == 2, "the agent was started again")


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
