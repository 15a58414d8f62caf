"""How fast the review is, against what it is measured by, in the same run; exits with 1 where it is too slow.

Usage: python benchmarks/review.py [FILES]      (20000 files by default)
"""

from __future__ import annotations

import difflib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from acp_editor.app.change_list import ChangeList
from acp_editor.lsp import uris
from acp_editor.review import diff
from acp_editor.review.checkpoint import Checkpoint, Limits
from acp_editor.review.differ import Differ
from acp_editor.review.review import Buffer, Review

LOOP = 0.05
"""Seconds for which the event loop may be held up."""
FOUND = 0.5
"""Seconds after a call's end in which what it did is listed."""

missed: list[str] = []


def best(work: Callable[[], object], times: int = 3) -> float:
    """Seconds of the fastest run."""
    taken: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def report(what: str, ours: float, peer: str, theirs: float, at_most: float | None) -> None:
    wanted = f" (at most x{at_most})" if at_most is not None else ""
    against = f"{peer:12} {theirs * 1000:9.1f} ms   x{ours / theirs:.2f}{wanted}"
    print(f"{what:44} {ours * 1000:9.1f} ms   {against}", flush=True)
    if at_most is not None and ours > at_most * theirs:
        missed.append(what)


def limited(what: str, value: float, limit: float) -> None:
    print(f"{what:44} {value * 1000:9.1f} ms   at most {limit * 1000:.0f} ms", flush=True)
    if value > limit:
        missed.append(what)


# -- hunks -------------------------------------------------------------------------------------------


def edited(count: int = 50_000, edits: int = 500) -> tuple[list[str], list[str]]:
    """A source file of so many lines, with so many of them changed, taken out or put in."""
    choose = random.Random(1)
    often = ["\n", "    }\n", "        return result\n", "    else:\n", "    pass\n"]
    old = [
        choose.choice(often) if choose.random() < 0.3 else f"    value_{choose.randrange(9000)} = {at}\n"
        for at in range(count)
    ]
    new: list[str] = []
    chosen = set(choose.sample(range(count), edits))
    for at, line in enumerate(old):
        what = choose.randrange(3) if at in chosen else -1
        if what != 0:
            new.append(line)
        if what in (1, 2):
            new[-1 if what == 1 else len(new) :] = [f"edited {at}\n"]
    return old, new


def hunks() -> None:
    old, new = edited()
    one, two = "".join(old).encode(), "".join(new).encode()
    assert len(diff.changes(one, two)) > 450
    theirs = best(lambda: difflib.SequenceMatcher(None, old, new).get_opcodes(), 3)
    name = "hunks of 50,000 lines, 500 edits"
    report(name, best(lambda: diff.changes(one, two), 7), "difflib", theirs, 0.1)
    differ = Differ()
    differ(one, two)
    in_worker = best(lambda: (differ.forget(), differ(one, two)), 7)
    report("the same in the worker process", in_worker, "difflib", theirs, None)
    differ.close()


# -- checkpoints -------------------------------------------------------------------------------------


def many(root: Path, count: int) -> None:
    choose = random.Random(2)
    for number in range(count):
        path = root / f"d{number % 40}" / f"e{number % 400}" / f"f{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"line {choose.random()} {line}\n" for line in range(40)))


def change(root: Path, count: int, changed: int) -> None:
    choose = random.Random(time.time())
    for number in choose.sample(range(count), min(changed, count)):
        path = root / f"d{number % 40}" / f"e{number % 400}" / f"f{number}.py"
        path.write_text(f"changed {choose.random()}\n")


def checkpoints(root: Path, folder: Path, count: int) -> None:
    git = ["git", "-C", str(root)]
    subprocess.run([*git, "init", "-q"], check=True)
    os.sync()
    theirs = best(lambda: subprocess.run([*git, "add", "-A"], check=True, capture_output=True), 1)
    os.sync()
    made = Checkpoint(str(root), folder / "store", Limits())
    report("first checkpoint", best(lambda: made.refresh({}), 1), "git add -A", theirs, 2.5)
    time.sleep(1.1)  # so that the files are older than both indexes
    made.index.write()
    subprocess.run([*git, "status"], check=True, capture_output=True)
    theirs = best(lambda: subprocess.run([*git, "status", "-s"], check=True, capture_output=True), 9)
    report("next checkpoint, nothing changed", best(lambda: made.refresh({}), 9), "git status", theirs, 2)

    def changed() -> float:
        change(root, count, 20)
        return best(lambda: made.refresh({}), 1)

    report("next checkpoint, 20 files changed", min(changed() for _ in range(9)), "git status", theirs, 2)
    survey = best(lambda: made.survey(time.time()), 3)
    report("survey, in the background", survey, "git status", theirs, None)


