"""Request reading shared by the JSON interfaces: the parsing, the canonical form, and the wording of a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from sendbox.contract.findings import show
from sendbox.contract.parse import Malformed, parse_json
from sendbox.engine.commands.record import JSON_TYPE, compact
from sendbox.engine.remarks import Finding
from sendbox.services.advice import CONTENT_TYPE_MISSING, CONTENT_TYPE_NOT_JSON, advise
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Exchange, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Fields that hold the client's own values, in which a null means what the client says.
VALUES: Final = frozenset({"payload", "params_buttons", "parameters_buttons", "parameters_body"})
#: No field of a request is nested deeper.
FIELDS_DEEP: Final = 20


def line(finding: Finding) -> str:
    """A finding as the client reads it, in one line: value, rule, path (A11)."""
    return " ".join(f"{finding.message} at {finding.path}".split())


def refusal(findings: Sequence[Finding], status: int = 400) -> Refused:
    """The refusal that shows the client the first finding and the journal all of them (A11)."""
    return Refused(list(findings), status, line(findings[0]))


def parsed(exchange: Exchange, line: int = 1) -> Any:
    """The body of a call as JSON; under `nulls: absent` without the fields that are null (A56).

    `line` is the number of its first line. Raises `Refused` for malformed JSON (A75), for JSON out of bounds, and for
    another content type where the setting refuses it (A75).
    """
    finding = content_type_finding(exchange)
    if finding is not None:
        raise refusal([finding], 415)
    body = exchange.body
    try:
        request = parse_json(body, line)
    except Malformed as malformed:
        raise refusal([malformed.finding]) from None
    if b"null" in body and Assume.of(exchange.world).nulls == "absent":
        request = without_nulls(request)
    return request


def canonical(request: Any) -> bytes:
    """The request in one form, independent of the order of its fields: names are derived from it."""
    return compact(orjson.dumps(request, option=orjson.OPT_SORT_KEYS))


def without_nulls(value: Any, depth: int = FIELDS_DEEP) -> Any:
    """The request with each field left out that is `null`, for `nulls: absent` (A56).

    What is not a field stays as it is: the payload, values of template variables, and the legal nulls of
    `params_buttons` (§2.2). No field is deeper than `depth` levels.
    """
    if depth and isinstance(value, dict):
        return {
            name: item
            if name in VALUES or (name == "params" and isinstance(item, list))
            else without_nulls(item, depth - 1)
            for name, item in value.items()
            if item is not None
        }
    if depth and isinstance(value, list):
        return [without_nulls(item, depth - 1) for item in value]
    return value


def content_type_finding(exchange: Exchange) -> Finding | None:
    """The finding about a content type that is not JSON; None, with advice, if the body is read anyway (A75)."""
    value = exchange.header(b"content-type")
    if value == JSON_TYPE:
        return None
    code, text = CONTENT_TYPE_MISSING, "no content type is given"
    if value is not None:
        kind = value.split(b";")[0].strip().lower()
        if kind == JSON_TYPE or (kind.startswith(b"application/") and kind.endswith(b"+json")):
            return None
        code, text = CONTENT_TYPE_NOT_JSON, f"{show(value.decode('latin-1'))} is not application/json"
    if Assume.of(exchange.world).content_type == "strict":
        text = f"{text}; legal: application/json (§7, A75)"
        return Finding("header content-type", "content-type", text, "§7", "A75")
    text = f"{text}; the body is read as {'application/json' if value is None else 'JSON anyway'}"
    exchange.advice.append(advise(code, text, "header content-type"))
    return None


def token_in(body: bytes) -> str | None:
    """The text in the field `token` of a body, None if there is none: a token names the world of its call."""
    try:
        request = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    token = request.get("token") if isinstance(request, dict) else None
    return token if isinstance(token, str) else None
