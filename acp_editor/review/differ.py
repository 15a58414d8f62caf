"""Differences that cannot hold anybody up: small ones here, large ones in a process with a time limit."""

from __future__ import annotations

import logging
import math
import os
import selectors
import struct
import subprocess
import sys
import time
from collections.abc import Sequence

from acp_editor.core.ledger import Change, Diff, Span, trimmed
from acp_editor.review import diff

log = logging.getLogger(__name__)

_SMALL = 16 * 1024
"""Bytes of both sides that are compared at once, whatever they are: under 20 ms at worst."""
_START = 10.0
"""Seconds that the worker may take to start."""


class Differ:
    """Calls of it are `core.ledger.Diff`. `limit` is in seconds; past it the texts are one change.

    `quick` waits less: what is not found by then is one change for now, `rough` says so, and the worker goes
    on with it. To ask once more, when it is not `busy` any more, gives what it has found.
    """

    def __init__(self, limit: float = 2.0, patience: float = 0.15) -> None:
        self._limit = limit
        self.patience = patience
        self._worker: subprocess.Popen[bytes] | None = None
        self._greeted = False
        self._known: dict[tuple[bytes, bytes], list[Change]] = {}
        self._pair: tuple[bytes, bytes] | None = None
        """What the worker is at."""
        self._until = 0.0
        """When it has been at that for too long."""
        self._partly = bytearray()
        """What has come of the worker's answer so far."""
        self.rough = False
        """Whether the last answer of `quick` is one change only because it was asked to be quick."""

    def __call__(self, old: bytes, new: bytes) -> list[Change]:
        return self._compare(old, new, lambda old, new: self._ask((old, new)))

    def quick(self, old: bytes, new: bytes) -> list[Change]:
        self.rough = False
        return self._compare(old, new, self._ask_quickly)

    @property
    def busy(self) -> bool:
        """Whether the worker is still at what `quick` did not wait for."""
        return self._pair is not None and not self._collect(0.0)

    def _compare(self, old: bytes, new: bytes, ask: Diff) -> list[Change]:
        def changed_part(old: bytes, new: bytes) -> Sequence[Change]:
            if not old or not new:
                return diff.whole(old, new)
            if len(old) + len(new) <= _SMALL:
                return diff.changes(old, new)
            known = self._known.get((old, new))
            return known if known is not None else ask(old, new)

        if len(old) + len(new) <= _SMALL:
            return diff.changes(old, new)
        return list(trimmed(changed_part, old, new))

    def _ask(self, pair: tuple[bytes, bytes]) -> list[Change]:
        if self._pair not in (None, pair):
            self._collect(math.inf)  # that takes no longer than the limit
        if self._pair is None:
            self._submit(pair, _START)
        self._collect(math.inf)
        return self._known.get(pair) or diff.whole(*pair)

    def _ask_quickly(self, old: bytes, new: bytes) -> list[Change]:
        pair = (old, new)
        until = time.monotonic() + self.patience
        if not (self._pair not in (None, pair) and self.busy):
            if self._pair is None:
                self._submit(pair, self.patience)
            self._collect(until - time.monotonic())
        self.rough = pair not in self._known
        return self._known.get(pair) or diff.whole(old, new)

    def _submit(self, pair: tuple[bytes, bytes], patience: float) -> None:
        """Gives the worker something to do; it has to be free. Where it has not started yet, nothing."""
        try:
            worker = self._started(patience)
            assert worker.stdin is not None
            worker.stdin.write(struct.pack("<QQ", len(pair[0]), len(pair[1])) + pair[0] + pair[1])
            worker.stdin.flush()
        except TimeoutError as error:
            if patience >= _START:
                self._give_up(pair, error)
            return
        except (OSError, EOFError) as error:
            self._give_up(pair, error)
            return
        self._pair, self._until = pair, time.monotonic() + self._limit

    def _collect(self, patience: float) -> bool:
        """Takes what the worker has found, if it has within so many seconds; whether it is free now."""
        if (pair := self._pair) is None:
            return True
        assert self._worker is not None
        left = self._until - time.monotonic()
        try:
            answer = _read_frame(self._worker, min(patience, left), self._partly)
        except TimeoutError as error:
            if patience < left:
                return False
            self._give_up(pair, error)
            return True
        except (OSError, EOFError) as error:
            self._give_up(pair, error)
            return True
        numbers = struct.unpack(f"<{len(answer) // 4}I", answer)
        self._remember(
            pair,
            [
                Change(Span(*numbers[at : at + 2]), Span(*numbers[at + 2 : at + 4]))
                for at in range(0, len(numbers), 4)
            ],
        )
        return True

    def _give_up(self, pair: tuple[bytes, bytes], error: Exception) -> None:
        size = len(pair[0]) + len(pair[1])
        log.info("a difference of %d bytes is one change: %s", size, error or "too slow")
        self.close()
        self._remember(pair, diff.whole(*pair))

    def _remember(self, pair: tuple[bytes, bytes], found: list[Change]) -> None:
        self._pair = None
        self._known = dict([*list(self._known.items())[-7:], (pair, found)])

    def warm(self) -> None:
        """Starts the worker, so that it is there when it is needed; does not wait for it."""
        if self._worker is None or self._worker.poll() is not None:
            self.close()
            self._worker = subprocess.Popen(
                [sys.executable, "-m", "acp_editor.review.differ"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def _started(self, patience: float) -> subprocess.Popen[bytes]:
        self.warm()
        assert self._worker is not None
        if not self._greeted:
            _read_frame(self._worker, patience, self._partly)
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
            self._worker = self._pair = None
        self._greeted = False
        self._partly.clear()


def _read_frame(worker: subprocess.Popen[bytes], limit: float, partly: bytearray) -> bytes:
    """One answer, its length first; `partly` has what came of it so far. Raises TimeoutError and EOFError."""
    assert worker.stdout is not None
    until = time.monotonic() + limit
    with selectors.DefaultSelector() as selector:
        selector.register(worker.stdout, selectors.EVENT_READ)
        while len(partly) < (wanted := _length(partly)):
            if not selector.select(max(0.0, until - time.monotonic())):
                raise TimeoutError
            piece = os.read(worker.stdout.fileno(), wanted - len(partly))
            if not piece:
                raise EOFError
            partly += piece
    answer = bytes(partly[8:])
    partly.clear()
    return answer


def _length(partly: bytearray) -> int:
    """Of the whole frame, or of as much as tells it."""
    return 8 + (int(struct.unpack_from("<Q", partly)[0]) if len(partly) >= 8 else 0)


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
