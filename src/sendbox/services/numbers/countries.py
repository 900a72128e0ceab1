"""The world's numbering plans: calling codes (E.164), countries, MCC and MNCs (E.212), and where numbers belong (A82).

The tables are `codes.json`, and `territories.json` for countries that share a code with another one. Where a territory
uses the MCC of its mother country on the air, that one stands there. Codes of no country have the shared MCC 901. A
number belongs to the row with the longest prefix it begins with (§6 `country`, `operator`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final, Protocol

import msgspec
from msgspec import Struct

from sendbox.engine.draws import Chooser
from sendbox.services.tables import table


class Code(Struct, frozen=True):
    """A calling code, its ISO 3166 country (`001` = no country) and the country's name.

    `mncs` are those of the main networks (never 0, which means "unknown" on the wire, A82), `lengths` those that a
    fixed or mobile number has behind the code, `begins` the first two digits behind it that the national plan assigns,
    single ones and ranges (all if none is known; no number is refused because of it, A14).
    """

    code: str
    country: str
    name: str
    mcc: int
    mncs: tuple[int, ...]
    lengths: tuple[int, ...]
    begins: str


class Territory(Struct, frozen=True):
    """A country that shares a calling code with another: the prefixes behind the code that are its own."""

    code: str
    prefixes: tuple[str, ...]
    country: str
    name: str
    mcc: int
    mncs: tuple[int, ...]


_ANY: Final = "00-99"


@cache
def codes() -> dict[str, Code]:
    """All calling codes."""
    return {
        row["code"]: Code(**{"begins": _ANY} | row | {"mncs": tuple(row["mncs"]), "lengths": tuple(row["lengths"])})
        for row in table(__name__, "codes.json")
    }


@cache
def heads() -> dict[str, Code]:
    """First three digits of a number to its calling code. No code begins with 0, and none is a beginning of another."""
    assigned = codes()
    nearest = {
        head: assigned.get(head) or assigned.get(head[:2]) or assigned.get(head[:1])
        for head in map(str, range(100, 1000))
    }
    return {head: code for head, code in nearest.items() if code is not None}


@cache
def territories() -> tuple[Territory, ...]:
    """All territories with prefixes of their own."""
    return tuple(
        Territory(**row | {"prefixes": tuple(row["prefixes"].split()), "mncs": tuple(row["mncs"])})
        for row in table(__name__, "territories.json")
    )


@cache
def beginnings(text: str) -> frozenset[str]:
    """The digits that `begins` of a code stands for."""
    pairs = (entry.partition("-") for entry in text.split())
    return frozenset(f"{n:02d}" for low, _, high in pairs for n in range(int(low), int(high or low) + 1))


class HasPhone(Protocol):
    """A case, as far as its phone goes."""

    def words(self, name: str) -> tuple[str, ...]:
        """A field as texts."""


class PhoneInCountry(msgspec.Struct, frozen=True):
    """The phone's country is one of those with these ISO codes."""

    countries: tuple[str, ...]

    def holds(self, case: HasPhone) -> bool:
        """True if the number belongs to one of these countries."""
        return any(code in self.countries for code in _codes(case))

    def says(self, case: HasPhone) -> str:
        """The phone's country."""
        return f"{' and '.join(_codes(case)) or 'nothing'} is not {' or '.join(self.countries)}"


def _codes(case: HasPhone) -> Iterator[str]:
    for phone in case.words("phone"):
        place = country(phone)
        if place is not None:
            yield place.iso


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


#: So many digits decide for most numbers.
DECIDING: Final = 3


@cache
def decided() -> dict[str, Country]:
    """The first digits that decide: one look-up for each country that has a calling code of its own."""
    table = _by_prefix()
    deep = {prefix[:DECIDING] for prefix in table if len(prefix) > DECIDING}
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
    place = decided().get(number[:DECIDING])
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
