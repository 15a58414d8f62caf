"""Reads what commands are given beyond plain text and numbers."""

from __future__ import annotations

import os
from typing import Any

from acp_editor.app import context, media
from acp_editor.lsp import uris
from acp_editor.lsp.protocol import CommandError


def path_of(uri: str | None) -> str | None:
    if uri is None:
        return None
    path = uris.to_path(uri)
    if path is None:
        raise CommandError(f"{uri} is not a file on this machine")
    return os.path.normpath(path)


def folder_of(text: str | None, root: str) -> str | None:
    """A folder given as a URI or as a path, a relative one within the workspace."""
    if not text:
        return None
    path = path_of(text) if text.startswith("file:") else os.path.normpath(os.path.join(root, text))
    if path is None or not os.path.isdir(path):
        raise CommandError(f"there is no folder {text}")
    return path


def picture_of(raw: dict[str, Any]) -> media.Media:
    if (picture := media.picture_of(raw)) is None:
        most = media.MAX_SIZE // 1024 // 1024
        kinds = f"a PNG, JPEG, GIF or WebP of at most {most} MB"
        raise CommandError(f"each image needs 'data': {kinds}, as base64")
    return picture


def item_of(raw: dict[str, Any]) -> context.Item:
    path = path_of(raw["uri"]) if isinstance(raw.get("uri"), str) else None
    if path is None:
        raise CommandError("each context needs a 'uri'")
    range_ = raw.get("range")
    if range_ is None:
        return context.Item(path)
    try:
        start, end = range_["start"], range_["end"]
        return context.Item(
            path,
            (int(start["line"]), int(start["character"])),
            (int(end["line"]), int(end["character"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CommandError(
            "a context's range has a start and an end, each with line and character"
        ) from error
