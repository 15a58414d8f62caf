"""The arguments of a tool call as models write them: JSON text that may be cut off or no JSON at all."""

from __future__ import annotations

import json
import math

from acp_editor.core.model import Json


def parsed(text: str) -> Json:
    """The JSON value that `text` is, or `text` itself where it is none.

    Stricter than `json.loads`, which takes NaN and infinities that the wire cannot carry.
    """
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
        canonical(value)  # nested too deep to be written again is no use either
    except (ValueError, RecursionError):
        return text
    return value


def canonical(value: Json) -> str:
    """Equal for equal JSON values and for no others: the order of keys is nothing, true is not 1."""
    return json.dumps(value, sort_keys=True)


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    return number
