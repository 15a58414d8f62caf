"""Slash commands: the agent's, as hooks show them, and those of hooks."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from acp_editor.app import prompting
from acp_editor.app.render import words
from acp_editor.app.sessions import Entry
from acp_editor.core.model import Json
from acp_editor.lsp import messages
from acp_editor.lsp.protocol import CommandError
from acp_editor.policy.hooks import Hooks

if TYPE_CHECKING:
    from acp_editor.app.app import App

T = TypeVar("T")

_NAME: Final = re.compile(r"[A-Za-z][\w:.-]*")
_SLASH: Final = re.compile(r"/([A-Za-z][\w:.-]*)(?:\s+(.*))?\Z", re.DOTALL)
"""A command at the start of a prompt; `/etc/hosts` is a path and none."""


class Slash:
    """`hooks` gives the installed hooks, loaded when they are first needed."""

    def __init__(self, app: App, hooks: Callable[[], Hooks]) -> None:
        self._app = app
        self._hooks = hooks

    async def listed(self, entry: Entry | None) -> list[messages.SourcedCommand]:
        """What can be run: the agent's commands first, each with where it comes from."""
        hooks = self._hooks()
        rows: list[messages.SourcedCommand] = []
        for command in entry.session.commands if entry else ():
            shown = await self._run(
                hooks, partial(hooks.describe_command, command, entry.agent if entry else "")
            )
            if shown is not None:
                rows.append(_row(shown.name, shown.description, shown.hint, entry.agent if entry else ""))
        names = {row["name"] for row in rows}
        found = await self._run(hooks, partial(hooks.commands, entry.key if entry else ""))
        rows += [
            _row(command.name, command.description, command.hint, hook)
            for hook, command in found
            if command.name not in names
        ]
        return rows

    async def answer(self, entry: Entry, text: str) -> str | None:
        """What a hook prints for a prompt that is its command; None where the prompt is for the agent.

        A name that neither the agent nor a hook knows is an error: the agent would take it for text.
        """
        match = _SLASH.match(text.strip())
        if match is None:
            return None
        name, rest = match[1], (match[2] or "").strip()
        rows = await self.listed(entry)
        row = next((row for row in rows if row["name"] == name), None)
        if row is None:
            if not entry.session.commands:
                return None  # the agent has not said what it knows
            raise _unknown(name, rows)
        if row["source"] == entry.agent:
            return None
        hooks = self._hooks()
        answered = await self._run(hooks, partial(hooks.answer_command, name, rest, entry.key))
        if answered is None:
            raise CommandError(f"the hook {row['source']} did not answer /{name}")
        return answered[1]

    async def begin(self, entry: Entry, name: str, arguments: str) -> Run:
        """Starts a command; what it prints comes later. One that nobody knows is an error."""
        name = name.removeprefix("/")
        rows = await self.listed(entry)
        if all(row["name"] != name for row in rows) and (rows or not _NAME.fullmatch(name)):
            raise _unknown(name, rows)
        text = f"/{name} {arguments.strip()}".rstrip()
        if (answer := await self.answer(entry, text)) is not None:
            return Run(entry, entry.turn, len(entry.session.messages), None, answer)
        before = entry.turn, len(entry.session.messages)
        lives = await prompting.send(self._app, entry, text, [], [])
        if lives is not entry:  # its agent was started again, with a new session
            before = 0, 0
        return Run(lives, *before, lives.queue[-1] if lives.queue else None, None)

    async def _run(self, hooks: Hooks, call: Callable[[], T]) -> T:
        """A hook may take its second; the editor must not wait for it."""
        return await anyio.to_thread.run_sync(call) if hooks.names else call()


@dataclass(frozen=True, slots=True)
class Run:
    """A command on its way: the turn and message that were the last before it, or the answer of a hook.

    `waiting` is its prompt where that was queued behind a turn.
    """

    entry: Entry
    turn: int
    message: int
    waiting: list[Json] | None
    answer: str | None

    async def printed(self) -> messages.Ran:
        """Waits until its turn is over, and says what the agent wrote in it."""
        entry, message = self.entry, self.message
        if self.answer is not None:
            return {"sessionId": entry.key, "printed": self.answer, "stopReason": None}
        turn = self.turn
        while any(blocks is self.waiting for blocks in entry.queue):
            turn = entry.turn
            await entry.over.wait()
            message = len(entry.session.messages)
            await anyio.lowlevel.checkpoint()  # the next prompt goes out in a task of its own
        if self.waiting is not None and entry.turn == turn:
            return {"sessionId": entry.key, "printed": "", "stopReason": "cancelled"}
        await entry.over.wait()
        said = entry.session.messages[message:]
        text = "".join(one.text for one in said if one.role == "agent")
        return {"sessionId": entry.key, "printed": words(text), "stopReason": entry.session.stop_reason}


def _unknown(name: str, rows: list[messages.SourcedCommand]) -> CommandError:
    known = ", ".join(f"/{row['name']}" for row in rows)
    return CommandError(f"there is no command /{name}; there is {known or 'none'}")


def _row(name: str, description: str, hint: str | None, source: str) -> messages.SourcedCommand:
    return {
        "name": words(name),
        "description": words(description),
        "hint": words(hint),
        "source": source,
    }
