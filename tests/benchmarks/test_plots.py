"""The plots are well-formed and say what they show; those of the documentation are those of its figures."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from benchmarks import document, plots
from benchmarks.plots import PLOTS, drawn, points_of, svg, ticks

NAMESPACE = "{http://www.w3.org/2000/svg}"
POINTS = [(1_000, 40.0), (10_000, 41.5), (1_000_000, 39.0)]


def test_a_plot_is_well_formed() -> None:
    """Every text is there, every point is on the ground, and there are colours for both grounds."""
    root = ET.fromstring(svg(PLOTS[0], POINTS))
    texts = [each.text for each in root.iter(f"{NAMESPACE}text")]
    assert {PLOTS[0].title, PLOTS[0].across, PLOTS[0].up, "1,000", "1,000,000", "41.5"} <= set(texts)
    circles = list(root.iter(f"{NAMESPACE}circle"))
    assert len(circles) == len(POINTS)
    for circle in circles:
        assert plots.LEFT <= float(circle.attrib["cx"]) <= plots.WIDTH - plots.RIGHT
        assert plots.TOP <= float(circle.attrib["cy"]) <= plots.HEIGHT - plots.BOTTOM
    assert "prefers-color-scheme: dark" in svg(PLOTS[0], POINTS)


@pytest.mark.parametrize("most", [0.003, 0.9, 1.0, 7.3, 42.0, 130.0, 99_999.0])
def test_ticks_cover_what_is_drawn(most: float) -> None:
    marks = ticks(most)
    assert marks[0] == 0
    assert marks[-1] >= most
    assert 3 <= len(marks) <= 7


def test_points_are_the_numbered_details() -> None:
    row = {"details": {"10": 2.0, "1": 1.0, "measured, µs": 9.0}}
    assert points_of(row) == [(1, 1.0), (10, 2.0)]
    assert points_of(None) == []


def test_what_was_not_measured_is_not_drawn() -> None:
    assert drawn({}) == {}
    assert list(drawn({"flat-messages": {"details": {"1": 1.0, "10": 2.0}}})) == ["messages.svg"]


def test_the_plots_of_the_documentation_are_fresh() -> None:
    """`scripts/docs` draws them from the figures."""
    there = {path.name: path.read_text("utf-8") for path in document.FOLDER.glob("*.svg")}
    assert there == drawn(document.rows_of(document.run())), "stale: run scripts/docs"
