"""What agents did that the protocol forbids, counted by code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from acp_editor.core import safe
from acp_editor.core.limits import FAULT
from acp_editor.core.model import Fault
from acp_editor.core.redact import Redactor
from acp_editor.lsp import messages

_SENTENCE: Final = 1000
"""Characters of a fault's message that are shown; of the piece that was wrong half as many."""


@dataclass(slots=True)
class _Count:
    fault: Fault
    count: int = 0


class Faults:
    """A count and the last instance for each agent and code."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], _Count] = {}

    def add(self, agent: str, fault: Fault) -> bool:
        """Counts it; true for the first of its kind."""
        if len(fault.message) > FAULT:
            fault = replace(fault, message=fault.message[:FAULT])
        count = self._counts.setdefault((agent, fault.code), _Count(fault))
        count.fault = fault
        count.count += 1
        return count.count == 1

    def render(self, secrets: Redactor) -> list[messages.Fault]:
        return [
            {
                "code": count.fault.code,
                "message": (fault := shown(count.fault, secrets)).message,
                "count": count.count,
                "detail": fault.detail,
                "agent": agent,
            }
            for (agent, _), count in self._counts.items()
        ]


def shown(fault: Fault, secrets: Redactor) -> Fault:
    """The fault as a person may see it."""
    message = secrets.beginning(fault.message, _SENTENCE, FAULT)
    detail = secrets.beginning(fault.detail, _SENTENCE // 2, FAULT)
    return replace(fault, message=safe.notice(message), detail=safe.notice(detail))
