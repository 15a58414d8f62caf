"""JSON of any value that an agent sent: its `1e999` is well-formed, and infinite once it is read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

from .json_value import Json, is_array, is_object


def dumps(value: Any, default: Callable[[Any], Any] | None = None) -> str:
    """The value as ASCII JSON, which every parser takes: null stands for what is not finite."""
    try:
        return json.dumps(value, default=default, allow_nan=False)
    except ValueError:
        # Read again, since `default` may have made the number: Python's own parser takes it.
        return json.dumps(_finite(json.loads(json.dumps(value, default=default))))


def _finite(value: Json) -> Json:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_object(value):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if is_array(value) else value


def beginning(value: Json, most: int) -> str:
    """The first `most` characters of the value as JSON, without a look at what comes after them."""
    pieces: list[str] = []
    length = 0
    for piece in _pieces(value, most):
        pieces.append(piece)
        length += len(piece)
        if length >= most:
            break
    return "".join(pieces)[:most]


def _pieces(value: Json, most: int) -> Iterator[str]:
    if is_object(value):
        between = "{"
        for key, item in value.items():
            yield f"{between}{json.dumps(key[:most], ensure_ascii=False)}: "
            yield from _pieces(item, most)
            between = ", "
        yield "}" if value else "{}"
    elif is_array(value):
        between = "["
        for item in value:
            yield between
            yield from _pieces(item, most)
            between = ", "
        yield "]" if value else "[]"
    elif isinstance(value, str):
        yield json.dumps(value[:most], ensure_ascii=False)
    else:
        try:
            yield json.dumps(value)
        except ValueError:  # more digits than Python writes
            yield "…"
