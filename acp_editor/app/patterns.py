"""An agent's regular expressions, tried where they can hold nobody up: in a process with a time limit."""

from __future__ import annotations

import json
import logging
import sys
from typing import Final

import anyio

logger = logging.getLogger(__name__)

LIMIT: Final = 5.0
"""Seconds, the start of the process included; a pattern that takes longer has had its chance."""

_PROGRAM: Final = """
import json, re, sys
pattern, text = json.load(sys.stdin)
try:
    found = re.search(pattern, text) is not None
except (re.error, OverflowError, RecursionError):
    found = True
print(json.dumps(found))
"""


async def matches(pattern: str, text: str, limit: float = LIMIT) -> bool:
    """JSON Schema's search. A pattern that Python cannot read, or not in time, refuses nothing."""
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM]
    try:
        with anyio.fail_after(limit):
            done = await anyio.run_process(command, input=json.dumps([pattern, text]).encode(), check=False)
        return json.loads(done.stdout) is not False
    except (TimeoutError, OSError, ValueError) as error:
        logger.warning(
            "the pattern %.200r of a form was not tried: %s", pattern, error or "it takes too long"
        )
        return True
