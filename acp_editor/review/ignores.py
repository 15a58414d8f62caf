"""What git would ignore in a folder, beyond the `.gitignore` files in it that libgit2 reads by itself."""

from __future__ import annotations

import os
from pathlib import Path

import pygit2


def literal(path: str) -> str:
    """A pattern that matches just this path, seen from the root; a trailing `/` means a folder."""
    escaped = "".join("\\" + letter if letter in "\\*?[]!# " else letter for letter in path)
    return "/" + escaped.replace("\n", "?").replace("\r", "?")


def repository(root: str) -> pygit2.Repository | None:
    """The user's repository that a folder is in, to be read only."""
    try:
        found = pygit2.discover_repository(root)
        return pygit2.Repository(found) if found else None
    except (pygit2.GitError, KeyError, ValueError):
        return None


def tracked(root: str) -> list[str]:
    """Files under the root that the user's git has, ignored or not, and that are there."""
    found = repository(root)
    if found is None or not found.workdir:
        return []
    prefix = _prefix(found.workdir, root)
    if prefix is None:
        return []
    names = [os.fsdecode(found.index[at].path) for at in range(len(found.index))]
    under = [name[len(prefix) :] for name in names if name.startswith(prefix)]
    return [name for name in under if _is_file(os.path.join(root, name))]


def _is_file(path: str) -> bool:
    return os.path.islink(path) or os.path.isfile(path)


def inherited(root: str) -> list[str]:
    """Patterns from above the root and from the repository's own `info/exclude`, as seen from the root."""
    found = repository(root)
    if found is None or not found.workdir:
        return []
    prefix = _prefix(found.workdir, root)
    if prefix is None:
        return []
    top = Path(found.workdir)
    sources = [
        (Path(found.path) / "info" / "exclude", ""),
        (Path(found.path) / ".." / ".." / "info" / "exclude", ""),
    ]
    folder = ""
    for part in prefix.split("/")[:-1]:
        sources.append((top / folder / ".gitignore", folder))
        folder += part + "/"
    patterns: list[str] = []
    for source, above in sources:
        try:
            text = source.read_text("utf-8", "surrogateescape")
        except OSError:
            continue
        for line in text.splitlines():
            pattern = _seen_from(line.rstrip("\n"), prefix[len(above) :])
            if pattern is not None:
                patterns.append(pattern)
    return patterns


def _prefix(workdir: str, root: str) -> str | None:
    relative = os.path.relpath(os.path.realpath(root), os.path.realpath(workdir))
    if relative == ".":
        return ""
    return None if relative.startswith("..") else relative.replace(os.sep, "/") + "/"


def _seen_from(pattern: str, prefix: str) -> str | None:
    """A pattern of a folder above as it reads `prefix` further down; None where it says nothing there."""
    if not pattern.strip() or pattern.startswith("#"):
        return None
    negated, body = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
    if "/" not in body.rstrip("/") or body.startswith("**/"):
        return pattern
    body = body.lstrip("/")
    if not prefix:
        return f"{negated}/{body}"
    return f"{negated}/{body[len(prefix) :]}" if body.startswith(prefix) and len(body) > len(prefix) else None
