"""What editors see: each surface rendered from the state when it is sent, whole for its key."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING

import anyio

from acp_editor.app import render, transcript
from acp_editor.app.permissions import Pending
from acp_editor.app.progress import Progress
from acp_editor.app.publisher import Publisher
from acp_editor.app.sessions import Entry
from acp_editor.core import follow, places, safe
from acp_editor.core import text as lines
from acp_editor.core.calls import bare
from acp_editor.core.model import ToolCall
from acp_editor.lsp import messages
from acp_editor.lsp.protocol import CommandError

if TYPE_CHECKING:
    from acp_editor.app.app import App

TICK = 0.03
"""Seconds between two looks at where changed calls are; many changes of one call are one look."""

_MOST_LOOKS = 100
"""Calls that are looked at in one go: a few milliseconds, in which nothing else happens."""
_MOST_NOTICES = 10
"""Notices told at one time; the snapshot has more."""
_MOST_PERMISSIONS = 100
_KEPT_LINES = 64


class Surfaces:
    """Keeps what is dirty; `run` sends it, keeps places fresh and lets marks fade."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._publisher = Publisher(self._send, app.editor.drained)
        self._progress = Progress(app.editor)
        self._read: dict[str, transcript.Transcript] = {}
        """The documents of sessions that the editor has read: only those have to be read again."""
        self._notices: Counter[str] = Counter()
        self._lines: dict[str, lines.Lines] = {}
        self._wake = anyio.Event()
        self._marked: set[str] = set()

    # -- what changed ------------------------------------------------------------------------------

    def call_changed(self, entry: Entry, call_id: str) -> None:
        self._app.whereabouts.touch(entry, call_id)
        self._wake.set()
        if self._app.editor.client.draws("toolCalls"):
            self._publisher.mark(("toolCall", entry.key, call_id))
        if not self._app.editor.client.draws("status"):
            self.status_changed()  # the progress tells what the agent is at

    def session_changed(self, entry: Entry) -> None:
        if self._app.editor.client.draws("session"):
            self._publisher.mark(("session", entry.key))
        self._reread(entry)

    def transcript_changed(self, entry: Entry, what: str) -> None:
        if what == "notice":
            self._notices[entry.key] += 1
            self._publisher.mark(("notice", entry.key))
        self._reread(entry)

    def _reread(self, entry: Entry) -> None:
        if entry.key in self._read:
            self._publisher.mark(("transcript", entry.key))

    def status_changed(self) -> None:
        self._publisher.mark(("status",))

    def permissions_changed(self, entry: Entry) -> None:
        self._publisher.mark(("permissions",))
        self.session_changed(entry)
        self.status_changed()

    def changes_changed(self) -> None:
        self._publisher.mark(("changes",))
        self.status_changed()

    def decorations_changed(self, path: str) -> None:
        self._publisher.mark(("decorations", path))

    def text_changed(self, path: str) -> None:
        if path in self._marked:
            self.decorations_changed(path)

    def settings_changed(self) -> None:
        for path in [*self._app.whereabouts.paths(), *self._marked]:
            self.decorations_changed(path)
        self._app.options.changed()
        self.status_changed()
        self._wake.set()

    def document_changed(self, uri: str) -> None:
        """One of our read-only documents is another text now."""
        self._publisher.mark(("document", uri))

    def turn_over(self, entry: Entry) -> None:
        self.session_changed(entry)
        self.status_changed()

    # -- running -----------------------------------------------------------------------------------

    async def run(self) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._publisher.run)
            group.start_soon(self._keep_places)
            group.start_soon(self._progress.run)

    def look(self, most: int | None = None) -> None:
        """Looks at the calls that have changed: where they are, for following and for the review."""
        spots = self._app.whereabouts.refresh(anyio.current_time(), most)
        for spot in spots:
            self._follow(spot.entry, spot.call, spot.places)
            self._app.review.call_changed(spot.call, spot.entry.cwd)
        for entry, call_id in self._app.judge.watch((spot.entry, spot.call) for spot in spots):
            self._publisher.mark(("toolCall", entry.key, call_id))

    async def _keep_places(self) -> None:
        app = self._app
        while True:
            self._wake = anyio.Event()
            now = anyio.current_time()
            following = app.whereabouts.fade(now, app.settings.decorations.fade_after)
            if app.whereabouts.stale:
                self.look(_MOST_LOOKS)
                # With as many again waiting, there is no need to wait for more of the same.
                await anyio.sleep(TICK / 2 if app.whereabouts.stale else TICK)
                continue
            with anyio.move_on_after(None if following is None else max(TICK, following - now)):
                await self._wake.wait()

    def _follow(self, entry: Entry, call: ToolCall, found: tuple[places.Place, ...]) -> None:
        app = self._app
        if app.sessions.active is not None and entry is not app.sessions.active:
            return  # one view follows one session
        target = follow.target_of(place for place in found if app.inside(place.path))
        key = (entry.key, call.tool_call_id)
        app.following.policy.saw(follow.Sighting(key, call.kind, call.active, target, call.replayed))
        app.following.nudge()

    # -- sending -----------------------------------------------------------------------------------

    def _send(self, key: Hashable) -> None:
        editor, client = self._app.editor, self._app.editor.client
        match key:
            case ("status",):
                if client.draws("status"):
                    editor.notify("acpEditor/status", self.status())
                elif client.progress:
                    self._progress.show(self._app.sessions)
            case ("toolCall", str(session), str(call_id)):
                entry = self._app.sessions.get(session)
                call = entry.session.tool_call(call_id) if entry else None
                if entry and call:
                    params = {"sessionId": session, "toolCall": self.call(entry, call)}
                    editor.notify("acpEditor/toolCall", params)
            case ("session", str(session)):
                if entry := self._app.sessions.get(session):
                    editor.notify("acpEditor/session", self.session_params(entry))
            case ("permissions",):
                if client.draws("permissions"):
                    editor.notify("acpEditor/permissions", {"permissions": self.permissions()})
            case ("changes",):
                if client.draws("changes"):
                    editor.notify("acpEditor/changes", {"changes": self._app.review.render()})
                editor.refresh("lenses")
            case ("decorations", str(path)):
                self._send_decorations(path)
            case ("transcript", str(session)):
                editor.refresh_content(transcript.uri(session))
            case ("document", str(uri)):
                editor.refresh_content(uri)
            case ("notice", str(session)):
                self._send_notice(session)
            case _:
                raise AssertionError(key)

    def _send_decorations(self, path: str) -> None:
        found = self.decorations(path)
        if not found and path not in self._marked:
            return
        (self._marked.add if found else self._marked.discard)(path)
        if self._app.editor.client.draws("decorations"):
            params = {"uri": self._app.uri(path), "decorations": found}
            self._app.editor.notify("acpEditor/decorations", params)
        else:
            self._app.editor.refresh("hints")

    def _send_notice(self, session: str) -> None:
        entry = self._app.sessions.get(session)
        new = min(self._notices.pop(session, 0), _MOST_NOTICES)
        for notice in list(entry.session.notices)[-new:] if entry and new else ():
            text = safe.plain(notice.title + (f": {notice.description}" if notice.description else ""))
            self._app.editor.message(f"{entry.agent if entry else ''}: {text}", notice.severity)

    # -- rendering ---------------------------------------------------------------------------------

    def state(self) -> messages.State:
        app = self._app
        return {
            "agents": app.agents.render(app.scrub),
            "activeSessionId": app.sessions.active.key if app.sessions.active else None,
            "sessions": [
                render.session(
                    entry.session,
                    self.session_state(entry),
                    [self.call(entry, call) for call in self._calls(entry)],
                    app.options.rows(entry),
                    len(entry.queue),
                    render.SNAPSHOT_ROOM // max(1, len(app.sessions)),
                )
                for entry in app.sessions
            ],
            "permissions": self.permissions(),
            "changes": app.review.render(),
            "follow": self._follow_state(),
            "faults": app.faults.render(),
        }

    def _calls(self, entry: Entry) -> Iterator[ToolCall]:
        """All of a session's calls; those that a snapshot has no room for without what they are about."""
        calls = entry.session.tool_calls
        room = render.SNAPSHOT_ROOM // max(1, len(self._app.sessions))
        whole = {call.tool_call_id for call in render.newest(calls.values(), room)}
        return (call if key in whole else bare(call) for key, call in calls.items())

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

    def call(self, entry: Entry, call: ToolCall) -> messages.ToolCall:
        found = self._app.whereabouts.of(entry, call.tool_call_id, anyio.current_time())
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
        waiting = itertools.islice(self._app.permissions, _MOST_PERMISSIONS)
        return [self.permission(pending) for pending in waiting]

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
                for place in spot.places:
                    if place.path == path and place.line is not None:
                        length = index.end_of(place.line).character if index else 0
                        found.append(
                            {
                                "range": render.line_range(place.line, length),
                                "kind": render.words(spot.call.kind),
                                "status": render.words(spot.call.status),
                                "toolCallId": spot.call.tool_call_id,
                                "hover": spot.hover,
                            }
                        )
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

    # -- documents -----------------------------------------------------------------------

    def content(self, uri: str) -> str:
        app = self._app
        if (text := app.documents.get(uri)) is not None:
            return text
        if (session := transcript.session_of(uri)) is not None:
            if entry := app.sessions.get(session):
                return self._read.setdefault(session, transcript.Transcript(self._app.secrets.text)).markdown(
                    entry.session, entry.agent
                )
            return "This session is closed.\n"
        if (text := app.review.documents.content(uri)) is not None:
            return text
        raise CommandError(f"{uri} is not available any more")


def _untitled(entry: Entry, call: ToolCall | None) -> str:
    if call is None:
        return f"{entry.agent} asks for permission"
    return (
        f"{entry.agent} asks to {call.kind}"
        if call.kind != "other"
        else f"{entry.agent} asks to run {call.name or 'a tool'}"
    )
