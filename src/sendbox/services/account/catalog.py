"""The catalog of services that can be ordered: sender names, virtual numbers, SIM hosting (§2.5, §4.4).

Countries, figures and texts are made up, of a realistic size; their shape is the specification's.
The table is `catalog.json`: each variant exists in each country. The tree is
`sender.<platform>.<calling code>.<variant>`; the flat id joins the same words with underscores.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Any, Final, Literal

from sendbox.engine.classes import dataclass
from sendbox.services.tables import table

#: The periods that an order may name (A31).
PERIODS: Final = ("month", "quarter", "year", "once")
_MONTHS: Final = {"month": 1, "year": 12}
#: How many numbers the pool of one service holds.
POOL: Final = 10


@dataclass(frozen=True, slots=True)
class Price:
    """A price in one currency, in its units. `min_interval` is the interval that is paid at a time, else a month."""

    setup: float
    monthly: float
    min_interval: Literal["month", "year"] | None = None
    min_monthly_spend: float | None = None

    @property
    def fee(self) -> float:
        """The fee of an order: setup and the months of the interval, whichever period it names (A31)."""
        return self.setup + self.monthly * _MONTHS[self.min_interval or "month"]

    def as_json(self) -> dict[str, Any]:
        """As the catalog shows it (§2.5)."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Service:
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

    def as_json(self) -> dict[str, Any]:
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


def _service(country: dict[str, Any], variant: dict[str, Any]) -> Service:
    names = {tongue: text.format(country=country["names"][tongue]) for tongue, text in variant["name"].items()}
    prices = {currency: Price(**price) for currency, price in variant["prices"].items()}
    pool = country["pool"] if variant["subject"] == "assigned" else ""
    return Service(**variant | {"code": country["code"], "name": names, "prices": prices, "pool": pool})


def tree() -> dict[str, Any]:
    """The catalog as `/credit/services` shows it: platform, calling code, variant below `sender`."""
    sender: dict[str, dict[str, dict[str, Any]]] = {}
    for service in services().values():
        sender.setdefault(service.platform, {}).setdefault(service.code, {})[service.variant] = service.as_json()
    return {"sender": sender}
