"""When the agent was at work, and what has to be looked at again: the small values of the engine."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from acp_editor.review.versions import Version
from acp_editor.review.work import CLOCK, Work


@dataclass(frozen=True, slots=True)
class Clash:
    """An open document and its file both changed: `ancestor` is what both come from."""

    path: str
    ancestor: bytes


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A file that has just been cut short, and whether by the agent; None for one that is gone."""

    oid: str | None
    by_agent: bool

    @classmethod
    def at(cls, version: Version, by_agent: bool) -> Unsettled:
        return cls(_name(version), by_agent)

    def is_at(self, version: Version) -> bool:
        return self.oid == _name(version)


@dataclass(slots=True)
class Turns:
    """When the agent may write; times in seconds of the system's clock.

    Shared with the event loop, which says at once what happens: a look that is under way sees it too.
    """

    running: int = 0
    number: int = 0
    began: float = 0.0
    ended: float = 0.0
    several: bool = False
    """Whether more than one turn runs, or ran last."""
    work: Work = field(default_factory=Work)
    """What the calls of the turn that runs tell."""
    looked: bool = True
    """Whether all that it did has been looked at; until then, an end of ours would cut it short."""
    cut_short: float = 0.0
    """Until when an agent may have written that an earlier process of ours left behind."""

    def start(self, moment: float) -> None:
        self.several = self.running > 0
        if not self.running:
            self.number += 1
            self.work = Work(moment)
            self.began = moment
        self.looked = False
        self.running += 1

    def end(self, moment: float) -> None:
        if self.running == 1:
            self.ended = moment
        self.running = max(0, self.running - 1)

    @property
    def until(self) -> float:
        """Until when what changes may be the agent's and not be known yet; 0 for not at all."""
        return math.inf if self.running else 0.0 if self.looked else self.ended

    def awaits(self, call_id: str) -> bool:
        """Whether it would be news that a call begins."""
        return self.running > 0 and not self.work.knows(call_id)

    def covers(self, moment: float) -> bool:
        if moment <= self.cut_short:
            return True
        return self.began - CLOCK <= moment and (self.running > 0 or moment <= self.ended)

    def idle(self, moment: float) -> bool:
        """Whether the agent, in its turn, was not at work just then: another program was."""
        if self.several or moment <= self.cut_short:
            return False
        return self.covers(moment) and not self.work.may_have_written(moment)


def _name(version: Version) -> str | None:
    """All that is kept of what is looked at again anyway: of thousands of files that takes no room."""
    return None if version.absent else version.oid
