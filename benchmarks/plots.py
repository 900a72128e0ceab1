"""Plots of a run as SVG: readable on light and on dark ground, with no library.

They are a few lines over a logarithmic axis. A library for that would be larger than all that the product needs, and
would draw one ground only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, BOTTOM = 72, 24, 48, 56
#: Every plot has its colours with it: an image of a page knows only whether the reader prefers dark ground.
STYLE: Final = """
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 15px }
.ground { fill: #ffffff }
.grid { stroke: #d1d9e0; stroke-width: 1 }
.bound { stroke: #9a6700; stroke-width: 1.5; stroke-dasharray: 6 4 }
.bound-text { fill: #9a6700 }
.line { fill: none; stroke: #0969da; stroke-width: 2.5 }
.point { fill: #0969da }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.ground { fill: #0d1117 }
.grid { stroke: #3d444d }
.bound { stroke: #d29922 }
.bound-text { fill: #d29922 }
.line { stroke: #4493f8 }
.point { fill: #4493f8 }
}
""".strip()


@dataclass(frozen=True)
class Plot:
    """A plot of the numbered details of a row. `bound` is how many times the first figure a later one may be."""

    name: str
    row: str
    title: str
    across: str
    up: str
    bound: float = 1.3


PLOTS: Final[tuple[Plot, ...]] = (
    Plot(
        "messages",
        "flat-messages",
        "Cost of a message as its world grows",
        "messages in the world",
        "µs where bare takes 65",
    ),
    Plot("worlds", "flat-worlds", "Cost of a call as worlds are opened", "open worlds", "µs where bare takes 65"),
    Plot("bulk", "bulk-flat", "Cost of a line as a bulk file grows", "lines of the file", "µs where bare takes 65"),
)


def points_of(row: Mapping[str, Any] | None) -> list[tuple[int, float]]:
    """The numbered details of a row of a run's JSON, in order; none where it was not measured."""
    details: Mapping[str, float] = (row or {}).get("details", {})
    return sorted((int(name), figure) for name, figure in details.items() if name.isdecimal())


def drawn(rows: Mapping[str, Any]) -> dict[str, str]:
    """The plots of a run by the names of their files; those whose row was measured."""
    found = {}
    for plot in PLOTS:
        points = points_of(rows.get(plot.row))
        if len(points) > 1:
            found[f"{plot.name}.svg"] = svg(plot, points)
    return found


def ticks(most: float) -> list[float]:
    """Round values from 0 to just above `most`, five steps or fewer."""
    step = 10 ** math.floor(math.log10(most / 2))
    while most / step > 5:
        step *= 2 if not math.isclose(math.log10(step) % 1, math.log10(2), abs_tol=1e-9) else 2.5
    return [step * number for number in range(math.ceil(most / step) + 1)]


def svg(plot: Plot, points: Sequence[tuple[int, float]]) -> str:
    """A line through points over a logarithmic axis, from 0 up, with the bound as a dashed line."""
    low, high = math.log10(points[0][0]), math.log10(points[-1][0])
    bound = points[0][1] * plot.bound
    marks = ticks(max(bound, *(value for _, value in points)) * 1.05)

    def x(value: float) -> float:
        return LEFT + (math.log10(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - value / marks[-1] * (HEIGHT - TOP - BOTTOM)

    def text(x: float, y: float, words: str, **attributes: str) -> str:
        given = "".join(f' {name.rstrip("_").replace("_", "-")}="{value}"' for name, value in attributes.items())
        return f'<text x="{x:.1f}" y="{y:.1f}"{given}>{escape(words)}</text>'

    size_of = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size_of} role="img" aria-label="{escape(plot.title)}">',
        f"<title>{escape(plot.title)}</title>",
        f"<style>\n{STYLE}\n</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
        text(LEFT, 28, plot.title, class_="title"),
        text(16, HEIGHT / 2, plot.up, text_anchor="middle", transform=f"rotate(-90 16 {HEIGHT / 2})"),
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, plot.across, text_anchor="middle"),
    ]
    for mark in marks:
        parts.append(f'<path class="grid" d="M{LEFT} {y(mark):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(text(LEFT - 8, y(mark) + 4, f"{mark:g}", text_anchor="end"))
    for size, _ in points:
        anchor = "end" if size == points[-1][0] else "middle"
        parts.append(text(x(size), HEIGHT - BOTTOM + 20, f"{size:,}", text_anchor=anchor))
    words = f"{plot.bound:g} times the first"
    parts.append(f'<path class="bound" d="M{LEFT} {y(bound):.1f}H{WIDTH - RIGHT}"/>')
    parts.append(text(LEFT + 4, y(bound) - 6, words, class_="bound-text"))
    line = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in points)
    parts.append(f'<polyline class="line" points="{line}"/>')
    for size, value in points:
        shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        parts.append(f'<circle class="point" cx="{x(size):.1f}" cy="{y(value):.1f}" r="4"/>')
        anchor = "start" if size == points[0][0] else "end" if size == points[-1][0] else "middle"
        parts.append(text(x(size), y(value) + 22, shown, text_anchor=anchor))
    return "\n".join([*parts, "</svg>", ""])
