"""The terminals of one session and the newest of their output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from . import limits
from .growing import GrowingTerminal
from .model import Terminal, TerminalUpsert


class Terminals:
    """By id, in the order of first sight; where there are too many, the oldest that has ended goes.

    Where they hold too much, the oldest lose their output.
    """

    def __init__(self) -> None:
        self._terminals: dict[str, GrowingTerminal] = {}
        self._size = 0

    def __len__(self) -> int:
        return len(self._terminals)

    def __contains__(self, terminal_id: str) -> bool:
        return terminal_id in self._terminals

    def __iter__(self) -> Iterator[str]:
        return iter(self._terminals)

    @property
    def size(self) -> int:
        """Bytes of output that are kept."""
        return self._size

    def values(self) -> Mapping[str, Terminal]:
        return {key: terminal.value() for key, terminal in self._terminals.items()}

    def get(self, terminal_id: str) -> Terminal | None:
        found = self._terminals.get(terminal_id)
        return found.value() if found else None

    def add(self, terminal_id: str, data: bytes) -> None:
        self._change(terminal_id, lambda terminal: terminal.add(data))

    def patch(self, update: TerminalUpsert) -> None:
        self._change(update.terminal_id, lambda terminal: terminal.patch(update))

    def keep(self, before: Terminals) -> None:
        """Those that were known before and are not now come first."""
        self._terminals = {**before._terminals, **self._terminals}
        self._size = sum(terminal.size for terminal in self._terminals.values())

    def _change(self, terminal_id: str, change: Callable[[GrowingTerminal], None]) -> None:
        terminal = self._terminals.get(terminal_id)
        if terminal is None:
            terminal = self._terminals[terminal_id] = GrowingTerminal(terminal_id)
        before = terminal.size
        change(terminal)
        self._size += terminal.size - before
        if len(self._terminals) <= limits.TERMINALS and self._size <= limits.TERMINALS_SIZE:
            return
        others = [key for key in self._terminals if key != terminal_id]
        if len(self._terminals) > limits.TERMINALS:
            over = (key for key in others if self._terminals[key].exit_status is not None)
            self._size -= self._terminals.pop(next(over, others[0])).size
        for key in others if self._size > limits.TERMINALS_SIZE else ():
            if self._size > limits.TERMINALS_SIZE * 3 // 4 and (found := self._terminals.get(key)):
                self._size -= found.size
                found.empty()
