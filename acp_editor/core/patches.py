"""Patches as agents send them: git's, plain unified ones, and the `*** Begin Patch` kind.

Read leniently: paths absolute or with `a/` and `b/`, wrong line counts, missing headers. Lines end at
`\\n` alone here, as they do for git; a carriage return is a part of the line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Literal, TypeAlias

Operation: TypeAlias = Literal["add", "modify", "delete", "move"]
Mark: TypeAlias = Literal[" ", "-", "+"]

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_SECTION = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_SECTION_OPERATIONS: dict[str, Operation] = {"Add": "add", "Update": "modify", "Delete": "delete"}
_NAMES = re.compile(
    r"^(?:diff --git |Index: |--- |\+\+\+ |\*\*\* |new file |deleted file |rename |copy ).*", re.MULTILINE
)
_HUNKS = re.compile(r"^@@", re.MULTILINE)
_MAX_LINES = 100_000
_MAX_GAPS = 100
"""Spaces in a line that names two files, each of which may be the one between them."""
_MARKS: dict[str, Mark] = {" ": " ", "-": "-", "+": "+"}
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


@dataclass(frozen=True, slots=True)
class Hunk:
    """`start` and `new_start` are the first old and new line from 0, None where the patch has none.

    `old_bare` and `new_bare` say that the last line has no line end.
    """

    lines: tuple[tuple[Mark, str], ...]
    start: int | None = None
    new_start: int | None = None
    old_bare: bool = False
    new_bare: bool = False

    @property
    def old(self) -> list[str]:
        return [text for mark, text in self.lines if mark != "+"]

    @property
    def new(self) -> list[str]:
        return [text for mark, text in self.lines if mark != "-"]

    @property
    def lead(self) -> int:
        """How many lines of context stand before the first that changes."""
        return next((n for n, (mark, _) in enumerate(self.lines) if mark != " "), len(self.lines))


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a patch does to one file; paths as they stand in it, without `a/` and `b/`.

    `old_path` is another file that the content comes from (a move; with "add", a copy). `unread` says
    that its hunks were not read, as the patch is too long.
    """

    path: str
    operation: Operation
    old_path: str | None = None
    hunks: tuple[Hunk, ...] = ()
    unread: bool = False


@lru_cache(maxsize=2)  # whoever looks at a call reads its patch anew
def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """Every file that a patch of any known kind names; what cannot be read is left out.

    Of a patch that is too long only the names are read.
    """
    if text.count("\n") > _MAX_LINES:
        return tuple(replace(file, hunks=(), unread=True) for file in _files(_named(text)))
    return _files(text)


def _named(text: str) -> str:
    """The lines that name files, and one for all that stands between two: else they would be one file's."""
    kept: list[str] = []
    end = 0
    for found in _NAMES.finditer(text):
        if found.start() > end:
            kept.append("@@" if _HUNKS.search(text, end, found.start()) else "index")
        kept.append(found[0])
        end = found.end() + 1
    return "\n".join(kept)


def _files(text: str) -> tuple[FilePatch, ...]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if "*** " in text and any(_SECTION.match(line) for line in lines):
        return _sections(lines)
    return _unified(lines)


class _File:
    """One file's part of a unified patch, as its lines come."""

    def __init__(self, first: str = "", second: str = "") -> None:
        self.names: tuple[str | None, str | None] = (first or None, second or None)
        self.operation: Operation = "modify"
        self.source: str | None = None
        self.target: str | None = None
        self.paired = False
        self.hunks: list[Hunk] = []

    def patch(self) -> FilePatch | None:
        old, new = _without_prefixes(*self.names)
        operation = self.operation
        if self.paired and operation == "modify":
            operation = "add" if old is None else "delete" if new is None else "modify"
        source = self.source
        if self.paired and operation == "modify" and old != new:
            operation, source = "move", old
        path = self.target or (old if operation == "delete" else new) or new or old
        if path is None:
            return None
        return FilePatch(path, operation, source if source != path else None, tuple(self.hunks))


def _unified(lines: list[str]) -> tuple[FilePatch, ...]:
    files: list[_File] = []
    number = 0
    while number < len(lines):
        line = lines[number].removesuffix("\r")
        following = lines[number + 1] if number + 1 < len(lines) else ""
        number += 1
        if line.startswith("diff --git "):
            files.append(_File(*_git_names(line.removeprefix("diff --git "))))
        elif line.startswith("Index: "):
            name = line.removeprefix("Index: ").strip()
            files.append(_File(name, name))
        elif line.startswith("--- ") and following.startswith("+++ "):
            if not files or files[-1].paired or files[-1].hunks:
                files.append(_File())
            file = files[-1]
            file.names = (_name(line[4:]), _name(following[4:].removesuffix("\r")))
            file.paired = True
            number += 1
        elif not files:
            continue
        elif line.startswith("@@"):
            hunk, number = _hunk(lines, number - 1)
            files[-1].hunks.append(hunk)
        elif line.startswith("new file mode"):
            files[-1].operation = "add"
        elif line.startswith("deleted file mode"):
            files[-1].operation = "delete"
        elif line.startswith(("rename from ", "copy from ")):
            files[-1].operation = "move" if line.startswith("rename") else "add"
            files[-1].source = _name(line.split(" from ", 1)[1])
        elif line.startswith(("rename to ", "copy to ")):
            files[-1].target = _name(line.split(" to ", 1)[1])
    return tuple(patch for file in files if (patch := file.patch()))


