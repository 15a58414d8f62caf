"""Watching the disk where the editor does not, by the system's events."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence

import watchfiles
from watchfiles._rust_notify import WatchfilesRustInternalError

log = logging.getLogger(__name__)


def _wanted(change: watchfiles.Change, path: str) -> bool:
    return f"{os.sep}.git{os.sep}" not in path and not path.endswith(f"{os.sep}.git")


async def watch(roots: Sequence[str], changed: Callable[[Iterable[str]], None]) -> None:
    """Says which paths changed, until it is cancelled; returns where the system does not let it watch."""
    # Passing over folders that we may not read makes watchfiles pass over those for which the system has no
    # watches left, too: it is asked for only where there are such folders.
    unreadable = False
    while True:
        try:
            async for changes in watchfiles.awatch(  # pyright: ignore[reportUnknownMemberType]
                *roots,
                watch_filter=_wanted,
                debounce=100,
                step=25,
                ignore_permission_denied=unreadable,
            ):
                changed({path for _, path in changes})
            return
        except (OSError, WatchfilesRustInternalError) as error:
            if "ermission denied" in str(error) and not unreadable:
                unreadable = True
                continue
            log.info("the workspace cannot be watched: %s", error)
            return
