"""What a prompt says: its text, and the files that came with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast
from urllib.parse import unquote, urlsplit

from acp_editor.core.model import Json

_LINES: Final = re.compile(r"L?(\d+)(?:[-:,]L?(\d+))?")


@dataclass(frozen=True, slots=True)
class Subject:
    """A file that the person pointed at; `first` and `last` are lines from 1 where they chose some."""

    path: str
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    text: str
    subjects: tuple[Subject, ...] = ()

    @property
    def command(self) -> tuple[str, str] | None:
        """The slash command and all after it; None where there is none."""
        match = re.match(r"/([A-Za-z][\w-]*)(?:\s+(.*))?\Z", self.text, re.DOTALL)
        return (match[1].lower(), (match[2] or "").strip()) if match else None


def parse(blocks: Json) -> Prompt:
    """A prompt from its content blocks, in either version; what is not understood is left out."""
    texts: list[str] = []
    subjects: list[Subject] = []
    items = cast("list[Json]", blocks) if isinstance(blocks, list) else []
    for block in items:
        match block:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "resource_link", "uri": str(uri)} | {
                "type": "resource",
                "resource": {"uri": str(uri)},
            }:
                if subject := _subject(uri):
                    subjects.append(subject)
            case _:
                pass
    return Prompt("\n".join(texts).strip(), tuple(subjects))


def _subject(uri: str) -> Subject | None:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme not in ("file", ""):
        return None
    path = unquote(parts.path)
    if re.match(r"/[A-Za-z]:", path):  # a drive of Windows
        path = path[1:]
    if not Path(path).is_absolute():
        return None
    chosen = _LINES.fullmatch(parts.fragment)
    if not chosen:
        return Subject(path)
    first = max(1, int(chosen[1]))
    return Subject(path, first, max(first, int(chosen[2] or first)))
