"""The commands of the editor protocol: each reads its argument, does one thing, or says why it cannot."""

from __future__ import annotations

import logging
import os
import shlex
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import anyio

from acp_editor.acp.agent import Agent, AgentFailed
from acp_editor.acp.connection import ConnectionClosed, RpcError
from acp_editor.app import context
from acp_editor.app.arguments import Arguments
from acp_editor.app.sessions import Entry
from acp_editor.core.model import ConfigOption
from acp_editor.lsp import messages, uris
from acp_editor.lsp.protocol import CommandError

if TYPE_CHECKING:
    from acp_editor.app.app import App

logger = logging.getLogger(__name__)

AUTH_REQUIRED: Final = -32000

Handler: TypeAlias = Callable[["Commands", Arguments], Awaitable[Any]]
COMMANDS: Final[dict[str, Handler]] = {}


def _command(name: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        COMMANDS["acpEditor." + name] = handler
        return handler

    return register


class Commands:
    """Looks a command up and turns every failure of an agent into an error for a person."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def run(self, name: str, argument: Any) -> Any:
        handler = COMMANDS.get(name)
        if handler is None:
            raise CommandError(f"there is no command {name!r}")
        try:
            return await handler(self, Arguments(name, argument))
        except RpcError as error:
            raise CommandError(f"the agent refused: {error.message}") from error
        except (ConnectionClosed, AgentFailed) as error:
            raise CommandError(str(error)) from error

    # -- sessions ----------------------------------------------------------------------------------

    async def new_session(self, agent_name: str, cwd: str | None = None) -> Entry:
        """A new session with that agent, which is started where it is not, made the active one."""
        app = self.app
        agent = await app.agents.ensure(agent_name)
        folder = cwd or app.agents.slot(agent_name).spec.cwd or app.roots[0]
        extra = [root for root in app.roots if root != folder]
        servers = await app.mcp.servers()
        try:
            with app.sessions.opening(agent_name):
                start = await agent.new_session(folder, tuple(extra), servers)
        except RpcError as error:
            raise self._refused(agent_name, agent, error) from error
        entry = app.sessions.open(agent_name, start.session_id, folder)
        entry.session.cwd = folder
        self._started(entry)
        return entry

    async def take_up(self, agent: Agent, entry: Entry, *, history: bool) -> None:
        """Takes a session up again; with `history`, its history is played where the agent can do that."""
        app = self.app
        abilities = agent.info.capabilities
        if not abilities.resume and not abilities.load:
            raise CommandError(f"{entry.agent} cannot resume sessions")
        load = abilities.load and (history or not abilities.resume)
        take = agent.load_session if load else agent.resume_session
        extra = [root for root in app.roots if root != entry.cwd]
        servers = await app.mcp.servers()
        try:
            await take(entry.own_id, entry.cwd, tuple(extra), servers)
        except RpcError as error:
            raise self._refused(entry.agent, agent, error) from error
        self._started(entry)

    def _started(self, entry: Entry) -> None:
        entry.started = True
        self.app.sessions.active = entry
        self.app.surfaces.session_changed(entry)
        self.app.surfaces.status_changed()

    def _refused(self, name: str, agent: Agent, error: RpcError) -> CommandError:
        if error.code == AUTH_REQUIRED:
            ways = ", ".join(method.name for method in agent.info.auth_methods)
            hint = f"log in with {ways}" if ways else "see its own documentation for how to log in"
            return CommandError(f"{name} needs a login ({error.message}): {hint}")
        return CommandError(f"{name} refused the session: {error.message}")

    def agent_of(self, session_id: str) -> str:
        """The agent whose session that is, else the one that a new session would use."""
        known = self.app.sessions.get(session_id)
        return known.agent if known else self.app.settings.agent

    def running(self, entry: Entry) -> Agent | None:
        """The session's agent where it runs; it may be gone from the settings."""
        slot = self.app.agents.find(entry.agent)
        return slot.agent if slot else None

    async def session_for_prompt(self, session_id: str | None) -> Entry:
        app = self.app
        if session_id is not None:
            return app.entry(session_id)
        if app.sessions.active is None:
            return await self.new_session(app.settings.agent)
        return app.sessions.active


@_command("state")
async def _state(commands: Commands, arguments: Arguments) -> messages.State:
    return commands.app.surfaces.state()


@_command("session.new")
async def _session_new(commands: Commands, arguments: Arguments) -> messages.SessionId:
    agent = arguments.maybe_text("agent") or commands.app.settings.agent
    cwd = _folder(arguments.maybe_text("cwd"), commands.app.roots[0])
    entry = await commands.new_session(agent, cwd)
    return {"sessionId": entry.key}


@_command("session.list")
async def _session_list(commands: Commands, arguments: Arguments) -> list[messages.SessionRow]:
    app = commands.app
    name = arguments.maybe_text("agent") or (
        app.sessions.active.agent if app.sessions.active else app.settings.agent
    )
    agent = await app.agents.ensure(name)
    rows: dict[str, messages.SessionRow] = {}
    if agent.info.capabilities.list:
        cursor: str | None = None
        for _ in range(50):  # pages; an agent that pages in a circle ends here
            page, cursor = await agent.list_sessions(app.roots[0], cursor)
            for row in page:
                app.sessions.folders[name, row.session_id] = row.cwd
                key = app.sessions.name_of(name, row.session_id)
                rows[key] = {
                    "sessionId": key,
                    "title": row.title,
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
                "title": entry.session.title,
                "updatedAt": entry.session.updated_at,
                "cwd": uris.from_path(entry.cwd),
            },
        )
    return list(rows.values())


