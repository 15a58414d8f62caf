"""The messages that benchmarks pour, made before and written to files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WORDS = "the build went on and every file of it was read once more before anything else was done to it "


def line(update: dict[str, Any], session: str = "s1") -> bytes:
    message = {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {"sessionId": session, "update": update},
    }
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def workspace(folder: Path, files: int = 20, lines: int = 400) -> list[Path]:
    """A folder of source files that calls can be at."""
    folder.mkdir(exist_ok=True)
    made: list[Path] = []
    for number in range(files):
        path = folder / f"module_{number:02}.py"
        path.write_text("".join(f"value_{index} = {index}  # {number}\n" for index in range(lines)))
        made.append(path)
    return made


def calls(folder: Path, updates: int, count: int, session: str = "s1") -> Iterator[bytes]:
    """`updates` lines of 200 to 400 bytes for `count` calls, one call after the other."""
    each = updates // count
    for number in range(count):
        call = f"call_{number:05}"
        path = str(folder / f"module_{number % 20:02}.py")
        place = {"path": path, "line": 1 + number * 7 % 400}
        yield line(
            {
                "sessionUpdate": "tool_call",
                "toolCallId": call,
                "title": f"Read {place['path'][-12:]}",
                "kind": ("read", "edit", "search", "execute")[number % 4],
                "status": "pending",
                "locations": [place],
                "rawInput": {"path": path},
            },
            session,
        )
        for index in range(each - 2):
            text = WORDS[: 20 + (number * 31 + index * 17) % 76]
            content = [{"type": "content", "content": {"type": "text", "text": f"{index}: {text}"}}]
            update: dict[str, Any] = {
                "sessionUpdate": "tool_call_update",
                "toolCallId": call,
                "status": "in_progress",
                "content": content,
            }
            if index % 8 == 0:
                update["locations"] = [{**place, "line": 1 + (number * 7 + index) % 400}]
            yield line(update, session)
        yield line(
            {
                "sessionUpdate": "tool_call_update",
                "toolCallId": call,
                "status": "completed",
                "rawOutput": {"exitCode": 0, "output": WORDS[:60]},
            },
            session,
        )


def write(path: Path, lines: Iterator[bytes]) -> Path:
    with path.open("wb") as file:
        file.writelines(lines)
    return path
