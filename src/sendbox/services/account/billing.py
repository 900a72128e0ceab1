"""A balance, and the lists of numbers that go with it (§2.5, §4.4; A70).

Every account has one, whose `subid` is `default`; a sub-key that shares no credit has its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

#: The `subid` of the account itself and of the sub-keys that share its credit (A70).
DEFAULT_SUBID: Final = "default"


class Billing:
    """Money in millionths of `currency`. Lists map a number to the instant from which it is in force (A81).

    From `complete_at` on every entry is in force.
    """

    __slots__ = ("balance", "blacklist", "complete_at", "currency", "optout", "spent", "subid")

    def __init__(
        self, subid: str, currency: str, balance: int = 0, optout: Iterable[str] = (), blacklist: Iterable[str] = ()
    ) -> None:
        self.subid = subid
        self.currency = currency
        self.balance = balance
        self.spent = 0
        self.optout: dict[str, int] = dict.fromkeys(optout, 0)
        self.blacklist: dict[str, int] = dict.fromkeys(blacklist, 0)
        self.complete_at = 0

    def charge(self, eur: int, czk: int) -> bool:
        """Takes the price in this currency if the balance covers it; it never goes below zero."""
        cost = eur if self.currency == "EUR" else czk
        if cost > self.balance:
            return False
        self.balance -= cost
        self.spent += cost
        return True

    def opted_out(self, number: str, now: int) -> bool:
        """True if the number is on the opt-out list, in force."""
        since = self.optout.get(number)
        return since is not None and since <= now

    def blacklisted(self, number: str, now: int) -> bool:
        """True if the number is on the blacklist, in force."""
        since = self.blacklist.get(number)
        return since is not None and since <= now
