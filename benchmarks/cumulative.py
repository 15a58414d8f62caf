"""Output that grows: each update carries all of it so far, from 1 KB to 200 KB."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acp_editor.acp import v1
from acp_editor.core import limits
from acp_editor.core.model import StateUpdate
from acp_editor.core.session import Session
from benchmarks import made
from benchmarks.editor import idle, running
from benchmarks.result import Row, mb
from benchmarks.scale import Scale

LARGEST = 200_000


def updates(count: int, largest: int = LARGEST) -> Iterator[bytes]:
    text = (made.WORDS * (largest // len(made.WORDS) + 1))[:largest]
    call: dict[str, Any] = {"toolCallId": "grows", "status": "in_progress"}
    yield made.line({"sessionUpdate": "tool_call", "title": "Build", "kind": "execute", **call})
    for number in range(1, count + 1):
        size = 1000 + (largest - 1000) * number // count
        content = [{"type": "content", "content": {"type": "text", "text": text[:size]}}]
        yield made.line({"sessionUpdate": "tool_call_update", "content": content, **call})


def poured(root: Path, lines: Path) -> tuple[float, int]:
    """Seconds, and how much memory it took at the end, in bytes."""
    with running(root) as editor:
        editor.command("session.new")
        before = editor.settled_memory()
        start = editor.now()
        editor.command("prompt", {"text": f"pour {lines}"})
        seconds = (editor.wait_for(idle) - start) / 1e9
        return seconds, editor.settled_memory() - before


def weight(lines: Iterator[bytes]) -> int:
    """About the bytes that a session keeps of them."""
    session = Session("s1", "agent", "/ws")
    session.apply(StateUpdate("running"))
    for line in lines:
        _, found, _ = v1.decode_update(json.loads(line)["params"])
        for update in found:
            session.apply(update)
    return sum(limits.weight(call.content) for call in session.tool_calls.values())


def measure(scale: Scale, root: Path) -> list[Row]:
    (root / "ws").mkdir(exist_ok=True)
    taken: list[tuple[int, float, int]] = []
    for part in (4, 2, 1):
        lines = made.write(root / f"lines{part}", updates(scale.cumulative // part))
        runs = [poured(root, lines) for _ in range(scale.rounds)]
        taken.append((lines.stat().st_size, min(s for s, _ in runs), min(m for _, m in runs)))
        lines.unlink()
    kept = weight(updates(scale.cumulative))
    (small, quick, _), _, (large, slow, held) = taken
    growth = (slow / quick) / (large / small)
    return [
        Row(
            f"cumulative output: {scale.cumulative:,} updates that carry all 1 to 200 KB so far",
            f"{mb(large)} in {slow:.2f} s, {mb(large / slow)}/s",
            f"a quarter as many: {mb(small)} in {quick:.2f} s, {mb(small / quick)}/s",
            "linear in bytes (at most 1.2 times the time of each byte)",
            growth,
            1.2,
        ),
        Row(
            "what is kept of it in the session",
            f"{mb(kept)}; the process grew by {mb(held)}, up to 2.3 MB of it for the log of the traffic",
            f"largest update: {mb(LARGEST)}",
            "twice the largest",
            kept,
            2 * LARGEST,
        ),
    ]
