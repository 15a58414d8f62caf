"""Everything goes wrong at random, for long: sessions, agents, an editor; memory and processes are drawn.

soak.py [MINUTES]    (60) writes .cache/soak/TIME.csv and TIME.svg, and says what was seen

It fails where the server dies, does not answer, leaves a process behind, or its memory goes on growing.
"""

from __future__ import annotations

import asyncio
import contextlib
import csv
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from cached import CACHE, ROOT, run_script, say, stop

sys.path.insert(0, str(ROOT / "tests" / "faults"))

from descendants import left_of
from fault_editor import Editor
from pace import Pace

from acp_editor.processes import heap

FOLDER = CACHE / "soak"
AGENTS = {
    f"{kind}{version}": {"version": version, "load": kind == "loads", "resume": kind == "loads"}
    for kind in ("loads", "forgets")
    for version in (1, 2)
}


class Sample(NamedTuple):
    """`slowness` is how many times as long as alone the machine took for a piece of work just then.

    `held_ms` is the longest step of the server's loop, in the processor's time.
    """

    seconds: float
    megabytes: float
    free_megabytes: float
    sessions: int
    processes: int
    threads: int
    descriptors: int
    tasks: int
    answer_ms: float
    slowness: float
    held_ms: float
    held_by: str


ROWS = {
    "MB of memory": "megabytes",
    "MB that the C library holds free": "free_megabytes",
    "sessions": "sessions",
    "processes below it": "processes",
    "threads": "threads",
    "open descriptors": "descriptors",
    "tasks": "tasks",
    "ms until an answer": "answer_ms",
    "slowness of the machine just then, in times": "slowness",
    "ms of processor time of the longest step of the loop": "held_ms",
}
FORGOTTEN = ("Session", "ToolCall", "Message", "Spot", "_Terminal")
"""Types of which nothing is left where no session is."""
GIVEN_BACK = 2 * heap.REST
"""Seconds until what was freed has gone back to the system."""
KEPT = 8
"""Sessions that the person lets stand; agents make some that nobody asked for."""


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
    files = [f"f{number}.txt" for number in range(20)]
    while time.monotonic() < end:
        name = chance.choice(files)
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
                    names = [session["sessionId"] for session in state["sessions"]]
                    for session in chance.sample(names, max(0, len(names) - KEPT)):
                        await editor.command("session.close", {"sessionId": session})
                    if names := [session for session in names if chance.random() < 0.5]:
                        await editor.command("session.select", {"sessionId": names[0]})
                case 10:
                    editor.change(editor.open(name), "of the person\n" * chance.randrange(9))
                case _:
                    editor.reading.clear()
                    await asyncio.sleep(chance.random() * 2)
                    editor.reading.set()
        except (RuntimeError, OSError):
            pass  # what a person would be told
        await asyncio.sleep(chance.random() / 2)


async def watch(editor: Editor, pace: Pace, samples: list[Sample], began: float, end: float) -> None:
    pid = editor.process.pid
    while time.monotonic() < end:
        await editor.reading.wait()
        asked, slow = time.monotonic(), pace.latest
        state = await editor.command("state", seconds=60)
        took = time.monotonic() - asked
        inside = await probed(editor, signal.SIGUSR1)
        samples.append(
            Sample(
                asked - began,
                resident(pid),
                inside["free"] / 1e6,
                len(state["sessions"]),
                len(processes(pid)),
                inside["threads"],
                inside["descriptors"],
                sum(inside["tasks"].values()),
                took * 1000,
                max(slow, pace.latest),
                inside["held"]["processor"],
                inside["held"]["whose"],
            )
        )
        editor.notes.clear()
        editor.asked.clear()
        await asyncio.sleep(0.5)


