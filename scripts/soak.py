"""Everything goes wrong at random, for long: sessions, agents, an editor; memory and processes are drawn.

soak.py [MINUTES]    (60) writes .cache/soak/TIME.csv and TIME.svg, and says what was seen

It fails where the server dies, does not answer, leaves a process behind, or its memory goes on growing.
"""

from __future__ import annotations

import asyncio
import csv
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from cached import CACHE, ROOT, say, stop

sys.path.insert(0, str(ROOT / "tests" / "faults"))

from descendants import left_of
from fault_editor import Editor

FOLDER = CACHE / "soak"
AGENTS = {
    f"{kind}{version}": {"version": version, "load": kind == "loads", "resume": kind == "loads"}
    for kind in ("loads", "forgets")
    for version in (1, 2)
}


class Sample(NamedTuple):
    seconds: float
    megabytes: float
    processes: int
    answer_ms: float
    sessions: int


def acts(chance: random.Random) -> list[list[Any]]:
    """One turn of an agent's."""
    small, large = chance.randrange(1, 50), chance.randrange(100, 5000)
    some: list[list[Any]] = [
        ["flood", large, 50, chance.randrange(20, 2000)],
        ["chunks", large, 500],
        ["many_messages", large, 100],
        ["many_calls", large, 500],
        ["growing", small, 5000],
        ["permissions", small],
        ["sessions", small],
        ["notices", small],
        ["stderr", large * 100],
        ["junk", chance.randrange(10**6), large // 4],
        ["stray_answers", small],
        ["long_line", chance.randrange(5_000_000)],
        ["terminals", 2],
        ["terminal_output", small, 10_000, 5],
        ["children", 1, chance.random() < 0.5],
        ["daemons", 1],
        ["ignore_signals"],
        ["edit", f"f{chance.randrange(20)}.txt", f"{chance.random()}\n" * small],
        ["write_by_client", f"f{chance.randrange(20)}.txt", "agent ", small],
        ["keep_writing", f"f{chance.randrange(20)}.txt", 0.5],
    ]
    ends: list[list[Any]] = [["say", "ok"]] * 6 + [["exit", 3], ["die_at", large], ["hang"], ["never"]]
    ends += [["close_stdout"], ["close_stdin"], ["answer_twice"], ["answer_other_id", 1]]
    return [*chance.sample(some, chance.randrange(1, 6)), chance.choice(ends)]


async def person(editor: Editor, chance: random.Random, end: float) -> None:
    """Somebody who prompts, answers, cancels, reviews, types and closes, one thing after another."""
    names = [f"f{number}.txt" for number in range(20)]
    while time.monotonic() < end:
        name = chance.choice(names)
        try:
            match chance.randrange(12):
                case 0:
                    await editor.command("session.new", {"agent": chance.choice(list(AGENTS))})
                case 1 | 2 | 3:
                    await editor.prompt(acts(chance))
                case 4:
                    await editor.command("permission.approve")
                case 5:
                    await editor.command("permission.reject")
                case 6:
                    await editor.command("cancel")
                case 7:
                    await editor.command(chance.choice(["review.keep", "review.undo", "review.restore"]))
                case 8:
                    await editor.command("agent.restart", {"agent": chance.choice(list(AGENTS))})
                case 9:
                    state = await editor.state()
                    if len(state["sessions"]) > 6:
                        await editor.command("session.close")
                    elif state["sessions"]:
                        session = chance.choice(state["sessions"])["sessionId"]
                        await editor.command("session.select", {"sessionId": session})
                case 10:
                    editor.change(editor.open(name), "of the person\n" * chance.randrange(9))
                case _:
                    editor.reading.clear()
                    await asyncio.sleep(chance.random() * 2)
                    editor.reading.set()
        except (RuntimeError, OSError):
            pass  # what a person would be told
        await asyncio.sleep(chance.random() / 2)


async def watch(editor: Editor, samples: list[Sample], began: float, end: float) -> None:
    while time.monotonic() < end:
        await editor.reading.wait()
        asked = time.monotonic()
        state = await editor.command("state", seconds=60)
        took = time.monotonic() - asked
        tree = processes(editor.process.pid)
        samples.append(
            Sample(
                asked - began, resident(editor.process.pid), len(tree), took * 1000, len(state["sessions"])
            )
        )
        editor.notes.clear()
        editor.asked.clear()
        await asyncio.sleep(0.5)


def resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def processes(root: int) -> set[int]:
    """Everything below a process."""
    parents: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(name)] = int(fields[1])
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {root}


