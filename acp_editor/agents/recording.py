"""A recorded conversation, read for playing: its entries, and what its messages have to be changed to.

The format is that of `acp.traffic`; `{"nonjson": TEXT}` is a line that was no JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from acp_editor.core.model import Json, is_array, is_object

STARTS: Final = frozenset({"session/new", "session/load", "session/resume", "session/fork"})
"""One of these stands for another: who plays a file has none of the sessions that it takes up."""


class NotARecording(Exception):
    """The file cannot be played; the message says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One message; `at` in milliseconds. `raw` is a line of the agent's that was no JSON."""

    at: int
    sender: Literal["client", "agent"]
    message: dict[str, Json]
    raw: str | None = None

    @property
    def method(self) -> str | None:
        method = self.message.get("method")
        return method if isinstance(method, str) else None

    @property
    def is_request(self) -> bool:
        return self.method is not None and "id" in self.message

    @property
    def id(self) -> str:
        """As JSON: ids may be of any type, and 1 is not true."""
        return json.dumps(self.message.get("id"))

    def field(self, part: Literal["params", "result"], name: str) -> Json:
        """None where there is none."""
        whole = self.message.get(part)
        return whole.get(name) if is_object(whole) else None


def load(path: Path) -> list[Entry]:
    """Raises OSError and NotARecording. Entries of which only the size is left are passed over."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise NotARecording(f"{path} is no text: {error.reason}") from error
    entries = [entry for number, line in enumerate(lines, 1) if (entry := _entry(line, f"{path}:{number}"))]
    if not any(entry.sender == "agent" for entry in entries):
        raise NotARecording(f"{path} has no message of an agent")
    return _with_handshake(entries)


def _entry(line: str, where: str) -> Entry | None:
    if not line.strip():
        return None
    try:
        value: Json = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise NotARecording(f"{where}: this line is not JSON: {error}") from error
    if not is_object(value):
        raise NotARecording(f"{where}: this line is not an object")
    message, raw, at = value.get("msg"), value.get("nonjson"), value.get("t")
    time = round(at) if isinstance(at, int | float) else 0
    match value.get("dir"):
        case "a2c" if isinstance(raw, str):
            return Entry(time, "agent", {}, raw)
        case "a2c" if is_object(message):
            return Entry(time, "agent", message)
        case "c2a" if is_object(message):
            return Entry(time, "client", message)
        case "a2c" | "c2a" | None:
            return None
        case other:
            raise NotARecording(f"{where}: `dir` is {other!r} and not c2a or a2c")


def _with_handshake(entries: list[Entry]) -> list[Entry]:
    """A file that lost its beginning gets one that any client understands."""
    if any(entry.method == "initialize" for entry in entries):
        return entries
    params = [entry.message.get("params") for entry in entries]
    sessions = [p["sessionId"] for p in params if is_object(p) and isinstance(p.get("sessionId"), str)]
    updates = [p.get("update") for p in params if is_object(p)]
    newer = any(is_object(update) and update.get("sessionUpdate") == "state_update" for update in updates)
    who: Json = {"name": "recording", "version": "0"}
    told: Json = (
        {"protocolVersion": 2, "info": who, "capabilities": {"session": {}}}
        if newer
        else {"protocolVersion": 1, "agentInfo": who, "agentCapabilities": {}}
    )
    made: list[Entry] = []
    answers: list[tuple[str, Json]] = [("initialize", told)]
    if not any(entry.method in STARTS for entry in entries):
        answers.append(("session/new", {"sessionId": sessions[0] if sessions else "recorded"}))
    for method, result in answers:
        ident = f"made-up {method}"
        made.append(Entry(0, "client", {"jsonrpc": "2.0", "id": ident, "method": method, "params": {}}))
        made.append(Entry(0, "agent", {"jsonrpc": "2.0", "id": ident, "result": result}))
    return [*made, *entries]


@dataclass(slots=True)
class Names:
    """What is called differently now: folders, wherever they stand in a text, and ids."""

    _folders: dict[str, str] = field(default_factory=dict[str, str])
    _ids: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    _pattern: re.Pattern[str] | None = None

    def started(self, recorded: Json, live: Json) -> None:
        """Learns folders from the params of a request that starts a session, as recorded and as it came."""
        for one, other in zip(_folders(recorded), _folders(live), strict=False):
            if one.rstrip("/\\"):
                self._folders[one.rstrip("/\\")] = other.rstrip("/\\") or other
        longest_first = sorted(self._folders, key=len, reverse=True)
        if longest_first:
            folders = "|".join(re.escape(folder) for folder in longest_first)
            # Whole names only: not in /ws/demo2 and not in /home/ws/demo.
            self._pattern = re.compile(rf"(?<![\w.-])(?:{folders})(?![\w-]|\.\w)")

    def learn(self, key: str, recorded: Json, live: Json) -> None:
        """An id that is told under that key."""
        if isinstance(recorded, str) and isinstance(live, str):
            self._ids[key, recorded] = live

    def now(self, value: Json, key: str = "") -> Json:
        """The value as it has to be said now."""
        if is_object(value):
            return {self._text(name): self.now(item, name) for name, item in value.items()}
        if is_array(value):
            return [self.now(item) for item in value]
        if not isinstance(value, str):
            return value
        if (ident := self._ids.get((key, value))) is not None:
            return ident
        return self._text(value)

    def _text(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._folders[found[0]], text)


def _folders(params: Json) -> Iterator[str]:
    if not is_object(params):
        return
    more: Json = params.get("additionalDirectories")
    given: Iterable[Json] = [params.get("cwd"), *(more if is_array(more) else ())]
    yield from (folder for folder in given if isinstance(folder, str))
