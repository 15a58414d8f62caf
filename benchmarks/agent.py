"""An agent that costs next to nothing: it pours lines that were made before, so that it holds nobody up.

Usage: agent.py ANYTHING; standard library only. A prompt's text says what to do:
  pour FILE            writes the file to the pipe, as fast as it is read
  paced FILE RATE SECONDS   the file's lines, RATE a second
  probe COUNT GAP      COUNT updates of one call, each titled with the monotonic time in ns of its write,
                       GAP seconds apart
  both FILE RATE COUNT GAP    probes into the paced lines
  write PATH SOURCE    an edit that makes the file at PATH the same as the other
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

_lock = threading.Lock()
_CHUNK = 1 << 20


def _write(data: bytes | memoryview) -> None:
    view = memoryview(data)
    with _lock:
        while view:
            view = view[os.write(1, view) :]


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"


def _update(update: dict[str, Any]) -> bytes:
    return _line({"method": "session/update", "params": {"sessionId": "s1", "update": update}})


def pour(path: Path) -> None:
    with path.open("rb") as file:
        while data := file.read(_CHUNK):
            _write(data)


def paced(path: Path, rate: float, stop: threading.Event) -> None:
    """Lines in groups of a hundredth of a second's worth; what cannot be written in time is made up for."""
    lines = path.read_bytes().splitlines(keepends=True)
    start, sent = time.monotonic(), 0
    while not stop.wait(0.005):
        due = int((time.monotonic() - start) * rate)
        group = [lines[index % len(lines)] for index in range(sent, min(due, sent + 2 * int(rate)))]
        if group:
            _write(b"".join(group))
            sent += len(group)


def probe(count: int, gap: float) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "probe", "title": "0", "kind": "other"}
    _write(_update({**call, "status": "in_progress"}))
    for number in range(count):
        time.sleep(gap * (0.75 + 0.5 * (number % 7) / 6))  # not in step with anybody's timer
        _write(
            _update(
                {
                    "sessionUpdate": "tool_call_update",
                    "toolCallId": "probe",
                    "title": str(time.monotonic_ns()),
                }
            )
        )


def write(path: Path, source: Path) -> None:
    call = {"toolCallId": "write", "title": "Edit", "kind": "edit", "locations": [{"path": str(path)}]}
    _write(_update({"sessionUpdate": "tool_call", **call, "status": "in_progress"}))
    path.write_bytes(source.read_bytes())
    _write(_update({"sessionUpdate": "tool_call_update", "toolCallId": "write", "status": "completed"}))


def prompt(words: list[str]) -> None:
    match words:
        case ["pour", path]:
            pour(Path(path))
        case ["probe", count, gap]:
            probe(int(count), float(gap))
        case ["both", path, rate, count, gap]:
            stop = threading.Event()
            beside = threading.Thread(target=paced, args=(Path(path), float(rate), stop))
            beside.start()
            time.sleep(1)
            probe(int(count), float(gap))
            stop.set()
            beside.join()
        case ["write", path, source]:
            write(Path(path), Path(source))
        case ["paced", path, rate, seconds]:
            stop = threading.Event()
            threading.Timer(float(seconds), stop.set).start()
            paced(Path(path), float(rate), stop)
        case _:
            pass


def main() -> None:
    who = {"name": "pour", "version": "1"}
    results: dict[str, Any] = {
        "initialize": {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": who},
        "session/prompt": {"stopReason": "end_turn"},
    }
    sessions = 0
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message:
            continue
        method = message.get("method")
        if method == "session/new":
            sessions += 1
            results[method] = {"sessionId": f"s{sessions}"}
        elif method == "session/prompt":
            prompt(message["params"]["prompt"][0]["text"].split())
        _write(_line({"id": message["id"], "result": results.get(method, {})}))


if __name__ == "__main__":
    main()
