"""The import rules between the floors: who may know whom, and who may know which library."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "acp_editor"
MODULES = sorted(PACKAGE.rglob("*.py"))

MAY_IMPORT = {
    "core": set[str](),
    "policy": {"core"},
    "processes": set[str](),
    "acp": {"core", "processes"},
    "host": {"core", "processes"},
    "review": {"core"},
    "lsp": {"core"},
    # our own agents are peers of anybody's: they know the wire, and nothing of editors
    "agents": {"core", "acp"},
}
"""Floors by what they may import beside themselves; a module that is not listed may import all of them."""

ONLY_IN = {
    "pygls": ("lsp/",),
    "lsprotocol": ("lsp/",),
    "pydantic": ("acp/wire.py", "acp/v1.py", "acp/v2.py", "policy/check.py", "settings.py"),
    "pygit2": ("review/", "agents/"),
    "watchfiles": ("review/",),
    "tree_sitter": ("policy/",),
    "tree_sitter_bash": ("policy/",),
    "pathspec": ("policy/", "review/", "agents/"),
}
"""Libraries by where they may be imported: a folder or a module."""


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def floor_of(path: Path) -> str:
    """A folder's name, or the module's own for those at the top."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Absolute names of what a module imports, wherever in it, with the line."""
    package = ("acp_editor", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield alias.name, node.lineno
            case ast.ImportFrom(module=module, names=names, level=level):
                base = ".".join(package[: len(package) - level + 1]) if level else ""
                full = ".".join(part for part in (base, module) if part)
                if full == "acp_editor":
                    for alias in names:
                        yield f"acp_editor.{alias.name}", node.lineno
                else:
                    yield full, node.lineno
            case _:
                pass


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_floor_imports_only_what_is_below_it(path: Path) -> None:
    floor = floor_of(path)
    allowed = MAY_IMPORT.get(floor)
    if allowed is None:
        return
    wrong = [
        f"line {line}: {name}"
        for name, line in imports(path)
        if name.startswith("acp_editor.") and name.split(".")[1] not in allowed | {floor}
    ]
    assert not wrong


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_library_is_imported_only_where_it_belongs(path: Path) -> None:
    name = name_of(path)
    wrong = [
        f"line {line}: {imported}"
        for imported, line in imports(path)
        if (places := ONLY_IN.get(imported.split(".")[0])) and not name.startswith(places)
    ]
    assert not wrong


@pytest.mark.parametrize("path", [p for p in MODULES if floor_of(p) == "core"], ids=name_of)
def test_the_core_is_pure(path: Path) -> None:
    """Standard library only, and of that nothing that reads, waits or spawns."""
    impure = {
        "asyncio",
        "io",
        "os",
        "pathlib",
        "select",
        "shutil",
        "socket",
        "subprocess",
        "threading",
        "time",
    }
    tops = {name.split(".")[0] for name, _ in imports(path)}
    assert tops - {"acp_editor"} <= sys.stdlib_module_names
    assert not tops & impure