def _sections(lines: list[str]) -> tuple[FilePatch, ...]:
    found: list[FilePatch] = []
    number = 0
    while number < len(lines):
        section = _SECTION.match(lines[number].removesuffix("\r"))
        number += 1
        if section is None:
            continue
        operation, path = _SECTION_OPERATIONS[section[1]], section[2].strip()
        source: str | None = None
        if number < len(lines) and lines[number].startswith("*** Move to: "):
            operation, source, path = "move", path, lines[number].removeprefix("*** Move to: ").strip()
            number += 1
        hunks: list[Hunk] = []
        while number < len(lines) and not lines[number].startswith("*** "):
            # The first hunk may come without a line that begins it.
            begin = number if lines[number].startswith("@@") else number - 1
            hunk, end = _hunk(lines, begin)
            number = max(end, number + 1)
            if hunk.lines:
                hunks.append(hunk)
        found.append(FilePatch(path, operation, source, tuple(hunks)))
    return tuple(found)


def _hunk(lines: list[str], number: int) -> tuple[Hunk, int]:
    """The hunk whose header is at `number`, and the number of the line after it."""
    header = _HUNK.match(lines[number])
    old_left = new_left = -1
    if header:
        old_left, new_left = (int(header[n] or 1) for n in (2, 4))
    bare = {" ": False, "-": False, "+": False}
    body: list[tuple[Mark, str]] = []
    number += 1
    while number < len(lines):
        line = lines[number]
        mark = _MARKS.get(line[:1])
        if mark is None and line.rstrip("\r") == "":
            # Editors and mail take the one space of an empty line of context away.
            if old_left <= 0 and new_left <= 0 and (header or not _goes_on(lines, number + 1)):
                break
            mark, line = " ", " " + line
        elif mark is None:
            if not line.startswith("\\"):
                break
            if body:
                bare[body[-1][0]] = True
            number += 1
            continue
        elif mark == "-" and old_left <= 0 and new_left <= 0 and _names_follow(lines, number):
            break
        body.append((mark, line[1:]))
        old_left -= mark != "+"
        new_left -= mark != "-"
        number += 1
    start = new_start = None
    if header:
        start, new_start = (_start(int(header[n]), header[n + 1]) for n in (1, 3))
    return Hunk(tuple(body), start, new_start, bare[" "] or bare["-"], bare[" "] or bare["+"]), number


def _start(line: int, count: str | None) -> int:
    """From 0; for no lines git names the one before them."""
    return line if count == "0" else max(0, line - 1)


def _goes_on(lines: list[str], number: int) -> bool:
    return number < len(lines) and lines[number][:1] in (" ", "+", "-")


def _names_follow(lines: list[str], number: int) -> bool:
    """Whether these are the names of another file and not lines of the hunk."""
    following = lines[number + 1] if number + 1 < len(lines) else ""
    return lines[number].startswith("--- ") and following.startswith("+++ ")


def _git_names(rest: str) -> tuple[str, str]:
    """Both names of a `diff --git` line; where spaces leave a doubt, they are taken to be equal."""
    if rest.startswith('"'):
        end = re.match(r'"(?:[^"\\]|\\.)*"', rest)
        if end:
            return _unquoted(end[0]), _unquoted(rest[end.end() :].strip())
    for gap in islice(re.finditer(" ", rest), _MAX_GAPS):
        first, second = rest[: gap.start()], rest[gap.end() :]
        plain = _without_prefixes(first, _unquoted(second))
        if plain[0] == plain[1]:
            return first, _unquoted(second)
    first, _, second = rest.partition(" ")
    return first, _unquoted(second)


def _name(text: str) -> str | None:
    """A name as it stands after `---`, without a timestamp; None for /dev/null."""
    name = _unquoted(text if text.startswith('"') else text.split("\t")[0].rstrip())
    return None if name in ("/dev/null", "") else name


def _unquoted(name: str) -> str:
    quoted = re.match(r'"((?:[^"\\]|\\.)*)"', name)
    if not quoted:
        return name
    raw = quoted[1].encode("utf-8", "surrogateescape")

    def byte(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _ESCAPES.get(code, code)

    return _ESCAPE.sub(byte, raw).decode("utf-8", "surrogateescape")


def _without_prefixes(old: str | None, new: str | None) -> tuple[str | None, str | None]:
    """Without git's `a/` and `b/`, where both sides have them."""
    if (old is None or old.startswith("a/")) and (new is None or new.startswith("b/")):
        return old and old[2:], new and new[2:]
    return old, new
