"""Which country and which operator a phone number belongs to (§6 `country`, `operator`; A82).

The table is `numbering`; a number belongs to the row with the longest prefix it begins with.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from sendbox.services.numbers.plan import CODES, PARTS


@dataclass(frozen=True, slots=True)
class Country:
    """A country, or a service without one (`iso` `001`).

    `code` is the calling code (`420`; `1` for all of North America), `mcc` and `mncs` its mobile country code and the
    network codes of its main operators, empty where unknown.
    """

    code: str
    iso: str
    name: str
    mcc: int
    mncs: tuple[int, ...]


def _table() -> dict[str, Country]:
    found = {code: Country(code, iso, name, mcc, mncs) for code, iso, name, mcc, mncs, _ in CODES}
    for code, parts, iso, name, mcc, mncs in PARTS:
        part = Country(code, iso, name, mcc, mncs)
        for prefix in parts.split():
            found[code + prefix] = part
    return found


def _decided(table: dict[str, Country]) -> dict[str, Country]:
    deep = {prefix[:3] for prefix in table if len(prefix) > 3}
    heads = (str(head) for head in range(100, 1000))
    nearest = {
        head: table.get(head) or table.get(head[:2]) or table.get(head[:1]) for head in heads if head not in deep
    }
    return {head: found for head, found in nearest.items() if found}


_BY_PREFIX: Final = _table()
_DEPTHS: Final = range(max(map(len, _BY_PREFIX)), 0, -1)
#: Three digits that decide: one look-up for every country that shares its code with none.
_DECIDED: Final = _decided(_BY_PREFIX)


def country(number: str) -> Country | None:
    """The country of a normalized number, None when it begins with no assigned calling code."""
    found = _DECIDED.get(number[:3])
    if found is not None:
        return found
    for depth in _DEPTHS:
        found = _BY_PREFIX.get(number[:depth])
        if found is not None:
            return found
    return None


def every() -> frozenset[Country]:
    """All countries of the table, those without a mobile country code left out."""
    return frozenset(place for place in _BY_PREFIX.values() if place.mcc)


def operator(number: str) -> int:
    """The MNC of a normalized number, 0 where the country or its networks are unknown (A82).

    Drawn from the number alone, so that a phone keeps its operator in every world and every run.
    """
    found = country(number)
    if found is None or not found.mncs:
        return 0
    drawn = blake2b(number.encode(), key=b"operator", digest_size=8).digest()
    return found.mncs[int.from_bytes(drawn, "big") % len(found.mncs)]
