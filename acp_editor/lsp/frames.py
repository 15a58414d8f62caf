"""The editor's messages, cut out of its stream: `Content-Length` headers and the bodies behind them."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from typing import Final

logger = logging.getLogger(__name__)

MAX_BODY: Final = 256 * 1024 * 1024
"""Bytes of one message; a longer one is passed over."""

_PIECE: Final = 1 << 20
_LENGTH: Final = re.compile(rb"content-length\s*:\s*(\d{1,18})\s*$", re.IGNORECASE)


async def bodies(reader: asyncio.StreamReader, max_body: int = MAX_BODY) -> AsyncIterator[bytes]:
    """Each message's body until the stream ends; what is no header where one should be is passed over.

    Raises IncompleteReadError for a stream that ends within a body, ValueError for a header without end.
    """
    length: int | None = None
    while line := await reader.readline():
        if match := _LENGTH.match(line):
            length = int(match[1])
        elif line.strip():
            if b":" not in line:
                logger.warning("the editor sent what is no header: %r", line[:80])
        elif length is not None:
            if length > max_body:
                logger.error("a message of %d bytes from the editor is passed over", length)
                await _skip(reader, length)
            else:
                yield await reader.readexactly(length)
            length = None


async def _skip(reader: asyncio.StreamReader, size: int) -> None:
    while size:
        size -= len(await reader.readexactly(min(size, _PIECE)))
