"""How much is measured: all of it, or as little as shows that it runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    rounds: int
    updates: int
    calls: int
    probes: int
    cumulative: int
    large: int
    starts: int
    held: int
    curve: int
    """How many points of each curve, from the smallest."""


FULL = Scale(
    rounds=3,
    updates=50_000,
    calls=1000,
    probes=300,
    cumulative=2000,
    large=64_000_000,
    starts=7,
    held=100_000,
    curve=99,
)
SHORT = Scale(
    rounds=1, updates=2000, calls=40, probes=10, cumulative=50, large=1_000_000, starts=1, held=2000, curve=2
)
