"""A prompt on its way: what goes with it, and to which session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_editor.app import context, media
from acp_editor.app.sessions import Entry
from acp_editor.lsp.protocol import CommandError

if TYPE_CHECKING:
    from acp_editor.app.app import App


async def send(
    app: App, entry: Entry, text: str, items: list[context.Item], pictures: list[media.Media]
) -> Entry:
    """Sends or queues a prompt; the agent is started, and its session taken up, where need be."""
    agent, entry = await app.opening.live(entry)
    can, encoding = agent.info.capabilities, app.editor.documents.encoding
    if pictures and not can.image:
        raise CommandError(f"{entry.agent} takes no pictures")
    blocks = context.blocks(text, items, can, app.texts.read, app.uri, encoding)
    blocks += [picture.block() for picture in pictures]
    # A slash command would take it for a part of its argument: it waits for the next prompt.
    if not text.lstrip().startswith("/") and (note := app.review.note(entry.key)):
        blocks.append({"type": "text", "text": note})
    app.agents.slot(entry.agent).error = None
    app.sessions.active = entry
    app.following.policy.prompt()
    app.following.nudge()
    await app.turns.prompt(entry, agent, blocks)
    return entry
