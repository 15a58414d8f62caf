"""How a text file is written: its encoding, byte order mark and line ends, read and kept."""

from __future__ import annotations

import codecs
from typing import Final

from acp_editor.core.text import line_end, split_lines

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def slice_lines(text: str, line: int | None = None, limit: int | None = None) -> str:
    """`limit` whole lines with their ends, from `line` counted from 1 (0 and less are the first)."""
    if line is None and limit is None:
        return text
    first = max(0, (line or 1) - 1)
    lines = split_lines(text)
    return "".join(lines[first:] if limit is None else lines[first : first + max(0, limit)])


def decode(data: bytes) -> str:
    """A file's text without its byte order mark; bytes that are not UTF-8 are taken for Latin-1."""
    mark, encoding = _encoding(data)
    return data[len(mark) :].decode(encoding, "replace")


def keep_style(old: bytes, new: str) -> bytes:
    """New text as the bytes of a file that held `old`: its byte order mark, encoding and line ends.

    The inverse of `decode`. Text that a Latin-1 file cannot hold makes it UTF-8.
    """
    mark, encoding = _encoding(old)
    text = _with_line_ends_of(old[len(mark) :].decode(encoding, "replace"), new.removeprefix("\ufeff"))
    if not mark and new.startswith("\ufeff"):
        mark = codecs.BOM_UTF8
    try:
        return mark + text.encode(encoding)
    except UnicodeEncodeError:
        # Not Latin-1, or half a surrogate pair, which no encoding has.
        return mark + text.encode("utf-8" if encoding == "latin-1" else encoding, "replace")


def is_utf16(data: bytes) -> bool:
    """Whether its NUL bytes do not mean that it is binary."""
    return _encoding(data)[1] in ("utf-16-le", "utf-16-be")


def _encoding(data: bytes) -> tuple[bytes, str]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return mark, encoding
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return b"", "latin-1"
    return b"", "utf-8"


def _with_line_ends_of(old: str, new: str) -> str:
    crlf = "\r\n" in old
    mixed = crlf and old.count("\n") > old.count("\r\n")
    match line_end(old):
        case "\r\n" if not mixed or "\r\n" not in new:
            return new.replace("\r\n", "\n").replace("\n", "\r\n")
        case "\n" if not crlf and "\n" in old and new.count("\n") > new.count("\r\n"):
            # Only CRLF throughout is a wish; some of them are a slip.
            return new.replace("\r\n", "\n")
        case "\r" if "\r" not in new:
            return new.replace("\n", "\r")
        case _:
            return new
