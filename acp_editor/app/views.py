"""What each surface holds: rendered from the state as it is now."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import anyio

from acp_editor.app import render, snapshot
from acp_editor.app.permissions import Pending
from acp_editor.app.sessions import Entry
from acp_editor.core import limits, places, safe
from acp_editor.core import text as lines
from acp_editor.core.model import ToolCall
from acp_editor.lsp import messages

if TYPE_CHECKING:
    from acp_editor.app.app import App

_MOST_PERMISSIONS = 100
_PERMISSIONS_ROOM = 1_000_000
"""About the bytes of those that are shown, of which there is one in any case."""
_KEPT_LINES = 64


class Views:
    """Reads what the application has; keeps nothing but where the lines of a text begin."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._lines: dict[str, lines.Lines] = {}

    def state(self) -> messages.State:
        app = self._app
        sessions = list(app.sessions)
        shares = snapshot.shares(entry.session for entry in sessions)
        return {
            "agents": app.agents.render(app.scrub),
            "activeSessionId": app.sessions.active.key if app.sessions.active else None,
            "sessions": [self._session(entry, share) for entry, share in zip(sessions, shares, strict=True)],
            "permissions": self.permissions(),
            **app.review.render(),
            "follow": self._follow_state(),
            "faults": app.faults.render(app.secrets),
        }

    def _session(self, entry: Entry, share: snapshot.Share) -> messages.Session:
        told = snapshot.rows(entry.session, share)
        options = snapshot.first(self._app.options.rows(entry), share.lists)
        return render.session(
            entry.session,
            self.session_state(entry),
            told,
            [self.call(entry, call, look=whole) for call, whole in told.calls],
            list(options),
            len(entry.queue),
        )

    def status(self) -> messages.StatusParams:
        app = self._app
        entry = app.sessions.active
        slot = app.agents.find(entry.agent if entry else app.settings.agent)
        now = anyio.current_time()
        return {
            "agent": entry.agent if entry else app.settings.agent,
            "state": slot.state if slot else "stopped",
            "error": app.scrub(slot.error) if slot and slot.error is not None else None,
            "title": render.words(slot.info.title) if slot and slot.info else None,
            "can": render.abilities(slot.info.capabilities) if slot and slot.info else [],
            "session": None
            if entry is None
            else {
                "sessionId": entry.key,
                "title": render.words(entry.session.title),
                "state": self.session_state(entry),
                "stopReason": render.words(entry.session.stop_reason),
                "usage": render.usage(entry.session.usage),
            },
            "follow": {
                "enabled": app.following.policy.enabled,
                "paused": app.following.policy.paused(now),
            },
            "permissions": len(app.permissions),
            "changes": app.review.count,
        }

    def session_state(self, entry: Entry) -> str:
        if self._app.permissions.of(entry):
            return "requires_action"
        return entry.session.state if entry.session.state != "idle" or not entry.running else "running"

    def session_params(self, entry: Entry) -> messages.SessionParams:
        return {
            "sessionId": entry.key,
            "plan": render.plan(entry.session.plan),
            "commands": render.commands(entry.session.commands),
            "config": self._app.options.rows(entry),
            "usage": render.usage(entry.session.usage),
            "title": render.words(entry.session.title),
            "state": self.session_state(entry),
        }

    def call(self, entry: Entry, call: ToolCall, *, look: bool = True) -> messages.ToolCall:
        """`look` where it is now, or say where it was at the last look."""
        now = anyio.current_time() if look else None
        found = self._app.whereabouts.of(entry, call.tool_call_id, now)
        rendered = render.tool_call(call, self._locations(found))
        if fault := self._app.judge.unasked.fault(entry, call.tool_call_id):
            rendered["fault"] = fault
        return rendered

    def _locations(self, found: tuple[places.Place, ...]) -> list[messages.Location]:
        return [
            render.location(
                place,
                self._app.uri(place.path),
                None if place.line is None else self.line_length(place.path, place.line),
            )
            for place in found
        ]

    def line_length(self, path: str, line: int) -> int:
        """In units of the negotiated encoding."""
        index = self._index(path)
        return index.end_of(line).character if index else 0

    def _index(self, path: str) -> lines.Lines | None:
        text = self._app.texts.read(path)
        if text is None:
            return None
        index = self._lines.get(path)
        if index is None or index.text is not text:
            if len(self._lines) >= _KEPT_LINES:
                self._lines.clear()
            index = self._lines[path] = lines.Lines(text, self._app.editor.documents.encoding)
        return index

    def permissions(self) -> list[messages.Permission]:
        """The oldest first, as many as a person can look through; the next follow as these are answered."""
        found: list[messages.Permission] = []
        room = _PERMISSIONS_ROOM
        for pending in itertools.islice(self._app.permissions, _MOST_PERMISSIONS):
            found.append(self.permission(pending))
            room -= limits.weight(found[-1], room)
            if room < 0:
                break
        return found

    def permission(self, pending: Pending) -> messages.Permission:
        request, entry = pending.request, pending.entry
        call = entry.session.tool_call(pending.tool_call_id) if pending.tool_call_id else None
        found = self._app.whereabouts.of(entry, call.tool_call_id, anyio.current_time()) if call else ()
        command = request.command or (self._app.judge.command_of(entry, call) if call else None)
        title = request.title or (call.title if call else None) or _untitled(entry, call)
        rendered: messages.Permission = {
            "requestId": pending.request_id,
            "sessionId": entry.key,
            "toolCallId": pending.tool_call_id,
            "title": safe.plain(title),
            "kind": render.words(call.kind) if call else None,
            "description": render.words(request.description),
            "command": render.words(command),
            "options": [
                {"optionId": o.option_id, "name": render.words(o.name), "kind": o.kind}
                for o in request.options
            ],
            "locations": self._locations(found),
            "diffs": self._app.proposals.of(pending, call),
        }
        verdict = pending.verdict
        rendered["reason"] = verdict.reason
        rendered["readOnly"] = verdict.read_only
        if verdict.dangerous:
            rendered["dangerous"] = verdict.dangerous
        if verdict.outside:
            rendered["outside"] = [safe.plain(path) for path in verdict.outside]
        offers = self._app.judge.offers(pending.call)
        # What cannot be shown as it is cannot be agreed to.
        rendered["offers"] = [
            {**offer, "label": render.words(offer["label"])}
            for offer in offers
            if safe.visible(offer["rule"]) == offer["rule"]
        ]
        return rendered

    def decorations(self, path: str) -> list[messages.Decoration]:
        """Marks of calls and of hunks, in the order of their lines."""
        app = self._app
        found: list[messages.Decoration] = []
        spots = app.whereabouts.at(path) if app.settings.decorations.enabled else []
        if spots:
            index = self._index(path)
            for spot in spots:
                found += spot.drawn(path, index)
        found += app.review.decorations(path)
        return sorted(found, key=lambda mark: mark["range"]["start"]["line"])

    def _follow_state(self) -> messages.Follow:
        policy = self._app.following.policy
        target = policy.current
        location: messages.FollowLocation | None = None
        if target is not None:
            range_ = None
            if target.line is not None:
                range_ = render.line_range(target.line, self.line_length(target.path, target.line))
            location = {"uri": self._app.uri(target.path), "range": range_}
        return {
            "enabled": policy.enabled,
            "paused": policy.paused(anyio.current_time()),
            "location": location,
        }


def _untitled(entry: Entry, call: ToolCall | None) -> str:
    if call is None:
        return f"{entry.agent} asks for permission"
    return (
        f"{entry.agent} asks to {call.kind}"
        if call.kind != "other"
        else f"{entry.agent} asks to run {call.name or 'a tool'}"
    )
