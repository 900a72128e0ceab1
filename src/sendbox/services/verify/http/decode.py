"""Bodies of the Verify interface: parsed, checked against their schema, with advice (§4.5; A57, A72, A75)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sendbox.contract.parse import Malformed, parse_json
from sendbox.services.advice import NATIONAL_NUMBER, NUMBER_INVALID, advise
from sendbox.services.assume import Assume
from sendbox.services.http.names import refused_fields, unknown_fields
from sendbox.services.http.numbers import remark_number as remark_sms_number
from sendbox.services.http.requests import content_type_finding, without_nulls
from sendbox.services.numbers.normal import normalize
from sendbox.services.ports import account_of
from sendbox.services.verify.http.errors import refusal
from sendbox.services.verify.verify import OPERATION

if TYPE_CHECKING:
    from sendbox.engine.remarks import Finding
    from sendbox.services.http.exchange import Exchange


def parse(exchange: Exchange, remaining: int) -> Any:
    """The JSON value of the body. Raises `Refused` for malformed JSON, and another content type (A75)."""
    finding = content_type_finding(exchange)
    if finding is not None:
        raise refusal("UNSUPPORTED_MEDIA_TYPE", [finding], remaining, text=finding.message)
    try:
        body = parse_json(exchange.body)
    except Malformed as malformed:
        raise refusal("MISSING_FIELD", [malformed.finding], remaining, text=str(malformed)) from None
    return without_nulls(body) if Assume.of(exchange.world).nulls == "absent" else body


def legal(exchange: Exchange, body: Any, remaining: int) -> dict[str, Any]:
    """The known fields of a body, legal by the route's schema. Raises `Refused`.

    A required field that is absent or null is missing, and so is one of a wrong form (A72), except the phone number of
    a new session, which is invalid (§7.2).
    """
    schema = exchange.route.request or ""
    checker = exchange.contract.checker(schema)
    node = exchange.contract.definitions[schema.rpartition("/")[2]]
    properties = node["properties"]
    if isinstance(body, dict):
        unknown_fields(body, frozenset(properties), "$", exchange.route.section, exchange.advice)
    if not checker.is_valid(body):
        findings = checker.findings(body)
        name = findings[0].path.removeprefix("$").removeprefix(".").partition(".")[0]
        present = isinstance(body, dict) and body.get(name) is not None
        if present and name == "phoneNumber" and exchange.route.operation == OPERATION:
            raise refusal("INVALID_PHONE", findings, remaining)
        if name and name not in node["required"]:
            raise refusal("MISSING_FIELD", findings, remaining, text=findings[0].message)
        raise refusal("MISSING_FIELD", findings, remaining, field=name or node["required"][0])
    if exchange.advice and (unknown := refused_fields(exchange, exchange.advice)):
        raise refusal("MISSING_FIELD", unknown, remaining, text=unknown[0].message)
    return {name: value for name, value in body.items() if name in properties}


def misshapen(exchange: Exchange, body: Any) -> list[Finding]:
    """The findings of the schema on a body that is refused for another reason."""
    checker = exchange.contract.checker(exchange.route.request or "")
    return [] if checker.is_valid(body) else checker.findings(body)


def remark_number(exchange: Exchange, phone: str) -> None:
    """Advice on a number that its SMS will not reach as intended."""
    if normalize(phone, "") is None:
        text = f'"{phone}" has no assigned calling code, or fewer than 8 digits; its SMS will be rejected'
        exchange.advice.append(advise(NUMBER_INVALID, text, "$.phoneNumber"))
    elif normalize(phone, account_of(exchange.world).country) != phone:
        text = f'"{phone}" looks like a national number; include the country code, since numbers are not converted here'
        exchange.advice.append(advise(NATIONAL_NUMBER, text, "$.phoneNumber"))
    else:
        remark_sms_number(phone, "$.phoneNumber", exchange.advice)
