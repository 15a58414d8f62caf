"""Permissions asked of an editor that draws none of ours: a message for each, a few at a time."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

import anyio

from acp_editor.app.permissions import Pending
from acp_editor.lsp.editor import CannotAsk
from acp_editor.lsp.protocol import CommandError
from acp_editor.policy.check import unanswered

if TYPE_CHECKING:
    from acp_editor.app.app import App

MOST_OPEN: Final = 3
"""Questions before the person at once; the others wait, and those settled meanwhile are never asked."""


class PlainQuestions:
    def __init__(self, app: App) -> None:
        self._app = app
        self._room = anyio.Semaphore(MOST_OPEN)

    async def ask(self, pending: Pending) -> None:
        """Returns once the request is settled or its question was dismissed."""
        async with self._room:
            if pending.done.is_set():
                return
            closed = anyio.Event()
            # Answered elsewhere, it makes room, but stays to be told so: few editors take a message back.
            self._app.start(self._question, pending, closed)
            async with anyio.create_task_group() as either:
                for event in (closed, pending.done):
                    either.start_soon(_wait, event, either.cancel_scope)

    async def _question(self, pending: Pending, closed: anyio.Event) -> None:
        """The options are the message's buttons."""
        titles: dict[str, str] = {}
        for option in pending.request.options:
            title = option.name or option.kind
            while title in titles:
                title += " "
            titles[title] = option.option_id
        rendered = self._app.views.permission(pending)
        text = rendered["title"] + (f"\n{rendered['command']}" if rendered["command"] else "")
        try:
            title = await self._app.editor.ask_person(f"{pending.entry.agent}: {text}", list(titles))
            if title is not None:
                self._app.permissions.answer(pending.request_id, titles.get(title, ""))
        except CannotAsk as error:
            self._nobody(pending, error)
        except CommandError as error:
            self._app.editor.warn(f"Too late: {error}.")
        finally:
            closed.set()

    def _nobody(self, pending: Pending, error: CannotAsk) -> None:
        """The editor has no way to ask: what waits for the person is denied, now and from now on."""
        self._app.judge.somebody = False
        self._app.warn_once(f"The editor cannot ask you, so what would be asked is denied: {error}")
        for waiting in (pending, *self._app.permissions):
            waiting.verdict = unanswered(waiting.verdict)
            with contextlib.suppress(CommandError):  # answered meanwhile
                self._app.permissions.deny(waiting)


async def _wait(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()
