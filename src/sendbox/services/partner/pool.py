"""Where a client's number comes from when it brings none: the service's pool, or what was assigned to it (§4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from sendbox.services.numbers.plan import codes
from sendbox.services.partner.records import Failure

if TYPE_CHECKING:
    from sendbox.engine.chooser.draws import Chooser
    from sendbox.services.partner.records import BusinessNumber, Signup


class Connected(Protocol):
    """What partner management of a world has given out already."""

    numbers: dict[str, BusinessNumber]
    signups: dict[str, Signup]


def calling_code(country: str | None, default: str) -> str:
    """The calling code of a country, given by that or by its ISO code; `default` where it is not known."""
    wanted = (country or "").strip().lstrip("+").upper()
    return next((code for code, row in codes().items() if wanted in (code, row.country)), default)


def iso_of(code: str) -> str:
    """The ISO code of the country of a calling code."""
    return codes()[code].country


def pooled(there: Connected, chooser: Chooser, code: str, key: str) -> str:
    """A number from the pool of a country: no business number, and none that another signup was promised.

    Drawn from the seed, not from the world's name: equal signups get equal numbers in every world.
    """
    first = 10 ** (max(codes()[code].lengths) - 2)  # the least number that has as many digits as are left
    taken: set[str | None] = {number.phone_number for number in there.numbers.values()}
    taken |= {signup.phone_number for signup in there.signups.values()}
    n = 0
    while True:
        drawn = chooser.scoped("pool", f"{code}\0{key}", n, 16)
        phone = drawn.digits(first, 10 * first - 1, "number", f"{code}9")
        if phone not in taken:
            return phone
        n += 1


def assigned(there: Connected, numbers: frozenset[str], client_id: str | None) -> str:
    """A number that is the client's already: pre-assigned by an earlier signup, else one of the account's.

    Raises `Failure` when there is none that is free.
    """
    used = {number.phone_number for number in there.numbers.values()}
    earlier = [
        signup.phone_number
        for signup in there.signups.values()
        if signup.mode == "preassign" and signup.client_id == client_id and client_id is not None
    ]
    for phone in (*reversed(earlier), *sorted(numbers)):
        if phone is not None and phone not in used:
            return phone
    who = "this client" if client_id is None else f'"{client_id}"'
    text = f"no number is assigned to {who}; pre-assign one, or give the account one"
    raise Failure(text, "$.phone_number", "assigned", assumed="A38")
