"""Services that can be ordered, and their orders (§2.5, §4.4 `/credit/services`, `/credit/order`; A31, A36).

The catalog (§2.5, §4.4)
------------------------
Sender names, virtual numbers, SIM hosting. Countries, figures and texts are made up, of a realistic size;
their shape is the specification's. The table is `catalog.json`: each variant exists in each country. The tree is
`sender.<platform>.<calling code>.<variant>`; the flat id joins the same words with underscores.

The order (§3.3, A36)
---------------------
An order of a service that needs nothing more is `active` at once; one that takes time begins `new` and is activated
when that time has passed. Either can be cancelled, which removes its sender from the account; `cancelled` is
an end, and the fee is not paid back (A61). A pair that is not in the table raises `IllegalMove`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, Literal, Protocol

import msgspec
from msgspec.structs import asdict

from sendbox.engine.answer import JsonObject
from sendbox.engine.draws import uuid_text
from sendbox.engine.durations import DAY
from sendbox.engine.journal import CODE
from sendbox.engine.lifecycle import Lifecycle
from sendbox.services.ports import Billing
from sendbox.services.tables import table

if TYPE_CHECKING:
    from sendbox.engine.world import World


#: The periods that an order may name (A31).
PERIODS: Final = ("month", "quarter", "year", "once")
_MONTHS: Final = {"month": 1, "year": 12}
#: How many numbers the pool of one service holds.
POOL: Final = 10


class Price(msgspec.Struct, frozen=True):
    """A price in one currency, in its units. `min_interval` is the interval that is paid at a time, else a month."""

    setup: float
    monthly: float
    min_interval: Literal["month", "year"] | None = None
    min_monthly_spend: float | None = None

    @property
    def fee(self) -> float:
        """The fee of an order: setup and the months of the interval, whichever period it names (A31)."""
        return self.setup + self.monthly * _MONTHS[self.min_interval or "month"]

    def as_json(self) -> JsonObject:
        """As the catalog shows it (§2.5)."""
        return {name: value for name, value in asdict(self).items() if value is not None}


class Service(msgspec.Struct, frozen=True):
    """One variant of the catalog. `delay` is how many days pass until an order of it is active.

    `pool` is the beginning of the numbers that are assigned, "" if the customer supplies the subject. `kind` says
    what the subject is.
    """

    platform: str
    code: str
    variant: str
    name: dict[str, str]
    prices: dict[str, Price]
    subject: Literal["defined", "assigned"] = "defined"
    kind: Literal["text", "number"] = "text"
    requirements: dict[str, str] | None = None
    delay: int = 0
    pool: str = ""

    @property
    def id(self) -> str:
        """The flat id, which an order names (§2.5)."""
        return f"sender_{self.platform}_{self.code}_{self.variant}"

    @property
    def status(self) -> str:
        """The state that an order of it begins in (A36)."""
        return "new" if self.delay else "active"

    def numbers(self) -> list[str]:
        """The pool, in the order in which it is assigned."""
        return [f"{self.pool}{number:02}" for number in range(POOL)]

    def as_json(self) -> JsonObject:
        """The variant as the catalog shows it (§2.5)."""
        return {
            "name": self.name,
            **({} if self.requirements is None else {"requirements": self.requirements}),
            **({"delay": self.delay} if self.delay else {}),
            "subject": self.subject,
            "status": self.status,
            "prices": {currency: price.as_json() for currency, price in self.prices.items()},
        }


@cache
def services() -> dict[str, Service]:
    """Every variant of every country, by its flat id."""
    data = table(__name__, "catalog.json")
    variants = [_service(country, variant) for country in data["countries"] for variant in data["variants"]]
    return {service.id: service for service in variants}


def _service(country: JsonObject, variant: JsonObject) -> Service:
    names = {tongue: text.format(country=country["names"][tongue]) for tongue, text in variant["name"].items()}
    prices = {currency: Price(**price) for currency, price in variant["prices"].items()}
    pool = country["pool"] if variant["subject"] == "assigned" else ""
    return Service(**variant | {"code": country["code"], "name": names, "prices": prices, "pool": pool})


def tree() -> JsonObject:
    """The catalog as `/credit/services` shows it: platform, calling code, variant below `sender`."""
    sender: dict[str, dict[str, JsonObject]] = {}
    for service in services().values():
        sender.setdefault(service.platform, {}).setdefault(service.code, {})[service.variant] = service.as_json()
    return {"sender": sender}


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


class Order(msgspec.Struct, eq=False):
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
        raise NoSender(f'"{service.id}" has no number left of its {POOL} (§4.4, A31)')

    def place(self, service: Service, subject: str, period: str, billing: Billing, content: bytes) -> Order:
        """Charges a service and makes its sender usable, at once or when it is active. Raises `NoCredit`."""
        world = self._world
        fee = fee_of(service, billing.currency)
        if not billing.charge((fee, fee)):
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
        service = services()[order.service]
        if order.state == "active" and service.kind == "number":
            self._account.add_number(order.subject)
        elif order.state == "active":
            self._account.register(service.platform, order.subject)
        elif order.state == "cancelled":
            self._account.drop(service.platform, order.subject)
        return world.journal.add(world.clock.now, CODE["order"], (order, order.state))
