"""The lifecycles of partner management: total tables, and nothing beside them (§3.3, A43, A44, A46)."""

from __future__ import annotations

from itertools import product

import pytest

from sendbox.engine.lifecycle import IllegalMove
from sendbox.services.partner.records import MODES, NUMBER, QUALITIES, SENDING_NUMBERS, SIGNUP, TEMPLATE

TABLES = {"template": TEMPLATE, "number": NUMBER, "signup": SIGNUP}

EVERY = [
    (kind, state, event)
    for kind, table in TABLES.items()
    for state, event in product(table, dict.fromkeys(event for row in table.values() for event in row))
]


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_is_total(kind: str) -> None:
    """Every state that a row leads to has a row itself, and every state but the first is led to."""
    table = TABLES[kind]
    reached = {state for row in table.values() for state in row.values()}
    assert reached <= set(table)
    assert set(table) - reached <= {next(iter(table))}


def test_every_pair_moves_or_raises() -> None:
    """A pair of the table moves as it says; every other one raises, and names what would have been legal."""
    wrong = []
    for kind, state, event in EVERY:
        table = TABLES[kind]
        expected = table[state].get(event)
        try:
            moved = table.after(state, event)
            right = moved == expected and table.to(state, moved) == moved
        except IllegalMove as refusal:
            legal = tuple(dict.fromkeys(table[state].values()))
            right = expected is None and refusal.legal == legal and str(refusal).endswith(f"({table.source})")
        if not right:
            wrong.append((kind, state, event))
    assert wrong == []


def test_a43_the_states_of_a_template() -> None:
    """A43: nine states, of which DELETED is the only end."""
    table = TABLES["template"]
    assert list(table) == [
        "PENDING", "APPROVED", "REJECTED", "PAUSED", "DISABLED", "IN_APPEAL", "LIMIT_EXCEEDED", "PENDING_DELETION",
        "DELETED",
    ]  # fmt: skip
    assert [state for state, row in table.items() if not row] == ["DELETED"]


def test_a43_an_edit_leads_to_review() -> None:
    """A43: wherever a template can be edited, it is PENDING afterwards."""
    table = TABLES["template"]
    assert {row["edited"] for row in table.values() if "edited" in row} == {"PENDING"}


def test_a44_the_states_of_a_number() -> None:
    """A44: five states and four ratings; a flag does not keep a number from sending."""
    table = TABLES["number"]
    assert list(table) == ["PENDING", "CONNECTED", "FLAGGED", "RESTRICTED", "OFFLINE"]
    assert set(QUALITIES) == {"GREEN", "YELLOW", "RED", "UNKNOWN"}
    assert {"CONNECTED", "FLAGGED"} == SENDING_NUMBERS


def test_a46_the_states_of_a_signup() -> None:
    """A46: six states; completed, failed and expired are ends, and reached from every other one."""
    table = TABLES["signup"]
    assert list(table) == ["created", "opened", "number_verified", "completed", "failed", "expired"]
    ends = {state for state, row in table.items() if not row}
    assert ends == {"completed", "failed", "expired"}
    assert all(ends <= set(row.values()) for state, row in table.items() if state not in ends)


def test_s4_3_the_modes() -> None:
    """§4.3, §9: three ways to a number; `automatic` is none of them."""
    assert MODES == ("manual", "preassign", "assigned")


def test_a_wish_that_cannot_be() -> None:
    """A state that does not follow is refused with what is legal, as text and as data."""
    with pytest.raises(IllegalMove) as refusal:
        NUMBER.to("PENDING", "FLAGGED")
    assert str(refusal.value) == '"FLAGGED" does not follow "PENDING" of a number; legal: CONNECTED, OFFLINE (A44)'
    assert (refusal.value.state, refusal.value.target) == ("PENDING", "FLAGGED")
    with pytest.raises(IllegalMove, match=r"legal: none, it is an end \(A46\)"):
        SIGNUP.after("failed", "page_opened")
