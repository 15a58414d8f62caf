"""Prompts, and their end."""

from __future__ import annotations

from acp_editor.app import prompting
from acp_editor.app.arguments import Arguments
from acp_editor.app.commands.reading import item_of, picture_of
from acp_editor.app.commands.registry import Commands, command
from acp_editor.lsp import messages


@command("prompt")
async def _prompt(commands: Commands, arguments: Arguments) -> messages.Prompted:
    text = arguments.text("text")
    items = [item_of(raw) for raw in arguments.objects("context")]
    pictures = [picture_of(raw) for raw in arguments.objects("images")]
    app, session_id = commands.app, arguments.maybe_text("sessionId")
    known = app.entry(session_id) if session_id is not None else app.sessions.active
    async with app.agents.slot(known.agent if known else app.settings.agent).prompting:
        entry = (app.entry(session_id) if session_id else app.sessions.active) or await app.opening.new(
            app.settings.agent
        )
        as_text = arguments.maybe_flag("asText") is True
        if not as_text and (answer := await app.slash.answer(entry, text)) is not None:
            return {"sessionId": entry.key, "answer": answer}
        run = await prompting.run(app, entry, text, items, pictures)
    if arguments.maybe_flag("wait") is True:
        return await run.said()
    return {"sessionId": run.entry.key}


@command("cancel")
async def _cancel(commands: Commands, arguments: Arguments) -> None:
    app = commands.app
    session_id = arguments.maybe_text("sessionId")
    if session_id is None and app.sessions.active is None:
        return
    entry = app.entry(session_id)
    app.turns.cancel(entry, commands.running(entry))
