"""The agent's slash commands and options."""

from __future__ import annotations

from typing import Any

from acp_editor.app.arguments import Arguments
from acp_editor.app.commands.registry import Commands, command
from acp_editor.core.model import ConfigOption
from acp_editor.lsp import messages
from acp_editor.lsp.protocol import CommandError


@command("commands")
async def _commands(commands: Commands, arguments: Arguments) -> list[messages.SourcedCommand]:
    app = commands.app
    session_id = arguments.maybe_text("sessionId")
    return await app.slash.listed(app.entry(session_id) if session_id else app.sessions.active)


@command("config.set")
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
