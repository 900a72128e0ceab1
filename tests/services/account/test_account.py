"""The account of a world: credit, senders, templates, lists."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume
from sendbox.services.messaging.channels import ROWS
from tests.core.template_parts import body
from tests.core.worlds import make_world

OTP = {"name": "otp", "language": "en", "category": "UTILITY", "status": "APPROVED", "components": [body("Code {{1}}")]}


def account(**spec: Any) -> Account:
    """An account of these fields."""
    return Account.of(make_world(account=AccountSpec(**spec)))


@pytest.mark.parametrize(
    ("currency", "credit", "left"),
    [("EUR", 100, 0), ("EUR", 101, 1), ("EUR", 99, None), ("CZK", 2500, 0), ("CZK", 100, None)],
    ids=["exactly", "more", "less", "in crowns", "crowns are not euros"],
)
def test_s7_3_a_price_is_paid_whole_or_not_at_all(currency: str, credit: int, left: int | None) -> None:
    """§7.3 `rejected` for insufficient credit: the account's currency counts, and the balance never goes below zero."""
    kept = account(currency=currency, credit=credit)
    assert kept.charge((100, 2500)) is (left is not None)
    assert kept.balance == (credit if left is None else left)
    assert kept.spent == credit - kept.balance


@pytest.mark.parametrize(
    ("senders", "channel", "sender", "expected"),
    [
        ("any", "richmsg", "Nobody", True),
        ({"richmsg": frozenset({"Acme"})}, "richmsg", "Acme", True),
        ({"richmsg": frozenset({"Acme"})}, "sms", "Acme", False),
        ({}, "sms", "420900000001", True),
        ({}, "richmsg", "420900000001", False),
    ],
    ids=["any", "registered", "for another channel", "own number", "own number elsewhere"],
)
def test_registered_senders(senders: Any, channel: str, sender: str, expected: bool) -> None:
    """A59: any sender, one registered for the channel, or for sms one of the account's numbers."""
    kept = account(senders=senders, numbers=frozenset({"420900000001"}))
    assert kept.registered(ROWS[channel], sender) is expected


def test_templates_are_known_by_name_and_language() -> None:
    """§2.2: a template is found by both, and no other one is; replacing all of them forgets the old ones."""
    kept = account(templates=(OTP,))
    assert kept.template("otp", "en") is kept.template("otp", "en") is not None
    assert kept.template("otp", "cs") is None
    kept.set_templates(({**OTP, "language": "cs"},))
    assert kept.template("otp", "en") is None
    assert kept.template("otp", "cs") is not None


def test_a81_lists_are_in_force_from_their_instant() -> None:
    """A81: a number added counts from its instant on; those of the scenario always did."""
    kept = account(optout=frozenset({"1"}), blacklist=frozenset({"1"}))
    kept.optout["2"] = kept.blacklist["2"] = 5_000
    for is_listed in (kept.opted_out, kept.blacklisted):
        assert [is_listed("1", 0), is_listed("2", 4_999), is_listed("2", 5_000), is_listed("3", 9_999)] == [
            True,
            False,
            True,
            False,
        ]


@pytest.mark.parametrize(("setting", "expected"), [(None, "421"), ("43", "43")], ids=["account", "setting"])
def test_a14_the_setting_of_the_country_wins(setting: str | None, expected: str) -> None:
    """A14: `assume.country` comes before the account's own."""
    assert (
        Account.of(make_world(account=AccountSpec(country="421"), assume=Assume(country=setting))).country == expected
    )


def test_what_the_scenario_gave_is_shared_and_never_changed() -> None:
    """A number that opts out in one world does not in the next one of the same scenario."""
    spec = AccountSpec(optout=frozenset({"1"}))
    Account.of(make_world(account=spec)).optout["2"] = 0
    assert Account.of(make_world(account=spec)).optout == {"1": 0}
