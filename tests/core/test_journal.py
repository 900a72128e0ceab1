"""The journal: an append-only record in three columns."""

from __future__ import annotations

import pytest

from sendbox.core import digest, entries
from sendbox.core.journal import CODE, CONTROL_KINDS, KINDS, Journal
from sendbox.core.lifecycle import STATES


def filled() -> Journal:
    """Five entries: request, sending, request, sent, control."""
    journal = Journal()
    for at, kind in enumerate(["request", "sending", "request", "sent", "control"]):
        journal.add(at, CODE[kind], f"what {at}")
    return journal


def test_an_entry_is_known_by_its_position() -> None:
    """`add` gives the number under which the three columns hold the entry."""
    journal = Journal()
    assert [journal.add(10, CODE["request"], "a"), journal.add(20, CODE["inbound"], "b")] == [0, 1]
    assert len(journal) == 2
    assert (journal.at[1], KINDS[journal.kind[1]], journal.what[1]) == (20, "inbound", "b")


def test_a_mark_stays_with_its_entry() -> None:
    """Only the entries marked are order-sensitive."""
    journal = filled()
    journal.mark(3)
    assert journal.order_sensitive == {3}


@pytest.mark.parametrize(
    ("kinds", "after", "expected"),
    [
        (None, -1, [0, 1, 2, 3, 4]),
        (None, 2, [3, 4]),
        (None, -9, [0, 1, 2, 3, 4]),
        (None, 99, []),
        ({"request"}, -1, [0, 2]),
        ({"request", "sent"}, 0, [2, 3]),
        ({"request"}, -9, [0, 2]),
        (set(), -1, []),
    ],
    ids=[
        "all",
        "after",
        "after what never was",
        "after the end",
        "one kind",
        "two kinds",
        "a kind from before",
        "none",
    ],
)
def test_numbers_by_kind_and_place(kinds: set[str] | None, after: int, expected: list[int]) -> None:
    """The numbers of the entries of these kinds that come after a number, in order, never an entry twice."""
    assert list(filled().numbers(None if kinds is None else frozenset(kinds), after)) == expected


def test_the_first_kinds_are_the_states() -> None:
    """A transition's kind is the code of its state, so that it needs no other column."""
    assert KINDS[: len(STATES)] == STATES


def test_every_kind_can_be_shown() -> None:
    """The views render each kind, and nothing that is none."""
    assert set(entries._RENDER) == set(KINDS)


def test_every_kind_is_in_the_digest_or_is_the_testers() -> None:
    """The digest has lines for all that the world did, and for nothing that a tester did."""
    assert set(digest._LINES) == set(KINDS) - CONTROL_KINDS
    assert set(KINDS) >= CONTROL_KINDS


# --- with a cap


def capped(cap: int, entries: int) -> Capped:
    """A journal of so many entries, of which every third is of kind `sent`."""
    journal = Capped(cap)
    for number in range(entries):
        assert journal.add(number * 10, CODE["sent" if number % 3 == 0 else "sending"], f"entry {number}") == number
    return journal


def test_a_capped_journal_forgets_the_oldest() -> None:
    """Down to its cap less a tenth, at most so many at once; numbers stay what they were, and `len` counts all."""
    journal = capped(20, 50)
    assert (journal.first, len(journal)) == (0, 50)
    assert journal.forget(10)
    assert journal.first == 10
    assert journal.forget(1000)
    assert (journal.first, len(journal)) == (32, 50)
    assert not journal.forget(1000)
    assert journal.entry(32) == (320, CODE["sending"], "entry 32")
    assert journal.add(500, CODE["sent"], "entry 50") == 50
    assert journal.entry(50) == (500, CODE["sent"], "entry 50")


def test_what_is_left_is_found() -> None:
    """By number, by kind, from a number on; what is forgotten says so, what never was is another thing."""
    journal = capped(20, 50)
    journal.forget(1000)
    assert list(journal.numbers()) == list(range(32, 50))
    assert list(journal.numbers(frozenset({"sent"}), after=35)) == [36, 39, 42, 45, 48]
    assert list(journal.find(CODE["sent"], 0)) == [33, 36, 39, 42, 45, 48]
    assert list(journal.find(CODE["sent"], 40)) == [42, 45, 48]
    with pytest.raises(Forgotten, match="entry 31 is forgotten; the journal begins with entry 32"):
        journal.entry(31)
    with pytest.raises(IndexError):
        journal.entry(50)


def test_order_is_remembered_after_it_is_forgotten() -> None:
    """Whether anything depended on the order of arrival stays known; the marks of what is gone do not."""
    journal = capped(20, 50)
    journal.forget(1)
    assert not journal.ordered
    journal.mark(3)
    journal.mark(40)
    assert journal.ordered
    journal.forget(1000)
    assert journal.order_sensitive == {40}
    journal.order_sensitive.clear()
    assert journal.ordered


def test_a_capped_world_can_be_read_and_restored() -> None:
    """Entries, digest and verdict are made of what is left; a checkpoint keeps what is forgotten forgotten."""
    world = World("test-w", Blueprint(), start=START, max_journal=5)
    for _ in range(3):
        send_one(world)
    advance(world, 10_000)
    assert isinstance(world.journal, Capped)
    assert world.journal.forget(1000)
    first = world.journal.first
    assert first == len(world.journal) - 5
    assert entry_view(world, first)["n"] == first
    assert len(digest(world)) == 64
    assert (verdict(world)["trusted"], verdict(world)["lost"]) == (False, first)
    assert f"  NOT TO BE TRUSTED: {first} entries of the journal were forgotten (--max-journal)" in lines(verdict(world))
    again = restore(take(world), world.blueprint, 1)
    assert again.journal.first == first
    assert digest(again) == digest(world)
    assert [entry_view(again, n) for n in again.journal.numbers()] == [
        entry_view(world, n) for n in world.journal.numbers()
    ]
