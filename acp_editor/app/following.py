"""Following: what the policy says is due is shown, one place at a time, without the focus."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import anyio

from acp_editor.core.follow import Follow, Target


class Following:
    """Runs the pure policy of `core.follow` against the clock. `start` runs a jump as a task."""

    def __init__(
        self,
        policy: Follow,
        show: Callable[[Target], Coroutine[Any, Any, bool]],
        start: Callable[[Callable[[Target], Coroutine[Any, Any, bool]], Target], None],
        changed: Callable[[], None],
        clock: Callable[[], float] = anyio.current_time,
    ) -> None:
        self.policy = policy
        self._show = show
        self._start = start
        self._changed = changed
        self._clock = clock
        self._wake = anyio.Event()
        self._was_paused = False

    def nudge(self) -> None:
        """The policy has heard of something: look again."""
        self._wake.set()

    async def run(self) -> None:
        while True:
            self._wake = anyio.Event()
            now = self._clock()
            target = self.policy.due(now)
            self._tell_pause(now)
            if target is not None:
                # Not awaited: an editor that holds a jump back is told of the newer place all the same.
                self._start(self._show, target)
                continue
            times = [self.policy.next_wake(), self.policy.pause_ends() if self._was_paused else None]
            wake = min((time for time in times if time is not None), default=None)
            with anyio.move_on_after(None if wake is None else max(0.001, wake - now)):
                await self._wake.wait()

    async def back(self) -> bool:
        """Shows the place before the last jump; false where there is none."""
        target = self.policy.back(self._clock())
        if target is None:
            return False
        self.nudge()
        await self._show(target)
        return True

    def _tell_pause(self, now: float) -> None:
        if self.policy.paused(now) != self._was_paused:
            self._was_paused = not self._was_paused
            self._changed()
