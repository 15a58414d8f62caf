#!/usr/bin/env python3
"""Coverage-guided fuzzing with atheris (libFuzzer).

run.py TARGET [SECONDS]    from the recorded sessions and what earlier runs found, in .cache/fuzz/

An input that fails is written to .cache/fuzz/TARGET-crash-…; mended, it goes into tests/fuzz/found/TARGET/.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris
import corpus

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "fuzz"


def main() -> None:
    name, seconds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60
    with atheris.instrument_imports(include=["acp_editor"]):
        from targets import TARGETS
    kept, seeds = CACHE / name, CACHE / f"{name}-seeds"
    kept.mkdir(parents=True, exist_ok=True)
    corpus.write(name, seeds)
    options = [
        f"-max_total_time={seconds}",
        "-timeout=20",
        "-rss_limit_mb=2048",
        "-max_len=8192",
        "-print_final_stats=1",
        f"-artifact_prefix={CACHE}/{name}-",
    ]
    atheris.Setup([sys.argv[0], *options, str(kept), str(seeds)], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
