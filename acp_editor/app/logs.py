"""The server's own log on stderr, which people paste into bug reports."""

from __future__ import annotations

import logging
from collections.abc import Callable


class WithoutSecrets(logging.Formatter):
    """Formats a record, tracebacks included, and takes the secrets out of the result."""

    def __init__(self, scrub: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._scrub = scrub

    def format(self, record: logging.LogRecord) -> str:
        return self._scrub(super().format(record))
