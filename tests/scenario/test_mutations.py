"""One wrong word in each place of each scenario of the library is caught by `check`, on the right line.

In an ordinary run a place of the language is broken once, in the first scenario that has it; in a deep one everywhere.
"""

from __future__ import annotations

from functools import cache

import pytest

from sendbox.scenario import library, shape
from tests.scenario.mutations import FREE, Mutation, mutations
from tests.scenarios import check
from tests.tiers import DEEP


@cache
def of(name: str) -> tuple[Mutation, ...]:
    """The mutations of a scenario of the library."""
    return tuple(mutations(library.path(name).read_text("utf-8")))


@cache
def first() -> dict[str, Mutation]:
    """The first mutation of each place of the language."""
    firsts: dict[str, Mutation] = {}
    for name in library.names():
        for mutation in of(name):
            firsts.setdefault(mutation.place, mutation)
    return firsts


@pytest.mark.sample(13)
@pytest.mark.parametrize("name", library.names())
def test_a_wrong_word_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever word of a scenario is wrong: check says so, on the line of the word."""
    monkeypatch.chdir(library.folder())
    assert len(of(name)) >= 4
    missed = []
    for wrong in of(name):
        if not DEEP and first()[wrong.place] is not wrong:
            continue
        problems = [problem for problem in check(wrong.text, name="mutated") if problem.file == "mutated"]
        if wrong.line not in [problem.line for problem in problems]:
            missed.append((wrong.line, wrong.place, wrong.was, wrong.now, [str(problem) for problem in problems]))
    assert missed == []


def test_places_of_many_kinds_are_broken() -> None:
    """Keys, words, numbers, times, phones, patterns: the library's places are of each kind."""
    places = first().keys()
    assert {"key rule.when", "key entry.sent", "value when.phone", "value when.channel", "value clock.start"} <= places
    assert {"value reply.after", "value when.attempt", "value scenario.extends", "value component.text"} <= places
    assert len(places) > 100


def test_what_is_free_is_in_the_language() -> None:
    """No key is said to be free that the language does not have."""
    keys: set[str] = set()

    def walk(node: object) -> None:
        if isinstance(node, dict):
            keys.update(node.get("properties", ()), [node.get("title", "")])
            for inner in node.values():
                walk(inner)
        elif isinstance(node, list):
            for inner in node:
                walk(inner)

    walk(shape.schema())
    assert [pair for pair in FREE if not {*pair} - {"*"} <= keys] == []
    assert all(FREE.values())


def test_a_wrong_word_stands_where_the_right_one_stood() -> None:
    """Nothing else of the file is changed, quotes included."""
    text = "sendbox: 1\nattempts:\n  - {when: {channel: sms}, then: 'failed'}\n"
    found = {each.place: (each.now, each.line, each.text.splitlines()[each.line - 1]) for each in mutations(text)}
    assert found["value rule.then"] == ("faixled", 3, "  - {when: {channel: sms}, then: faixled}")
    assert found["key when.channel"] == ("chaxnnel", 3, "  - {when: {chaxnnel: sms}, then: 'failed'}")
    assert found["value scenario.sendbox"][0] == "2"
