"""The table of rows has every goal, and each row has what a reader needs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from benchmarks import command, document
from benchmarks.bench import Bench
from benchmarks.command import chosen, main
from benchmarks.goals import Goal, Row, Samples, Verdict, at_least, at_most
from benchmarks.processes import Broken
from benchmarks.report import Change
from benchmarks.table import PEER, ROWS
from benchmarks.trees import HERE, ROOT, Tree

#: What the project promises about its speed and size, by row: the goal that is owed.
OWED = {
    "mix": at_least(0.60, aim=0.75),
    "call": at_least(0.70, aim=0.75),
    "call-p99": at_most(1.2),
    "peer-prism": at_least(5),
    "validate-typical": at_most(1.5),
    "validate-big": at_most(1.5),
    "refusal": at_most(400),
    "recipient": at_most(8),
    "bulk-recipient": at_most(8),
    "advance": at_least(0.40),
    "advance-many": at_least(0.60),
    "webhook": at_least(0.8),
    "webhook-bundle": at_least(8),
    "start": at_most(1.35),
    "start-wall": at_most(1.35),
    "memory-start": at_most(1.35),
    "memory-webhook": at_most(1.75),
    "session": at_most(0.03),
    "fixture-first": at_most(2),
    "fixture-stop": at_most(0.5),
    "fixture-setup": at_most(0.7),
    "explore-first": at_most(5),
    "hold-large": at_most(5),
    "world-empty": at_most(25),
    "world-default": at_most(80),
    "memory-message": at_most(1000, aim=650),
    "memory-mix": at_most(700),
    "memory-bytes": at_most(1.5),
    "flat-messages": at_most(1.3),
    "flat-worlds": at_most(1.3),
    "hold": at_most(5),
    "health": at_most(10),
}


def test_every_goal_has_a_row() -> None:
    """No goal was dropped."""
    rows = {row.name: row.goal for row in ROWS}
    assert {name: rows.get(name) for name in OWED} == OWED


def test_rows_say_what_they_are() -> None:
    """Names are words for a command line, each once; each row has a unit and a sentence."""
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []
    assert [row.name for row in ROWS if not row.unit or not row.meaning.endswith(".")] == []


def test_every_scene_measures_its_rows() -> None:
    """A scene names each of its rows, so that none stays without a figure for good."""
    unnamed = []
    for row in ROWS:
        if not row.apart:
            source = row.scene.__globals__["__file__"]
            with open(source, encoding="utf-8") as file:
                text = file.read()
            stem = row.name.rpartition("-")[0]
            if f'"{row.name}"' not in text and f'f"{stem}-{{' not in text:
                unnamed.append(row.name)
    assert unnamed == []


@pytest.mark.parametrize(
    ("goal", "figure", "verdict"),
    [
        (at_least(0.6, aim=0.75), 0.59, Verdict.MISSED),
        (at_least(0.6, aim=0.75), 0.60, Verdict.MET),
        (at_least(0.6, aim=0.75), 0.75, Verdict.AIM),
        (at_most(1000, aim=650), 1001, Verdict.MISSED),
        (at_most(1000, aim=650), 1000, Verdict.MET),
        (at_most(1000, aim=650), 640, Verdict.AIM),
        (at_most(8), 8, Verdict.MET),
        (at_most(8), None, Verdict.UNMEASURED),
        (Goal(None), 3, Verdict.NOTE),
    ],
)
def test_verdicts(goal: Goal, figure: float | None, verdict: Verdict) -> None:
    """A figure at the goal has reached it."""
    assert goal.verdict(figure) is verdict


def test_a_goal_reads_as_a_sentence() -> None:
    assert str(at_least(0.6, aim=0.75)) == "at least 0.6 (aim 0.75)"
    assert str(at_most(8)) == "at most 8"
    assert str(Goal(None)) == ""


def test_rows_are_chosen_by_name() -> None:
    """All but the peers, or those of the names; a pattern is several."""
    assert [row.name for row in chosen(None)] == [row.name for row in ROWS if not row.apart]
    others = [row for row in ROWS if row not in chosen(None, peers=True)]
    assert [row.name for row in others] == ["page-frame"]
    assert chosen(["page-frame"]) == others
    assert [row.name for row in chosen(["hold", "memory-*", "hold"])][:2] == ["hold", "memory-start"]
    assert all(row.name.startswith(PEER) for row in chosen(["peer-*"]))


def test_a_name_that_is_no_row_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "speed"]) == 2
    assert "'speed' is not a row: call, " in capsys.readouterr().err


def test_the_rows_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.count("\n") == len(ROWS)


# --- runs, with scenes that measure nothing


def scene(bench: Bench) -> Samples:
    """Two rounds in which the first tree takes 3 and 5, others 2 and 4."""
    for number in (0, 2):
        for tree in bench.trees:
            yield tree.name, {"made": (3.0 if tree.name == HERE else 2.0) + number, "made:detail": 7.0, "other": 1.0}


def breaks(bench: Bench) -> Samples:
    """One round, and then it breaks."""
    yield bench.trees[0].name, {"broken": 1.0}
    raise Broken("it does not listen")


MADE = Row("made", "a figure", "units", at_most(4), scene, "It is made.")
LARGER = Row("made", "a figure", "units", at_least(4), scene, "It is made.")
BROKEN = Row("broken", "another", "units", at_most(4), breaks, "It breaks.")


def trees(*names: str) -> list[Tree]:
    return [Tree(name, ROOT, "0000000") for name in names]


def test_a_run_keeps_samples_and_details_of_its_rows() -> None:
    kept: list[dict[str, Any]] = []
    bench = Bench(trees(HERE, "old"))
    found = command.measured([MADE], bench, lambda found: kept.append(command.document([MADE], bench, found)))
    (row,) = kept[0]["trees"]["old"]["rows"].values()
    assert (row["figure"], row["verdict"], row["samples"]) == (3.0, "met", [2.0, 4.0])
    assert json.loads(json.dumps(kept)) == kept
    assert found[HERE].samples == {"made": [3.0, 5.0]}
    assert found[HERE].details == {"made": {"detail": [7.0, 7.0]}}
    assert found["old"].of("made") == 3.0


def test_what_breaks_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The rows before and after it are measured, and the JSON says why."""
    found = command.measured([BROKEN, MADE], Bench(trees(HERE)))
    assert found[HERE].broken == {"broken": ["it does not listen"]}
    assert found[HERE].of("made") == 4.0
    assert "it does not listen" in capsys.readouterr().err


