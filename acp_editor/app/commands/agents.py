"""Agents: restart, stop, log in and out, and what was said to them."""

from __future__ import annotations

import shlex

from acp_editor.app.arguments import Arguments
from acp_editor.app.commands.registry import Commands, command
from acp_editor.lsp import messages
from acp_editor.lsp.protocol import CommandError


@command("agent.start")
async def _agent_start(commands: Commands, arguments: Arguments) -> messages.Agent:
    name = commands.agent_named(arguments)
    await commands.app.agents.ensure(name)
    return commands.app.agents.render(commands.app.scrub)[name]


@command("agent.restart")
async def _agent_restart(commands: Commands, arguments: Arguments) -> None:
    app = commands.app
    name = commands.agent_named(arguments)
    await app.agents.stop(name)
    app.agents.slot(name).restarts.forget()
    await app.agents.ensure(name)


@command("agent.stop")
async def _agent_stop(commands: Commands, arguments: Arguments) -> None:
    await commands.app.agents.stop(arguments.text("agent"))


@command("auth.login")
async def _login(commands: Commands, arguments: Arguments) -> None:
    app = commands.app
    name = commands.agent_named(arguments)
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
            "agent": name,
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


@command("auth.logout")
async def _logout(commands: Commands, arguments: Arguments) -> None:
    app = commands.app
    name = commands.agent_named(arguments)
    agent = await app.agents.ensure(name)
    if not agent.info.capabilities.logout:
        raise CommandError(f"{name} has no logout")
    await agent.logout()


@command("log.traffic")
async def _log_traffic(commands: Commands, arguments: Arguments) -> dict[str, str]:
    app = commands.app
    agent = commands.agent_named(arguments)
    try:
        path = app.traffic.save(agent)
    except OSError as error:
        raise CommandError(f"the traffic of {agent} cannot be written: {error}") from error
    if path is None:
        raise CommandError(f"nothing has been said to {agent} yet")
    return {"path": str(path)}
