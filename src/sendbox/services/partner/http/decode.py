"""Bodies of the partner interface: read, held to the schema of their route, and refused (§4.3, §7.2; A37, A75).

A request of wrong form is answered with 400: a missing field has its own text, anything else the first finding. What
fails although the form is right is answered with 200, a key or a token that is not known too.
"""

from __future__ import annotations

from typing import Final

import orjson

from sendbox.contract.findings import show
from sendbox.contract.validators import Checker
from sendbox.engine import durations as spans
from sendbox.engine.answer import JsonObject
from sendbox.engine.remarks import Finding
from sendbox.engine.texts import regex
from sendbox.services.http.exchange import Answer, Exchange, Refused
from sendbox.services.http.requests import add_findings, canonical, parsed, refused_fields, unknown_fields
from sendbox.services.http.requests import refusal as refused_by
from sendbox.services.http.rest import error, field_names

Request = JsonObject

#: The reason why a token in the body does not let a call in.
_NO_TOKEN: Final = "a token is accepted for phone numbers, templates and analytics only (§5.3)"
_DATE: Final = regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read(exchange: Exchange, missing: int = 400) -> Request:
    """The body, parsed and legal by the route's schema. Raises `Refused`, under `missing` where a field is missing.

    It becomes `exchange.content`, for names and the digest: without its callback, in one form for any order of its
    fields.
    """
    body = parsed(exchange)
    checker = exchange.contract.checker(exchange.route.request or "")
    if isinstance(body, dict):
        unknown_fields(
            body, field_names(exchange, exchange.route.request), "$", exchange.route.section, exchange.advice
        )
    if exchange.route.operation == "partnerSignup":
        _check_mode(body, checker)
    if not checker.is_valid(body):
        refused = refusal(checker.findings(body))
        if refused.findings[0].rule == "required":
            refused.status = missing
        raise refused
    if exchange.advice and (unknown := refused_fields(exchange, exchange.advice)):
        raise refused_by(unknown)
    request: Request = body
    named = {name: value for name, value in request.items() if name != "partner_callback_url"}
    exchange.content = canonical(named)
    return request


def moment(value: float | str, path: str) -> int:
    """Virtual milliseconds of a point in time: Unix seconds, a date, or a date and time (A45). Raises `Refused`."""
    if not isinstance(value, str):  # 1772355600.0 is an integer too, to JSON Schema
        return int(value) * 1000
    try:
        return spans.instant(f"{value}T00:00:00Z" if _DATE.fullmatch(value) else value)
    except ValueError:
        text = f"{show(value)} is not a point in time; legal: Unix seconds, or 2026-03-01T09:00:00Z (§4.3, A45)"
        raise refusal([Finding(path, "instant", text, "§4.3", "A45")]) from None


def _check_mode(body: object, checker: Checker) -> None:
    """The mode that was removed is refused by its name (§9)."""
    if isinstance(body, dict) and body.get("phone_number") == "automatic":
        text = '"automatic" was removed as a mode of phone_number; legal: manual, preassign, assigned (§9)'
        raise add_findings(refusal([Finding("$.phone_number", "removed", text, "§9")]), checker.findings(body))


def refusal(findings: list[Finding]) -> Refused:
    """The refusal that shows the client the first finding: a missing field in the words of A37, else that finding."""
    first = findings[0]
    return missing(first.path.removeprefix("$."), findings) if first.rule == "required" else refused_by(findings)


def missing(fields: str, findings: list[Finding] | None = None) -> Refused:
    """The refusal of a call without a field that it needs, or without one of several: `a' or 'b` (A37)."""
    first, *others = fields.split("' or '")
    needed = " or ".join((first, *others))
    lacking = [Finding(f"$.{first}", "required", f"{needed} is missing (§4.3, A37)", "§4.3", "A37")]
    return Refused(findings or lacking, 400, f"Missing '{fields}' in request data")


def failure_answer(text: str) -> Answer:
    """The answer to a call of correct form that could not be done (A37)."""
    return Answer(200, orjson.dumps({"success": False, "message": text}))


def denial_answer(with_credentials: bool) -> Answer:
    """The answer to a call with a key or a token that is not known, and to one with neither (A37)."""
    return (
        failure_answer("Invalid apikey or token")
        if with_credentials
        else error(400, missing("xapikey' or 'token").text)
    )


def keyless_answer(with_credentials: bool) -> Answer:
    """The same where a token does not take the place of the key, though the body may have one (§5.3)."""
    return denial_answer(True) if with_credentials else error(400, f"{missing('xapikey').text}; {_NO_TOKEN}")
