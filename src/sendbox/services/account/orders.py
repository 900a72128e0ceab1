"""Orders of services (§4.4 `/credit/order`; A31, A36).

The order (§3.3, A36)
---------------------
An order of a service that needs nothing more is `active` at once; one that takes time begins `new` and is activated
when that time has passed. Either can be cancelled, which removes its sender from the account; `cancelled` is
an end, and the fee is not paid back (A61). A pair that is not in the table raises `IllegalMove`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from sendbox.engine.classes import dataclass
from sendbox.engine.draws import uuid_text
from sendbox.engine.durations import DAY
from sendbox.engine.journal import CODE
from sendbox.engine.lifecycle import Lifecycle
from sendbox.services.account import catalog

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.services.account.catalog import Service
    from sendbox.services.ports import Billing

ORDER: Final = Lifecycle(
    "an order",
    "§3.3, A36",
    {
        "new": {"activated": "active", "cancelled": "cancelled"},
        "active": {"cancelled": "cancelled"},
        "cancelled": {},
    },
)

#: The states that an order can come to: no operation, and nothing that a tester does, cancels one.
REACHED: Final = tuple(state for state in ORDER if state != "cancelled")

_MILLION: Final = 1_000_000


class NoSender(Exception):
    """The pool of a service is used up."""


class NoCredit(Exception):
    """The balance cannot pay the fee."""


@dataclass(slots=True, eq=False)
class Order:
    """One order. `fee` in millionths of the currency it was paid in."""

    id: str
    service: str
    subject: str
    period: str
    billing: Billing
    fee: int
    at: int
    state: str


def fee_of(service: Service, currency: str) -> int:
    """The fee of an order of a service, in millionths of the currency (A31)."""
    return round(service.prices[currency.lower()].fee * _MILLION)


class Senders(Protocol):
    """The account that orders are placed for: its senders."""

    numbers: frozenset[str]

    def add_number(self, number: str) -> None:
        """Makes a virtual number the account's own."""

    def register(self, family: str, sender: str) -> None:
        """Makes a sender usable on a channel."""

    def drop(self, family: str, sender: str) -> None:
        """Takes a sender or number away."""


class Orders:
    """The orders of one world, oldest first."""

    def __init__(self, world: World, account: Senders) -> None:
        self._world = world
        self._account = account
        self.placed: list[Order] = []

    def next_number(self, service: Service) -> str:
        """The number that the next order of a service gets. Raises `NoSender` when its pool is used up."""
        taken = {order.subject for order in self.placed if order.state != "cancelled"} | self._account.numbers
        for number in service.numbers():
            if number not in taken:
                return number
        raise NoSender(f'"{service.id}" has no number left of its {catalog.POOL} (§4.4, A31)')

    def place(self, service: Service, subject: str, period: str, billing: Billing, content: bytes) -> Order:
        """Charges a service and makes its sender usable, at once or when it is active. Raises `NoCredit`."""
        world = self._world
        fee = fee_of(service, billing.currency)
        if not billing.charge(fee, fee):
            raise NoCredit
        order_id = uuid_text(world.named("order", "orderService", content))
        order = Order(order_id, service.id, subject, period, billing, fee, world.clock.now, service.status)
        self.placed.append(order)
        entry = self._entered(order)
        if service.subject == "assigned":  # the first order gets the next number
            world.journal.mark(entry)
        if order.state == "new":
            world.timeline.at(order.at + service.delay * DAY, -1, self.activation_due, order)
        return order

    def activation_due(self, order: Order) -> None:
        """The delay of a service has passed; a cancelled order stays cancelled."""
        if order.state == "new":
            self.move(order, "activated")

    def move(self, order: Order, event: str) -> None:
        """Carries an order to its next state. Raises `IllegalMove` for a pair not in the table."""
        order.state = ORDER.after(order.state, event)
        self._entered(order)

    def _entered(self, order: Order) -> int:
        world = self._world
        service = catalog.services()[order.service]
        if order.state == "active" and service.kind == "number":
            self._account.add_number(order.subject)
        elif order.state == "active":
            self._account.register(service.platform, order.subject)
        elif order.state == "cancelled":
            self._account.drop(service.platform, order.subject)
        return world.journal.add(world.clock.now, CODE["order"], (order, order.state))
