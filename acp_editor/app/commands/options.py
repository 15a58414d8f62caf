"""The agent's slash commands and options."""

from __future__ import annotations

from acp_editor.app.arguments import Arguments
from acp_editor.app.commands.registry import Commands, command
from acp_editor.lsp import messages


@command("commands")
async def _commands(commands: Commands, arguments: Arguments) -> list[messages.SourcedCommand]:
    app = commands.app
    session_id = arguments.maybe_text("sessionId")
    return await app.slash.listed(app.entry(session_id) if session_id else app.sessions.active)


@command("command.run")
async def _run(commands: Commands, arguments: Arguments) -> messages.Ran:
    app, session_id = commands.app, arguments.maybe_text("sessionId")
    known = app.entry(session_id) if session_id else app.sessions.active
    async with app.agents.slot(known.agent if known else app.settings.agent).prompting:
        entry = known or await app.opening.new(app.settings.agent)
        run = await app.slash.begin(entry, arguments.text("name"), arguments.maybe_text("arguments") or "")
    return await run.printed()


@command("config")
async def _config(commands: Commands, arguments: Arguments) -> list[messages.ConfigOption]:
    app = commands.app
    return await app.options.listed(app.entry(arguments.maybe_text("sessionId")))


@command("config.set")
async def _config_set(commands: Commands, arguments: Arguments) -> list[messages.ConfigOption]:
    app = commands.app
    entry = app.entry(arguments.maybe_text("sessionId"))
    return await app.options.set(entry, arguments.text("configId"), arguments.raw("value"))