# -- the event loop ----------------------------------------------------------------------------------


class NoEditor:
    """Nothing is open."""

    def buffer(self, path: str) -> Buffer | None:
        return None

    async def edit(self, path: str, text: str, version: int) -> bool:
        return False

    async def save(self, path: str) -> None:
        pass


class Probe:
    """The longest time for which a task that sleeps a millisecond was not woken.

    What the machine itself kept our threads waiting, because others ran, is taken off (where /proc tells).
    """

    def __init__(self) -> None:
        self.worst = 0.0

    async def run(self) -> None:
        while True:
            waited, start = _waited(), time.perf_counter()
            await anyio.sleep(0.001)
            late = time.perf_counter() - start - 0.001
            if late > self.worst:
                self.worst = max(self.worst, late - max(0.0, _waited() - waited))

    def take(self) -> float:
        worst, self.worst = self.worst, 0.0
        return worst


def _waited() -> float:
    """Seconds for which threads of this process could have run and did not."""
    total = 0
    try:
        for thread in os.listdir("/proc/self/task"):
            total += int(Path("/proc/self/task", thread, "schedstat").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        pass
    return total / 1e9


async def loop(what: str, root: Path, home: Path, write: Callable[[], object]) -> None:
    """A turn in which that is written, its undo and its restore, with a probe beside; all of it is sent."""
    listed = ChangeList(uris.from_path)
    sent = [0, 0]

    def send() -> None:
        listed.take(review.changes())
        sent[0], sent[1] = sent[0] + 1, max(sent[1], len(json.dumps(listed.render([]))))

    review = Review([str(root)], home / "cache", home / "state", NoEditor(), on_change=send)
    probe = Probe()
    async with anyio.create_task_group() as group:
        group.start_soon(probe.run)
        start = time.perf_counter()
        await review.start(group)
        started = time.perf_counter() - start
        await review.checkpoint()
        ready = time.perf_counter() - start
        review.turn_started()
        start = time.perf_counter()
        await review.checkpoint()
        again = time.perf_counter() - start
        first = probe.take()
        await anyio.to_thread.run_sync(write)
        start = time.perf_counter()
        review.turn_ended()
        while not review.changes():  # noqa: ASYNC110
            await anyio.sleep(0.005)
        found = time.perf_counter() - start
        await review.rescan()
        whole = time.perf_counter() - start
        await review.undo()
        await review.restore()
        limited(f"loop, {what}", max(first, probe.take()), LOOP)
        limited(f"listed, {what}", found, FOUND)
        print(
            f"{'':6}start returns in {started * 1000:.0f} ms, the first checkpoint is there after "
            f"{ready:.2f} s, the next one in {again * 1000:.0f} ms; {len(review.changes())} files are listed "
            f"{whole:.2f} s after the turn, in {sent[0]} messages of at most {sent[1] // 1000} KB"
        )
        await review.aclose()
        group.cancel_scope.cancel()


def loops(folder: Path, root: Path, count: int) -> None:
    choose = random.Random(3)
    old, new = edited()
    two = [bytes([choose.randrange(97, 99), 10]) for _ in range(200_000)]
    pairs = {
        "50,000 lines with 500 edits": ("".join(old).encode(), "".join(new).encode()),
        "one line of 5 MB": (b"x" * 5_000_000, b"x" * 2_500_000 + b"y" * 2_500_000),
        "400 KB of random lines": (b"".join(two), b"".join(reversed(two))),
        "16 KB of random lines": (b"".join(two[:4000]), b"".join(reversed(two[:4000]))),
        "9 MB of random bytes": (
            random.Random(4).randbytes(9_000_000),
            random.Random(5).randbytes(9_000_000),
        ),
    }
    for at, (what, (before, after)) in enumerate(pairs.items()):
        here = folder / f"root{at}"
        here.mkdir()
        (here / "file").write_bytes(before)
        write = (here / "file").write_bytes
        anyio.run(loop, what, here, folder / f"home{at}", lambda write=write, after=after: write(after))
    anyio.run(loop, f"200 of {count} files", root, folder / "home", lambda: change(root, count, 200))
    anyio.run(loop, f"all of {count} files", root, folder / "home all", lambda: change(root, count, count))


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    hunks()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = folder / "root"
        many(root, count)
        checkpoints(root, folder, count)
        loops(folder, root, count)
    for what in missed:
        print(f"too slow: {what}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
