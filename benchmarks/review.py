"""How fast the review is, against what it is measured by, in the same run.

Usage: python benchmarks/review.py [FILES]      (20000 files by default)
"""

from __future__ import annotations

import difflib
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from acp_editor.review import diff
from acp_editor.review.checkpoint import Checkpoint, Limits
from acp_editor.review.differ import Differ


def best(work: Callable[[], object], times: int = 3) -> float:
    """Seconds of the fastest run."""
    taken: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def report(what: str, ours: float, peer: str, theirs: float, wanted: str) -> None:
    against = f"{peer:12} {theirs * 1000:9.1f} ms   x{ours / theirs:.2f} ({wanted})"
    print(f"{what:44} {ours * 1000:9.1f} ms   {against}")


def hunks() -> None:
    choose = random.Random(1)
    old = [f"line {number} {choose.randrange(10**6)}\n" for number in range(50_000)]
    new = list(old)
    for at in choose.sample(range(len(new)), 500):
        new[at] = f"edited {at}\n"
    one, two = "".join(old).encode(), "".join(new).encode()
    assert len(diff.changes(one, two)) > 450
    theirs = best(lambda: difflib.SequenceMatcher(None, old, new, autojunk=True).get_opcodes(), 1)
    report(
        "hunks of 50,000 lines, 500 edits", best(lambda: diff.changes(one, two)), "difflib", theirs, "<= 0.1"
    )
    differ = Differ()
    differ(one, two)
    report(
        "the same in a worker process",
        best(lambda: (differ.forget(), differ(one, two))),
        "difflib",
        theirs,
        "",
    )
    letters = [bytes([choose.randrange(97, 99), 10]) for _ in range(200_000)]
    hostile = b"".join(letters), b"".join(reversed(letters))
    start = time.perf_counter()
    differ(*hostile)
    print(f"{'a hostile 400 KB, limit 2 s':44} {(time.perf_counter() - start) * 1000:9.1f} ms")
    differ.close()


def checkpoints(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        choose = random.Random(2)
        for number in range(count):
            path = root / f"d{number % 40}" / f"e{number % 400}" / f"f{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"line {choose.random()} {line}\n" for line in range(40)))
        git = ["git", "-C", str(root)]
        subprocess.run([*git, "init", "-q"], check=True)
        theirs = best(lambda: subprocess.run([*git, "add", "-A"], check=True, capture_output=True), 1)
        made = Checkpoint(str(root), Path(folder) / "store", Limits())
        report("first checkpoint", best(lambda: made.refresh({}), 1), "git add -A", theirs, "<= 2.5")
        time.sleep(1.1)  # so that the files are older than both indexes
        made.index.write()
        subprocess.run([*git, "status"], check=True, capture_output=True)
        theirs = best(lambda: subprocess.run([*git, "status", "-s"], check=True, capture_output=True), 5)
        report(
            "next checkpoint, nothing changed",
            best(lambda: made.refresh({}), 5),
            "git status",
            theirs,
            "<= 2",
        )

        def change() -> None:
            for number in choose.sample(range(count), min(20, count)):
                path = root / f"d{number % 40}" / f"e{number % 400}" / f"f{number}.py"
                path.write_text(f"changed {choose.random()}\n")
            made.refresh({})

        report("next checkpoint, 20 files changed", best(change, 5), "git status", theirs, "<= 2")
        report(
            "survey in the background", best(lambda: made.survey(time.time()), 3), "git status", theirs, ""
        )


if __name__ == "__main__":
    hunks()
    checkpoints(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