def test_a_loss_of_more_than_a_tenth_fails() -> None:
    """By the median of the rounds, in the direction of the goal."""
    found = command.measured([MADE], Bench(trees(HERE, "old")))
    assert not command.compared([MADE], found[HERE], found["old"], "old")
    assert command.compared([MADE], found["old"], found[HERE], "here")
    assert command.compared([LARGER], found[HERE], found["old"], "old")
    assert not command.compared([LARGER], found["old"], found[HERE], "here")
    assert command.compared([MADE], found[HERE], found[HERE], "itself")


@pytest.mark.parametrize(
    ("losses", "lost"),
    [
        ((0.2, 0.3, 0.25, 0.2, 0.1), True),
        ((0.05, 0.09, 0.08, 0.08, 0.2), False),
        ((-0.5, 0.3, 0.25, -0.2, 0.5), False),
        ((0.11,), True),
    ],
)
def test_a_loss_is_one_in_most_rounds(losses: tuple[float, ...], lost: bool) -> None:
    """Rounds that swing to both sides show no loss."""
    assert Change(MADE, losses).lost is lost


def test_a_row_that_one_did_not_measure_is_no_loss(capsys: pytest.CaptureFixture[str]) -> None:
    found = command.measured([MADE], Bench(trees(HERE, "old")))
    assert command.compared([BROKEN], found[HERE], found["old"], "old")
    assert "not measured in both" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("goal", "figure", "before", "loss"),
    [
        (at_most(1), 1.1, 1.0, 0.1),
        (at_least(1), 1.0, 1.1, 0.1),
        (at_most(1), 0.9, 1.0, -0.1),
        (at_least(1), 0.0, 1.0, None),
    ],
)
def test_losses(goal: Goal, figure: float, before: float, loss: float | None) -> None:
    assert goal.loss(figure, before) == (float("inf") if loss is None else pytest.approx(loss))


def test_a_row_without_a_figure_says_so() -> None:
    """The page invents nothing."""
    row = ROWS[0]
    assert document.measured(row, {}) == ("", "not measured")
    assert document.measured(row, {row.name: {"figure": 0.7}}) == ("0.7", "met")
    assert document.origin({"trees": {}}) == "Nothing was measured yet."
