"""Differences that cannot hold anybody up: small ones here, large ones in a process with a time limit."""

from __future__ import annotations

import logging
import os
import selectors
import struct
import subprocess
import sys
import time

from acp_editor.core.ledger import Change, Span, trimmed
from acp_editor.review import diff

log = logging.getLogger(__name__)

_SMALL = 16 * 1024
"""Bytes of both sides that are compared at once, whatever they are: under 20 ms at worst."""
_START = 10.0
"""Seconds that the worker may take to start."""


class Differ:
    """Calls of it are `core.ledger.Diff`. `limit` is in seconds; past it the texts are one change."""

    def __init__(self, limit: float = 2.0) -> None:
        self._limit = limit
        self._worker: subprocess.Popen[bytes] | None = None
        self._greeted = False
        self._known: dict[tuple[bytes, bytes], list[Change]] = {}

    def __call__(self, old: bytes, new: bytes) -> list[Change]:
        if len(old) + len(new) <= _SMALL:
            return diff.changes(old, new)
        return list(trimmed(self._changed_part, old, new))

    def _changed_part(self, old: bytes, new: bytes) -> list[Change]:
        if not old or not new:
            return diff.whole(old, new)
        if len(old) + len(new) <= _SMALL:
            return diff.changes(old, new)
        known = self._known.get((old, new))
        if known is None:
            known = self._ask(old, new)
            self._known = dict([*list(self._known.items())[-7:], ((old, new), known)])
        return known

    def _ask(self, old: bytes, new: bytes) -> list[Change]:
        try:
            worker = self._start()
            assert worker.stdin is not None
            assert worker.stdout is not None
            worker.stdin.write(struct.pack("<QQ", len(old), len(new)) + old + new)
            worker.stdin.flush()
            answer = _read_frame(worker, self._limit)
        except (OSError, EOFError, TimeoutError) as error:
            log.info("a difference of %d bytes is one change: %s", len(old) + len(new), error or "too slow")
            self.close()
            return diff.whole(old, new)
        numbers = struct.unpack(f"<{len(answer) // 4}I", answer)
        return [
            Change(Span(*numbers[at : at + 2]), Span(*numbers[at + 2 : at + 4]))
            for at in range(0, len(numbers), 4)
        ]

    def warm(self) -> None:
        """Starts the worker, so that it is there when it is needed; does not wait for it."""
        if self._worker is None or self._worker.poll() is not None:
            self.close()
            self._greeted = False
            self._worker = subprocess.Popen(
                [sys.executable, "-m", "acp_editor.review.differ"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def _start(self) -> subprocess.Popen[bytes]:
        self.warm()
        assert self._worker is not None
        if not self._greeted:
            _read_frame(self._worker, _START)
            self._greeted = True
        return self._worker

    def forget(self) -> None:
        """Drops the differences that are remembered."""
        self._known.clear()

    def close(self) -> None:
        """Ends the worker, in whatever it is."""
        if self._worker is not None:
            self._worker.kill()
            for pipe in (self._worker.stdin, self._worker.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except OSError:
                        pass
            self._worker.wait()
            self._worker = None


def _read_frame(worker: subprocess.Popen[bytes], limit: float) -> bytes:
    """One answer, its length first. Raises TimeoutError and EOFError."""
    assert worker.stdout is not None
    until = time.monotonic() + limit
    wanted = 8
    data = b""
    size: int | None = None
    with selectors.DefaultSelector() as selector:
        selector.register(worker.stdout, selectors.EVENT_READ)
        while len(data) < wanted:
            if not selector.select(max(0.0, until - time.monotonic())):
                raise TimeoutError
            piece = os.read(worker.stdout.fileno(), wanted - len(data))
            if not piece:
                raise EOFError
            data += piece
            if size is None and len(data) == 8:
                (size,) = struct.unpack("<Q", data)
                wanted = 8 + size
    return data[8:]


def serve() -> None:
    """The worker: reads pairs of texts, writes their changes, until its input ends."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    target.write(struct.pack("<Q", 0))
    target.flush()
    while len(head := source.read(16)) == 16:
        sizes = struct.unpack("<QQ", head)
        old, new = source.read(sizes[0]), source.read(sizes[1])
        found = diff.changes(old, new)
        body = b"".join(
            struct.pack("<4I", one.old.start, one.old.end, one.new.start, one.new.end) for one in found
        )
        target.write(struct.pack("<Q", len(body)) + body)
        target.flush()


if __name__ == "__main__":
    serve()
