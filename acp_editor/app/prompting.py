"""A prompt on its way: what goes with it, to which session, and what the agent says in the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio.lowlevel

from acp_editor.app import context, media
from acp_editor.app.render import words
from acp_editor.app.sessions import Entry
from acp_editor.core.model import Json
from acp_editor.lsp import messages
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


async def run(
    app: App, entry: Entry, text: str, items: list[context.Item], pictures: list[media.Media]
) -> Run:
    """The same, for somebody who waits for the end of the turn."""
    before = entry.turn, len(entry.session.messages)
    lives = await send(app, entry, text, items, pictures)
    if lives is not entry:  # its agent was started again, with a new session
        before = 0, 0
    return Run(lives, *before, lives.queue[-1] if lives.queue else None, None)


@dataclass(frozen=True, slots=True)
class Run:
    """A prompt on its way: the turn and message that were the last before it, or the answer of a hook.

    `waiting` is its prompt where that was queued behind a turn.
    """

    entry: Entry
    turn: int
    message: int
    waiting: list[Json] | None
    answer: str | None

    async def printed(self) -> messages.Ran:
        """Waits until its turn is over, and says what the agent wrote in it."""
        if self.answer is not None:
            return {"sessionId": self.entry.key, "printed": self.answer, "stopReason": None}
        said, stop_reason = await self._over()
        return {"sessionId": self.entry.key, "printed": words("".join(said)), "stopReason": stop_reason}

    async def said(self) -> messages.Prompted:
        """Waits until its turn is over, and says what the agent wrote last in it."""
        said, stop_reason = await self._over()
        return {
            "sessionId": self.entry.key,
            "said": words(said[-1] if said else ""),
            "stopReason": stop_reason,
        }

    async def _over(self) -> tuple[list[str], str | None]:
        """The agent's messages of the turn, and how it ended."""
        entry, message, turn = self.entry, self.message, self.turn
        while any(blocks is self.waiting for blocks in entry.queue):
            turn = entry.turn
            await entry.over.wait()
            message = len(entry.session.messages)
            await anyio.lowlevel.checkpoint()  # the next prompt goes out in a task of its own
        if self.waiting is not None and entry.turn == turn:
            return [], "cancelled"
        await entry.over.wait()
        said = entry.session.messages[message:]
        return [one.text for one in said if one.role == "agent"], entry.session.stop_reason
