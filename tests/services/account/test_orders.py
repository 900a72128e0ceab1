"""Orders: charged, active at once or later, their senders usable while they are active."""

from __future__ import annotations

import pytest

from sendbox.engine.lifecycle import IllegalMove
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.orders import ORDER, POOL, NoCredit, NoSender, Order, Service, fee_of, services
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume
from sendbox.services.messaging.channels import ROWS
from tests.core.worlds import advance, journaled, make_world, send_one

DAY = 86_400_000
NAME, NUMBER, SIM, RICH = (
    services()[f"sender_{name}"] for name in ("sms_420_alnum", "sms_420_number", "sms_420_simhost", "richmsg_420_text")
)


def strict(**fields: object) -> World:
    """A world in which only registered senders are taken."""
    account = AccountSpec(senders={"sms": frozenset({"Old"})}, **fields)  # type: ignore[arg-type]
    return make_world(account=account, assume=Assume(sms_sender="strict"))


def place(world: World, service: object = NAME, subject: str = "Acme", period: str = "month") -> Order:
    """An order of the account."""
    return Account.of(world).orders.place(service, subject, period, Account.of(world), b"{}")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("service", "currency", "fee"),
    [
        pytest.param(NUMBER, "EUR", 35, id="setup-and-a-month"),
        pytest.param(SIM, "EUR", 410, id="setup-and-a-year"),
        pytest.param(NUMBER, "CZK", 875, id="in-crowns"),
        pytest.param(NAME, "EUR", 10, id="no-setup"),
        pytest.param(RICH, "EUR", 100, id="no-interval"),
    ],
)
def test_a31_the_fee(service: Service, currency: str, fee: int) -> None:
    """Setup plus the months of the service's interval, in the currency of the balance."""
    assert fee_of(service, currency) == fee * 1_000_000


def test_s4_4_a_name_becomes_usable_and_is_charged() -> None:
    """§4.4: before the order its messages are rejected, afterwards they go out."""
    world = strict(credit=100_000_000)
    before = send_one(world, steps=[_from("Acme")])
    advance(world, 10_000)
    order = place(world)
    after = send_one(world, steps=[_from("Acme")])
    advance(world, 10_000)
    assert (before.result, after.result, order.state) == ("rejected", "delivered", "active")
    assert Account.of(world).spent >= 10_000_000
    assert Account.of(world).registered(ROWS["sms"], "Old")


def _from(sender: str) -> object:
    from tests.core.worlds import step

    return step(sender=sender)


def test_a_number_becomes_the_accounts() -> None:
    """The next number of the pool is assigned; phones can write to it, and it can be a sender."""
    world = strict()
    first = place(world, NUMBER, Account.of(world).orders.next_number(NUMBER))
    second = Account.of(world).orders.next_number(NUMBER)
    assert first.subject != second
    assert world.journal.order_sensitive == {0}  # who comes first gets the next one
    assert Account.of(world).registered(ROWS["sms"], first.subject)
    assert Account.of(world).numbers == {first.subject}


def test_a_pool_runs_out() -> None:
    """After the last number there is none; a cancelled order gives its number back."""
    world = make_world()
    orders = [place(world, NUMBER, Account.of(world).orders.next_number(NUMBER)) for _ in range(POOL)]
    with pytest.raises(NoSender, match=r'"sender_sms_420_number" has no number left of its 10 \(§4\.4, A31\)'):
        Account.of(world).orders.next_number(NUMBER)
    Account.of(world).orders.move(orders[3], "cancelled")
    assert Account.of(world).orders.next_number(NUMBER) == orders[3].subject


def test_an_order_that_takes_time() -> None:
    """A36: `new` until its days have passed, `active` from then on."""
    world = strict()
    order = place(world, SIM, "420900000001", "year")
    assert order.state == "new"
    assert not Account.of(world).numbers
    advance(world, 3 * DAY - 1)
    assert order.state == "new"
    advance(world, 1)
    assert order.state == "active"
    assert Account.of(world).numbers == {"420900000001"}
    assert [change[1] for _, change in journaled(world, "order")] == ["new", "active"]


def test_an_order_cancelled_while_new_is_never_active() -> None:
    """A cancelled order stays cancelled when its time has passed."""
    world = strict()
    order = place(world, RICH)
    Account.of(world).orders.move(order, "cancelled")
    advance(world, 10 * DAY)
    assert order.state == "cancelled"
    assert not Account.of(world).registered(ROWS["richmsg"], "Acme")


def test_a_cancelled_name_is_not_usable_any_more() -> None:
    """Its sender leaves the account; where any sender is taken, it is no longer among those that were ordered."""
    for world in (strict(), make_world()):
        order = place(world)
        assert Account.of(world).ordered == ({"sms": {"Acme"}} if Account.of(world).senders == "any" else {})
        Account.of(world).orders.move(order, "cancelled")
        assert Account.of(world).registered(ROWS["sms"], "Acme") is (Account.of(world).senders == "any")
        assert not any(Account.of(world).ordered.values())


def test_without_credit_there_is_no_order() -> None:
    """Nothing is charged, nothing is made."""
    world = strict(credit=9_999_999)
    with pytest.raises(NoCredit):
        place(world)
    assert (Account.of(world).balance, Account.of(world).orders.placed) == (9_999_999, [])


def test_s3_3_the_table_is_total() -> None:
    """§3.3, A36: every state has a row, an end has an empty one, and a pair that is not in it says what is legal."""
    assert {state for row in ORDER.values() for state in row.values()} <= ORDER.keys() == {"new", "active", "cancelled"}
    world = make_world()
    order = place(world)
    with pytest.raises(IllegalMove, match=r'^"activated" does not follow "active" of an order; legal: cancelled \('):
        Account.of(world).orders.move(order, "activated")
    Account.of(world).orders.move(order, "cancelled")
    with pytest.raises(IllegalMove, match="legal: none, it is an end"):
        Account.of(world).orders.move(order, "cancelled")
