"""How long a search may take: its steps are counted, so that nothing an agent sends holds up all else."""

from __future__ import annotations

from typing import Final

APPLYING: Final = 1_000_000
"""Steps to show what a request would do to files, about a tenth of a second: far more than real ones take."""
PLACING: Final = 500_000
"""Steps to find out where a call is, which is done again whenever it has changed."""

_PASSES: Final = 64
"""Characters that are passed over in the time of a step."""


class OutOfBudget(Exception):
    """What is sought would take longer than it may."""


class Budget:
    """Steps that are left, each about what looking at a line takes; spending more raises OutOfBudget."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise OutOfBudget

    def pass_over(self, text: str, times: int = 1) -> None:
        """To be called before a text is passed over from end to end."""
        self.spend(times * (1 + len(text) // _PASSES))
