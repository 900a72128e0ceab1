"""The form of calls and answers of the management interface, which all services share (§4.2, §4.4, §7.2).

A request is read and held against its schema, an answer says `success`, a refusal is `{message}` with the texts that
are known (A26).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import orjson

from sendbox.engine.answer import JsonObject
from sendbox.engine.remarks import Finding
from sendbox.services.http.exchange import Answer, Exchange, Interface, Refused
from sendbox.services.http.requests import (
    Unreadable,
    add_findings,
    canonical,
    parsed,
    read_form,
    refusal,
    refused_fields,
    unknown_fields,
    unknown_parameters,
)
from sendbox.services.http.routing import RouteFamily

#: Assumptions that every endpoint rests on: statuses, scopes, malformed JSON, unknown fields, nulls.
ASSUMED: Final = ("A19", "A26", "A56", "A57", "A75")
#: The text for no key, and for one that is not known (A26).
UNAUTHORIZED: Final = "Unauthorized"
#: Fields that hold addresses of receivers, which change from run to run and enter no name.
_RECEIVER_FIELDS: Final = frozenset({"default_callback_url", "default_callback_secret"})
#: Fields that hold names which the world gave, and which no other world has.
_WORLD_NAMES: Final = frozenset({"apikey", "subid"})

# -- answers


def success(**fields: object) -> Answer:
    """200 with `success: true` and these further fields."""
    return Answer(200, orjson.dumps({"success": True, **fields}))


def error(status: int, text: str) -> Answer:
    """The answer to a refused call: `{message: text}` under `status` (§7.2)."""
    return Answer(status, orjson.dumps({"message": text}))


def decimal(millionths: int) -> str:
    """An amount as a decimal number in a string, with two places or more (§2.4)."""
    units, fraction = divmod(millionths, 1_000_000)
    places = f"{fraction:06}".rstrip("0")
    return f"{units}.{places:0<2}"


#: The paths below `/v1/` that belong to no other interface.
INTERFACE: Final = Interface("REST", ("/v1/",), error)


def unauthorized(_with_key: bool) -> Answer:
    """The answer to a denied key, and to none (A26)."""
    return error(401, UNAUTHORIZED)


def unauthorized_or(text: str) -> Callable[[bool], Answer]:
    """The same, but a call without any key is answered 400 with `text` (A26)."""
    return lambda with_key: error(401, UNAUTHORIZED) if with_key else error(400, text)


def refuse(text: str, path: str, rule: str, section: str, assumed: str | None = None, status: int = 400) -> Refused:
    """A refusal whose text the client gets as it stands; the journal has it with its place."""
    return Refused([Finding(path, rule, f"{text} ({section})", section, assumed)], status, text)


def no_subaccount() -> Refused:
    """The refusal of a sub-account that is not the key's (A70)."""
    return refuse("Subid is not available to this apikey", "$.subid", "subid", "§4.4", "A70", 403)


# -- requests


def read_body(
    exchange: Exchange, missing: str | None = None, *needed: str, texts: Mapping[str, str] | None = None
) -> JsonObject:
    """The body of a call, legal by the route's schema; `missing` is the text if one of `needed` is absent or empty.

    `texts` are those of the service for what the schema finds, by place. Leaves the canonical request in the exchange.
    Raises `Refused`.
    """
    request = parsed(exchange)
    if isinstance(request, dict):
        exchange.content = canonical(_comparable_content(request, exchange))
        unknown_fields(
            request, field_names(exchange, exchange.route.request), "$", exchange.route.section, exchange.advice
        )
        missing_names = [name for name in needed if not request.get(name)]
        if missing_names:
            checker = exchange.contract.checker(exchange.route.request or "")
            raise add_findings(lacks(exchange, missing_names, missing or ""), checker.findings(request))
    checker = exchange.contract.checker(exchange.route.request or "")
    if not checker.is_valid(request):
        findings = list(checker.findings(request))
        text = (texts or {}).get(findings[0].path)
        raise refusal(findings) if text is None else Refused(findings, 400, text)
    if exchange.advice and (unknown := refused_fields(exchange, exchange.advice)):
        raise refusal(unknown)
    body: JsonObject = request
    return body


def read_query(exchange: Exchange, missing: str, needed: str) -> dict[str, str]:
    """The parameters of a call, legal by the route's schema; the same for a query."""
    try:
        fields = read_form(exchange.query, exchange.advice)
    except Unreadable as unreadable:
        raise refusal([unreadable.finding]) from None
    unknown_parameters(fields, field_names(exchange, exchange.route.query), exchange.advice)
    checker = exchange.contract.checker(exchange.route.query or "")
    if needed not in fields:
        raise add_findings(lacks(exchange, [needed], missing), checker.findings(fields))
    if not checker.is_valid(fields):
        raise refusal(checker.findings(fields))
    if exchange.advice and (unknown := refused_fields(exchange, exchange.advice)):
        raise refusal(unknown)
    return fields


def field_names(exchange: Exchange, schema: str | None) -> frozenset[str]:
    """The names of the fields of a schema of the contract."""
    definition = exchange.contract.definitions[(schema or "").rpartition("/")[2]]
    return frozenset(definition["properties"])


def lacks(exchange: Exchange, names: list[str], text: str) -> Refused:
    """The refusal of a call without some fields; `text` is what the client gets."""
    section = exchange.route.section
    findings = [
        Finding(f"$.{name}", "required", f"no {name} is given; it is required ({section})", section) for name in names
    ]
    return Refused(findings, 400, text)


def _comparable_content(request: JsonObject, exchange: Exchange) -> JsonObject:
    """The request without receivers, and with placeholders for the world's own names, so that worlds compare."""
    alias = exchange.world.alias
    return {
        name: alias(value) if name in _WORLD_NAMES and isinstance(value, str) else value
        for name, value in request.items()
        if name not in _RECEIVER_FIELDS
    }


#: What the routes of the management interface have in common.
REST: Final = RouteFamily("§4.4", "rest.json", "RestError", error, unauthorized, ASSUMED, errors=(400, 401, 403, 500))
