"""Work done progress while turns run, for an editor that draws no status of ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import anyio

from acp_editor.app.sessions import Entry
from acp_editor.core import safe
from acp_editor.lsp.editor import Editor


@dataclass(slots=True, eq=False)
class _Bar:
    """`shown` once the editor has it; one whose turn is `over` before that is ended as soon as it is."""

    token: str
    shown: bool = False
    over: bool = False
    said: str = ""


class Progress:
    """`show` brings what the editor has in line with the sessions; `run` waits for its answers."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._bars: dict[str, _Bar] = {}
        self._wanted: list[tuple[_Bar, str]] = []
        self._wake = anyio.Event()
        self._count = 0

    def show(self, sessions: Iterable[Entry]) -> None:
        running = {entry.key: entry for entry in sessions if entry.running}
        for key in [key for key in self._bars if key not in running]:
            bar = self._bars.pop(key)
            bar.over = True
            if bar.shown:
                self._editor.progress_end(bar.token, None)
        for key, entry in running.items():
            bar = self._bars.get(key)
            if bar is None:
                self._count += 1
                bar = self._bars[key] = _Bar(f"acp-editor-{self._count}")
                self._wanted.append((bar, entry.agent))
                self._wake.set()
            active = entry.session.active_calls
            said = safe.plain(active[-1].title or active[-1].kind) if active else ""
            if bar.shown and said and said != bar.said:
                bar.said = said
                self._editor.progress_report(bar.token, said)

    async def run(self) -> None:
        async with anyio.create_task_group() as group:
            while True:
                self._wake = anyio.Event()
                for bar, title in self._wanted:
                    group.start_soon(self._begin, bar, title)
                self._wanted.clear()
                await self._wake.wait()

    async def _begin(self, bar: _Bar, title: str) -> None:
        await self._editor.progress_begin(bar.token, title)
        bar.shown = True
        if bar.over:
            self._editor.progress_end(bar.token, None)
