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
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return text


def same(left: Json, right: Json) -> bool:
    """Whether two JSON values are equal, where true is not 1, and 1 is 1.0 as JSON has one kind of number."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    return number
