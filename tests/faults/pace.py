"""How fast this machine is at the moment, so that a promise in seconds can be kept to on any."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from types import TracebackType
from typing import Self

_WORK = """
import json, sys, time
value = {str(n): ["x" * 20, n, None, {"a": 0.5}] for n in range(2000)}
for line in sys.stdin:
    began = time.perf_counter()
    for _ in range(4):
        json.loads(json.dumps(value))
    print(time.perf_counter() - began, flush=True)
"""
_NOMINAL = 0.020
"""Seconds that this work takes on the machine for which the promises were made, with nothing else to do."""


class Pace:
    """Measures, beside whatever else runs, how much slower than promised for the machine is now.

    `slowness` is the greatest factor since the start, never below 1: 2 means that work takes twice as long.
    `latest` is the one of the last fifth of a second.
    """

    def __init__(self) -> None:
        self.slowness = self.latest = 1.0
        self._stop = threading.Event()

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-c", _WORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._measure()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _run(self) -> None:
        while not self._stop.wait(0.2):
            self._measure()

    def _measure(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        began = time.perf_counter()
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self._process.stdout.readline()
        # From outside, so that waiting for a processor counts.
        self.latest = max(1.0, (time.perf_counter() - began) / _NOMINAL)
        self.slowness = max(self.slowness, self.latest)


def work() -> float:
    """The seconds of one piece of work, to find `_NOMINAL` by."""
    with Pace() as pace:
        time.sleep(2)
    return pace.slowness * _NOMINAL


if __name__ == "__main__":
    print(json.dumps({"nominal": _NOMINAL, "now": work()}))
