"""Waiting for what has to become true, with a bound."""

from __future__ import annotations

from collections.abc import Callable

import anyio


async def until(condition: Callable[[], object], seconds: float = 10) -> None:
    """Returns once the condition holds; fails the test after so many seconds."""
    with anyio.fail_after(seconds):
        while not condition():  # noqa: ASYNC110
            await anyio.sleep(0.005)
