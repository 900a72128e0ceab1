"""The lifecycle of a validation session: a total table, and nothing beside it (§3.2, A72)."""

from __future__ import annotations

from itertools import product

import pytest

from sendbox.engine.lifecycle import IllegalMove
from sendbox.services.account.account import Account
from sendbox.services.verify.session import VALIDATION, Session
from sendbox.services.verify.verify import Verify
from tests.core.worlds import PHONE, START, make_world

#: Every legal event of the open states; the ends have none.
OPEN = {"code_confirmed": "verified", "attempts_used_up": "failed", "validity_passed": "expired"}
LEGAL = {"pending": {"code_arrived": "code_sent", **OPEN}, "code_sent": OPEN}
STATES = ("pending", "code_sent", "verified", "failed", "expired")
EVERY = list(product(STATES, ["code_arrived", *OPEN, "nothing"]))


def session() -> Session:
    """One that was just begun."""
    world = make_world()
    return Verify.of(world).create(PHONE, {}, Account.of(world).keys[world.id], b"{}", "")


def test_s3_2_the_table_is_total() -> None:
    """§3.2: the five states each have a row, and every row leads to states of the table."""
    assert tuple(VALIDATION) == STATES
    assert {after for row in VALIDATION.values() for after in row.values()} <= set(STATES)


@pytest.mark.parametrize(("state", "event"), EVERY, ids=["-".join(pair) for pair in EVERY])
def test_s3_2_every_pair_is_legal_or_raises(state: str, event: str) -> None:
    """Each of all pairs moves as the descriptions imply, or raises."""
    after = LEGAL.get(state, {}).get(event)
    if after is not None:
        assert VALIDATION.after(state, event) == after
    else:
        with pytest.raises(IllegalMove) as raised:
            VALIDATION.after(state, event)
        assert (raised.value.state, raised.value.target) == (state, event)
        assert raised.value.legal == tuple(LEGAL.get(state, {}).values())


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (
            "code_sent",
            (
                '"code_arrived" does not follow "code_sent" of a validation; legal: verified, '
                "failed, expired (§3.2, A72)"
            ),
        ),
        (
            "failed",
            '"code_arrived" does not follow "failed" of a validation; legal: none, it is an end (§3.2, A72)',
        ),
    ],
)
def test_the_refusal_says_what_is_legal(state: str, text: str) -> None:
    """The message begins with the event and names the legal ones."""
    with pytest.raises(IllegalMove) as raised:
        VALIDATION.after(state, "code_arrived")
    assert str(raised.value) == text


@pytest.mark.parametrize(
    ("recorded", "ms", "expected"),
    [
        ("pending", 599_999, "pending"),
        ("pending", 600_000, "expired"),
        ("code_sent", 599_999, "code_sent"),
        ("code_sent", 600_000, "expired"),
        ("verified", 600_000, "verified"),
        ("failed", 600_000, "failed"),
        ("expired", 600_001, "expired"),
    ],
)
def test_s8_validity_is_ten_minutes(recorded: str, ms: int, expected: str) -> None:
    """§8: an open session is expired from 600 s on, whether or not anybody noted it; an end stays what it is."""
    one = session()
    one.recorded = recorded
    assert one.state_at(START + ms) == expected


@pytest.mark.parametrize(
    ("recorded", "lapsed"),
    [("pending", True), ("code_sent", True), ("verified", False), ("failed", False), ("expired", False)],
)
def test_a_lapse_ends_only_what_is_open(recorded: str, lapsed: bool) -> None:
    """The end of validity moves an open session, and passes over one that has ended."""
    one = session()
    one.recorded = recorded
    assert one.lapse() is lapsed
    assert one.recorded == ("expired" if lapsed else recorded)
