"""Money: what an attempt costs, and what is left of the credit (A61)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from tests.model.numbers import calling_code

FREE: Final = {"czk": Decimal(0), "eur": Decimal(0)}


def price(prices: Mapping[str, Any], channel: str, number: str, count: int) -> dict[str, Decimal]:
    """The price of so many segments by country and channel, in both currencies."""
    listed = prices[channel]
    one = listed.get(calling_code(number), listed["default"])
    return {currency: Decimal(str(one[currency])) * count for currency in FREE}


@dataclass
class Balance:
    """The credit of an account, in its currency."""

    currency: str
    left: Decimal

    def pays(self, cost: Mapping[str, Decimal]) -> bool:
        """Whether it suffices."""
        return self.left >= cost[self.currency]

    def charge(self, cost: Mapping[str, Decimal]) -> None:
        """Takes a price; nothing is ever given back."""
        self.left -= cost[self.currency]
