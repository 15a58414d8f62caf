"""Runs an agent and writes down what goes over its wire: tap.py LOG COMMAND ARGUMENT ...

Each line of the log is `{"way": "out" | "in", "message": ...}`, "out" being what the editor's side sent.
Bytes pass unchanged and at once; the agent stays in the process group of its client.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from typing import IO


def carry(source: int, target: IO[bytes], way: str, log: IO[str], lock: threading.Lock) -> None:
    """Passes on what is read until the end, then closes the other side."""
    rest = b""
    while data := os.read(source, 65536):
        *lines, rest = (rest + data).split(b"\n")
        with lock:  # before they are passed on, so that no answer is written down before its question
            for line in filter(None, lines):
                with contextlib.suppress(ValueError):
                    log.write(json.dumps({"way": way, "message": json.loads(line)}) + "\n")
            log.flush()
        try:
            target.write(data)
            target.flush()
        except BrokenPipeError:
            break
    with contextlib.suppress(BrokenPipeError):
        target.close()


def main(path: str, command: list[str]) -> int:
    lock = threading.Lock()
    with (
        open(path, "a", encoding="utf-8") as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent,
    ):
        assert agent.stdin is not None
        assert agent.stdout is not None
        ours = (sys.stdin.fileno(), agent.stdin, "out", log, lock)
        threading.Thread(target=carry, args=ours, daemon=True).start()
        carry(agent.stdout.fileno(), sys.stdout.buffer, "in", log, lock)
        return agent.wait()


if __name__ == "__main__":
    code = main(sys.argv[1], sys.argv[2:])
    # A thread may still wait in a read of stdin.
    os._exit(code if code >= 0 else 128 - code)
