"""One huge message, against `json.loads` of the same bytes; and one that is over the limit."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from benchmarks import made
from benchmarks.editor import idle, running
from benchmarks.result import Row, ms
from benchmarks.scale import Scale


def text(size: int) -> dict[str, Any]:
    body = (made.WORDS + '\n\t"quoted" ') * (size // (len(made.WORDS) + 14))
    return {"content": [{"type": "content", "content": {"type": "text", "text": body}}]}


def items(size: int) -> dict[str, Any]:
    return {"rawOutput": [{"line": number, "found": [made.WORDS[:40]]} for number in range(size // 75)]}


def message(what: dict[str, Any]) -> bytes:
    return made.line({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", **what})


def parsed(line: bytes, rounds: int) -> float:
    taken: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        json.loads(line)
        taken.append(time.perf_counter() - start)
    return min(taken)


def received(root: Path, line: bytes) -> float:
    """Seconds from the prompt to the end of its turn, which comes behind the message."""
    first = made.line({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "kind": "other"})
    small = made.write(root / "small", iter([first]))
    path = made.write(root / "line", iter([line]))
    with running(root) as editor:
        editor.command("session.new")
        editor.command("prompt", {"text": f"pour {small}"})
        editor.wait_for(idle)
        start = editor.now()
        editor.command("prompt", {"text": f"pour {path}"})
        return (editor.wait_for(idle) - start) / 1e9


def measure(scale: Scale, root: Path) -> list[Row]:
    (root / "ws").mkdir(exist_ok=True)
    rows: list[Row] = []
    for name, what in (("one text", text(scale.large)), ("many small items", items(scale.large))):
        line = message(what)
        ours, theirs = [], []
        for _ in range(scale.rounds):
            ours.append(received(root, line))
            theirs.append(parsed(line, 2))
        ratio = min(ours) / min(theirs)
        rows.append(
            Row(
                f"a message of {len(line) / 1e6:.0f} MB, {name}: from the prompt to the end of its turn",
                f"{ms(min(ours))}, {ratio:.1f} times",
                f"json.loads: {ms(min(theirs))}",
                "3 times",
                ratio,
                3,
            )
        )
    return rows
