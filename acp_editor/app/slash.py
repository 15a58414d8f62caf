"""Slash commands: the agent's, as hooks show them, and those of hooks."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

import anyio.to_thread

from acp_editor.app import prompting
from acp_editor.app.prompting import Run
from acp_editor.app.render import words
from acp_editor.app.sessions import Entry
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
            return Run(entry, 0, 0, None, answer)
        return await prompting.run(self._app, entry, text, [], [])

    async def _run(self, hooks: Hooks, call: Callable[[], T]) -> T:
        """A hook may take its second; the editor must not wait for it."""
        return await anyio.to_thread.run_sync(call) if hooks.names else call()


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
