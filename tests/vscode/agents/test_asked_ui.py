"""What agents ask the person for: forms, addresses, logins."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_script import (
    DONE,
    NEW,
    PROMPTED,
    asks,
    initialized,
    ready,
    received,
    scripted,
)
from driver import Editor, wait_for

pytestmark = pytest.mark.timeout(240)


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
