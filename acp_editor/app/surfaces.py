"""What editors see and when: each surface is sent whole for its key, as `views.py` renders it then."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING

import anyio

from acp_editor.app import transcript
from acp_editor.app.progress import Progress
from acp_editor.app.publisher import Publisher
from acp_editor.app.sessions import Entry
from acp_editor.core import follow, places, safe
from acp_editor.core.model import ToolCall
from acp_editor.lsp.protocol import CommandError

if TYPE_CHECKING:
    from acp_editor.app.app import App

TICK = 0.03
"""Seconds between two looks at where changed calls are; many changes of one call are one look."""

_MOST_LOOKS = 100
_FEW_LOOKS = 10
"""Calls that are looked at in one go: as many as can be in `_LOOKING`, a few at the least, 100 at most."""
_LOOKING = 0.005
"""Seconds in which nothing else happens; a call of large files takes longer than others."""
_MOST_NOTICES = 10
"""Notices told at one time; the snapshot has more."""


class Surfaces:
    """Keeps what is dirty; `run` sends it, keeps places fresh and lets marks fade."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._publisher = Publisher(self._send, app.editor.drained, app.editor.together)
        self._progress = Progress(app.editor)
        self._read: dict[str, transcript.Transcript] = {}
        """The documents of sessions that the editor has read: only those have to be read again."""
        self._notices: Counter[str] = Counter()
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

    def forget(self, entry: Entry) -> None:
        """The session is closed: its document is read as one sentence from now on."""
        self._notices.pop(entry.key, None)
        if self._read.pop(entry.key, None) is not None:
            self._publisher.mark(("transcript", entry.key))

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

    def _look_on(self) -> None:
        """Goes on looking at the calls that have changed, but not for long."""
        until = time.perf_counter() + _LOOKING
        for _ in range(_MOST_LOOKS // _FEW_LOOKS):
            self.look(_FEW_LOOKS)
            if not self._app.whereabouts.stale or time.perf_counter() > until:
                return

    async def _keep_places(self) -> None:
        app = self._app
        while True:
            self._wake = anyio.Event()
            now = anyio.current_time()
            following = app.whereabouts.fade(now, app.settings.decorations.fade_after)
            if app.whereabouts.stale:
                self._look_on()
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
                    editor.notify("acpEditor/status", self._app.views.status())
                elif client.progress:
                    self._progress.show(self._app.sessions)
            case ("toolCall", str(session), str(call_id)):
                entry = self._app.sessions.get(session)
                call = entry.session.tool_call(call_id) if entry else None
                if entry and call:
                    params = {"sessionId": session, "toolCall": self._app.views.call(entry, call)}
                    editor.notify("acpEditor/toolCall", params)
            case ("session", str(session)):
                if entry := self._app.sessions.get(session):
                    editor.notify("acpEditor/session", self._app.views.session_params(entry))
            case ("permissions",):
                if client.draws("permissions"):
                    editor.notify("acpEditor/permissions", {"permissions": self._app.views.permissions()})
            case ("changes",):
                if client.draws("changes"):
                    editor.notify("acpEditor/changes", self._app.review.render())
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
        found = self._app.views.decorations(path)
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

    # -- documents -----------------------------------------------------------------------

    def content(self, uri: str) -> str:
        app = self._app
        if (text := app.documents.get(uri)) is not None:
            return text
        if (session := transcript.session_of(uri)) is not None:
            if entry := app.sessions.get(session):
                entry.asked = True
                return self._read.setdefault(session, transcript.Transcript(self._app.secrets.text)).markdown(
                    entry.session, entry.agent
                )
            return "This session is closed.\n"
        if (text := app.review.documents.content(uri)) is not None:
            return text
        raise CommandError(f"{uri} is not available any more")
