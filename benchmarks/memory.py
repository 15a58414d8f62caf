"""Resident memory of the server: at rest, against a bare pygls server, and after a long session."""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks import made
from benchmarks.editor import Editor, environment, idle, running
from benchmarks.result import Row, mb
from benchmarks.scale import Scale
from benchmarks.start import BARE


def bare(root: Path) -> int:
    editor = Editor(BARE, root / "ws", environment(root / "home"))
    try:
        editor.initialize()
        return editor.settled_memory()
    finally:
        editor.close()


def measure(scale: Scale, root: Path) -> list[Row]:
    made.workspace(root / "ws")
    lines = made.write(root / "lines", made.calls(root / "ws", scale.held, scale.calls))
    theirs = bare(root)
    with running(root) as editor:
        editor.command("session.new")
        rest = editor.settled_memory()
        editor.command("prompt", {"text": f"pour {lines}"})
        editor.wait_for(idle)
        time.sleep(scale.calls / 250)  # until every call's last value is sent
        after = editor.settled_memory()
    return [
        Row(
            "memory at rest, with an agent and a session",
            mb(rest),
            f"bare pygls server: {mb(theirs)}",
            "40 MB more",
            rest - theirs,
            40e6,
        ),
        Row(
            f"memory after {scale.held:,} updates of {scale.calls:,} calls",
            mb(after),
            f"before: {mb(rest)}",
            "80 MB more",
            after - rest,
            80e6,
        ),
    ]
