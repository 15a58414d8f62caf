"""Any JSON value, and what of it has parts. Apart from the model, which takes a while to load."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

Json: TypeAlias = Any
"""Any JSON value, as `json.loads` gives it."""


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    return isinstance(value, dict)


def is_array(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list)
