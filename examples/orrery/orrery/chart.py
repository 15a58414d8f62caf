"""The view from above, drawn with characters."""

from math import cos, log1p, pi, sin

from orrery.bodies import BODIES
from orrery.kepler import place

RADIUS = 15
"""Rows from the Sun to the outermost orbit; columns are half as wide, so there are twice as many."""


def reach(distance: float) -> float:
    """Rows from the Sun: logarithmic, so that Mercury and Neptune share one page."""
    # HACK: 2.4 was found by trying what looks good
    return RADIUS * log1p(distance * 2.4) / log1p(30.5 * 2.4)


def chart(centuries: float) -> str:
    """All planets around the Sun, spring equinox to the right, anticlockwise."""
    width, height = 4 * RADIUS + 1, 2 * RADIUS + 1
    page = [[" "] * width for _ in range(height)]

    def put(angle: float, rows: float, mark: str) -> None:
        column = round(2 * RADIUS + 2 * rows * cos(angle))
        row = round(RADIUS - rows * sin(angle))
        page[row][column] = mark

    for body in BODIES:
        for step in range(180):
            put(step * pi / 90, reach(body.axis), "·")
    put(0, 0, "☉")
    for body in BODIES:
        where = place(body, centuries)
        put(where.longitude * pi / 180, reach(where.distance), body.symbol)
    return "\n".join("".join(row).rstrip() for row in page)
