"""The price of one segment (§6 `price_czk`, `price_eur`; A61).

The figures are invented, of the usual order of such prices: the sandbox shows that a charge was made, and that it
depends on country and channel. Millionths of the currency, so that sums stay integers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Final

from sendbox.services.messaging.channels import FAMILY
from sendbox.services.numbers.countries import country
from sendbox.services.tables import table

if TYPE_CHECKING:
    from sendbox.services.assume import Prices

#: Crowns for a euro, in this table only; nothing converts an account's money.
CZK_PER_EUR: Final = 25


@cache
def prices() -> dict[tuple[str, str], tuple[int, int]]:
    """(channel, calling code) to the price of a segment, (EUR, CZK) in millionths; "" is every other country."""
    rows = table(__name__, "prices.json")
    return {(row["channel"], row["code"]): (row["eur"], row["eur"] * CZK_PER_EUR) for row in rows}


def combine_prices(own: Prices | None) -> dict[tuple[str, str], tuple[int, int]]:
    """One table to look prices up in: under (channel, calling code), and if that is absent under (channel, "")."""
    if own is None:
        return dict(prices())
    # A scenario's price for any other country also replaces our prices for single countries.
    replaced = {channel for channel, code in own.table if not code}
    return {key: value for key, value in prices().items() if key[0] not in replaced} | own.table


#: The price of an attempt in millionths (eur, czk), and the number of its segments.
Cost = tuple[int, int, int]


class Costs:
    """The prices of attempts in one world, looked up once for each channel, count and country."""

    __slots__ = ("_costs", "_prices")

    def __init__(self, own: Prices | None) -> None:
        self._prices = combine_prices(own)
        self._costs: dict[tuple[str, int], dict[str, Cost]] = {}

    def of(self, channel: str, count: int) -> Callable[[str], Cost]:
        """A function that gives the cost of `count` segments to a phone; all attempts of one cost share it."""
        family = FAMILY[channel]
        costs = self._costs.setdefault((family, count), {})

        def cost(phone: str) -> Cost:
            place = country(phone)
            code = "" if place is None else place.code
            if (price := costs.get(code)) is not None:
                return price
            eur, czk = self._prices.get((family, code)) or self._prices[family, ""]
            price = costs[code] = (eur * count, czk * count, count)
            return price

        return cost
