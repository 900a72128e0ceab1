"""The catalog of services that can be ordered: sender names, virtual numbers, SIM hosting (§2.5, §4.4).

Countries, figures and texts are made up, of the order of what such services offer; their shape is the specification's.
The tree is `sender.<platform>.<calling code>.<variant>`; the flat id joins the same words with underscores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

#: Months that a period of an order has (A31).
PERIODS: Final = {"month": 1, "quarter": 3, "year": 12}
#: How many numbers the pool of one service holds.
POOL: Final = 10


@dataclass(frozen=True, slots=True)
class Price:
    """A price in one currency, in its units. `min_interval` is the shortest period an order may have."""

    setup: float
    monthly: float
    min_interval: Literal["month", "year"] | None = None
    min_monthly_spend: float | None = None

    def as_json(self) -> dict[str, Any]:
        """As the catalog shows it (§2.5)."""
        shown: dict[str, Any] = {"setup": self.setup, "monthly": self.monthly}
        if self.min_interval is not None:
            shown["min_interval"] = self.min_interval
        if self.min_monthly_spend is not None:
            shown["min_monthly_spend"] = self.min_monthly_spend
        return shown


@dataclass(frozen=True, slots=True)
class Service:
    """One variant of the catalog. `delay` is how many days pass until an order of it is active.

    `pool` is the beginning of the numbers that are assigned, "" where the customer supplies the subject. `kind` says
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
        shown: dict[str, Any] = {"name": self.name}
        if self.requirements is not None:
            shown["requirements"] = self.requirements
        if self.delay:
            shown["delay"] = self.delay
        return shown | {
            "subject": self.subject,
            "status": self.status,
            "prices": {currency: price.as_json() for currency, price in self.prices.items()},
        }


#: Calling code to the name of the country in each language, and the beginning of the numbers of its pool.
_COUNTRIES: Final = {
    "420": ("Czechia", "Česko", "4209000010"),
    "421": ("Slovakia", "Slovensko", "4219000010"),
    "48": ("Poland", "Polsko", "487999900"),
    "49": ("Germany", "Německo", "4915999900"),
}


def _price(czk: tuple[float, float], eur: tuple[float, float], **more: Any) -> dict[str, Price]:
    """Prices (setup, monthly) by currency; `more` holds in both."""
    spend = more.pop("min_monthly_spend", (None, None))
    return {
        "czk": Price(*czk, min_monthly_spend=spend[0], **more),
        "eur": Price(*eur, min_monthly_spend=spend[1], **more),
    }


def _country(code: str, english: str, czech: str, pool: str) -> tuple[Service, ...]:
    return (
        Service(
            "sms",
            code,
            "text",
            {"en": f"Text sender for SMS, {english}", "cs": f"Textový odesílatel SMS, {czech}"},
            _price((0, 250), (0, 10), min_interval="month"),
            requirements={"en": "The name of a company or brand of yours", "cs": "Název vaší firmy nebo značky"},
        ),
        Service(
            "sms",
            code,
            "number",
            {"en": f"Virtual number for SMS, {english}", "cs": f"Virtuální číslo pro SMS, {czech}"},
            _price((500, 375), (20, 15), min_interval="month"),
            "assigned",
            "number",
            pool=pool,
        ),
        Service(
            "sms",
            code,
            "simhost",
            {"en": f"Hosting of your own SIM card, {english}", "cs": f"Hosting vlastní SIM karty, {czech}"},
            _price((1250, 750), (50, 30), min_interval="year"),
            kind="number",
            requirements={"en": "A SIM card, sent to us by mail", "cs": "SIM karta zaslaná poštou"},
            delay=3,
        ),
        Service(
            "richmsg",
            code,
            "text",
            {"en": f"Rich-message sender, {english}", "cs": f"Odesílatel bohatých zpráv, {czech}"},
            _price((2500, 0), (100, 0), min_monthly_spend=(2500, 100)),
            requirements={"en": "A logo and a description", "cs": "Logo a popis"},
            delay=5,
        ),
    )


SERVICES: Final = {service.id: service for code, names in _COUNTRIES.items() for service in _country(code, *names)}


def tree() -> dict[str, Any]:
    """The catalog as `/credit/services` shows it: platform, calling code, variant below `sender`."""
    sender: dict[str, dict[str, dict[str, Any]]] = {}
    for service in SERVICES.values():
        sender.setdefault(service.platform, {}).setdefault(service.code, {})[service.variant] = service.as_json()
    return {"sender": sender}
