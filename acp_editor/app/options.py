"""The options of a session in one list: its agent's, as hooks show them, then our own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

import anyio
import anyio.to_thread

from acp_editor.app.own_options import OwnOptions
from acp_editor.app.render import words
from acp_editor.app.sessions import Entry
from acp_editor.core.model import Json
from acp_editor.lsp import messages
from acp_editor.lsp.protocol import CommandError
from acp_editor.policy.hooks import Hooks
from acp_editor.policy.options import OWN, Row, problem, restricted, row_of

if TYPE_CHECKING:
    from acp_editor.app.app import App

T = TypeVar("T")

ANSWER_TIME: Final = 60.0
"""Seconds that an agent has to say what became of a setting."""

_Rows = tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class _Shown:
    """Rows as hooks show them, and what they showed."""

    plain: _Rows
    rows: _Rows


class Options:
    """Surfaces take the list as it is known; what hooks say of it comes a moment later, in a thread."""

    def __init__(self, app: App) -> None:
        self._app = app
        self.own = OwnOptions(app)
        self._shown: dict[str, _Shown] = {}
        self._asking: set[str] = set()

    def rows(self, entry: Entry) -> list[messages.ConfigOption]:
        """The list as it is known now."""
        plain = self._plain(entry)
        shown = self._shown.get(entry.key)
        if shown is not None and shown.plain == plain:
            return _rendered(shown.rows)
        if not self._described():
            return _rendered(plain)
        if entry.key not in self._asking:
            self._asking.add(entry.key)
            self._app.start(self._later, entry)
        return _rendered(plain if shown is None else _carried(plain, shown.rows))

    async def listed(self, entry: Entry) -> list[messages.ConfigOption]:
        """The list once all hooks have spoken."""
        return _rendered(await self._current(entry))

    async def set(self, entry: Entry, key: str, value: Json) -> list[messages.ConfigOption]:
        """Sets an option: checked, passed by the hooks, and then by the agent; the list as it is then."""
        rows = await self._current(entry)
        row = next((row for row in rows if row.option.config_id == key), None)
        if row is None:
            known = ", ".join(row.option.config_id for row in rows)
            raise CommandError(f"the session has no option {key!r}; it has {known}")
        if wrong := problem(row, value):
            raise CommandError(wrong)
        hooks = self._app.judge.hooks()
        refused = await self._run(hooks, partial(hooks.check_option, row.option, value, entry.agent))
        if refused is not None:
            raise CommandError(f"{row.option.name} is locked by the hook {refused[0]}: {refused[1]}")
        if row.source == OWN:
            if self.own.set(key, value, entry):
                self.changed()
        else:
            await self._ask_agent(entry, key, value)
        self._app.surfaces.session_changed(entry)
        return await self.listed(entry)

    def changed(self) -> None:
        """Something of our own has changed, for every session."""
        for entry in self._app.sessions:
            self._app.surfaces.session_changed(entry)

    def forget(self, entry: Entry) -> None:
        self._shown.pop(entry.key, None)
        self.own.forget(entry.key)

    async def _ask_agent(self, entry: Entry, key: str, value: Json) -> None:
        option = next((one for one in entry.session.config if one.config_id == key), None)
        agent = self._app.agents.slot(entry.agent).agent
        if agent is None or not entry.started:
            raise CommandError(f"{entry.agent} is not running: send a prompt or restart it first")
        if option is None:
            raise CommandError(f"{entry.agent} has just taken the option {key!r} away")
        try:
            with anyio.fail_after(ANSWER_TIME):
                await agent.set_config(entry.own_id, option, value)
        except TimeoutError:
            raise CommandError(f"{entry.agent} did not answer to {option.name} = {value!r}") from None

    # -- rows ----------------------------------------------------------------------------------------

    def _plain(self, entry: Entry) -> _Rows:
        managed = self._app.judge.ceiling.options
        theirs = [row_of(option, entry.agent, managed) for option in entry.session.config]
        taken = {row.option.config_id for row in theirs}
        ours = [row for row in self.own.rows(entry) if row.option.config_id not in taken]
        return (*theirs, *(row if row.locked else restricted(row, managed) for row in ours))

    def _described(self) -> bool:
        hooks = self._app.judge.hooks()
        parts = {part for name in hooks.names for part in hooks.takes_part(name)}
        return not parts.isdisjoint({"acp_describe_option", "acp_lock_option"})

    async def _current(self, entry: Entry) -> _Rows:
        """The rows as hooks show them, asked again until nothing changes meanwhile."""
        while True:
            plain = self._plain(entry)
            shown = self._shown.get(entry.key)
            if shown is not None and shown.plain == plain:
                return shown.rows
            if not self._described():
                return plain
            hooks = self._app.judge.hooks()
            rows = await self._run(hooks, partial(_as_hooks_show, hooks, plain, entry.agent))
            self._shown[entry.key] = _Shown(plain, rows)

    async def _later(self, entry: Entry) -> None:
        try:
            await self._current(entry)
        finally:
            self._asking.discard(entry.key)
        if not entry.closed:
            self._app.surfaces.session_changed(entry)

    async def _run(self, hooks: Hooks, call: Callable[[], T]) -> T:
        """A hook may take its second; the editor must not wait for it."""
        return await anyio.to_thread.run_sync(call) if hooks.names else call()


def _as_hooks_show(hooks: Hooks, rows: _Rows, agent: str) -> _Rows:
    shown: list[Row] = []
    for row in rows:
        row = replace(row, option=hooks.describe_option(row.option, agent))
        if row.locked is None and (locked := hooks.lock_option(row.option, agent)) is not None:
            row = replace(row, locked=f"the hook {locked[0]}: {locked[1]}")
        shown.append(row)
    return tuple(shown)


def _carried(plain: _Rows, shown: _Rows) -> _Rows:
    """New values under the words and locks that hooks gave before, until they have spoken again."""
    before = {row.option.config_id: row for row in shown}
    carried: list[Row] = []
    for row in plain:
        old = before.get(row.option.config_id)
        if old is not None and old.option.kind == row.option.kind:
            option = replace(row.option, name=old.option.name, description=old.option.description)
            row = replace(row, option=option, locked=row.locked or old.locked)
        carried.append(row)
    return tuple(carried)


def _rendered(rows: _Rows) -> list[messages.ConfigOption]:
    return [_row(row) for row in rows]


def _row(row: Row) -> messages.ConfigOption:
    option = row.option
    rendered: messages.ConfigOption = {
        "configId": option.config_id,
        "name": words(option.name),
        "description": words(option.description),
        "kind": row.kind,
        "category": option.category,
        "value": option.value,
        "options": [
            {
                "value": choice.value,
                "name": words(choice.name),
                "description": words(choice.description),
                "group": words(choice.group),
            }
            for choice in option.choices
        ],
        "source": row.source,
        "locked": row.locked,
    }
    if row.least is not None:
        rendered["least"] = row.least
    if row.most is not None:
        rendered["most"] = row.most
    return rendered
