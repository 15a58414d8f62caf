"""What the guided tour looks at: which files, which of their lines, and what there is to say of them."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Final

from acp_editor.agents.workspace import File
from acp_editor.core.text import split_lines

STOPS: Final = 3
"""Files that a tour reads."""

_ENTRIES: Final = ("__main__.py", "main.py", "app.py", "cli.py", "index.ts", "index.js", "main.ts", "main.rs")
_LANDMARK: Final = re.compile(
    r"\s*(?:export\s+|public\s+|pub\s+|static\s+|async\s+|default\s+)*"
    r"(?:class|def|function|fn|func|interface|struct|enum|trait|impl)\s+\w"
)
_HEADING: Final = re.compile(r"#{1,6}\s+\S")


def stops(files: Sequence[File], chosen: Sequence[str], text: str) -> list[File]:
    """The files to visit: those the person chose, those the prompt names, the README, an entry, long ones."""
    words = set(re.findall(r"[\w.-]{4,}", text.lower()))
    by_path = {os.path.realpath(file.path): file for file in files}

    def named(file: File) -> bool:
        path = PurePosixPath(file.name.lower())
        return path.name in words or path.stem in words

    candidates = [by_path.get(os.path.realpath(path)) for path in chosen]
    candidates += filter(named, files)
    candidates += [file for file in files if re.match(r"readme", file.name, re.IGNORECASE)][:1]
    candidates += [file for entry in _ENTRIES for file in files if PurePosixPath(file.name).name == entry][:1]
    candidates += sorted(filter(_is_code, files), key=lambda file: -len(landmarks(file)))
    candidates += files
    found: list[File] = []
    for file in candidates:
        if file is not None and file not in found and len(found) < STOPS:
            found.append(file)
    return found


def landmarks(file: File) -> list[int]:
    """The lines (from 1) where something begins: headings in prose, definitions in code."""
    pattern = _HEADING if file.name.endswith((".md", ".markdown")) else _LANDMARK
    lines = split_lines(file.text)
    return [number for number, line in enumerate(lines, start=1) if pattern.match(line)]


def waypoints(file: File, first: int | None = None, last: int | None = None) -> list[int]:
    """At most four lines to visit on the way through a file, or through the part that was chosen."""
    end = max(1, len(split_lines(file.text)))
    start, stop = min(first or 1, end), min(last or end, end)
    between = [line for line in landmarks(file) if start < line <= stop]
    step = max(1, -(-len(between) // 3))
    return [start, *between[::step]]


def summary(file: File) -> str:
    """What the file says of itself, else how long it is."""
    lines = split_lines(file.text)
    told = _docstring(file.text) if file.name.endswith(".py") else _prose(lines)
    count = f"{len(lines)} line{'' if len(lines) == 1 else 's'}"
    return f"{told} ({count})" if told else count


def check_command(root: str, stop: File | None) -> str:
    """A command line that changes nothing and tells something, where git or Python is at hand."""
    python = "python3" if os.name == "posix" else "python"
    if stop is not None and stop.name.endswith(".py"):
        folder = stop.name.rpartition("/")[0] or stop.name
        return f"{python} -m tabnanny -v {_quoted(folder)}"
    if os.path.isdir(os.path.join(root, ".git")):
        return "git --no-pager status --short --branch"
    return "ls" if os.name == "posix" else "dir"


def package(files: Sequence[File]) -> str | None:
    """The name of a Python package at the root that can be run."""
    found = (re.fullmatch(r"(\w+)/__main__\.py", file.name) for file in files)
    return next((match[1] for match in found if match), None)


def _is_code(file: File) -> bool:
    return not file.name.endswith((".md", ".markdown")) and bool(landmarks(file))


def _docstring(text: str) -> str | None:
    try:
        told = ast.get_docstring(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return None
    return told.splitlines()[0].rstrip(".") if told else None


def _prose(lines: Sequence[str]) -> str | None:
    """The first sentence of ordinary prose, for files that have any."""
    for index, line in enumerate(lines):
        if re.match(r"[A-Za-z][^{};=<>]{20,}$", line.strip()):
            paragraph = " ".join(part.strip() for part in takewhile(str.strip, lines[index:]))
            sentence = re.split(r"(?<=[.!?])\s", paragraph)[0].rstrip(".")
            return sentence if len(sentence) < 160 else f"{sentence[:157]}…"
    return None


def _quoted(word: str) -> str:
    """For a shell of either kind; a name with a quote in it is not worth the risk."""
    return word if re.fullmatch(r"[\w./-]+", word) else "."
