"""Runs the benchmarks: `python -m benchmarks [--short] [--only NAME] [--write]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import cumulative, growth, large, latency, memory, page, start, typing_flood, whole_path
from benchmarks.result import Curve, Row
from benchmarks.scale import FULL, SHORT, Scale

ALL: dict[str, Callable[[Scale, Path], list[Row]]] = {
    "whole_path": whole_path.measure,
    "latency": latency.measure,
    "cumulative": cumulative.measure,
    "large": large.measure,
    "start": start.measure,
    "memory": memory.measure,
    "typing": typing_flood.measure,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--short", action="store_true", help="only as much as shows that they run")
    parser.add_argument("--only", action="append", choices=[*ALL, "growth"], help="may be given again")
    parser.add_argument("--write", action="store_true", help="writes docs/performance.md and its plots")
    options = parser.parse_args()
    scale = SHORT if options.short else FULL
    rows: list[Row] = []
    curves: list[Curve] = []
    began = time.monotonic()
    for name, measure in ALL.items():
        if options.only and name not in options.only:
            continue
        with tempfile.TemporaryDirectory(prefix="acp-editor-") as folder:
            for row in measure(scale, Path(folder)):
                rows.append(row)
                print(page.line(row), flush=True)
    if not options.only or "growth" in options.only:
        for curve in growth.measure(scale):
            curves.append(curve)
            print(page.curve_line(curve), flush=True)
    print(f"{time.monotonic() - began:.0f} s")
    if options.write:
        page.write(rows, curves)
    if options.short:
        return 0  # times say nothing then
    return (
        0
        if all(row.holds for row in rows) and all(curve.exponent <= page.STEEPEST for curve in curves)
        else 1
    )


if __name__ == "__main__":
    sys.exit(main())
