"""The application: agents on one side, the editor on the other, and the state between them.

State changes only in synchronous code on one thread, in wire order. What waits (agents starting,
turns, permissions, the disk) waits in tasks of one group and comes back through the same methods.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import anyio
import anyio.abc

from acp_editor.acp.traffic import Traffic
from acp_editor.app import folders
from acp_editor.app.agents import Agents
from acp_editor.app.asking import Asking
from acp_editor.app.commands import Commands
from acp_editor.app.configuration import Configuration
from acp_editor.app.consequences import Consequences
from acp_editor.app.faults import Faults, shown
from acp_editor.app.files import HostFiles
from acp_editor.app.following import Following
from acp_editor.app.host import AgentHost
from acp_editor.app.judge import Judge
from acp_editor.app.mcp import McpServers
from acp_editor.app.opening import Opening
from acp_editor.app.options import Options
from acp_editor.app.permissions import Permissions
from acp_editor.app.proposals import Documents, Proposals
from acp_editor.app.questions import Questions
from acp_editor.app.reviewing import Reviewing
from acp_editor.app.sessions import Entry, Sessions
from acp_editor.app.slash import Slash
from acp_editor.app.surfaces import Surfaces
from acp_editor.app.terminals import HostTerminals
from acp_editor.app.texts import Texts
from acp_editor.app.turns import Turns
from acp_editor.app.uninvited import Uninvited
from acp_editor.app.views import Views
from acp_editor.app.whereabouts import Whereabouts
from acp_editor.core import follow, places, safe
from acp_editor.core.model import (
    Fault,
    Update,
)
from acp_editor.core.redact import Redactor
from acp_editor.lsp import messages, uris
from acp_editor.lsp.documents import Author, Document
from acp_editor.lsp.editor import Editor
from acp_editor.lsp.protocol import CommandError
from acp_editor.processes import descendants
from acp_editor.processes.heap import Heap
from acp_editor.settings import Settings

logger = logging.getLogger(__name__)


class App:
    """Implements `lsp.server.Application`. Its parts are made in `run`, when the editor is known."""

    editor: Editor
    agents: Agents
    turns: Turns
    following: Following
    surfaces: Surfaces
    views: Views
    files: HostFiles
    terminals: HostTerminals
    texts: Texts
    whereabouts: Whereabouts
    proposals: Proposals
    documents: Documents
    review: Reviewing
    judge: Judge
    options: Options
    questions: Questions
    mcp: McpServers
    slash: Slash
    opening: Opening
    asking: Asking

    def __init__(self, secrets: Redactor) -> None:
        self.sessions = Sessions()
        self.secrets = secrets
        self.faults = Faults()
        self.traffic = Traffic(folders.state() / "traffic", secrets)
        self.consequences = Consequences(self)
        self.uninvited = Uninvited(self)
        self.permissions = Permissions(self.consequences.permissions_changed)
        self.heap = Heap()
        self.roots: list[str] = []
        self._told: set[str] = set()
        self._configuration = Configuration(self)
        self._group: anyio.abc.TaskGroup | None = None

    @property
    def settings(self) -> Settings:
        return self._configuration.settings

    # -- start and end -----------------------------------------------------------------------------

    async def run(self, editor: Editor, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        self.editor = editor
        editor.scrub = self.scrub
        self.roots = [os.path.normpath(root) for root in editor.client.roots] or [os.getcwd()]
        self.texts = Texts(editor.documents)
        self.documents = Documents(editor.client.content)
        async with anyio.create_task_group() as group:
            self._group = group
            self.review = Reviewing(self, group)
            self.judge = Judge(self)
            self.options = Options(self)
            self.proposals = Proposals(self.documents, self.texts.read, self.review.original, self.uri)
            self.views = Views(self)
            self.surfaces = Surfaces(self)
            self.whereabouts = Whereabouts(self.texts.read, self.surfaces.decorations_changed)
            self.following = Following(
                follow.Follow(follow.FollowSettings()), self._show, self.start, self.surfaces.status_changed
            )
            self.agents = Agents(
                group,
                lambda name: AgentHost(self, name),
                self.consequences.agent_changed,
                self.consequences.agent_ended,
                self.traffic,
            )
            self.turns = Turns(
                group,
                self.withdraw,
                self.consequences.turn_starts,
                self.consequences.turn_begun,
                self.consequences.turn_over,
                lambda: self.settings.cancel_grace,
                self.fault,
            )
            self.files = HostFiles(self)
            self.terminals = HostTerminals(self)
            self.questions = Questions(self)
            self.mcp = McpServers(self)
            self.slash = Slash(self, self.judge.hooks)
            self.opening = Opening(self)
            self.asking = Asking(self)
            self._commands = Commands(self)
            self._configuration.apply(editor.client.options)
            # An editor that is slow to answer either must not keep the server from its work.
            group.start_soon(editor.register)
            if editor.client.configuration:
                fetched = anyio.Event()
                group.start_soon(self._configuration.fetch, fetched)
                with anyio.move_on_after(3):
                    await fetched.wait()
            group.start_soon(self.following.run)
            group.start_soon(self.surfaces.run)
            await self.review.start()
            group.start_soon(descendants.reap)
            group.start_soon(self.heap.run)
            async with self.terminals.processes:
                task_status.started()
                await anyio.sleep_forever()

    async def close(self) -> None:
        """Ends whatever was started: agents, terminals, tasks."""
        if self._group is None:
            return
        with anyio.move_on_after(4):
            async with anyio.create_task_group() as group:
                group.start_soon(self.agents.close)
                group.start_soon(self.review.close)
                group.start_soon(self.terminals.processes.aclose)
        self.traffic.log(False)
        self.documents.close()
        self._group.cancel_scope.cancel()

    # -- from the editor ---------------------------------------------------------------------------

    async def command(self, name: str, argument: Any) -> Any:
        return await self._commands.run(name, argument)

    def settings_changed(self, pushed: Mapping[str, Any] | None) -> None:
        if self._group is None:
            return
        if self.editor.client.configuration:
            self._group.start_soon(self._configuration.fetch)
        elif pushed is not None:
            self._configuration.apply(pushed)

    def user_activity(self, path: str | None) -> None:
        if self._group is not None:
            at = follow.Target(path) if path is not None else None
            self.following.policy.activity(anyio.current_time(), at)
            self.following.nudge()

    def document_opened(self, document: Document) -> None:
        if self._group is not None:
            self.review.opened(document)

    def document_changed(self, document: Document, before: str, author: Author) -> None:
        if self._group is None:
            return
        if author == "person":
            self.user_activity(document.path)
        self.review.changed(document, before, author)
        self.surfaces.text_changed(document.path)

    def document_saved(self, document: Document) -> None:
        if self._group is not None:
            self.review.saved(document)

    def document_closed(self, document: Document) -> None:
        if self._group is not None:
            self.review.closed(document)

    def files_changed(self, paths: list[str]) -> None:
        if self._group is not None:
            self.review.files_changed(paths)

    def folders_changed(self, added: list[str], removed: list[str]) -> None:
        self.roots = [root for root in self.roots if root not in removed]
        self.roots += [root for root in added if root not in self.roots]
        if self._group is not None:
            self.review.folders_changed()

    async def content(self, uri: str) -> str:
        return self.surfaces.content(uri)

    def decorations(self, path: str) -> list[messages.Decoration]:
        return self.views.decorations(path) if self._group is not None else []

    def hunks(self, path: str) -> list[messages.Hunk]:
        return self.review.hunks(path) if self._group is not None else []

    # -- from agents -------------------------------------------------------------------------------

    def seen(self, agent: str, session_id: str) -> Entry:
        return self.sessions.seen(agent, session_id, self.roots[0])

    def updated(self, entry: Entry, update: Update) -> None:
        """Takes one update in, and marks what it touched."""
        if entry.closed:
            return
        for what, key in entry.session.apply(update):
            match what:
                case "toolCall":
                    self.surfaces.call_changed(entry, key)
                    self.review.call_told(entry, key)
                case "state":
                    self.consequences.state_changed(entry)
                case "messages" | "terminal" | "notice":
                    self.surfaces.transcript_changed(entry, what)
                case "session":
                    self.surfaces.session_changed(entry)
        for fault in entry.session.take_faults():
            self.fault(entry.agent, fault)

    def fault(self, agent: str, fault: Fault) -> None:
        if self.faults.add(agent, fault):
            fault = shown(fault, self.secrets)
            logger.warning("%s: %s (%s) %s", agent, fault.message, fault.code, fault.detail)

    # -- for commands ------------------------------------------------------------------------------

    def entry(self, session_id: str | None) -> Entry:
        """That session, or the active one."""
        if session_id is None:
            if self.sessions.active is None:
                raise CommandError("there is no session yet: send a prompt, or start a new session")
            return self.sessions.active
        if (entry := self.sessions.get(session_id)) is None:
            raise CommandError(f"there is no session {session_id!r}")
        return entry

    def uri(self, path: str) -> str:
        """A path as the editor knows it."""
        document = self.editor.documents.get(path)
        return document.uri if document else uris.from_path(path)

    async def _show(self, target: follow.Target) -> bool:
        return await self.editor.show(self.uri(target.path), target.line)

    def start(self, function: Callable[..., Coroutine[Any, Any, Any]], *arguments: Any) -> None:
        """Runs it as a task of its own, while there is an editor."""
        if self._group is not None:
            self._group.start_soon(function, *arguments)

    def scrub(self, text: str) -> str:
        """An error or a message as a person may see it: whole, without secrets, with nothing invisible."""
        return safe.notice(self.secrets.text(text))

    def withdraw(self, entry: Entry, why: str) -> None:
        """Nothing that the session has asked of the person is to be answered any more."""
        self.permissions.cancel(entry, why)
        self.questions.withdraw(entry)

    def warn_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self.editor.warn(text)

    def inside(self, path: str) -> bool:
        return places.inside(path, self.roots)