@_command("session.resume")
async def _session_resume(commands: Commands, arguments: Arguments) -> messages.SessionId:
    app = commands.app
    session_id = arguments.text("sessionId")
    name = arguments.maybe_text("agent") or commands.agent_of(session_id)
    agent = await app.agents.ensure(name)
    entry, own_id = app.sessions.named(session_id, name)
    if entry is not None and entry.started:
        app.sessions.active = entry
    elif entry is not None:
        await commands.take_up(agent, entry, history=True)
    else:
        folder = app.sessions.folders.get((name, own_id)) or app.roots[0]
        entry = app.sessions.open(name, own_id, folder)
        try:
            await commands.take_up(agent, entry, history=True)
        except BaseException:
            app.forget(entry)
            raise
    app.surfaces.status_changed()
    return {"sessionId": entry.key}


@_command("session.select")
async def _session_select(commands: Commands, arguments: Arguments) -> messages.SessionId:
    app = commands.app
    app.sessions.active = app.entry(arguments.text("sessionId"))
    app.surfaces.session_changed(app.sessions.active)
    app.surfaces.status_changed()
    return {"sessionId": app.sessions.active.key}


@_command("session.close")
async def _session_close(commands: Commands, arguments: Arguments) -> None:
    app = commands.app
    entry = app.entry(arguments.maybe_text("sessionId"))
    agent = commands.running(entry)
    if entry.running:
        app.turns.cancel(entry, agent)
    app.permissions.cancel(entry, "withdrawn: its session was closed")
    if agent is not None and entry.started and agent.info.capabilities.close:
        try:
            with anyio.move_on_after(5):
                await agent.close_session(entry.own_id)
        except (RpcError, ConnectionClosed) as error:
            # For the person it is closed all the same.
            logger.warning("%s did not close %s: %s", entry.agent, entry.key, error)
    app.forget(entry)


@_command("session.delete")
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
        app.forget(entry)


@_command("prompt")
async def _prompt(commands: Commands, arguments: Arguments) -> messages.Prompted:
    text = arguments.text("text")
    items = [_item(raw) for raw in arguments.objects("context")]
    app, session_id = commands.app, arguments.maybe_text("sessionId")
    known = app.entry(session_id) if session_id is not None else app.sessions.active
    async with app.agents.slot(known.agent if known else app.settings.agent).prompting:
        entry = await commands.session_for_prompt(session_id)
        if (answer := await app.slash.answer(entry, text)) is not None:
            return {"sessionId": entry.key, "answer": answer}
        entry = await app.prompt(entry, text, items)
    return {"sessionId": entry.key}


@_command("cancel")
async def _cancel(commands: Commands, arguments: Arguments) -> None:
    app = commands.app
    session_id = arguments.maybe_text("sessionId")
    if session_id is None and app.sessions.active is None:
        return
    entry = app.entry(session_id)
    app.turns.cancel(entry, commands.running(entry))


# -- agents ----------------------------------------------------------------------------------------


@_command("agent.restart")
async def _agent_restart(commands: Commands, arguments: Arguments) -> None:
    app = commands.app
    active = app.sessions.active
    name = arguments.maybe_text("agent") or (active.agent if active else app.settings.agent)
    await app.agents.stop(name)
    await app.agents.ensure(name)


