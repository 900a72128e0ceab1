"""Reads the bodies of the partner interface: JSON that keeps to the route's schema (§4.3, A37, A75)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from sendbox.contract.findings import show
from sendbox.contract.parse import Malformed, parse_json
from sendbox.engine import durations as spans
from sendbox.engine.remarks import Finding
from sendbox.services.assume import Assume
from sendbox.services.http.diagnosis import beside
from sendbox.services.http.exchange import Exchange
from sendbox.services.http.requests import canonical, remark_content_type
from sendbox.services.partner.http.errors import refusal

if TYPE_CHECKING:
    from sendbox.contract.validators import Checker

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read(exchange: Exchange) -> dict[str, Any]:
    """The body, parsed and legal by the route's schema. Raises `Refused`.

    It is left for names and digest as `exchange.content`, without its callback, in one form whatever the order of
    its fields.
    """
    remark_content_type(exchange)
    try:
        given: Any = parse_json(exchange.body)
    except Malformed as malformed:
        raise refusal([malformed.finding]) from None
    if Assume.of(exchange.world).nulls == "absent":
        given = _without_nulls(given)
    checker = exchange.contract.checker(exchange.route.request or "")
    _check_mode(given, checker)
    if not checker.is_valid(given):
        raise refusal(checker.findings(given))
    request: dict[str, Any] = given
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


def _check_mode(given: Any, checker: Checker) -> None:
    """The mode that was removed is refused by its name (§9)."""
    if isinstance(given, dict) and "partner_callback_url" in given and given.get("phone_number") == "automatic":
        text = '"automatic" was removed as a mode of phone_number; legal: manual, preassign, assigned (§9)'
        raise beside(refusal([Finding("$.phone_number", "removed", text, "§9")]), checker.findings(given))


def _without_nulls(value: Any) -> Any:
    """The value without fields that are null, as if they had been left out (A56)."""
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value
