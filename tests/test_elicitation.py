"""An agent's questions: forms as fields, answers that fit, and asking by plain messages."""

from __future__ import annotations

from typing import Any, cast

import anyio
import pytest

from acp_editor.app import patterns
from acp_editor.app.questions import Questions
from acp_editor.app.sessions import Sessions
from acp_editor.core import elicitation
from acp_editor.core.model import Elicitation, Json

pytestmark = pytest.mark.anyio


def form(required: tuple[str, ...] = (), **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(required)}


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, "text"),
        ({"type": "boolean"}, "boolean"),
        ({"type": "integer"}, "integer"),
        ({"type": "number"}, "number"),
        ({"type": "string", "enum": ["a", "b"]}, "choice"),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}, "choice"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, "choices"),
        ({"type": "array", "items": {"anyOf": [{"const": "a"}]}}, "choices"),
        ({"type": "of the future"}, "text"),
        ("nonsense", "text"),
    ],
)
def test_kinds_of_fields(schema: Json, kind: str) -> None:
    (field,) = elicitation.fields(form(f=schema))
    assert field.kind == kind
    assert field.title == "f"


@pytest.mark.parametrize("schema", [None, [], {}, {"properties": []}, {"properties": None}])
def test_a_form_without_fields(schema: Json) -> None:
    assert elicitation.fields(schema) == ()


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "boolean"}, [True, False], [1, "true"]),
        ({"type": "integer", "minimum": 1, "maximum": 3}, [1, 3], [0, 4, 1.5, True, "1"]),
        ({"type": "number"}, [1, 1.5], ["1", False]),
        ({"enum": ["a"]}, ["a"], ["b", ["a"], 1]),
        (
            {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1},
            [[], ["a"]],
            [["c"], ["a", "b"], "a"],
        ),
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["xy", "xyz"], ["x", "vxyz", 1]),
        ({"type": "string", "format": "email"}, ["a@b.example"], ["a", "a b@c", "@b"]),
        ({"type": "string", "format": "uri"}, ["https://x.example/a?b", "urn:a"], ["x.example", "a b:c"]),
        ({"type": "string", "format": "date"}, ["2024-02-29"], ["2023-02-29", "29.2.2024", "20240229"]),
        (
            {"type": "string", "format": "date-time"},
            ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00.5+01:00"],
            ["2024-02-29", "2024-02-29T12:00:00", "noon"],
        ),
        ({"type": "string", "format": "of the future"}, ["anything"], []),
    ],
)
def test_answers_that_fit_and_that_do_not(schema: Json, good: list[Json], bad: list[Json]) -> None:
    fields = elicitation.fields(form(f=schema))
    assert all(elicitation.problems(fields, {"f": value}) == [] for value in good)
    assert all(len(elicitation.problems(fields, {"f": value})) == 1 for value in bad)


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [("^x", "xy", True), ("^x", "yx", False), ("(", "anything", True), ("\ud800", "ä", False)],
)
async def test_patterns_are_searched_for(pattern: str, text: str, fits: bool) -> None:
    assert await patterns.matches(pattern, text) is fits


async def test_a_pattern_that_never_ends_holds_nothing_up() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.sleep(0.01)
            ticks += 1

    async with anyio.create_task_group() as group:
        group.start_soon(tick)
        assert await patterns.matches("(a+)+$", "a" * 60 + "b", limit=1)
        group.cancel_scope.cancel()
    assert ticks > 20


def test_what_is_required_has_to_be_answered() -> None:
    fields = elicitation.fields(form(("a",), a={"type": "string"}, b={"type": "string"}))
    assert elicitation.problems(fields, {"b": "x"}) == ["a has to be answered."]


