"""What fuzzing begins with: each message, patch and command line of the recorded sessions, once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CAPTURES = Path(__file__).resolve().parents[1] / "data" / "captures"
_SMALL = 4000
"""Bytes; a fuzzer learns nothing from larger ones and needs longer for each."""

RULES = [
    "edit(src/**)",
    "execute(git status:*)",
    "read",
    "*",
    "mcp__server__tool",
    "execute(npm test)",
    "edit(!a/[b-c]*.py)",
    "execute(sh -c 'a b':*)",
]
COMMANDS = [
    "git status && rm -rf /",
    "a | b; c & d",
    "echo $(cat <(x)) `y`",
    "sudo -u me env A=1 nice -n 5 timeout 3 find . -exec rm {} +",
    "cat <<'E'\nx\nE\n",
    "bash -c 'a \"b\"'",
    "[[ a =~ (b|c) ]] && f() { :; }",
    "x=1 y='2' z",
]


def recorded() -> Iterator[tuple[int, dict[str, Any]]]:
    """Every different message of an agent, with the protocol version that it speaks."""
    seen: set[str] = set()
    for path in sorted(CAPTURES.glob("*.ndjson")):
        version = 2 if "-v2-" in path.name else 1
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            text = json.dumps(entry.get("msg"))
            if entry["dir"] == "a2c" and isinstance(entry.get("msg"), dict) and len(text) < _SMALL:
                shape = f"{version} {sorted(_shape(entry['msg']))}"
                if shape not in seen:
                    seen.add(shape)
                    yield version, entry["msg"]


def _shape(value: Any, path: str = "") -> Iterator[str]:
    """Where something is, without what it is: messages of one shape teach the same."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _shape(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value[:3]:
            yield from _shape(item, f"{path}[]")
    else:
        kind = value if path.endswith((".sessionUpdate", ".type", ".method")) else type(value).__name__
        yield f"{path}={kind}"


def strings(value: Any) -> Iterator[tuple[str, str]]:
    """Every string with its key."""
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str):
                yield key, item
            else:
                yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def seeds(target: str) -> list[bytes]:
    messages = list(recorded())
    match target:
        case "lines":
            found = [b"\x05" + json.dumps(message).encode() + b"\n{}\r\n" for _, message in messages]
        case "version1" | "version2":
            found = [json.dumps(message).encode() for v, message in messages if v == int(target[-1])]
        case "patches":
            texts = (
                text for _, message in messages for key, text in strings(message) if "patch" in key.lower()
            )
            found = [text.encode() for text in texts]
            found += [b"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"]
            found += [b"*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n*** End Patch\n"]
        case "commands":
            texts = (text for _, message in messages for key, text in strings(message) if key == "command")
            found = [text.encode() for text in [*texts, *COMMANDS]]
        case _:
            found = [rule.encode() for rule in RULES]
    return sorted(set(found))


def write(target: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds(target):
        (folder / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
