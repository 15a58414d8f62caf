"""How long one update takes from the agent's write to the editor's pipe, at rest and while others pour in."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from pathlib import Path

from benchmarks import made
from benchmarks.editor import Editor, idle, running
from benchmarks.result import Row, ms, percentile
from benchmarks.scale import Scale

GAP = 0.06
"""Seconds between two updates of the call: more than a key has to wait for its next turn."""
RATE = 2000


def taken(editor: Editor) -> list[float]:
    """Seconds for each update that came through; its title is the time of the agent's write."""
    return [
        (now - int(params["toolCall"]["title"])) / 1e9
        for now, params in editor.notifications("acpEditor/toolCall")
        if params["toolCall"]["toolCallId"] == "probe" and params["toolCall"]["title"] != "0"
    ]


def busiest(editor: Editor) -> int:
    """The most sends of one key within any second."""
    times: defaultdict[str, list[int]] = defaultdict(list)
    for now, body in editor.frames:
        message = json.loads(body)
        params = message.get("params") or {}
        key = json.dumps(
            [
                message["method"],
                params.get("uri"),
                params.get("sessionId"),
                (params.get("toolCall") or {}).get("toolCallId"),
            ]
        )
        times[key].append(now)
    most = 0
    for sent in times.values():
        first = 0
        for last, now in enumerate(sent):
            while now - sent[first] >= 1e9:
                first += 1
            most = max(most, last - first + 1)
    return most


def measure(scale: Scale, root: Path) -> list[Row]:
    made.workspace(root / "ws")
    lines = made.write(root / "lines", made.calls(root / "ws", scale.updates, scale.calls))
    with running(root) as editor:
        editor.command("session.new")
        editor.command("prompt", {"text": f"probe {scale.probes} {GAP}"})
        editor.wait_for(idle)
        rest = taken(editor)
    with running(root) as editor:
        editor.command("session.new")
        editor.command("prompt", {"text": f"both {lines} {RATE} {scale.probes} {GAP}"})
        editor.wait_for(idle)
        flood, most = taken(editor), busiest(editor)
    assert len(rest) > scale.probes * 0.8
    assert len(flood) > scale.probes * 0.5
    middle, late, late_flood = statistics.median(rest), percentile(rest, 0.99), percentile(flood, 0.99)
    count = f"{len(rest)} updates"
    return [
        Row("one update at rest: median", ms(middle), count, "2 ms", middle, 0.002),
        Row("one update at rest: 99 %", ms(late), count, "8 ms", late, 0.008),
        Row(
            f"the same while {RATE:,} updates a second pour in: 99 %",
            f"{ms(late_flood)} (median {ms(statistics.median(flood))})",
            f"{len(flood)} updates",
            "40 ms",
            late_flood,
            0.04,
        ),
        Row("sends of one key in any second of that", str(most), "", "30", most, 30),
    ]
