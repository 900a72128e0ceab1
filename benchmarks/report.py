"""What a run found: medians and verdicts, as text, as JSON, and against another revision."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from benchmarks.goals import Row

#: A row that is worse by more than this share has lost.
LOSS: Final = 0.1


@dataclass
class Figures:
    """The samples of one tree by row, and its details by row and name."""

    samples: dict[str, list[float]] = field(default_factory=dict)
    details: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    #: why a row could not be measured
    broken: dict[str, list[str]] = field(default_factory=dict)

    def add(self, figures: dict[str, float]) -> None:
        """The figures of a round."""
        for name, figure in figures.items():
            row, _, detail = name.partition(":")
            kept = (
                self.details.setdefault(row, {}).setdefault(detail, []) if detail else self.samples.setdefault(row, [])
            )
            kept.append(figure)

    def of(self, row: str) -> float | None:
        """The median of a row, None when it was not measured."""
        samples = self.samples.get(row)
        return statistics.median(samples) if samples else None


def spread(samples: Sequence[float]) -> tuple[float, float]:
    """The quartiles, or least and most of fewer than four."""
    if len(samples) < 4:
        return min(samples), max(samples)
    low, _, high = statistics.quantiles(samples, n=4)
    return low, high


def number(value: float) -> str:
    """A figure with three digits that count."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


@dataclass(frozen=True)
class Change:
    """One row of two trees, by the share that each round is worse than the same round of the other."""

    row: Row
    losses: tuple[float, ...]

    @property
    def loss(self) -> float:
        """The median."""
        return statistics.median(self.losses)

    @property
    def lost(self) -> bool:
        """Whether it is worse by more than a tenth, and in three quarters of the rounds worse at all."""
        return self.loss > LOSS and spread(self.losses)[0] > 0


def change(row: Row, here: Figures, there: Figures) -> Change | None:
    """How a row changed from `there` to `here`, by the rounds that both have; None where one was not measured."""
    pairs = list(zip(here.samples.get(row.name, ()), there.samples.get(row.name, ()), strict=False))
    if not pairs:
        return None
    return Change(row, tuple(row.goal.loss(ours, before) for ours, before in pairs))


def line(row: Row, figures: Figures) -> str:
    """One row of a tree as a line of text."""
    figure = figures.of(row.name)
    verdict = row.goal.verdict(figure)
    if figure is None:
        return f"{row.name:<18} {'':>10} {row.unit:<24} {row.goal!s:<24} {verdict}"
    low, high = spread(figures.samples[row.name])
    shown = f"{row.name:<18} {number(figure):>10} {row.unit:<24} {row.goal!s:<24} {verdict}"
    details = "".join(
        f"\n{'':<19}{name}: {number(statistics.median(samples))}"
        for name, samples in figures.details.get(row.name, {}).items()
    )
    return f"{shown} ({number(low)} to {number(high)} in {len(figures.samples[row.name])}){details}"


def as_json(rows: Sequence[Row], figures: Figures) -> dict[str, Any]:
    """The rows of a tree."""
    found: dict[str, Any] = {}
    for row in rows:
        figure = figures.of(row.name)
        entry: dict[str, Any] = {"figure": figure, "verdict": row.goal.verdict(figure), "unit": row.unit}
        entry["goal"] = str(row.goal)
        entry["samples"] = figures.samples.get(row.name, [])
        entry["details"] = {
            name: statistics.median(samples) for name, samples in figures.details.get(row.name, {}).items()
        }
        if row.name in figures.broken:
            entry["broken"] = figures.broken[row.name]
        found[row.name] = entry
    return found
