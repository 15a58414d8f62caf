"""Paths as agents name them, made absolute without asking the disk."""

from __future__ import annotations

import ntpath
import posixpath
import sys
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

_WINDOWS = sys.platform == "win32"
_path = ntpath if _WINDOWS else posixpath


def absolute(path: str, cwd: str) -> str | None:
    """The path normalised, relative ones and `file:` URIs included; None for what names no file."""
    if path[:5].lower() == "file:":
        parts = urlsplit(path)
        path = unquote(parts.path)
        if _WINDOWS:
            path = path.lstrip("/") if not parts.netloc else f"//{parts.netloc}{path}"
    elif "://" in path[:20]:
        return None
    if not path.strip() or "\0" in path or "\n" in path:
        return None
    full = _path.normpath(_path.join(cwd, path))
    # POSIX lets two leading slashes stand for something of its own; agents mean one.
    return full[1:] if not _WINDOWS and full.startswith("//") else full


def inside(path: str, roots: Iterable[str]) -> bool:
    """Whether an absolute, normalised path is one of the folders or below one; links are not followed."""
    path = _path.normcase(path)
    for root in roots:
        folder = _path.normcase(_path.normpath(root)).rstrip(_path.sep)
        if path == (folder or _path.sep) or path.startswith(folder + _path.sep):
            return True
    return False
