"""Numbers for clients that bring none: from the service's pool, or assigned before (§4.3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from sendbox.services.numbers.countries import codes
from sendbox.services.partner.records import Failure

if TYPE_CHECKING:
    from sendbox.engine.draws import Chooser
    from sendbox.services.partner.records import Signup


def calling_code(country: str | None, default: str) -> str:
    """The calling code of a country, given as calling code or ISO code; `default` if the country is not known."""
    code_or_iso = (country or "").strip().lstrip("+").upper()
    return next((code for code, row in codes().items() if code_or_iso in (code, row.country)), default)


def iso_of(code: str) -> str:
    """The ISO code of the country of a calling code."""
    return codes()[code].country


def pick_from_pool(taken: Collection[str | None], chooser: Chooser, code: str, key: str) -> str:
    """A number from the pool of a country that is not `taken`.

    Drawn from the seed, not from the world's name: equal signups get equal numbers in every world.
    """
    first = 10 ** (max(codes()[code].lengths) - 2)  # the least number that has as many digits as remain
    n = 0
    while True:
        draw = chooser.scoped("pool", f"{code}\0{key}", n, 16)
        phone = draw.digits(first, 10 * first - 1, "number", f"{code}9")
        if phone not in taken:
            return phone
        n += 1


def pick_assigned(
    taken: Collection[str | None], signups: Iterable[Signup], numbers: frozenset[str], client_id: str | None
) -> str:
    """A number that the client has: pre-assigned by an earlier signup, else one of the account.

    Raises `Failure` when none is free.
    """
    earlier = [
        signup.phone_number
        for signup in signups
        if signup.mode == "preassign" and signup.client_id == client_id and client_id is not None
    ]
    for phone in (*reversed(earlier), *sorted(numbers)):
        if phone is not None and phone not in taken:
            return phone
    who = "this client" if client_id is None else f'"{client_id}"'
    text = f"no number is assigned to {who}; pre-assign one, or give the account one"
    raise Failure(text, "$.phone_number", "assigned", assumed="A38")
