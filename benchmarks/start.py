"""How long a server takes to its answer to `initialize`, and what it holds, against a bare pygls server."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.editor import SERVER, Editor, environment
from benchmarks.result import Row, ms
from benchmarks.scale import Scale

BARE = (sys.executable, str(Path(__file__).parent / "peers" / "bare_server.py"))


def ready(command: Sequence[str], root: Path) -> float:
    """Seconds from the spawn to the answer."""
    editor = Editor(command, root / "ws", environment(root / "home"))
    try:
        editor.initialize()
        return editor.since_start()
    finally:
        editor.close()


def measure(scale: Scale, root: Path) -> list[Row]:
    (root / "ws").mkdir(exist_ok=True)
    ready(SERVER, root)  # the first one compiles
    ours: list[float] = []
    bare: list[float] = []
    for _ in range(scale.starts):
        ours.append(ready(SERVER, root))
        bare.append(ready(BARE, root))
    ratio = min(ours) / min(bare)
    return [
        Row(
            "server ready: from the spawn to the answer to `initialize`",
            f"{ms(min(ours))}, {ratio:.2f} times",
            f"bare pygls server: {ms(min(bare))}",
            "1.3 times",
            ratio,
            1.3,
        )
    ]
