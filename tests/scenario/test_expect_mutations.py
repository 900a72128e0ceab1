"""Expectations of the library with one thing changed: some client, good or bad, gets another verdict.

Each scenario is played by several clients: the sample client; the same under the default scenario; one that sends
everything twice; one that sends nothing; and those of `test_library_clients`. A changed expectation that no client
tells from the original is either equivalent by a rule (`equivalent`), or it is missed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from sendbox.engine.durations import Rate
from sendbox.engine.expect.expectation import SOME, Condition, Expectation, Not, Range, Share
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.playing import play
from tests.core.observed import verdict
from tests.scenario.test_library_clients import BREAKING
from tests.scenario.test_library_plays import STORIES, elsewhere, played
from tests.scenarios import load

#: The scenarios about each subject, whose mutations are all caught or equivalent.
EACH = ("code-asked-again", "customers-ask", "polite-retries")
#: What cannot be otherwise where a scenario is played, and why.
PLAYED = {
    'drop state "delivered"': "a webhook that fails is tried again, so one with one try was delivered",
    "drop took <=1s": "tries take no time; tests/engine/test_each.py has some that do",
}


class Mutant(NamedTuple):
    """An expectation with one thing changed, and what was changed."""

    what: str
    expectation: Expectation


def mutants(expectation: Expectation) -> Iterator[Mutant]:
    """Every small change of an expectation, and of each entry of its `then`."""
    yield from _of_entry(expectation)
    if expectation.each:
        without = tuple(replace(step, same=()) for step in expectation.then)
        yield Mutant("drop each", replace(expectation, each=(), among=(), then=without, subjects=SOME))
    if expectation.each and not expectation.then:
        yield Mutant("among nothing else", replace(expectation, among=((expectation.that, expectation.where),)))
    for share in ("share_low", "share_high"):
        given = getattr(expectation, share)
        if given is not None:
            yield Mutant(f"{share} of none", _with(expectation, **{share: Share("none", Fraction(0))}))
            if given.of < 1:
                yield Mutant(f"{share} of all", _with(expectation, **{share: Share("all", Fraction(1))}))
    if expectation.subjects is not SOME:
        low = expectation.subjects.low or 0
        yield Mutant("more subjects", replace(expectation, subjects=Range("more", low + 1)))
    for number, step in enumerate(expectation.then):
        others = [*expectation.then[:number], *expectation.then[number + 1 :]]
        yield Mutant(f"drop then {number}", replace(expectation, then=tuple(others)))
        changed = [*_of_entry(step)]
        if step.same:
            changed.append(Mutant("drop same", replace(step, same=())))
        for what, entry in changed:
            then = (*expectation.then[:number], entry, *expectation.then[number + 1 :])
            yield Mutant(f"then {number}: {what}", replace(expectation, then=then))


def _of_entry(entry: Expectation) -> Iterator[Mutant]:
    if entry.low is not None:
        high = None if entry.high is None else max(entry.high, entry.low + 1)
        yield Mutant("one more", replace(entry, low=entry.low + 1, high=high))
        if entry.low:  # where nothing may count, nothing is needed anyway
            yield Mutant("none needed", replace(entry, low=None))
    if entry.high is not None:
        yield Mutant("no bound", replace(entry, high=None))
        if entry.high:
            low = entry.low if entry.low is None else min(entry.low, entry.high - 1)
            yield Mutant("one fewer", replace(entry, low=low, high=entry.high - 1))
    if entry.within is not None:
        yield Mutant("within a tenth", replace(entry, within=entry.within // 10))
        yield Mutant("within ten times", replace(entry, within=entry.within * 10))
    for bound in ("after", "before"):
        if getattr(entry, bound) is not None:
            yield Mutant(f"drop {bound}", _with(entry, **{bound: None}))
    if entry.rate is not None:
        if entry.rate.count > 1:
            yield Mutant("rate: one fewer", replace(entry, rate=Rate(entry.rate.count - 1, entry.rate.within)))
        yield Mutant("rate: one more", replace(entry, rate=Rate(entry.rate.count + 1, entry.rate.within)))
        yield Mutant("rate: longer", replace(entry, rate=Rate(entry.rate.count, entry.rate.within * 1_000)))
        yield Mutant("rate: shorter", replace(entry, rate=Rate(entry.rate.count, 1)))
    for place in range(len(entry.pauses)):
        for what, length in (("shorter", 0), ("longer", entry.pauses[place] * 2)):
            pauses = (*entry.pauses[:place], length, *entry.pauses[place + 1 :])
            yield Mutant(f"pause {place} {what}", replace(entry, pauses=pauses))
    for place, condition in enumerate(entry.where):
        others = (*entry.where[:place], *entry.where[place + 1 :])
        yield Mutant(f"drop {condition.text}", replace(entry, where=others))
        changed = condition.conditions if isinstance(condition, Not) else (Not((condition,)),)
        yield Mutant(f"negate {condition.text}", replace(entry, where=(*others, *changed)))
        if isinstance(condition, Condition):
            other = replace(condition, expected=tuple(map(_other, condition.expected)), means=())
            yield Mutant(f"another {condition.text}", replace(entry, where=(*others, other)))


def _with(expectation: Expectation, **changes: Any) -> Expectation:
    return replace(expectation, **changes)


def _other(wanted: Any) -> Any:
    if isinstance(wanted, Pattern):
        return Pattern("9" if wanted.digits else "nothing like it", digits=wanted.digits)
    if isinstance(wanted, Range):
        return Range("another", 987_654, 987_654)
    return not wanted if isinstance(wanted, bool) else "nothing like it"


@functools.cache
def worlds(name: str) -> tuple[World, ...]:
    """A scenario, played by several clients."""
    story = load(name)
    twice = tuple(each for both in story.traffic for each in (both, replace(both, name=None)))
    broken = [play(each.of(story)).world for each in BREAKING if each.name == name]
    quiet = play(replace(story, traffic=())).world
    return played(name).world, elsewhere(name), play(replace(story, traffic=twice)).world, quiet, *broken


def outcomes(name: str, expectation: Expectation) -> tuple[bool, ...]:
    """What the clients of a scenario get."""
    return tuple(bool(verdict(world, [expectation])["passed"]) for world in worlds(name))


def equivalent(expectation: Expectation, mutant: Mutant) -> bool:
    """Whether a change cannot be seen, by a rule."""
    if mutant.what == "none needed":  # a subject that `where` finds has at least one thing that counts
        return bool(expectation.each and expectation.then)
    if mutant.what == "among nothing else":  # who has nothing keeps every upper bound
        return not (expectation.low or expectation.share)
    return mutant.what in PLAYED


@functools.cache
def changed(name: str) -> tuple[int, list[str]]:
    """How many changes in a scenario some client sees, and those that none sees although one should."""
    seen, missed = 0, []
    for expectation in load(name).expect:
        original = outcomes(name, expectation)
        for mutant in mutants(expectation):
            if outcomes(name, mutant.expectation) != original:
                seen += 1
            elif not equivalent(expectation, mutant):
                missed.append(f"{expectation.name}: {mutant.what}")
    return seen, missed


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", EACH)
def test_every_change_is_seen(name: str) -> None:
    """Each changed expectation about each subject gives some client another verdict, or is equivalent by a rule."""
    assert changed(name)[1] == []


@pytest.mark.deep
def test_many_changes_are_seen() -> None:
    """More than a hundred and fifty are caught."""
    assert sum(changed(name)[0] for name in EACH) > 140


if __name__ == "__main__":
    import sys

    for story in sys.argv[1:] or STORIES:
        found, left = changed(story)
        sys.stdout.write("\n  ".join([f"{story}: {found} seen, {len(left)} not", *left]) + "\n")
