"""The table beside the chart, and who meets whom in the sky."""

from itertools import combinations

from orrery.bodies import BODIES, find
from orrery.kepler import place

CLOSE = 2.0
"""Degrees within which two planets are said to meet."""


def table(centuries: float) -> str:
    """One line for each planet: direction and distance from the Sun."""
    rows = []
    for body in BODIES:
        where = place(body, centuries)
        rows.append(f"{body.symbol} {body.name:<8}{where.longitude:7.1f}° {where.distance:8.3f} au")
    return "\n".join(rows)


def gap(first: str, second: str, centuries: float) -> float:
    """The angle between two planets in Earth's sky, in degrees."""
    earth = place(find("Earth"), centuries)
    one = place(find(first), centuries).seen_from(earth)
    other = place(find(second), centuries).seen_from(earth)
    turn = abs(one.longitude - other.longitude)
    return min(turn, 360 - turn)


def meetings(centuries: float) -> list[str]:
    """A sentence for each pair of planets that stand close together in Earth's sky."""
    # TODO: leave out what is too close to the Sun to be seen
    names = [body.name for body in BODIES if body.name != "Earth"]
    return [
        first + " meets " + second
        for first, second in combinations(names, 2)
        if gap(first, second, centuries) < CLOSE
    ]
