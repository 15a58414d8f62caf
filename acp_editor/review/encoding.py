"""Between the bytes of a file and the text of its buffer, when only the editor knows how it decodes.

The encoding is found by what gives the buffer's text; bytes that it cannot give back (a wrong guess of
the editor, mixed line ends that it evened out) are taken over line by line from the file.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from acp_editor.core.ledger import Diff, lines, trimmed

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True)
class Encoding:
    """How an editor reads a file: codec, whether it drops a byte order mark, line ends that it makes even."""

    codec: str = "utf-8"
    errors: Literal["strict", "replace"] = "strict"
    mark: bytes = b""
    ends: str | None = None

    def decode(self, data: bytes) -> str:
        """The text that the editor shows; what does not decode is replaced, never an error."""
        text = data.removeprefix(self.mark).decode(self.codec, "replace")
        if self.ends is not None:
            text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", self.ends)
        return text

    def encode(self, text: str, near: bytes, diff: Diff) -> bytes:
        """The bytes that the text stands for; lines that `near` has too keep its bytes."""
        shown = self.decode(near)
        if shown == text:
            return near
        plain = self.mark + _encoded(text, self.codec)
        if self.lossless and self.decode(plain) == text and self.exact(near):
            return plain
        if self.codec.startswith("utf-16"):
            return plain
        raw = lines(near.removeprefix(self.mark))
        wanted = text.encode("utf-8")
        seen = b"".join(_encoded(self._line(line), "utf-8") for line in raw)
        out: list[bytes] = []
        at = 0
        new = lines(wanted)
        for change in trimmed(diff, seen, wanted):
            out += raw[at : change.old.start]
            out += [_encoded(line.decode(), self.codec) for line in new[change.new.start : change.new.end]]
            at = change.old.end
        return self.mark + b"".join(out + raw[at:])

    def _line(self, raw: bytes) -> str:
        text = raw.decode(self.codec, "replace")
        if self.ends is None:
            return text
        return text.replace("\r\n", "\n").replace("\n", self.ends)

    def fits(self, data: bytes) -> bool:
        """Whether the editor would read these bytes so, and not by another encoding that they show."""
        return data.startswith(self.mark) and (self.errors == "replace" or _decodes(data, self))

    @property
    def lossless(self) -> bool:
        """Whether the editor, saving, would write the very bytes that it read."""
        return self.errors == "strict" and self.ends is None

    def exact(self, data: bytes) -> bool:
        """Whether these bytes come back from the text that they give."""
        return self.mark + _encoded(self.decode(data), self.codec) == data


UTF8 = Encoding()


def _encoded(text: str, codec: str) -> bytes:
    try:
        return text.encode(codec)
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def fit(data: bytes, text: str) -> Encoding | None:
    """The encoding by which these bytes give this text; None where none does."""
    for candidate in _candidates(data):
        for ends in (None, "\n", "\r\n"):
            encoding = Encoding(candidate.codec, candidate.errors, candidate.mark, ends)
            if encoding.errors == "strict" and not _decodes(data, encoding):
                continue
            if encoding.decode(data) == text:
                return encoding
    return None


def guess(data: bytes) -> Encoding:
    """The encoding of a file of which no buffer is known."""
    return next((one for one in _candidates(data) if one.errors == "strict" and _decodes(data, one)), UTF8)


def _candidates(data: bytes) -> Iterator[Encoding]:
    for mark, codec in _MARKS:
        if data.startswith(mark):
            yield Encoding(codec, mark=mark)
            yield Encoding(codec, "replace", mark=mark)
    yield UTF8
    yield Encoding("utf-8", "replace")
    yield Encoding("cp1252")
    yield Encoding("latin-1")
    for codec in ("utf-16-le", "utf-16-be", "shift_jis", "gb18030", "euc-kr", "cp1251"):
        yield Encoding(codec)


def _decodes(data: bytes, encoding: Encoding) -> bool:
    try:
        data.removeprefix(encoding.mark).decode(encoding.codec)
    except UnicodeDecodeError:
        return False
    return True
