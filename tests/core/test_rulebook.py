"""Lists of rules, and what is counted for them."""

from __future__ import annotations

import pytest

from sendbox.engine.durations import Moment
from sendbox.engine.rules.book import Rulebook, Turns, in_time
from sendbox.services.verify.rules import VerifyRule


class Book(Rulebook[VerifyRule]):
    PREFIX = "b"


def test_rules_of_control_stand_in_front() -> None:
    """The newest first, each with an id of its own, before those of the scenario, whatever comes of these."""
    book = Book([VerifyRule("one")])
    assert [book.put_rule(VerifyRule("mine")) for _ in range(2)] == ["b1", "b2"]
    book.set_rules([VerifyRule("two"), VerifyRule("three")])
    assert [(rule.id, rule.key) for rule in book.rules] == [
        ("b2", "mine"),
        ("b1", "mine"),
        (None, "two"),
        (None, "three"),
    ]
    assert [rule.key for rule in book.given] == ["two", "three"]
    assert [book.drop_rule(rule) for rule in ("b1", "b1", "two")] == [True, False, False]
    assert book.put_rule(VerifyRule("mine")) == "b3"


def test_equal_ones_of_an_instant_do_not_race() -> None:
    """Who could have come before another is raced, and so is all that follows at the instant; keys are apart."""
    turns = Turns()
    asked = [("a", 0, "x"), ("a", 0, "x"), ("a", 0, "y"), ("a", 0, "y"), ("b", 0, "y"), ("a", 1, "x")]
    assert [tuple(turns.draw((key,), at, what)) for key, at, what in asked] == [
        (0, False),
        (1, False),
        (2, True),
        (3, True),
        (0, False),
        (4, False),
    ]


def test_whose_turn_it_is() -> None:
    """The nth, and every so manieth; equal rules count once what asks them."""
    turns = Turns()
    asked: list[dict[str, int]] = [{} for _ in range(6)]
    assert [turns.come("r", 2, None, counted) for counted in asked] == [False, True, False, False, False, False]
    assert [turns.come("r", None, 3, counted) for counted in asked] == [False, False, True, False, False, True]
    assert turns.come("other", None, None, {})


def test_how_often_a_rule_applies() -> None:
    """So many times, or without end."""
    turns = Turns()
    turns.use("endless", None)
    for _ in range(2):
        assert turns.left("r", 2)
        turns.use("r", 2)
    assert not turns.left("r", 2)
    assert turns.left("r", None)


@pytest.mark.parametrize(
    ("begins", "ends", "expected"),
    [
        (None, None, (True, True, True)),
        (Moment(5, relative=True), None, (False, True, True)),
        (None, Moment(105, relative=False), (True, False, False)),
        (Moment(105, relative=False), Moment(6, relative=True), (False, True, False)),
    ],
    ids=["always", "from", "until", "between"],
)
def test_windows(begins: Moment | None, ends: Moment | None, expected: tuple[bool, ...]) -> None:
    """From its beginning on, and not at its end any more."""
    assert tuple(in_time(begins, ends, now, 100) for now in (104, 105, 106)) == expected
