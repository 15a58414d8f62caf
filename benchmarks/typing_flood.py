"""VS Code while an agent floods: frame times, as the browser measured them in the test of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.editor import ROOT
from benchmarks.result import Row, ms, percentile
from benchmarks.scale import Scale

TEST = ROOT / "tests" / "vscode" / "test_typing_flood.py"


def measure(scale: Scale, root: Path) -> list[Row]:
    if scale.rounds == 1:
        return []  # the test itself is among the others
    told = root / "frames.json"
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(TEST)],
        cwd=ROOT,
        env={**os.environ, "ACP_EDITOR_FRAMES": str(told)},
        stdout=sys.stderr,
        check=True,
    )
    found = json.loads(told.read_text())
    late = percentile(found["flood"], 0.95) / 1000
    rest = percentile(found["rest"], 0.95) / 1000
    return [
        Row(
            f"VS Code: {found['keys']} keys typed while an agent floods, none dropped: 95 % of the frames",
            ms(late),
            f"without an agent: {ms(rest)}",
            "50 ms",
            late,
            0.05,
        )
    ]
