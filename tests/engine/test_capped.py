"""A world that may not keep all: the oldest entries are forgotten, numbers stay, and everybody who reads it knows."""

from __future__ import annotations

import pytest

from sendbox.engine.expect.verdict import lines
from sendbox.engine.forgetting import Forgetting
from sendbox.engine.journal import CODE, Capped, Forgotten
from sendbox.engine.world import World
from sendbox.interfaces import PARTS
from tests.core.observed import digest, entry_view, verdict
from tests.core.worlds import START, advance, send_one
from tests.scenarios import make_blueprint


def capped(entries: int, forgotten: int = 0) -> Capped:
    """A journal of so many entries, of which every third is of kind `sent`; some of the oldest are forgotten."""
    journal = Capped()
    for number in range(entries):
        assert journal.add(number * 10, CODE["sent" if number % 3 == 0 else "sending"], f"entry {number}") == number
    if forgotten:
        journal.forget(forgotten, "--max-journal=20")
    return journal


def test_a_capped_journal_forgets_the_oldest() -> None:
    """Numbers stay what they were, and `len` counts all."""
    journal = capped(50)
    assert (journal.first, len(journal)) == (0, 50)
    journal.forget(10, "--max-journal=20")
    assert journal.first == 10
    journal.forget(22, "--max-journal=20")
    assert (journal.first, len(journal)) == (32, 50)
    assert journal.entry(32) == (320, CODE["sending"], "entry 32")
    assert journal.add(500, CODE["sent"], "entry 50") == 50
    assert journal.entry(50) == (500, CODE["sent"], "entry 50")


def test_what_is_left_is_found() -> None:
    """By number, by kind, from a number on; what is forgotten says so, what never was is another thing."""
    journal = capped(50, forgotten=32)
    assert list(journal.numbers()) == list(range(32, 50))
    assert list(journal.numbers(frozenset({"sent"}), after=35)) == [36, 39, 42, 45, 48]
    assert list(journal.find(CODE["sent"], 0)) == [33, 36, 39, 42, 45, 48]
    assert list(journal.find(CODE["sent"], 40)) == [42, 45, 48]
    with pytest.raises(Forgotten, match=r"31 is forgotten; the journal begins with entry 32 \(--max-journal=20\)"):
        journal.entry(31)
    with pytest.raises(IndexError):
        journal.entry(50)


def test_order_is_remembered_after_it_is_forgotten() -> None:
    """Whether anything depended on the order of arrival stays known; the marks of what is gone do not."""
    journal = capped(50)
    said = [journal.ordered]
    journal.forget(1, "--max-journal=20")
    journal.mark(3)
    journal.mark(40)
    said.append(journal.ordered)
    journal.forget(31, "--max-journal=20")
    assert journal.order_sensitive == {40}
    journal.order_sensitive.clear()
    said.append(journal.ordered)
    assert said == [False, True, True]


def test_a_capped_world_can_be_read() -> None:
    """Entries, digest and verdict are made of what is left; it keeps its cap less a tenth."""
    world = World("test-w", make_blueprint(), start=START, forgets=True, services=PARTS)
    forgetting = Forgetting(world)
    for _ in range(3):
        send_one(world)
    advance(world, 10_000)
    forgetting.of_entries(len(world.journal), "--max-journal=99")
    assert forgetting.work is None
    forgetting.of_entries(5, "--max-journal=5")
    while not forgetting.step():
        pass
    first = world.journal.first
    assert first == len(world.journal) - 5
    assert entry_view(world, first)["n"] == first
    assert len(digest(world)) == 64
    judged = verdict(world)
    assert (judged["trusted"], judged["lost"], judged["bound"]) == (False, first, "--max-journal=5")
    assert f"  NOT TO BE TRUSTED: {first} entries of the journal were forgotten (--max-journal=5)" in lines(judged)
