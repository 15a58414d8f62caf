"""Slash commands and options: the agent's, as hooks show them, and those of hooks."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio.to_thread

from acp_editor.app import render
from acp_editor.app.sessions import Entry
from acp_editor.core.model import ConfigOption
from acp_editor.lsp import messages
from acp_editor.lsp.protocol import CommandError
from acp_editor.policy.hooks import Hooks

if TYPE_CHECKING:
    from acp_editor.app.app import App

T = TypeVar("T")

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
            known = ", ".join(f"/{row['name']}" for row in rows)
            raise CommandError(f"there is no command /{name}; there is {known}")
        if row["source"] == entry.agent:
            return None
        hooks = self._hooks()
        answered = await self._run(hooks, partial(hooks.answer_command, name, rest, entry.key))
        if answered is None:
            raise CommandError(f"the hook {row['source']} did not answer /{name}")
        return answered[1]

    async def options(self, entry: Entry) -> list[messages.ConfigOption]:
        """The session's options as hooks describe them."""
        hooks = self._hooks()
        return render.config(
            [
                await self._run(hooks, partial(hooks.describe_option, option, entry.agent))
                for option in entry.session.config
            ]
        )

    async def check(self, entry: Entry, option: ConfigOption, value: Any) -> None:
        """Raises where a hook refuses the setting."""
        hooks = self._hooks()
        refused = await self._run(hooks, partial(hooks.check_option, option, value, entry.agent))
        if refused is not None:
            raise CommandError(f"{option.name} is locked by {refused[0]}: {refused[1]}")

    async def _run(self, hooks: Hooks, call: Callable[[], T]) -> T:
        """A hook may take its second; the editor must not wait for it."""
        return await anyio.to_thread.run_sync(call) if hooks.names else call()


def _row(name: str, description: str, hint: str | None, source: str) -> messages.SourcedCommand:
    return {
        "name": render.words(name),
        "description": render.words(description),
        "hint": render.words(hint),
        "source": source,
    }