class PlainEditor:
    """An editor that has only messages; `answers` are the titles that the person picks."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, list[str]]] = []
        self.warned: list[str] = []
        self.opened: list[str] = []
        self.client = self

    def draws(self, surface: str) -> bool:
        return False

    async def choose(self, text: str, titles: list[str]) -> str | None:
        self.asked.append((text, list(titles)))
        return self.answers.pop(0)

    async def open_outside(self, url: str) -> None:
        self.opened.append(url)

    def warn(self, text: str) -> None:
        self.warned.append(text)


class PlainApp:
    def __init__(self, editor: PlainEditor) -> None:
        self.editor = editor
        self.sessions = Sessions()


class FormEditor(PlainEditor):
    """An editor with forms of its own."""

    def __init__(self, result: Json) -> None:
        super().__init__()
        self.result = result

    def draws(self, surface: str) -> bool:
        return surface == "elicitation"

    async def elicit(self, params: Any) -> Json:
        return self.result


async def asked(editor: PlainEditor, question: Elicitation) -> tuple[str, Any]:
    answer = await Questions(cast("Any", PlainApp(editor))).ask("agent", question)
    return answer.action, answer.content


async def test_every_option_is_a_button_of_its_own() -> None:
    options = [
        {"const": "1", "title": "Same"},
        {"const": "2", "title": "Same"},
        {"const": "3", "title": "Decline"},
        {"const": "4", "title": "a\u202eb"},
    ]
    question = Elicitation("Which?", "form", form(f={"oneOf": options}))
    editor = PlainEditor("Decline ")
    assert await asked(editor, question) == ("accept", {"f": "3"})
    titles = editor.asked[0][1]
    assert len(set(titles)) == 5
    assert "\u202e" not in "".join(titles)
    assert await asked(PlainEditor("Decline"), question) == ("decline", None)
    assert await asked(PlainEditor(None), question) == ("cancel", None)


async def test_what_messages_cannot_ask_is_left_to_its_default_or_not_answered() -> None:
    optional = Elicitation("?", "form", form(a={"type": "string", "default": "x"}, b={"type": "boolean"}))
    assert await asked(PlainEditor("No"), optional) == ("accept", {"a": "x", "b": False})
    editor = PlainEditor()
    assert await asked(editor, Elicitation("?", "form", form(("a",), a={"type": "string"}))) == (
        "cancel",
        None,
    )
    assert editor.warned


async def test_an_answer_that_does_not_match_the_pattern_is_not_sent() -> None:
    editor = FormEditor({"action": "accept", "content": {"f": "yx"}})
    assert await asked(editor, Elicitation("?", "form", form(f={"pattern": "^x"}))) == ("cancel", None)
    assert "^x" in editor.warned[0]
    editor = FormEditor({"action": "accept", "content": {"f": "xy"}})
    question = Elicitation("?", "form", form(f={"pattern": "^x"}))
    assert await asked(editor, question) == ("accept", {"f": "xy"})


async def test_questions_of_a_session_are_withdrawn_and_the_next_one_is_asked() -> None:
    editor = PlainEditor("Accept")
    held = anyio.Event()
    choose = editor.choose

    async def first_never_answered(text: str, titles: list[str]) -> str | None:
        if "first" in text:
            held.set()
            await anyio.sleep_forever()
        return await choose(text, titles)

    editor.choose = first_never_answered
    app = PlainApp(editor)
    questions = Questions(cast("Any", app))
    entry = app.sessions.seen("agent", "s1", "/")
    answers: dict[str, str] = {}

    async def ask(message: str, session_id: str | None) -> None:
        question = Elicitation(message, "form", form(), session_id=session_id)
        answers[message] = (await questions.ask("agent", question)).action

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(ask, "first", "s1")
            await held.wait()
            group.start_soon(ask, "second", "s1")
            group.start_soon(ask, "other", "s2")
            await anyio.wait_all_tasks_blocked()
            questions.withdraw(entry)
    assert answers == {"first": "cancel", "second": "cancel", "other": "accept"}
    entry.cancelled = True
    await ask("late", "s1")
    assert answers["late"] == "cancel"


async def test_an_address_is_shown_whole_and_opened_only_with_consent() -> None:
    url = "https://x.example/login?next=%2F&long=" + "y" * 500
    editor = PlainEditor("Open in the browser")
    assert (await asked(editor, Elicitation("Log in", "url", url=url)))[0] == "accept"
    assert url in editor.asked[0][0]
    assert editor.opened == [url]
    editor = PlainEditor("Decline")
    assert (await asked(editor, Elicitation("Log in", "url", url=url)))[0] == "decline"
    assert editor.opened == []


@pytest.mark.parametrize("url", ["file:///bin/sh", "javascript:x", "vscode://x", "", None])
async def test_other_addresses_are_declined_unasked(url: str | None) -> None:
    editor = PlainEditor()
    assert (await asked(editor, Elicitation("Log in", "url", url=url)))[0] == "decline"
    assert editor.warned
