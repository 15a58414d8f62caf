"""An agent's questions to the person: forms and addresses, by the editor's own input or plain messages."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio

from acp_editor.app import patterns
from acp_editor.core import elicitation, safe
from acp_editor.core.elicitation import Field
from acp_editor.core.model import Elicitation, ElicitationAnswer, Json, is_object
from acp_editor.lsp import messages

if TYPE_CHECKING:
    from acp_editor.app.app import App
    from acp_editor.app.sessions import Entry

logger = logging.getLogger(__name__)

CANCEL = ElicitationAnswer("cancel")
_MOST_BUTTONS = 12
_DECLINE = "Decline"


class Questions:
    """One after the other, so that no question hides another."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._turn = anyio.Lock()
        self._open: dict[anyio.CancelScope, tuple[str, str | None]] = {}
        """What waits for an answer, by the agent and its own name for the session."""

    async def ask(self, agent: str, question: Elicitation) -> ElicitationAnswer:
        """The person's answer; `cancel` where the question is withdrawn meanwhile."""
        entry = self._app.sessions.of(agent, question.session_id) if question.session_id else None
        if entry is not None and (entry.closed or entry.cancelled):
            return CANCEL
        with anyio.CancelScope() as scope:
            self._open[scope] = (agent, question.session_id)
            try:
                async with self._turn:
                    return await self._ask(agent, question)
            finally:
                del self._open[scope]
        return CANCEL

    def withdraw(self, entry: Entry) -> None:
        """The session's questions are not to be answered any more: the editor takes them away."""
        for scope, asker in self._open.items():
            if asker == (entry.agent, entry.own_id):
                scope.cancel()

    async def _ask(self, agent: str, question: Elicitation) -> ElicitationAnswer:
        """What does not fit the form is never sent."""
        form = elicitation.fields(question.schema) if question.mode == "form" else ()
        if question.mode == "url" and not _opens(question.url):
            self._app.editor.warn(
                f"{agent} wanted to open {safe.plain(question.url or 'nothing')}: not a web address."
            )
            return ElicitationAnswer("decline")
        if self._app.editor.client.draws("elicitation"):
            answer = await self._by_editor(agent, question, form)
        elif question.mode == "url":
            answer = await self._address(agent, question)
        else:
            answer = await self._by_messages(agent, question, form)
        if answer.action == "accept" and question.mode == "form":
            content = answer.content or {}
            wrong = elicitation.problems(form, content) or await _mismatches(form, content)
            if wrong:
                self._app.editor.warn(f"{agent} got no answer: {' '.join(wrong)}")
                return CANCEL
        return answer

    async def _by_editor(
        self, agent: str, question: Elicitation, form: tuple[Field, ...]
    ) -> ElicitationAnswer:
        params: messages.ElicitParams = {
            "agent": agent,
            "sessionId": question.session_id,
            "message": safe.visible(question.message),
            "mode": question.mode,
            "url": question.url,
            "fields": [_rendered(field) for field in form],
        }
        result: Json = await self._app.editor.elicit(params)
        if not is_object(result):
            return CANCEL
        content = result.get("content")
        match result.get("action"):
            case "accept":
                return ElicitationAnswer("accept", content if is_object(content) else None)
            case "decline":
                return ElicitationAnswer("decline")
            case _:
                return CANCEL

    async def _address(self, agent: str, question: Elicitation) -> ElicitationAnswer:
        assert question.url is not None
        text = f"{agent}: {safe.plain(question.message)}\n{safe.visible(question.url, keep='')}"
        match await self._app.editor.choose(text, ["Open in the browser", "Decline"]):
            case "Open in the browser":
                await self._app.editor.open_outside(question.url)
                return ElicitationAnswer("accept")
            case "Decline":
                return ElicitationAnswer("decline")
            case _:
                return CANCEL

    async def _by_messages(
        self, agent: str, question: Elicitation, form: tuple[Field, ...]
    ) -> ElicitationAnswer:
        """Choices and switches as buttons; a form that needs a text cannot be answered so."""
        answers: dict[str, Json] = elicitation.defaults(form)
        intro = f"{agent}: {safe.plain(question.message)}"
        for field in form:
            label = safe.plain(field.title)
            options: dict[str, Json] = {}
            for option in field.options:
                title = safe.plain(option.title) or safe.plain(option.value) or "(nothing)"
                while title in options or title == _DECLINE:  # every button its own
                    title += " "
                options[title] = option.value
            if field.kind == "boolean":
                options = {"Yes": True, "No": False}
            if field.kind not in ("boolean", "choice") or len(options) > _MOST_BUTTONS:
                if field.required and field.key not in answers:
                    self._app.editor.warn(f"{intro} (this editor has no way to ask for {label})")
                    return CANCEL
                continue
            title = await self._app.editor.choose(f"{intro}\n{label}", [*options, _DECLINE])
            if title is None:
                return CANCEL
            if title == _DECLINE:
                return ElicitationAnswer("decline")
            if title not in options:
                return CANCEL
            answers[field.key] = options[title]
        if not form:
            match await self._app.editor.choose(intro, ["Accept", "Decline"]):
                case "Accept":
                    pass
                case "Decline":
                    return ElicitationAnswer("decline")
                case _:
                    return CANCEL
        return ElicitationAnswer("accept", answers)


async def _mismatches(form: tuple[Field, ...], answers: Mapping[str, Json]) -> list[str]:
    return [
        f"{field.title} has to match {field.pattern}."
        for field in form
        if field.pattern is not None
        and isinstance(text := answers.get(field.key), str)
        and not await patterns.matches(field.pattern, text)
    ]


def _opens(url: str | None) -> bool:
    """Only the web's addresses: others could start programs."""
    return url is not None and urlsplit(url).scheme in ("http", "https")


def _rendered(field: Field) -> messages.ElicitField:
    return {
        "key": field.key,
        "kind": field.kind,
        "title": safe.plain(field.title),
        "description": safe.visible(field.description) if field.description else None,
        "required": field.required,
        "default": field.default,
        "options": [{"value": o.value, "title": safe.plain(o.title)} for o in field.options],
        "least": field.least,
        "most": field.most,
        "pattern": field.pattern,
        "format": field.format,
    }
