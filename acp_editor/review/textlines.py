"""A file's bytes as lines for the ledger, which knows only those that end with `\\n`: and back to the byte.

Editors count lines as the Language Server Protocol does: a lone carriage return ends one too, and what is
UTF-16 is text. A lone `\\r` is shown as `\\r`, NUL, `\\n`; UTF-16 is shown as UTF-8.
"""

from __future__ import annotations

import codecs
import re

_LOOKED_AT = 8000
"""How many bytes git looks at to tell a binary file; a NUL among them makes it one."""
_LONE = re.compile(rb"\r(?!\n)")
_SHOWN = b"\r\0\n"
_WIDE = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def is_text(data: bytes) -> bool:
    """Whether it has lines; as git tells it, but for UTF-16."""
    if (wide := _wide(data)) is not None:
        mark, codec = wide
        try:
            text = data[len(mark) :].decode(codec)
        except UnicodeDecodeError:
            return False
        return "\0" not in text
    return b"\0" not in data[:_LOOKED_AT] and _SHOWN not in data


def show(data: bytes) -> bytes:
    """The lines of a text, each with its end."""
    if (wide := _wide(data)) is not None:
        mark, codec = wide
        data = data[len(mark) :].decode(codec).encode()
    if data.count(b"\r") == data.count(b"\r\n"):
        return data
    return _LONE.sub(_SHOWN, data)


def back(shown: bytes, like: bytes) -> bytes:
    """The bytes of these lines, in the encoding of a text that they come from."""
    data = shown.replace(_SHOWN, b"\r")
    if (wide := _wide(like)) is not None:
        mark, codec = wide
        return mark + data.decode().encode(codec)
    return data


def _wide(data: bytes) -> tuple[bytes, str] | None:
    return next(((mark, codec) for mark, codec in _WIDE if data.startswith(mark)), None)
