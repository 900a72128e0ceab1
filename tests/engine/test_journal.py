"""The journal: an append-only record in three columns."""

from __future__ import annotations

import pytest

from sendbox.app import SERVED
from sendbox.engine.journal import CODE, Instants, Journal, enter
from sendbox.engine.kinds import engine_kinds
from sendbox.services.account import kinds as account
from sendbox.services.messaging import kinds as messaging
from sendbox.services.partner import kinds as partner
from sendbox.services.verify import kinds as verify
from tests.core.worlds import START, names_of
from tests.locker import observed as locker


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
    assert (journal.at[1], names_of(journal)[1], journal.subject[1]) == (20, "inbound", "b")


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


def test_every_kind_has_one_row() -> None:
    """Each kind of the journal has a row, under its code; each row is of a kind, and no kind has two."""
    assert {CODE[kind.name]: kind for kind in SERVED.kinds.by_code.values()} == SERVED.kinds.by_code
    parts = (engine_kinds, messaging, verify, partner, account, locker)
    assert sorted(kind.name for part in parts for kind in part.OBSERVED.kinds) == sorted(CODE)


def test_a_kind_keeps_its_code() -> None:
    """Who enters a kind again is told the code that it has."""
    assert enter("delivery", "sent") == (CODE["delivery"], CODE["sent"])


def test_every_kind_is_in_the_digest_or_is_the_testers() -> None:
    """The digest has lines for all that the world did, and for nothing that a tester did."""
    assert {kind.name for kind in SERVED.kinds.by_code.values() if kind.canonical_lines is None} == {
        "opened",
        "reset",
        "restored",
        "control",
    }


def test_instants_take_four_bytes_for_49_days() -> None:
    """They stay what they are when one is further away, or before the first."""
    for far in (1 << 32, -1):
        instants = Instants()
        for at in (START, START + 5, START + far):
            instants.extend(at, 2)
        assert list(instants) == [START, START, START + 5, START + 5, START + far, START + far]
        assert instants[1:3] == [START, START + 5]
        del instants[:4]
        assert (list(instants), len(instants)) == ([START + far] * 2, 2)
