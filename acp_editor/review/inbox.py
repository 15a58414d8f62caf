"""What has happened and has not been taken up yet. Filled and emptied on the event loop only."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import anyio

from acp_editor.core.model import ToolCall
from acp_editor.review.engine import Engine

Event = Callable[[Engine], None]


@dataclass(frozen=True, slots=True)
class Taken:
    """Events in their order, then where to look: at what is named, everywhere, at permissions alone, too."""

    events: list[Event]
    paths: set[str]
    everywhere: bool
    modes: bool

    @property
    def empty(self) -> bool:
        return not (self.events or self.paths or self.everywhere or self.modes)

    def work(self, engine: Engine) -> Iterator[None]:
        """Takes it up in steps, after each of which there may be something to show."""
        engine.take_up(self.events)
        yield from engine.looking(self.paths, everywhere=self.everywhere, modes=self.modes)


class Inbox:
    def __init__(self) -> None:
        self._events: list[Event] = []
        self._calls: dict[str, tuple[ToolCall, str]] = {}
        self._paths: set[str] = set()
        self._everywhere = False
        self._modes = False
        self._wake = anyio.Event()

    def put(self, event: Event) -> None:
        self._events.append(event)
        self._wake.set()

    def call(self, call: ToolCall, cwd: str) -> None:
        """A tool call as it is now; what it was before, and nobody has looked at, does not matter."""
        self._calls[call.tool_call_id] = (call, cwd)
        self._wake.set()

    def look(self, paths: Iterable[str] | None, *, modes: bool = False, now: bool = True) -> None:
        """Asks for a look at these paths, or everywhere; `now`, or when something else is taken up."""
        self._everywhere = self._everywhere or paths is None
        self._paths.update(paths or ())
        self._modes = self._modes or modes
        if now:
            self._wake.set()

    def wake(self) -> None:
        self._wake.set()

    async def wait(self, seconds: float) -> None:
        """Until something is there, but not longer."""
        with anyio.move_on_after(seconds):
            await self._wake.wait()
        self._wake = anyio.Event()

    def take(self) -> Taken:
        """All that is there; calls come after the other events, and before the look."""
        heard = [functools.partial(Engine.hear, call=call, cwd=cwd) for call, cwd in self._calls.values()]
        taken = Taken([*self._events, *heard], self._paths, self._everywhere, self._modes)
        self._events, self._calls, self._paths = [], {}, set()
        self._everywhere = self._modes = False
        return taken
