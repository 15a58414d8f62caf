"""What follows for everything else when a session, a turn, an agent or a permission changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_editor.acp.rpc import error_words
from acp_editor.app.agents import Slot
from acp_editor.app.sessions import Entry
from acp_editor.core import limits
from acp_editor.core.model import StateUpdate, is_object

if TYPE_CHECKING:
    from acp_editor.app.app import App


class Consequences:
    """Keeps nothing; each part changes its own state."""

    def __init__(self, app: App) -> None:
        self._app = app

    def state_changed(self, entry: Entry) -> None:
        app = self._app
        session = entry.session
        slot = app.agents.find(entry.agent)
        if session.state == "idle" and entry.running:
            if session.error is not None and slot is not None:
                error = session.error if is_object(session.error) else {}
                message = str(error.get("message") or "the turn failed")
                slot.error = error_words(message, error.get("data"))[: limits.WORDS]
            app.turns.ended(entry, slot.agent if slot else None)
        elif session.state != "idle" and not entry.running:
            app.turns.begun(entry)
        app.surfaces.session_changed(entry)
        app.surfaces.status_changed()

    async def turn_starts(self, entry: Entry) -> None:
        await self._app.review.turn_starts()

    def turn_begun(self, entry: Entry) -> None:
        self._app.review.turn_begun()

    def turn_over(self, entry: Entry) -> None:
        app = self._app
        app.surfaces.look()  # what the last updates said belongs to the turn that ends
        app.review.turn_over()
        app.surfaces.turn_over(entry)
        if not any(other.running for other in app.sessions if other is not entry):
            app.following.policy.rest()
        app.heap.freed()

    def agent_changed(self, slot: Slot) -> None:
        self._app.surfaces.status_changed()

    def agent_ended(self, slot: Slot, reason: str) -> None:
        app = self._app
        app.sessions.agent_gone(slot.name)
        for entry in app.sessions.of_agent(slot.name):
            entry.started = False
            entry.queue.clear()
            app.withdraw(entry, "withdrawn: its agent is gone")
            if entry.running:
                app.updated(entry, StateUpdate("idle", None, {"message": reason}))
            app.terminals.session_ended(entry)
        if slot.state == "failed":
            app.editor.warn(f"The agent {reason}")

    def permissions_changed(self, entry: Entry) -> None:
        self._app.surfaces.permissions_changed(entry)
        self._app.review.permissions_changed()

    def session_closed(self, entry: Entry) -> None:
        """What it does, asks, marks and shows is over."""
        app = self._app
        entry.queue.clear()
        slot = app.agents.find(entry.agent)
        if entry.running and slot is not None and slot.agent is not None:
            slot.agent.abandon(entry.own_id)  # a session of the same id may follow
        app.turns.ended(entry, None)
        app.withdraw(entry, "withdrawn: its session was closed")
        app.terminals.session_ended(entry)
        app.sessions.remove(entry)
        app.whereabouts.forget(entry)
        app.following.policy.forget(entry.key)
        app.judge.forget(entry)
        app.options.forget(entry)
        app.surfaces.forget(entry)
        app.surfaces.status_changed()
        app.heap.freed()
