"""How cost grows: each point of a curve is the whole work for so many, in a server of its own."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from acp_editor.app.change_list import MOST_HUNKS
from benchmarks import made
from benchmarks.editor import Editor, idle, running
from benchmarks.result import Curve
from benchmarks.scale import Scale


def _update(call: str, number: int, path: Path, session: str = "s1") -> bytes:
    """The first one announces the call."""
    text = {"type": "text", "text": f"{number}: {made.WORDS[:60]}"}
    place = {"path": str(path), "line": 1 + number % 40}
    changed = {
        "toolCallId": call,
        "status": "in_progress",
        "content": [{"type": "content", "content": text}],
        "locations": [place],
    }
    if number == 0:
        return made.line({"sessionUpdate": "tool_call", "title": "Read", "kind": "read", **changed}, session)
    return made.line({"sessionUpdate": "tool_call_update", **changed}, session)


def _poured(editor: Editor, lines: Path) -> float:
    """The server's processor time at the end of it: what work costs on a busy machine, too."""
    editor.command("prompt", {"text": f"pour {lines}"})
    editor.wait_for(idle)
    return editor.cpu()


def calls(count: int, root: Path) -> float:
    """A long session: ten updates of each call, of which only the last 2,000 are kept."""
    made.workspace(root / "ws")
    lines = made.write(root / "lines", made.calls(root / "ws", 10 * count, count))
    with running(root) as editor:
        editor.command("session.new")
        before = editor.cpu()
        return _poured(editor, lines) - before


def at_work(count: int, root: Path) -> float:
    """Ten updates of each call, in turns, so that all of them are at work at once."""
    files = made.workspace(root / "ws")
    rounds = ((number, call) for number in range(10) for call in range(count))
    lines = made.write(
        root / "lines", (_update(f"c{call}", number, files[call % len(files)]) for number, call in rounds)
    )
    with running(root) as editor:
        editor.command("session.new")
        before = editor.cpu()
        return _poured(editor, lines) - before


def sessions(count: int, root: Path) -> float:
    """A hundred updates in each, in turns."""
    files = made.workspace(root / "ws")
    rounds = ((number, session) for number in range(100) for session in range(1, count + 1))
    lines = made.write(
        root / "lines", (_update("c", number, files[n % len(files)], f"s{n}") for number, n in rounds)
    )
    with running(root) as editor:
        before = editor.cpu()
        first = editor.command("session.new")["sessionId"]
        for _ in range(count - 1):
            editor.command("session.new")
        editor.command("session.select", {"sessionId": first})
        return _poured(editor, lines) - before


def hunks(count: int, root: Path) -> float:
    """From the prompt until the editor has the hunks of a file that the agent rewrote."""
    lines = [f"value_{number} = {number}\n" for number in range(4 * count)]
    path, source = root / "ws" / "module.py", root / "source"
    path.write_text("".join(lines))
    source.write_text("".join(f"new_{n} = {n}\n" if n % 4 == 2 else line for n, line in enumerate(lines)))

    def shown(body: bytes) -> bool:
        if b'"acpEditor/changes"' not in body[:60]:
            return False
        changes = json.loads(body)["params"]["changes"]
        # of more than that, so many are sent, and how many there are
        return sum(len(change["hunks"]) for change in changes) == min(count, MOST_HUNKS)

    with running(root) as editor:
        editor.command("session.new")
        start = editor.now()
        editor.command("prompt", {"text": f"write {path} {source}"})
        return (editor.wait_for(shown) - start) / 1e9


def documents(count: int, root: Path) -> float:
    """Each opened, and five updates in each, in turns."""
    files = made.workspace(root / "ws", count, 60)
    rounds = ((number, call) for number in range(5) for call in range(count))
    lines = made.write(root / "lines", (_update(f"c{call}", number, files[call]) for number, call in rounds))
    with running(root) as editor:
        editor.command("session.new")
        before = editor.cpu()
        for path in files:
            document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": path.read_text()}
            editor.tell("textDocument/didOpen", {"textDocument": document})
        return _poured(editor, lines) - before


def file_size(size: int, root: Path) -> float:
    """Five hundred updates of a call in the middle of an open file of so many bytes."""
    path = root / "ws" / "large.py"
    row = "value = 'the quick brown fox jumps over the lazy dog'\n"
    path.write_text(row * (size // len(row)))
    middle = size // len(row) // 2

    def updates() -> Iterator[bytes]:
        for number in range(500):
            place = {"path": str(path), "line": middle + number}
            kind = "tool_call_update" if number else "tool_call"
            yield made.line(
                {
                    "sessionUpdate": kind,
                    "toolCallId": "c",
                    "title": "Edit",
                    "status": "pending",
                    "locations": [place],
                }
            )

    lines = made.write(root / "lines", updates())
    with running(root) as editor:
        editor.command("session.new")
        document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": path.read_text()}
        editor.tell("textDocument/didOpen", {"textDocument": document})
        editor.command("state")
        before = editor.cpu()
        return _poured(editor, lines) - before


ALL: tuple[tuple[Callable[[int, Path], float], str, str, tuple[int, ...]], ...] = (
    (at_work, "Tool calls at work at once, ten updates of each", "calls", (100, 200, 500, 1000, 2000)),
    (calls, "Tool calls one after the other, ten updates each", "calls", (300, 1000, 3000, 10_000)),
    (sessions, "Sessions, a hundred updates in each", "sessions", (3, 10, 30, 100, 300)),
    (hunks, "Hunks to review in one file", "hunks", (10, 100, 1000, 3000, 10_000)),
    (documents, "Open documents, five updates in each", "documents", (10, 30, 100, 300, 1000)),
    (
        file_size,
        "Size of the file that a call is in",
        "bytes",
        (10_000, 100_000, 1_000_000, 4_000_000, 16_000_000),
    ),
)


def measure(scale: Scale) -> Iterator[Curve]:
    for work, title, unit, sizes in ALL:
        points: list[tuple[float, float]] = []
        for size in sizes[: scale.curve]:
            taken: list[float] = []
            for _ in range(min(2, scale.rounds)):
                with tempfile.TemporaryDirectory(prefix="acp-editor-") as folder:
                    (Path(folder) / "ws").mkdir()
                    taken.append(work(size, Path(folder)))
            points.append((size, max(0.01, min(taken))))
        yield Curve(work.__name__, title, unit, tuple(points))
