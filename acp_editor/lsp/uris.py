"""`file://` URIs and paths; the one place where they are translated."""

from __future__ import annotations

import os
import sys
from urllib.parse import quote, unquote, urlsplit

_SAFE = "/"
"""What stays unquoted beside the unreserved characters: editors and `pathlib` write URIs so."""


def to_path(uri: str) -> str | None:
    """The path of a `file:` URI, None for any other scheme and for another machine's files."""
    try:
        parts = urlsplit(uri)
    except ValueError:  # not even a URI
        return None
    if parts.scheme != "file":
        return None
    path = unquote(parts.path, errors="surrogateescape")
    if sys.platform == "win32":  # /c%3A/x -> c:\x
        return os.path.normpath(("//" + parts.netloc + path) if parts.netloc else path.lstrip("/"))
    if parts.netloc not in ("", "localhost") or "\0" in path:
        return None
    return path


def from_path(path: str, scheme: str = "file", query: str = "") -> str:
    """An absolute path as a URI; bytes that are not UTF-8 are kept."""
    if sys.platform == "win32":
        path = "/" + path.replace("\\", "/")
    raw = path.encode("utf-8", "surrogateescape")
    return f"{scheme}://{quote(raw, safe=_SAFE)}" + (f"?{query}" if query else "")
