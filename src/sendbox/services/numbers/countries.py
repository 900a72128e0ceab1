"""Which country a phone number belongs to, and the operators that there are (§6 `country`, `operator`; A82).

A number belongs to the row with the longest prefix it begins with.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import msgspec

from sendbox.services.numbers.plan import codes, territories

if TYPE_CHECKING:
    from sendbox.engine.draws import Chooser


class Country(msgspec.Struct, frozen=True):
    """A country, or a service without one (`iso` `001`).

    `code` is the calling code (`420`; `1` for all of North America), `mcc` and `mncs` its mobile country code and the
    network codes of its main operators, empty where unknown.
    """

    code: str
    iso: str
    name: str
    mcc: int
    mncs: tuple[int, ...]


@cache
def _by_prefix() -> dict[str, Country]:
    table = {row.code: Country(row.code, row.country, row.name, row.mcc, row.mncs) for row in codes().values()}
    for row in territories():
        place = Country(row.code, row.country, row.name, row.mcc, row.mncs)
        table |= {row.code + prefix: place for prefix in row.prefixes}
    return table


@cache
def _decided() -> dict[str, Country]:
    """Three digits that decide: one look-up for each country that has a calling code of its own."""
    table = _by_prefix()
    deep = {prefix[:3] for prefix in table if len(prefix) > 3}
    every_head = (str(head) for head in range(100, 1000))
    nearest = {
        head: table.get(head) or table.get(head[:2]) or table.get(head[:1]) for head in every_head if head not in deep
    }
    return {head: place for head, place in nearest.items() if place}


@cache
def _deepest() -> int:
    return max(map(len, _by_prefix()))


def country(number: str) -> Country | None:
    """The country of a normalized number, None if it does not begin with an assigned calling code."""
    place = _decided().get(number[:3])
    if place is not None:
        return place
    table = _by_prefix()
    for depth in range(_deepest(), 0, -1):
        place = table.get(number[:depth])
        if place is not None:
            return place
    return None


def every() -> frozenset[Country]:
    """All countries of the table, those without a mobile country code left out."""
    return frozenset(place for place in _by_prefix().values() if place.mcc)


def operator(number: str, chooser: Chooser) -> int:
    """The MNC of a normalized number, 0 if the country or its networks are unknown (A82).

    Drawn from the number alone, so that a phone keeps its operator in every world and every run.
    """
    place = country(number)
    if place is None or not place.mncs:
        return 0
    return place.mncs[chooser.constant("operator", number).pick(place.mncs, "network")]
