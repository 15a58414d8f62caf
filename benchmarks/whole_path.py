"""The whole path, from an agent's pipe to the editor's, against bare clients that merely receive."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks import made
from benchmarks.editor import AGENT_COMMAND, ROOT, idle, running
from benchmarks.result import Row
from benchmarks.scale import Scale

PEERS = Path(__file__).parent / "peers"
SDK = ROOT / "client-vscode" / "node_modules" / "@agentclientprotocol" / "sdk"


def ours(root: Path, lines: Path, calls: int) -> float:
    """Seconds from the prompt until the editor has read that the turn is over."""
    with running(root) as editor:
        editor.command("session.new")
        start = editor.now()
        editor.command("prompt", {"text": f"pour {lines}"})
        seconds = (editor.wait_for(idle) - start) / 1e9
        state = editor.command("state")["sessions"][0]["toolCalls"]
        assert len(state) == calls
        assert all(call["status"] == "completed" for call in state)
        return seconds


def peer(command: list[str], updates: int, folder: Path) -> float:
    done = subprocess.run(
        [*command, *AGENT_COMMAND], cwd=folder, check=True, stdout=subprocess.PIPE, timeout=300
    )
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["updates"] == updates
    return told["seconds"]


def measure(scale: Scale, root: Path) -> list[Row]:
    workspace = root / "ws"
    made.workspace(workspace)
    lines = made.write(root / "lines", made.calls(workspace, scale.updates, scale.calls))
    peers = {
        "TypeScript SDK": ["node", str(PEERS / "receive.mjs"), str(SDK), f"pour {lines}"],
        "Python SDK": [sys.executable, str(PEERS / "receive.py"), f"pour {lines}"],
    }
    taken: dict[str, list[float]] = {"ours": [], **{name: [] for name in peers}}
    for _ in range(scale.rounds):
        taken["ours"].append(ours(root, lines, scale.calls))
        for name, command in peers.items():
            taken[name].append(peer(command, scale.updates, workspace))
    best = {name: min(seconds) for name, seconds in taken.items()}
    mine = scale.updates / best["ours"]
    what = f"{scale.updates:,} updates in {scale.calls:,} calls: read, decoded, applied, rendered, sent"
    return [
        Row(
            what,
            f"{mine:,.0f}/s, {mine / (scale.updates / best[name]):.1f} times",
            f"{name}, received only: {scale.updates / best[name]:,.0f}/s",
            "1.5 times",
            -mine / (scale.updates / best[name]),
            -1.5,
        )
        for name in peers
    ]