async def probed(editor: Editor, number: int) -> dict[str, Any]:
    """What the server says of itself."""
    file = editor.folder / "probe.json"
    file.unlink(missing_ok=True)
    os.kill(editor.process.pid, number)
    while not file.exists():  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    return json.loads(file.read_text())


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
    """A line for each over time, as an SVG."""
    width, height, gap = 900, 100, 36
    longest = samples[-1].seconds or 1
    parts: list[str] = []
    for row, (title, name) in enumerate(ROWS.items()):
        values = [float(getattr(sample, name)) for sample in samples]
        top, base = max(values) or 1, row * (height + gap) + height + 20
        points = " ".join(
            f"{60 + s.seconds / longest * (width - 80):.1f},{base - v / top * height:.1f}"
            for s, v in zip(samples, values, strict=True)
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="#36c" stroke-width="1"/>')
        parts.append(f'<text x="60" y="{base - height - 4}">{title}, at most {top:.0f}</text>')
        parts.append(f'<line x1="60" y1="{base}" x2="{width - 20}" y2="{base}" stroke="#999"/>')
    total = len(ROWS) * (height + gap) + 20
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
        server = [sys.executable, str(ROOT / "tests" / "faults" / "probe.py"), f"{folder}/probe.json"]
        editor = Editor(Path(folder), AGENTS, settings={"cancelGrace": 1}, server=server)
        async with editor:
            for number in range(20):
                (editor.cwd / f"f{number}.txt").write_text("of the person\n" * number)
            began = time.monotonic()
            end = began + minutes * 60
            with Pace() as pace:
                async with asyncio.TaskGroup() as group:
                    group.create_task(watch(editor, pace, samples, began, end))
                    group.create_task(person(editor, chance, end))
            below, code = processes(editor.process.pid), editor.process.returncode
            held = await forgotten(editor)
            await asyncio.sleep(GIVEN_BACK)
            rest = resident(editor.process.pid)
            left_in = await editor.end()
        made = editor.pids()
        left = left_of([*below, *made], 0)
        log = (Path(folder) / "server.stderr").read_text()
    (FOLDER / f"{name}.log").write_text(log)
    with open(FOLDER / f"{name}.csv", "w", newline="") as file:
        csv.writer(file).writerows([Sample._fields, *samples])
    draw(samples, FOLDER / f"{name}.svg")
    tell(samples, len(made), left_in, left, log, FOLDER / f"{name}.svg")
    say(f"with all sessions closed it takes {rest:.0f} MB and holds {held}")
    # The second half may not need much more than the first one did.
    half = len(samples) // 2
    early, late = max(s.megabytes for s in samples[:half]), max(s.megabytes for s in samples[half:])
    if left or editor.wrong or code is not None or late > early * 1.5 + 50 or any(held.values()):
        stop(f"seed {seed}: left {left}, wrong {editor.wrong[:3]}, memory {early:.0f} then {late:.0f} MB")


async def forgotten(editor: Editor) -> dict[str, int]:
    """What is still there of sessions when they are all closed and the agents are gone."""
    for agent in AGENTS:
        with contextlib.suppress(RuntimeError):
            await editor.command("cancel")
            await editor.command("agent.restart", {"agent": agent})
    end = time.monotonic() + 60
    while True:
        for session in (await editor.state())["sessions"]:
            with contextlib.suppress(RuntimeError):
                await editor.command("session.close", {"sessionId": session["sessionId"]})
        objects = (await probed(editor, signal.SIGUSR2))["objects"]
        held = {kind: objects.get(kind, 0) for kind in FORGOTTEN}
        if not any(held.values()) or time.monotonic() > end:
            return held
        await asyncio.sleep(1)


def tell(samples: list[Sample], made: int, left_in: float, left: list[int], log: str, picture: Path) -> None:
    answers = sorted(sample.answer_ms for sample in samples)
    paced = sorted(sample.answer_ms / sample.slowness for sample in samples)
    say(f"{len(samples)} samples over {samples[-1].seconds:.0f} s; {made} agents and children")
    say(
        f"memory: {samples[0].megabytes:.0f} MB at first, {samples[-1].megabytes:.0f} MB at last, "
        f"{max(s.megabytes for s in samples):.0f} MB at most"
    )
    say(f"processes: {max(s.processes for s in samples)} at most, {len(left)} left behind")
    middle, most = answers[len(answers) // 2], answers[len(answers) * 99 // 100]
    say(f"answers: median {middle:.1f} ms, 99 % {most:.0f} ms, slowest {answers[-1]:.0f} ms")
    slow = sorted(sample.slowness for sample in samples)[len(samples) // 2]
    say(
        f"by its pace ({slow:.1f} times as slow as alone): median {paced[len(paced) // 2]:.0f} ms, "
        f"99 % {paced[len(paced) * 99 // 100]:.0f} ms, slowest {paced[-1]:.0f} ms"
    )
    steps = sorted(sample.held_ms for sample in samples)
    longest = max(samples, key=lambda sample: sample.held_ms)
    say(
        f"longest step of the loop in half a second: middle {steps[len(steps) // 2]:.0f} ms of processor, "
        f"99 % {steps[len(steps) * 99 // 100]:.0f} ms, longest {longest.held_ms:.0f} ms by {longest.held_by}"
    )
    say(
        f"at most {max(s.sessions for s in samples)} sessions, {max(s.threads for s in samples)} threads, "
        f"{max(s.descriptors for s in samples)} descriptors, {max(s.tasks for s in samples)} tasks"
    )
    say(f"the server left {left_in:.1f} s after the editor; its log has {log.count('Traceback')} tracebacks")
    say(f"drawn in {picture}")


if __name__ == "__main__":
    length = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    run_script(lambda: asyncio.run(soak(length, int(os.environ.get("SEED", "1")))))
