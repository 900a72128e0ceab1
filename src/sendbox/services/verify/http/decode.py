"""Bodies of the Verify interface: parsed, held against their schema, and remarked on (§4.5; A57, A72, A75)."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

import orjson

from sendbox.contract.findings import QUOTED, show
from sendbox.contract.parse import Malformed, parse_json
from sendbox.engine.commands.requests import JSON_TYPE
from sendbox.engine.remarks import Finding
from sendbox.services.advice import (
    CONTENT_TYPE_MISSING,
    CONTENT_TYPE_NOT_JSON,
    NATIONAL_NUMBER,
    NUMBER_INVALID,
    UNKNOWN_FIELD,
    advise,
)
from sendbox.services.assume import Assume
from sendbox.services.http.numbers import remark_number as remark_sms_number
from sendbox.services.numbers.normal import normalize
from sendbox.services.ports import account_of
from sendbox.services.verify.http.errors import INVALID_PHONE, MISSING_FIELD, refusal
from sendbox.services.verify.verify import OPERATION

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Exchange

#: So many unknown fields are named one by one.
_NAMED: Final = 10


def parse(exchange: Exchange, remaining: int) -> Any:
    """The JSON value of the body. Raises `Refused` where it is none (A75); another content type is advice only."""
    _remark_content_type(exchange)
    try:
        body = parse_json(exchange.body)
    except Malformed as malformed:
        raise refusal(MISSING_FIELD, [malformed.finding], remaining, text=str(malformed)) from None
    if isinstance(body, dict) and Assume.of(exchange.world).nulls == "absent":
        body = {name: value for name, value in body.items() if value is not None}
    return body


def legal(exchange: Exchange, body: Any, remaining: int) -> dict[str, Any]:
    """The known fields of a body, legal by the route's schema. Raises `Refused`.

    A required field that is absent or null is missing, and so is one of a wrong form (A72), except the phone number of
    a new session, which is invalid (§7.2).
    """
    schema = exchange.route.request or ""
    checker = exchange.contract.checker(schema)
    node = exchange.contract.definitions[schema.rpartition("/")[2]]
    if not checker.is_valid(body):
        found = checker.findings(body)
        name = found[0].path.removeprefix("$").removeprefix(".").partition(".")[0]
        given = isinstance(body, dict) and body.get(name) is not None
        if given and name == "phoneNumber" and exchange.route.operation == OPERATION:
            raise refusal(INVALID_PHONE, found, remaining)
        if name and name not in node["required"]:
            raise refusal(MISSING_FIELD, found, remaining, text=found[0].message)
        raise refusal(MISSING_FIELD, found, remaining, field=name or node["required"][0])
    known = node["properties"]
    _remark_unknown(exchange, [name for name in body if name not in known], list(known))
    return {name: value for name, value in body.items() if name in known}


def misshapen(exchange: Exchange, body: Any) -> list[Finding]:
    """What is wrong with the shape of a body that is refused for another reason."""
    checker = exchange.contract.checker(exchange.route.request or "")
    return [] if checker.is_valid(body) else checker.findings(body)


def canonical(value: Any) -> bytes:
    """A body in one form: what names are derived from, and what the digest reads."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def remark_number(exchange: Exchange, phone: str) -> None:
    """Advice on a number that no SMS will reach as it was meant."""
    if normalize(phone, "") is None:
        text = f'"{phone}" has no assigned calling code, or fewer than 8 digits; its SMS will be rejected'
        exchange.advice.append(advise(NUMBER_INVALID, text, "$.phoneNumber"))
    elif normalize(phone, account_of(exchange.world).country) != phone:
        text = f'"{phone}" looks like a national number; the country code is to be included, nothing is converted here'
        exchange.advice.append(advise(NATIONAL_NUMBER, text, "$.phoneNumber"))
    else:
        remark_sms_number(phone, "$.phoneNumber", exchange.advice)


def token_of(body: bytes) -> str:
    """The token that a body names, "" where it names none: by its tag the world of an offline check is found."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    token = value.get("token") if isinstance(value, dict) else None
    return token if isinstance(token, str) else ""


def _remark_content_type(exchange: Exchange) -> None:
    value = exchange.header(b"content-type")
    if value is None:
        text = "no content type is given; the body is read as application/json"
        exchange.advice.append(advise(CONTENT_TYPE_MISSING, text, "header content-type"))
    elif value.split(b";")[0].strip().lower() != JSON_TYPE:
        text = f"{show(value.decode('latin-1'))} is not application/json; the body is read as JSON all the same"
        exchange.advice.append(advise(CONTENT_TYPE_NOT_JSON, text, "header content-type"))


def _remark_unknown(exchange: Exchange, unknown: list[str], known: list[str]) -> None:
    for name in unknown[:_NAMED]:
        near = get_close_matches(name, known, 1) if len(name) <= QUOTED else []
        hint = f"; nearest is {show(near[0])}" if near else ""
        text = f"{show(name)} is not a field here and has no effect{hint}"
        exchange.advice.append(advise(UNKNOWN_FIELD, text, f"$.{name[:QUOTED]}", "§4.5"))
    if len(unknown) > _NAMED:
        text = f"{len(unknown) - _NAMED} more fields are not fields here and have no effect"
        exchange.advice.append(advise(UNKNOWN_FIELD, text, "$", "§4.5"))
