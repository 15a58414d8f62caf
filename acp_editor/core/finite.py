"""Numbers that JSON cannot write: an agent's `1e999` is well-formed, and infinite once it is read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from .model import Json, is_array, is_object


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
