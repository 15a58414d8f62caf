"""Paths as agents name them, made absolute without asking the disk."""

from __future__ import annotations

import os
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit


def absolute(path: str, cwd: str) -> str | None:
    """The path normalised, relative ones and `file:` URIs included; None for what names no file."""
    if path[:5].lower() == "file:":
        parts = urlsplit(path)
        path = unquote(parts.path)
        if os.name == "nt":
            path = path.lstrip("/") if not parts.netloc else f"//{parts.netloc}{path}"
    elif "://" in path[:20]:
        return None
    if not path.strip() or "\0" in path or "\n" in path:
        return None
    full = os.path.normpath(os.path.join(cwd, path))
    # POSIX lets two leading slashes stand for something of its own; agents mean one.
    return full[1:] if os.name != "nt" and full.startswith("//") else full


def inside(path: str, roots: Iterable[str]) -> bool:
    """Whether an absolute, normalised path is one of the folders or below one; links are not followed."""
    path = os.path.normcase(path)
    for root in roots:
        folder = os.path.normcase(os.path.normpath(root)).rstrip(os.sep)
        if path == (folder or os.sep) or path.startswith(folder + os.sep):
            return True
    return False
