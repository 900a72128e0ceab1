"""A condition of rules: the country of the phone that a case is about (A82)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import msgspec

from sendbox.services.numbers.countries import country


class About(Protocol):
    """A case, as far as its phone goes."""

    def words(self, name: str) -> tuple[str, ...]:
        """A field as texts."""


class Located(msgspec.Struct, frozen=True):
    """The phone's country is one of those with these ISO codes."""

    countries: tuple[str, ...]

    def holds(self, case: About) -> bool:
        """True if the number belongs to one of these countries."""
        return any(code in self.countries for code in _codes(case))

    def says(self, case: About) -> str:
        """The phone's country."""
        return f"{' and '.join(_codes(case)) or 'nothing'} is not {' or '.join(self.countries)}"


def _codes(case: About) -> Iterator[str]:
    for phone in case.words("phone"):
        place = country(phone)
        if place is not None:
            yield place.iso
