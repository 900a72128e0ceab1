"""Requests of the management interface, read and held against their schemas (§4.2, §4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sendbox.contract.findings import show
from sendbox.engine.durations import instant
from sendbox.engine.remarks import Finding
from sendbox.services.account.http.errors import refused
from sendbox.services.advice import NUMBER_CONVERTED, advise
from sendbox.services.http.diagnosis import beside
from sendbox.services.http.exchange import Exchange, Refused
from sendbox.services.http.forms import Unreadable, read_form, unknown_parameters
from sendbox.services.http.names import unknown_fields
from sendbox.services.http.requests import canonical, parsed, refusal
from sendbox.services.messaging.content import tags
from sendbox.services.messaging.rows import Filter, place_of
from sendbox.services.numbers import normal as numbers

if TYPE_CHECKING:
    from sendbox.services.account.billing import Billing

#: Fields that hold addresses of receivers, which change from run to run and enter no name.
_RECEIVERS: Final = frozenset({"default_callback_url", "default_callback_secret"})
#: Fields that hold names which the world gave, and which no other world has.
_NAMED: Final = frozenset({"apikey", "subid"})


def read_body(exchange: Exchange, missing: str | None = None, *needed: str) -> dict[str, Any]:
    """The body of a call, legal by the route's schema; `missing` is the text where one of `needed` is absent or empty.

    Leaves the canonical request in the exchange. Raises `Refused`.
    """
    request = parsed(exchange)
    if isinstance(request, dict):
        exchange.content = canonical(_unsalted(request, exchange))
        lacking = [name for name in needed if not request.get(name)]
        if lacking:
            checker = exchange.contract.checker(exchange.route.request or "")
            raise beside(_missing(exchange, lacking, missing or ""), checker.findings(request))
    checker = exchange.contract.checker(exchange.route.request or "")
    if not checker.is_valid(request):
        raise refusal(checker.findings(request))
    body: dict[str, Any] = request
    unknown_fields(body, _fields(exchange, exchange.route.request), "$", exchange.route.section, exchange.advice)
    return body


def read_query(exchange: Exchange, missing: str, needed: str) -> dict[str, str]:
    """The parameters of a call, legal by the route's schema; the same for a query."""
    try:
        fields = read_form(exchange.query, exchange.advice)
    except Unreadable as unreadable:
        raise refusal([unreadable.finding]) from None
    checker = exchange.contract.checker(exchange.route.query or "")
    if needed not in fields:
        raise beside(_missing(exchange, [needed], missing), checker.findings(fields))
    if not checker.is_valid(fields):
        raise refusal(checker.findings(fields))
    unknown_parameters(fields, _fields(exchange, exchange.route.query), exchange.advice)
    return fields


def subaccount(exchange: Exchange, subid: str | None, path: str = "$.subid") -> Billing:
    """The sub-account that a call is about (A70). Raises `Refused` for one that is not the key's."""
    found = exchange.world.subkeys.subaccount(exchange.key, subid)
    if found is None:
        raise refused("Subid is not available to this apikey", path, "subid", "§4.4", "A70", 403)
    return found


def read_day(exchange: Exchange, date: str) -> int:
    """The first instant of a day. Raises `Refused` for a day that the calendar does not have."""
    try:
        return instant(f"{date}T00:00:00Z")
    except ValueError:
        text = f"{show(date)} is no day of the calendar; legal: YYYY-MM-DD (§4.4, A28)"
        raise refusal([Finding("$.date", "date", text, "§4.4", "A28")]) from None


def read_filter(exchange: Exchange, fields: dict[str, str]) -> Filter:
    """Which rows a call asks for: of which sub-account, with which tags, of which phone (§4.4, A60, A70)."""
    wanted_tags: tuple[str, ...] | None = None
    if "tag" in fields:
        found = tags.normalize(fields["tag"])
        if found is not tags.DEFAULT:  # nothing left of it is no filter, as it is no tag of a message (A60)
            wanted_tags = tuple(sorted(found))
    phone = fields.get("phone_number")
    if phone is not None:
        number = numbers.normalize(phone, exchange.world.account.country) or phone
        if number != phone:
            text = f"{show(phone)} is converted to {number}"
            exchange.advice.append(advise(NUMBER_CONVERTED, text, "$.phone_number", "§4.4"))
        phone = number
    return Filter(subaccount(exchange, fields.get("subid")), wanted_tags, phone)


def read_cursor(exchange: Exchange, day: int, text: str | None) -> int:
    """The place that a cursor names, -1 for none. Raises `Refused` for one that this world never gave for the day."""
    if text is None:
        return -1
    place = place_of(exchange.world, day, text)
    if place is None:
        why = (
            f"{show(text)} is no cursor that was given for this day; legal: next_cursor of the page before (§4.4, A71)"
        )
        raise refusal([Finding("$.cursor", "cursor", why, "§4.4", "A71")])
    return place


def _fields(exchange: Exchange, schema: str | None) -> frozenset[str]:
    definition = exchange.contract.definitions[(schema or "").rpartition("/")[2]]
    return frozenset(definition["properties"])


def _missing(exchange: Exchange, names: list[str], text: str) -> Refused:
    section = exchange.route.section
    found = [
        Finding(f"$.{name}", "required", f"no {name} is given; it is required ({section})", section) for name in names
    ]
    return Refused(found, 400, text)


def _unsalted(request: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
    """The request without receivers, and with what stands for the world's own names, so that worlds compare."""
    alias = exchange.world.subkeys.alias
    return {
        name: alias(value) if name in _NAMED and isinstance(value, str) else value
        for name, value in request.items()
        if name not in _RECEIVERS
    }
