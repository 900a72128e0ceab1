"""Balances and lists: of the account, and of a sub-key that has its own."""

from __future__ import annotations

import pytest

from sendbox.services.account.account import Account
from sendbox.services.account.keys import DEFAULT_SUBID, Billing
from sendbox.services.account.spec import AccountSpec, SubKeySpec
from sendbox.services.assume import Assume, Prices
from sendbox.services.messaging.messaging import Messaging
from tests.core.worlds import PHONE, advance, make_world, results, send_one

#: A segment costs ten cents, or two crowns and a half.
TEN_CENTS = Assume(prices=Prices({("sms", ""): (100_000, 2_500_000)}))


@pytest.mark.parametrize(
    ("currency", "paid", "left"),
    [
        pytest.param("EUR", True, 900_000, id="in-eur"),
        pytest.param("CZK", False, 1_000_000, id="not-enough-czk"),
    ],
)
def test_a_charge_is_whole_and_in_the_own_currency(currency: str, paid: bool, left: int) -> None:
    """A price that cannot be paid in full is not paid at all, and a balance never goes below zero."""
    billing = Billing("s", currency, 1_000_000)
    assert billing.charge((100_000, 2_500_000)) is paid
    assert (billing.balance, billing.spent) == (left, 1_000_000 - left)


def test_lists_are_in_force_from_their_instant() -> None:
    """A number is listed from its instant on (A81)."""
    billing = Billing("s", "EUR")
    billing.blacklist["1"] = billing.optout["1"] = 10
    assert [billing.blacklisted("1", at) for at in (9, 10)] == [False, True]
    assert [billing.opted_out("1", at) for at in (9, 10)] == [False, True]
    assert not billing.blacklisted("2", 10)


def test_s2_5_a_subkey_pays_from_its_own_balance() -> None:
    """A sub-key that shares no credit runs out while its parent does not; one that shares has its parent's (§2.5)."""
    keys = (SubKeySpec("own", credit=100_000), SubKeySpec("shared", shared=True))
    world = make_world(account=AccountSpec(credit=300_000, subkeys=keys), assume=TEN_CENTS)
    own, shared, parent = (
        Account.of(world).keys["test-w~own"],
        Account.of(world).keys["test-w~shared"],
        Account.of(world).keys["test-w"],
    )
    sent = [send_one(world, key=key) for key in (own, own, shared, parent)]
    advance(world, 10_000)
    assert [message.result for message in sent] == ["delivered", "rejected", "delivered", "delivered"]
    assert Account.of(world).balance == 100_000
    assert own.billing is not None
    assert own.billing.balance == 0
    assert (shared.billing, Account.of(world).subid) == (None, DEFAULT_SUBID)


def test_s5_6_credit_is_asked_of_the_keys_balance() -> None:
    """The legacy interface checks the credit of the calling key before it sends (A13)."""
    from tests.core.worlds import command

    world = make_world(account=AccountSpec(credit=0, subkeys=(SubKeySpec("own", credit=100_000),)), assume=TEN_CENTS)
    assert Messaging.of(world).can_pay([command()], Account.of(world).keys["test-w~own"])
    assert not Messaging.of(world).can_pay([command()], Account.of(world).keys["test-w"])


def test_a_reply_that_opts_out_is_listed_where_the_message_was_sent_from() -> None:
    """A stop word in reply to a sub-key's message enters the number into that sub-account (A70)."""
    world = make_world(account=AccountSpec(subkeys=(SubKeySpec("own", credit=10**9),)))
    own = Account.of(world).keys["test-w~own"]
    message = send_one(world, key=own)
    advance(world, 10_000)
    Messaging.of(world).phones.reply(message, "stop")
    assert own.billing is not None
    assert PHONE in own.billing.optout
    assert PHONE not in Account.of(world).optout
    advance(world, 10_000)
    again, other = send_one(world, key=own), send_one(world)
    advance(world, 10_000)
    assert [results(sent)[-1][1] for sent in (again, other)] == ["rejected", "delivered"]