def draw(samples: list[Sample], path: Path) -> None:
    """Three lines over time, as an SVG."""
    width, height, gap = 900, 160, 40
    longest = samples[-1].seconds or 1
    parts: list[str] = []
    rows = [
        ("MB of memory", "megabytes"),
        ("processes below it", "processes"),
        ("ms until an answer", "answer_ms"),
    ]
    for row, (title, name) in enumerate(rows):
        values = [float(getattr(sample, name)) for sample in samples]
        top, base = max(values) or 1, row * (height + gap) + height + 20
        points = " ".join(
            f"{60 + s.seconds / longest * (width - 80):.1f},{base - v / top * height:.1f}"
            for s, v in zip(samples, values, strict=True)
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="#36c" stroke-width="1"/>')
        parts.append(f'<text x="60" y="{base - height - 4}">{title}, at most {top:.0f}</text>')
        parts.append(f'<line x1="60" y1="{base}" x2="{width - 20}" y2="{base}" stroke="#999"/>')
    total = len(rows) * (height + gap) + 20
    style = '<rect width="100%" height="100%" fill="white"/><g font-family="sans-serif" font-size="13">'
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{total}">{style}'
    path.write_text(
        picture + "".join(parts) + f'<text x="60" y="{total - 6}">{longest:.0f} s</text></g></svg>\n'
    )


async def soak(minutes: float, seed: int) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    name = time.strftime("%Y%m%dT%H%M%S")
    chance = random.Random(seed)
    samples: list[Sample] = []
    with tempfile.TemporaryDirectory() as folder:
        editor = Editor(Path(folder), AGENTS, settings={"cancelGrace": 1})
        async with editor:
            for number in range(20):
                (editor.cwd / f"f{number}.txt").write_text("of the person\n" * number)
            began = time.monotonic()
            end = began + minutes * 60
            async with asyncio.TaskGroup() as group:
                group.create_task(watch(editor, samples, began, end))
                group.create_task(person(editor, chance, end))
            below, server = processes(editor.process.pid), editor.process
            left_in = await editor.end()
        left = left_of([*below, *editor.pids()], 0)
        log = (Path(folder) / "server.stderr").read_text()
    (FOLDER / f"{name}.log").write_text(log)
    with open(FOLDER / f"{name}.csv", "w", newline="") as file:
        csv.writer(file).writerows([Sample._fields, *samples])
    draw(samples, FOLDER / f"{name}.svg")
    tell(samples, editor, left_in, left, log, FOLDER / f"{name}.svg")
    # The second half may not need much more than the first one did.
    half = len(samples) // 2
    early, late = max(s.megabytes for s in samples[:half]), max(s.megabytes for s in samples[half:])
    if left or editor.wrong or server.returncode is None or late > early * 1.5 + 50:
        stop(f"seed {seed}: left {left}, wrong {editor.wrong[:3]}, memory {early:.0f} then {late:.0f} MB")


def tell(
    samples: list[Sample], editor: Editor, left_in: float, left: list[int], log: str, picture: Path
) -> None:
    answers = sorted(sample.answer_ms for sample in samples)
    say(f"{len(samples)} samples over {samples[-1].seconds:.0f} s; {len(editor.pids())} agents and children")
    say(
        f"memory: {samples[0].megabytes:.0f} MB at first, {samples[-1].megabytes:.0f} MB at last, "
        f"{max(s.megabytes for s in samples):.0f} MB at most"
    )
    say(f"processes: {max(s.processes for s in samples)} at most, {len(left)} left behind")
    middle, most = answers[len(answers) // 2], answers[len(answers) * 99 // 100]
    say(f"answers: median {middle:.1f} ms, 99 % {most:.0f} ms, slowest {answers[-1]:.0f} ms")
    say(f"the server left {left_in:.1f} s after the editor; its log has {log.count('Traceback')} tracebacks")
    say(f"drawn in {picture}")


if __name__ == "__main__":
    asyncio.run(soak(float(sys.argv[1]) if len(sys.argv) > 1 else 60, int(os.environ.get("SEED", "1"))))