@_command("agent.stop")
async def _agent_stop(commands: Commands, arguments: Arguments) -> None:
    await commands.app.agents.stop(arguments.text("agent"))


@_command("auth.login")
async def _login(commands: Commands, arguments: Arguments) -> None:
    app = commands.app
    active = app.sessions.active
    name = arguments.maybe_text("agent") or (active.agent if active else app.settings.agent)
    agent = await app.agents.ensure(name)
    methods = agent.info.auth_methods
    method_id = arguments.maybe_text("methodId") or (methods[0].method_id if methods else None)
    if method_id is None:
        raise CommandError(f"{name} names no way to log in")
    method = next((m for m in methods if m.method_id == method_id), None)
    if method is None:
        known = ", ".join(m.method_id for m in methods)
        raise CommandError(f"{name} has no login {method_id!r}; it has {known or 'none'}")
    if method.kind != "terminal":
        await agent.authenticate(method_id)
        return
    spec = agent.spec
    line = [spec.command, *spec.args, *method.args]
    opened = app.editor.client.draws("terminal") and await app.editor.run_in_terminal(
        {
            "title": f"{name}: {method.name}",
            "command": spec.command,
            "args": [*spec.args, *method.args],
            "env": {**spec.env, **method.env},
            "cwd": spec.cwd or app.roots[0],
        }
    )
    if not opened:
        raise CommandError(
            f"log in by running this in a terminal, then start a new session: {shlex.join(line)}"
        )


@_command("auth.logout")
async def _logout(commands: Commands, arguments: Arguments) -> None:
    app = commands.app
    active = app.sessions.active
    name = arguments.maybe_text("agent") or (active.agent if active else app.settings.agent)
    agent = await app.agents.ensure(name)
    if not agent.info.capabilities.logout:
        raise CommandError(f"{name} has no logout")
    await agent.logout()


# -- permissions -----------------------------------------------------------------------------------


@_command("permission.approve")
async def _approve(commands: Commands, arguments: Arguments) -> messages.AnsweredPermission:
    pending, option_id = commands.app.permissions.pick(arguments.maybe_text("requestId"), "allow_once")
    return {"requestId": pending.request_id, "optionId": option_id}


@_command("permission.reject")
async def _reject(commands: Commands, arguments: Arguments) -> messages.AnsweredPermission:
    pending, option_id = commands.app.permissions.pick(arguments.maybe_text("requestId"), "reject_once")
    return {"requestId": pending.request_id, "optionId": option_id}


@_command("permission.answer")
async def _answer(commands: Commands, arguments: Arguments) -> messages.AnsweredPermission:
    request_id, option_id = arguments.text("requestId"), arguments.text("optionId")
    commands.app.permissions.answer(request_id, option_id)
    return {"requestId": request_id, "optionId": option_id}


@_command("permission.check")
async def _check(commands: Commands, arguments: Arguments) -> messages.Verdict:
    arguments.text("tool")
    return commands.app.judge.verdict(arguments.all())


@_command("permission.rules")
async def _rules(commands: Commands, arguments: Arguments) -> list[messages.Rule]:
    return commands.app.judge.listed()


@_command("permission.remember")
async def _remember(commands: Commands, arguments: Arguments) -> messages.Rule:
    app = commands.app
    session_id = arguments.maybe_text("sessionId")
    entry = app.entry(session_id) if session_id else app.sessions.active
    scope = arguments.maybe_text("scope") or "workspace"
    saved = app.judge.remember(arguments.text("rule"), arguments.text("effect"), scope, entry)
    await app.rules_changed()
    return saved


@_command("permission.revoke")
async def _revoke(commands: Commands, arguments: Arguments) -> None:
    commands.app.judge.revoke(arguments.text("rule"), arguments.text("effect"), arguments.text("scope"))


@_command("permission.log")
async def _log(commands: Commands, arguments: Arguments) -> list[dict[str, Any]]:
    return commands.app.judge.decisions(200)


# -- the wire --------------------------------------------------------------------------------------


@_command("log.traffic")
async def _log_traffic(commands: Commands, arguments: Arguments) -> dict[str, str]:
    app = commands.app
    active = app.sessions.active
    agent = arguments.maybe_text("agent") or (active.agent if active else app.settings.agent)
    try:
        path = app.traffic.save(agent)
    except OSError as error:
        raise CommandError(f"the traffic of {agent} cannot be written: {error}") from error
    if path is None:
        raise CommandError(f"nothing has been said to {agent} yet")
    return {"path": str(path)}


