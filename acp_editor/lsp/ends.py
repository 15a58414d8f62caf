"""How we learn that the editor is gone or wants us gone, when its pipe does not say so."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable

import anyio

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.5
_LEAVE_SECONDS = 4.2
"""Editors kill a server that takes much longer to leave, and what it started would stay."""


async def signalled(ended: anyio.Event) -> None:
    """Editors and systems end a language server by signals, too: nothing may be left behind then either."""
    if sys.platform == "win32":
        return
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for number in signals:
            logger.warning("ended by %s", signal.Signals(number).name)
            ended.set()


class Deadline:
    """Once it has begun, `give_up` is called in a thread after the time in which all should be over."""

    def __init__(self, give_up: Callable[[], None]) -> None:
        self._timer = threading.Timer(_LEAVE_SECONDS, give_up)
        self._timer.daemon = True
        self._begin = threading.Lock()

    def begin(self) -> None:
        if self._begin.acquire(blocking=False):
            self._timer.start()


async def editor_gone(pid: int, ended: anyio.Event) -> None:
    """Ends with the editor's process also where its pipe stays open, held by another child of its.

    A number that no process has is of another machine or container, and not watched.
    """
    if await _ended(pid):
        logger.warning("the editor's process %d is gone", pid)
        ended.set()


async def _ended(pid: int) -> bool:
    """Waits until that process has ended; false where there is none to wait for."""
    if sys.platform == "linux":
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return False
        except OSError as error:  # an old kernel, or one that does not let us
            logger.debug("no descriptor for process %d: %s", pid, error)
        else:
            try:
                await anyio.wait_readable(descriptor)
            finally:
                os.close(descriptor)
            return True
    if os.name == "nt" or not _alive(pid):  # there, os.kill would end the process
        return False
    while _alive(pid):  # noqa: ASYNC110  # nobody tells of another's child
        await anyio.sleep(_POLL_SECONDS)
    return True


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
