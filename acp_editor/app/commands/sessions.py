"""The state, and sessions: begin, list, resume, select, close, delete."""

from __future__ import annotations

import logging
import textwrap

import anyio

from acp_editor.acp.connection import ConnectionClosed, RpcError
from acp_editor.app import render
from acp_editor.app.arguments import Arguments
from acp_editor.app.commands.reading import folder_of
from acp_editor.app.commands.registry import Commands, command
from acp_editor.app.sessions import Entry
from acp_editor.lsp import messages, uris
from acp_editor.lsp.protocol import CommandError

logger = logging.getLogger(__name__)


@command("state")
async def _state(commands: Commands, arguments: Arguments) -> messages.State:
    return commands.app.views.state()


@command("session.new")
async def _session_new(commands: Commands, arguments: Arguments) -> messages.SessionId:
    agent = arguments.maybe_text("agent") or commands.app.settings.agent
    cwd = folder_of(arguments.maybe_text("cwd"), commands.app.roots[0])
    entry = await commands.app.opening.new(agent, cwd)
    return {"sessionId": entry.key}


@command("session.list")
async def _session_list(commands: Commands, arguments: Arguments) -> list[messages.SessionRow]:
    app = commands.app
    name = commands.agent_named(arguments)
    agent = await app.agents.ensure(name)
    rows: dict[str, messages.SessionRow] = {}
    if agent.info.capabilities.list:
        cursor: str | None = None
        for _ in range(50):  # pages; an agent that pages in a circle ends here
            page, cursor = await agent.list_sessions(app.roots[0], cursor)
            for row in page:
                app.sessions.folders[name, row.session_id] = row.cwd
                app.sessions.titles[name, row.session_id] = row.title
                key = app.sessions.name_of(name, row.session_id)
                rows[key] = {
                    "sessionId": key,
                    "title": render.words(row.title) or _called(app.sessions.of(name, row.session_id)),
                    "updatedAt": row.updated_at,
                    "cwd": uris.from_path(row.cwd),
                }
            if cursor is None:
                break
    for entry in app.sessions.of_agent(name):
        rows.setdefault(
            entry.key,
            {
                "sessionId": entry.key,
                "title": _called(entry),
                "updatedAt": entry.session.updated_at,
                "cwd": uris.from_path(entry.cwd),
            },
        )
    return list(rows.values())


def _called(entry: Entry | None) -> str | None:
    """A session's title; until its agent gives it one, the first that the person said."""
    if entry is None:
        return None
    said = next((m.text for m in entry.session.messages if m.role == "user" and m.text.strip()), "")
    line = next(iter(said.strip().splitlines()), "")
    return render.words(entry.session.title or textwrap.shorten(line, 60, placeholder="…")) or None


@command("session.resume")
async def _session_resume(commands: Commands, arguments: Arguments) -> messages.SessionId:
    app = commands.app
    session_id = arguments.text("sessionId")
    name = arguments.maybe_text("agent") or commands.agent_of(session_id)
    agent = await app.agents.ensure(name)
    entry, own_id = app.sessions.named(session_id, name)
    if entry is not None and entry.started:
        app.sessions.active = entry
    elif entry is not None:
        await app.opening.take_up(agent, entry, history=True)
    else:
        folder = app.sessions.folders.get((name, own_id)) or app.roots[0]
        entry = app.sessions.open(name, own_id, folder)
        try:
            await app.opening.take_up(agent, entry, history=True)
        except BaseException:
            app.consequences.session_closed(entry)
            raise
    app.surfaces.status_changed()
    return {"sessionId": entry.key}


@command("session.select")
async def _session_select(commands: Commands, arguments: Arguments) -> messages.SessionId:
    app = commands.app
    entry = app.sessions.active = app.entry(arguments.text("sessionId"))
    app.surfaces.session_changed(entry)
    app.surfaces.status_changed()
    return {"sessionId": entry.key}


@command("session.close")
async def _session_close(commands: Commands, arguments: Arguments) -> None:
    app = commands.app
    entry = app.entry(arguments.maybe_text("sessionId"))
    agent = commands.running(entry)
    if entry.running:
        app.turns.cancel(entry, agent)
    app.withdraw(entry, "withdrawn: its session was closed")
    if agent is not None and entry.started and agent.info.capabilities.close:
        try:
            with anyio.move_on_after(5):
                await agent.close_session(entry.own_id)
        except (RpcError, ConnectionClosed) as error:
            # For the person it is closed all the same.
            logger.warning("%s did not close %s: %s", entry.agent, entry.key, error)
    app.consequences.session_closed(entry)


@command("session.fork")
async def _session_fork(commands: Commands, arguments: Arguments) -> messages.SessionId:
    app = commands.app
    session_id = arguments.text("sessionId")
    name = arguments.maybe_text("agent") or commands.agent_of(session_id)
    agent = await app.agents.ensure(name)
    entry, own_id = app.sessions.named(session_id, name)
    folder = entry.cwd if entry else app.sessions.folders.get((name, own_id)) or app.roots[0]
    fork = await app.opening.fork(agent, own_id, name, folder)
    return {"sessionId": fork.key}


@command("session.delete")
async def _session_delete(commands: Commands, arguments: Arguments) -> None:
    app = commands.app
    session_id = arguments.text("sessionId")
    name = arguments.maybe_text("agent") or commands.agent_of(session_id)
    agent = await app.agents.ensure(name)
    if not agent.info.capabilities.delete:
        raise CommandError(f"{name} cannot delete sessions")
    entry, own_id = app.sessions.named(session_id, name)
    await agent.delete_session(own_id)
    if entry is not None:
        app.consequences.session_closed(entry)
