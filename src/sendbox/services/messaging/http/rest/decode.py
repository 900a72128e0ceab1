"""Requests for message rows: which day, which rows, from which place on (§4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendbox.contract.findings import show
from sendbox.engine.durations import instant
from sendbox.engine.remarks import Finding
from sendbox.services.http.numbers import remark_converted
from sendbox.services.http.requests import refusal
from sendbox.services.http.rest import no_subaccount
from sendbox.services.messaging.content import tags
from sendbox.services.messaging.http.rest.listing import Filter, place_of
from sendbox.services.numbers import normal as numbers
from sendbox.services.ports import account_of

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Exchange


def read_day(exchange: Exchange, date: str) -> int:
    """The first instant of a day. Raises `Refused` for a day that the calendar does not have."""
    try:
        return instant(f"{date}T00:00:00Z")
    except ValueError:
        text = f"{show(date)} is not a day of the calendar; legal: YYYY-MM-DD (§4.4, A28)"
        raise refusal([Finding("$.date", "date", text, "§4.4", "A28")]) from None


def read_filter(exchange: Exchange, fields: dict[str, str]) -> Filter:
    """Which rows a call asks for: of which sub-account, with which tags, of which phone (§4.4, A60, A70)."""
    wanted_tags: tuple[str, ...] | None = None
    if "tag" in fields:
        cleaned = tags.normalize(fields["tag"])
        if cleaned is not tags.DEFAULT:  # an empty filter does not filter, as an empty tag is not a tag (A60)
            wanted_tags = tuple(sorted(cleaned))
    phone = fields.get("phone_number")
    if phone is not None:
        number = numbers.normalize(phone, account_of(exchange.world).country) or phone
        remark_converted(phone, number, "$.phone_number", exchange.advice, "§4.4")
        phone = number
    billing = account_of(exchange.world).subaccount(exchange.key, fields.get("subid"))
    if billing is None:
        raise no_subaccount()
    return Filter(billing, wanted_tags, phone)


def read_cursor(exchange: Exchange, day: int, text: str | None) -> int:
    """The place that a cursor names, -1 for none. Raises `Refused` for one that this world did not give for the day."""
    if text is None:
        return -1
    place = place_of(exchange.world, day, text)
    if place is None:
        why = f"{show(text)} is not a cursor of this day; legal: next_cursor of the page before (§4.4, A71)"
        raise refusal([Finding("$.cursor", "cursor", why, "§4.4", "A71")])
    return place
