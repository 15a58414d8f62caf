"""Pictures and sounds for agents that take them, told by their first bytes and not by their names."""

from __future__ import annotations

import base64
import binascii
import os
import stat
from typing import Final, Literal, NamedTuple

from acp_editor.core.model import Json, is_object

MAX_SIZE: Final = 20 * 1024 * 1024
"""Bytes; a larger file goes as a link, since no model takes it."""

_BEGINNINGS: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
)
_RIFF: Final = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}


class Media(NamedTuple):
    """A picture or a sound; `data` is base64."""

    mime_type: str
    data: str

    @property
    def kind(self) -> Literal["image", "audio"]:
        return "image" if self.mime_type.startswith("image/") else "audio"

    def block(self, uri: str | None = None) -> Json:
        """As a content block of a prompt."""
        made: dict[str, Json] = {"type": self.kind, "mimeType": self.mime_type, "data": self.data}
        return made if uri is None or self.kind == "audio" else {**made, "uri": uri}


def read(path: str) -> Media | None:
    """None where there is no such file, it is neither, or it is too large."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_SIZE:
            return None
        with open(path, "rb") as file:
            mime_type = mime_type_of(file.read(12))
            if mime_type is None:
                return None
            file.seek(0)
            return Media(mime_type, base64.b64encode(file.read(MAX_SIZE)).decode("ascii"))
    except (OSError, ValueError):
        return None


def mime_type_of(head: bytes) -> str | None:
    """By the first twelve bytes."""
    if head.startswith(b"RIFF"):
        return _RIFF.get(head[8:12])
    return next((name for beginning, name in _BEGINNINGS if head.startswith(beginning)), None)


def picture_of(raw: Json) -> Media | None:
    """A picture that was not read from a file; None where it is none, or too large."""
    data: Json = raw.get("data") if is_object(raw) else None
    if not isinstance(data, str) or len(data) > MAX_SIZE * 4 // 3 + 4:
        return None
    try:
        mime_type = mime_type_of(base64.b64decode(data, validate=True)[:12])
    except (binascii.Error, ValueError):
        return None
    return Media(mime_type, data) if mime_type and mime_type.startswith("image/") else None
