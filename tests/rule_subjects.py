"""Calls for tests of rules, in a workspace at `/ws`."""

from __future__ import annotations

from acp_editor.policy.commands import parse_command
from acp_editor.policy.matching import File, Subject

Settings = dict[str, list[str]]

INSIDE = "/ws/"


def file(name: str, *, named: str | None = None, folder: bool = False) -> File:
    """A file by its resolved path: under the workspace, or absolute and so outside."""
    relative = None if name.startswith("/") else name
    return File(name if relative is None else INSIDE + name, relative, named or relative, folder)


def runs(line: str, kind: str = "execute", tool: str | None = None, astray: bool = False) -> Subject:
    parsed = parse_command(line)
    known = {name: file(name) for name in (*parsed.writes, *parsed.reads) if not parsed.changes_folder}
    return Subject(kind, tool, (), parsed, known, astray=astray)


def touches(kind: str, *names: str, tool: str | None = None, changes: bool = False) -> Subject:
    return Subject(kind, tool, tuple(file(name) for name in names), changes=changes)
