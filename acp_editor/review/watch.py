"""Watching the disk where the editor does not: by the system's events, else by polling."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence

import watchfiles

log = logging.getLogger(__name__)

_POLL = 1000
"""Milliseconds between polls."""


def _wanted(change: watchfiles.Change, path: str) -> bool:
    return f"{os.sep}.git{os.sep}" not in path and not path.endswith(f"{os.sep}.git")


async def watch(
    roots: Sequence[str], changed: Callable[[Iterable[str]], None], tell: Callable[[str], None]
) -> None:
    """Says which paths changed, until it is cancelled.

    Where the system has no watches left, that is told and the folders are polled instead.
    """
    polling = False
    while True:
        try:
            async for changes in watchfiles.awatch(  # pyright: ignore[reportUnknownMemberType]
                *roots,
                watch_filter=_wanted,
                debounce=100,
                step=25,
                force_polling=polling or None,
                poll_delay_ms=_POLL,
                ignore_permission_denied=True,
            ):
                changed({path for _, path in changes})
            return
        except OSError as error:
            if polling:
                log.warning("the workspace cannot be watched: %s", error)
                return
            log.info("watching fails, polling instead: %s", error)
            tell("The system has no file watches left: changes are found by polling, a little later.")
            polling = True
