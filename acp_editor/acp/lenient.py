"""Reading an agent's JSON without ever raising: what is wrong is noted as a fault and passed over.

Hand-written, since updates come by the thousand; the rest of the wire is read by models (`wire.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

from acp_editor.acp.rpc import fault
from acp_editor.core.model import UNSET, Fault, Json, Unset, is_array, is_object

T = TypeVar("T")

Faults: TypeAlias = list[Fault]
Object: TypeAlias = dict[str, Json]

_ABSOLUTE: Final = re.compile(r"/|\\\\|[A-Za-z]:[\\/]")


def wrong_type(faults: Faults, what: str, key: str, wanted: str, value: Json) -> None:
    faults.append(fault("wrong_type", f"`{key}` of {what} must be {wanted}.", value))


def missing(faults: Faults, what: str, key: str, wanted: str, whole: Json) -> None:
    faults.append(fault("missing_field", f"{what} lacks `{key}`, which must be {wanted}.", whole))


def invalid_item(faults: Faults, what: str, key: str, item: Json) -> None:
    faults.append(
        fault(
            "invalid_item", f"An item of `{key}` of {what} lacks what its type needs; it is left out.", item
        )
    )


def required_string(whole: Object, key: str, what: str, faults: Faults) -> str | None:
    """None, and a fault, where it is missing or no string."""
    value = whole.get(key)
    if isinstance(value, str):
        return value
    missing(faults, what, key, "a string", whole)
    return None


def optional_string(whole: Object, key: str, what: str, faults: Faults) -> str | None:
    value = whole.get(key)
    if value is None or isinstance(value, str):
        return value
    wrong_type(faults, what, key, "a string", value)
    return None


def patched_string(whole: Object, key: str, what: str, faults: Faults) -> str | Unset | None:
    """UNSET where it is absent or of a wrong type, None where it is null."""
    value = whole.get(key, UNSET)
    if value is None or value is UNSET or isinstance(value, str):
        return value
    wrong_type(faults, what, key, "a string or null", value)
    return UNSET


def patched_object(whole: Object, key: str, what: str, faults: Faults) -> Object | Unset | None:
    value = whole.get(key, UNSET)
    if value is None or value is UNSET or is_object(value):
        return value
    wrong_type(faults, what, key, "an object or null", value)
    return UNSET


def read_items(
    value: Json, key: str, what: str, faults: Faults, read: Callable[[Json, str, Faults], T | None]
) -> tuple[T, ...] | None:
    """The items that could be read, the others noted; None where it is no list at all."""
    if not is_array(value):
        wrong_type(faults, what, key, "an array", value)
        return None
    items: list[T] = []
    for item in value:
        before = len(faults)
        found = read(item, what, faults)
        if found is not None:
            items.append(found)
        elif len(faults) == before:
            invalid_item(faults, what, key, item)
    return tuple(items)


def list_items(
    whole: Object, key: str, what: str, faults: Faults, read: Callable[[Json, str, Faults], T | None]
) -> tuple[T, ...]:
    """As `read_items`, of a required list; null and absence are an empty one, with a fault."""
    value = whole.get(key)
    if value is None:
        missing(faults, what, key, "an array", whole)
        return ()
    return read_items(value, key, what, faults, read) or ()


def is_absolute(path: str) -> bool:
    """Whether a path is absolute on any system: an agent need not run on ours."""
    return _ABSOLUTE.match(path) is not None


def is_extension(word: str) -> bool:
    """Whether a word is one that the protocol leaves to implementations."""
    return word.startswith("_")
