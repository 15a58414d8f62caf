"""A curve as a small picture that can be read on light and dark pages alike."""

from __future__ import annotations

import math
from html import escape

from benchmarks.result import Curve

WIDTH, HEIGHT = 420, 240
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 34, 40
_INK, _GRID, _LINE, _EVEN = "#767c86", "#8b949e", "#3b82d6", "#c4772a"


def _short(value: float) -> str:
    for size, name in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{name}"
    return f"{value:g}"


def _seconds(value: float) -> str:
    return f"{value:g} s" if value >= 1 else f"{value * 1000:g} ms"


def svg(curve: Curve) -> str:
    """Both axes by powers of ten; the dashed line is what grows as its size does."""
    xs, ys = [math.log10(n) for n, _ in curve.points], [math.log10(s) for _, s in curve.points]
    low_x, high_x = math.floor(min(xs)), math.ceil(max(xs))
    even = [ys[-1] - (xs[-1] - x) for x in xs]
    low_y = math.floor(min(ys))
    high_y = max(low_y + 1, math.ceil(max(ys)))

    def at(x: float, y: float) -> tuple[float, float]:
        across = LEFT + (x - low_x) / max(1, high_x - low_x) * (WIDTH - LEFT - RIGHT)
        up = HEIGHT - BOTTOM - (y - low_y) / (high_y - low_y) * (HEIGHT - TOP - BOTTOM)
        return across, up

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="system-ui, sans-serif" font-size="11" fill="{_INK}" role="img">',
        f"<title>{escape(curve.title)}</title>",
        f'<text x="{LEFT}" y="18" font-size="13" font-weight="600">{escape(curve.title)}</text>',
    ]
    for power in range(low_y, high_y + 1):
        _, y = at(low_x, power)
        parts.append(
            f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{_GRID}" stroke-opacity=".3"/>'
            f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_seconds(10.0**power)}</text>'
        )
    for n, _ in curve.points:
        x, _ = at(math.log10(n), low_y)
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{_short(n)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{HEIGHT - 6}" text-anchor="middle">{escape(curve.unit)}</text>')
    inside = [(x, y) for x, y in zip(xs, even, strict=True) if y >= low_y]
    parts.append(
        f'<polyline points="{" ".join("{:.1f},{:.1f}".format(*at(x, y)) for x, y in inside)}" fill="none" '
        f'stroke="{_EVEN}" stroke-dasharray="4 4"/>'
    )
    places = [at(x, y) for x, y in zip(xs, ys, strict=True)]
    parts.append(
        f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}" fill="none" '
        f'stroke="{_LINE}" stroke-width="2"/>'
    )
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_LINE}"/>' for x, y in places]
    return "\n".join([*parts, "</svg>"]) + "\n"
