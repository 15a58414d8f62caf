"""What agents did that the protocol forbids, counted by code."""

from __future__ import annotations

from dataclasses import dataclass, replace

from acp_editor.core.model import Fault
from acp_editor.lsp import messages

_WORDS = 1000


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
        fault = replace(fault, message=fault.message[:_WORDS], detail=fault.detail[:_WORDS])
        count = self._counts.setdefault((agent, fault.code), _Count(fault))
        count.fault = fault
        count.count += 1
        return count.count == 1

    def render(self) -> list[messages.Fault]:
        return [
            {
                "code": count.fault.code,
                "message": count.fault.message,
                "count": count.count,
                "detail": count.fault.detail,
                "agent": agent,
            }
            for (agent, _), count in self._counts.items()
        ]
