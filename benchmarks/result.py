"""What a benchmark has to say: rows of a table, and curves."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """`figure` is to be at most `bound`, in units that `measured` and `against` explain."""

    what: str
    measured: str
    against: str
    wanted: str
    figure: float
    bound: float

    @property
    def holds(self) -> bool:
        return self.figure <= self.bound


@dataclass(frozen=True, slots=True)
class Curve:
    """Seconds by size: `unit` is what is counted along the bottom."""

    name: str
    title: str
    unit: str
    points: tuple[tuple[float, float], ...]

    @property
    def exponent(self) -> float:
        """k of the n^k that fits the upper half best: below it, what is constant hides the growth."""
        upper = self.points[len(self.points) // 2 - 1 :]
        xs, ys = [math.log(n) for n, _ in upper], [math.log(seconds) for _, seconds in upper]
        return statistics.linear_regression(xs, ys).slope


def percentile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(part * len(ordered)) - 1)]


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"


def mb(size: float) -> str:
    return f"{size / 1e6:.1f} MB"