# -- following -------------------------------------------------------------------------------------


@_command("follow.toggle")
async def _follow_toggle(commands: Commands, arguments: Arguments) -> messages.FollowState:
    following = commands.app.following
    enabled = following.policy.toggle(arguments.maybe_flag("enabled"))
    following.nudge()
    commands.app.surfaces.status_changed()
    return {"enabled": enabled}


@_command("follow.back")
async def _follow_back(commands: Commands, arguments: Arguments) -> None:
    if not await commands.app.following.back():
        raise CommandError("there is no earlier place to go back to")


# -- review ----------------------------------------------------------------------------------------


@_command("review.keep")
async def _keep(commands: Commands, arguments: Arguments) -> messages.Kept:
    path, hunk_id = _path(arguments.maybe_text("uri")), arguments.maybe_text("hunkId")
    return {"kept": await commands.app.review.keep(path, hunk_id)}


@_command("review.undo")
async def _undo(commands: Commands, arguments: Arguments) -> messages.Undone:
    path, hunk_id = _path(arguments.maybe_text("uri")), arguments.maybe_text("hunkId")
    return {"undone": await commands.app.review.undo(path, hunk_id)}


@_command("review.restore")
async def _restore(commands: Commands, arguments: Arguments) -> dict[str, int]:
    return {"restored": await commands.app.review.restore()}


@_command("review.diff")
async def _diff(commands: Commands, arguments: Arguments) -> messages.DiffDocuments:
    path = _path(arguments.text("uri"))
    assert path is not None
    return commands.app.review.diff(path)


@_command("review.forget")
async def _forget(commands: Commands, arguments: Arguments) -> None:
    await commands.app.review.forget()


# -- slash commands and options ----------------------------------------------------------------------


@_command("commands")
async def _commands(commands: Commands, arguments: Arguments) -> list[messages.SourcedCommand]:
    app = commands.app
    session_id = arguments.maybe_text("sessionId")
    return await app.slash.listed(app.entry(session_id) if session_id else app.sessions.active)


@_command("config.set")
async def _config_set(commands: Commands, arguments: Arguments) -> list[messages.ConfigOption]:
    app = commands.app
    entry = app.entry(arguments.maybe_text("sessionId"))
    config_id, value = arguments.text("configId"), arguments.raw("value")
    option = next((o for o in entry.session.config if o.config_id == config_id), None)
    if option is None:
        raise CommandError(f"the session has no option {config_id!r}")
    _check_value(option, value)
    await app.slash.check(entry, option, value)
    agent = app.agents.slot(entry.agent).agent
    if agent is None or not entry.started:
        raise CommandError(f"{entry.agent} is not running: send a prompt or restart it first")
    await agent.set_config(entry.own_id, option, value)
    app.surfaces.session_changed(entry)
    return await app.slash.options(entry)


def _check_value(option: ConfigOption, value: Any) -> None:
    if option.kind == "boolean" and not isinstance(value, bool):
        raise CommandError(f"{option.name} is either true or false")
    if option.kind == "choice" and all(choice.value != value for choice in option.choices):
        offered = ", ".join(choice.value for choice in option.choices)
        raise CommandError(f"{option.name} cannot be {value!r}; it can be {offered or 'nothing'}")


# -- reading arguments -------------------------------------------------------------------------------


def _path(uri: str | None) -> str | None:
    if uri is None:
        return None
    path = uris.to_path(uri)
    if path is None:
        raise CommandError(f"{uri} is not a file on this machine")
    return os.path.normpath(path)


def _folder(text: str | None, root: str) -> str | None:
    """A folder given as a URI or as a path, a relative one within the workspace."""
    if not text:
        return None
    path = _path(text) if text.startswith("file:") else os.path.normpath(os.path.join(root, text))
    if path is None or not os.path.isdir(path):
        raise CommandError(f"there is no folder {text}")
    return path


def _item(raw: dict[str, Any]) -> context.Item:
    path = _path(raw["uri"]) if isinstance(raw.get("uri"), str) else None
    if path is None:
        raise CommandError("each context needs a 'uri'")
    range_ = raw.get("range")
    if range_ is None:
        return context.Item(path)
    try:
        start, end = range_["start"], range_["end"]
        return context.Item(
            path,
            (int(start["line"]), int(start["character"])),
            (int(end["line"]), int(end["character"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CommandError(
            "a context's range has a start and an end, each with line and character"
        ) from error
