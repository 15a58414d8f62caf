"""What everything else is said in: JSON, the three states of a field, and faults."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal

from acp_editor.core.json_value import Json as Json
from acp_editor.core.json_value import is_array as is_array
from acp_editor.core.json_value import is_object as is_object


def offers(capabilities: Json, name: str) -> bool:
    """An object, also an empty one, offers something; null, absence and anything else does not."""
    return is_object(capabilities) and is_object(capabilities.get(name))


class Unset(Enum):
    """The third state of a patched field: absent, so unchanged."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> Literal[False]:
        return False


UNSET: Final = Unset.UNSET


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that an agent did and the protocol forbids.

    `code` is stable and snake case, `message` a sentence that the agent's maker can act on,
    `detail` the offending piece, with whatever secrets are in it.
    """

    code: str
    message: str
    detail: str = ""
