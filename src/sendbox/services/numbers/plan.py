"""The world's numbering plans: calling codes (E.164), countries, MCC and main MNCs (E.212).

The tables are `codes.json`, and `territories.json` for countries that share a code with another one. Where a territory
uses the MCC of its mother country on the air, that one stands there. Codes of no country have the shared MCC 901.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from sendbox.services.tables import table


class Code(NamedTuple):
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


class Territory(NamedTuple):
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
