"""docs/performance.md: what was measured, between two marks in a page that people wrote."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import machine, plot
from benchmarks.editor import ROOT
from benchmarks.result import Curve, Row

PAGE = ROOT / "docs" / "performance.md"
PLOTS = ROOT / "docs" / "images" / "performance"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
STEEPEST = 1.25
"""The largest power of the size by which anything may grow: n log n is about 1.15 in these ranges."""


def line(row: Row) -> str:
    mark = "holds" if row.holds else "FAILS"
    return f"{mark}  {row.what}: {row.measured}  [{row.against}; at least {row.wanted}]"


def curve_line(curve: Curve) -> str:
    mark = "holds" if curve.exponent <= STEEPEST else "FAILS"
    points = ", ".join(f"{n:,.0f}: {seconds:.3f} s" for n, seconds in curve.points)
    return f"{mark}  {curve.title}: n^{curve.exponent:.2f}  ({points})"


def measured(rows: Sequence[Row], curves: Sequence[Curve]) -> str:
    """What stands between the marks."""
    table = [
        f"| {row.what} | {row.measured} | {row.against} | {row.wanted} | {'yes' if row.holds else '**no**'} |"
        for row in rows
    ]
    pictures = [f"![{curve.title}](images/performance/{curve.name}.svg)" for curve in curves]
    growth = [f"| {curve.title} | n^{curve.exponent:.2f} |" for curve in curves]
    return "\n".join(
        [
            f"On {machine.described()}; {machine.versions()}. By `make bench`.",
            "",
            "| what | acp-editor | beside it, in the same run | wanted | holds |",
            "|---|---|---|---|---|",
            *table,
            "",
            "How the server's processor time grows (for hunks, the time until they are shown), both axes by",
            "powers of ten; the dashed line grows as the size does. Each point is all the work for so many,",
            "in a server of its own.",
            "",
            *pictures,
            "",
            "| | the larger half of the range grows by |",
            "|---|---|",
            *growth,
        ]
    )


def write(rows: Sequence[Row], curves: Sequence[Curve]) -> None:
    PLOTS.mkdir(parents=True, exist_ok=True)
    for curve in curves:
        (PLOTS / f"{curve.name}.svg").write_text(plot.svg(curve), encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    text = f"{before}{BEGIN}\n\n{measured(rows, curves)}\n\n{END}{after}"
    PAGE.write_text(text, encoding="utf-8")
