"""Has permission requests decided: by rule, by the person in a message, or by the permission commands."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import anyio

from acp_editor.app.plain_questions import PlainQuestions
from acp_editor.app.sessions import Entry
from acp_editor.core.model import PermissionRequest
from acp_editor.lsp.protocol import CommandError

if TYPE_CHECKING:
    from acp_editor.app.app import App


class Asking:
    """Between the judge, who may decide at once, and the queue, where requests wait for the person."""

    def __init__(self, app: App) -> None:
        self.app = app
        self._deciding = anyio.Semaphore(4)
        """So that a thousand requests at once do not hold up all else; hooks may run side by side."""
        self._plainly = PlainQuestions(app)

    async def ask(self, entry: Entry, request: PermissionRequest) -> str | None:
        """Queues a request, or answers it by rule; None is `cancelled`."""
        call_id = request.tool_call.tool_call_id if request.tool_call else request.tool_call_id
        option_id = await self._decided(entry, request, call_id)
        if call_id is not None and not entry.closed:
            kind = next((o.kind for o in request.options if o.option_id == option_id), "cancelled")
            if self.app.judge.unasked.answered(entry, call_id, allowed=kind.startswith("allow")):
                self.app.surfaces.call_changed(entry, call_id)
        return option_id

    async def _decided(self, entry: Entry, request: PermissionRequest, call_id: str | None) -> str | None:
        if entry.closed or entry.cancelled:
            return None
        turn = entry.over if entry.running else None
        async with self._deciding:
            decision = await self.app.judge.decide(entry, request, call_id)
        # Hooks may take their time, and meanwhile the turn may have been cancelled.
        if entry.closed or entry.cancelled or (turn is not None and self._settles(entry, turn)):
            return None
        if not decision.asks:
            return decision.option_id
        pending = self.app.permissions.add(entry, request, call_id, decision.verdict, decision.call)
        if not self.app.editor.client.draws("permissions"):
            self.app.start(self._plainly.ask, pending)
        try:
            option_id = await self.app.permissions.wait(pending)
        finally:
            self.app.proposals.forget(pending)
        kind = next((o.kind for o in request.options if o.option_id == option_id), "cancelled")
        self.app.judge.note(decision.call, pending.verdict, kind)
        return option_id

    def _settles(self, entry: Entry, turn: anyio.Event) -> bool:
        """Whether the turn is over, and all that it asked with it; version 2 may ask outside of turns."""
        slot = self.app.agents.find(entry.agent)
        return turn.is_set() and (slot is None or slot.info is None or slot.info.protocol == 1)

    async def rules_changed(self) -> None:
        """A new rule answers also what waits already."""
        for pending in self.app.permissions:
            decision = await self.app.judge.decide(pending.entry, pending.request, pending.tool_call_id)
            if decision.option_id is not None:
                with contextlib.suppress(CommandError):  # answered meanwhile
                    self.app.permissions.answer(pending.request_id, decision.option_id)
