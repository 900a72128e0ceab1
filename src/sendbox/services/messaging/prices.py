"""The price of one segment (§6 `price_czk`, `price_eur`; A61).

The figures are invented, of the usual order of such prices: the sandbox shows that a charge was made, and that it
depends on country and channel. Millionths of the currency, so that sums stay integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from sendbox.services.assume import Prices
from sendbox.services.messaging.channels import FAMILY
from sendbox.services.numbers.countries import DECIDING, country, decided
from sendbox.services.tables import table

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


class CostTable(dict[str, Cost]):
    """The costs of an attempt on one channel with one count of segments, by the first digits that decide a country.

    All attempts of one cost share it.
    """

    __slots__ = ("_by_code", "_count", "_family", "_prices")

    def __init__(self, prices: Mapping[tuple[str, str], tuple[int, int]], family: str, count: int) -> None:
        super().__init__()
        self._prices, self._family, self._count = prices, family, count
        self._by_code: dict[str, Cost] = {}

    def of(self, phone: str) -> Cost:
        """The cost for a phone. For most `get` has it, by its first digits, once it was asked for."""
        place = country(phone)
        code = "" if place is None else place.code
        cost = self._by_code.get(code)
        if cost is None:
            eur, czk = self._prices.get((self._family, code)) or self._prices[self._family, ""]
            cost = self._by_code[code] = (eur * self._count, czk * self._count, self._count)
        head = phone[:DECIDING]
        if head in decided():
            self[head] = cost
        return cost


class Costs:
    """The prices of attempts in one world, looked up once for each channel, count and country."""

    __slots__ = ("_prices", "_tables")

    def __init__(self, own: Prices | None) -> None:
        self._prices = combine_prices(own)
        self._tables: dict[tuple[str, int], CostTable] = {}

    def of(self, channel: str, count: int) -> CostTable:
        """The costs of `count` segments."""
        key = (FAMILY[channel], count)
        costs = self._tables.get(key)
        if costs is None:
            costs = self._tables[key] = CostTable(self._prices, *key)
        return costs
