"""The deprecated legacy interface: /Send and /api-send.php with its recipient as `to`, POST and GET (§4.1, A13).

Its clients write the paths in any case, and send to the root as well.

The rules are those of a Message (§2.1); what breaks one has a code instead of a text. Refused calls are answered by one
line of plain text, `ERROR|<code>` or `ERROR`. The exact meaning of each of 101, 102 and 109 is not known; the
distinction here is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from sendbox.contract.findings import show
from sendbox.engine.answer import JsonObject
from sendbox.engine.remarks import Advice, Finding
from sendbox.engine.texts import regex
from sendbox.services import limits
from sendbox.services.advice import UNKNOWN_FIELD, advise
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Handler, Refused, Route
from sendbox.services.http.numbers import remark_recipient
from sendbox.services.http.requests import (
    Unreadable,
    canonical,
    form_problem,
    read_form,
    refused_fields,
    relocate,
    unknown_parameters,
)
from sendbox.services.http.routing import RouteFamily
from sendbox.services.messaging.channels import USUAL
from sendbox.services.messaging.http.accepting import accept, unpaid
from sendbox.services.messaging.http.sending.decode import read_datetime
from sendbox.services.messaging.http.sending.routes import without_callback
from sendbox.services.messaging.http.sending.simple import message_of, read_message
from sendbox.services.messaging.model import Send
from sendbox.services.numbers import notation
from sendbox.services.operations import CALLS
from sendbox.services.ports import account_of

#: the request cannot be read: not UTF-8, unknown path, wrong method
UNREADABLE: Final = 101
#: another parameter than those that have a code of their own is bad; so is a body that is not a form
BAD_PARAMETER: Final = 102
BAD_KEY: Final = 103
BAD_GATEWAY: Final = 104
NO_CREDIT: Final = 105
#: more numbers than one call may have
TOO_MANY: Final = 109
#: no number that can be normalized, or none at all
BAD_NUMBER: Final = 201
BAD_MESSAGE: Final = 202
BAD_SENDER: Final = 203
#: the server takes nothing more in
FULL: Final = 900
INTERNAL: Final = 901

CONTENT_TYPE: Final = b"text/plain; charset=utf-8"

#: HTTP status of each code (A13).
STATUS: Final = {
    UNREADABLE: 400,
    BAD_PARAMETER: 400,
    BAD_KEY: 401,
    BAD_GATEWAY: 400,
    NO_CREDIT: 402,
    TOO_MANY: 400,
    BAD_NUMBER: 400,
    BAD_MESSAGE: 400,
    BAD_SENDER: 400,
    FULL: 503,
    INTERNAL: 500,
}

ASSUMED: Final = ("A01", "A13", "A14", "A57", "A58", "A59", "A80", "A89")

_CODE_OF_STATUS: Final = {401: BAD_KEY, 402: NO_CREDIT, 415: BAD_PARAMETER, 503: FULL}
#: The types that have an effect; clients send others as well.
_TYPES: Final = ("utf", "sms")
#: Other words for gateways (A13).
_GATEWAYS: Final = {"economy": "lowcost", "low": "lowcost"}
#: A handler of a call whose fields were read.
FieldsHandler = Callable[[Exchange, dict[str, str]], Answer]
#: What stands between two numbers.
_SEPARATOR: Final = regex(r"[;,]")
_FIELDS: Final = frozenset(
    {"apikey", "message", "sender", "gateway", "type", "time", "expiration", "customid", "callback"}
)
_CODES: Final = {"$.message": BAD_MESSAGE, "$.sender": BAD_SENDER, "$.gateway": BAD_GATEWAY}


def error(status: int, text: str) -> Answer:
    """The answer to a refused call; `text` is its line where a handler refused, else the line follows from `status`.

    A status that has no code of its own is 9xx from 500 on, 101 below; a body that is not a form is 102, with 400.
    """
    if not text.startswith("ERROR"):
        code = _CODE_OF_STATUS.get(status, INTERNAL if status >= 500 else UNREADABLE)
        status, text = STATUS[code] if status == 415 else status, f"ERROR|{code}"
    return Answer(status, text.encode(), CONTENT_TYPE)


def deny(_with_key: bool) -> Answer:
    """The answer to a denied key, and to none (A13)."""
    return error(401, "")


def line(code: int, assume: Assume) -> str:
    """The line of a refusal: with its code, or without where `legacy_error` is `plain` (A13)."""
    return "ERROR" if assume.legacy_error == "plain" else f"ERROR|{code}"


def refusal(code: int, findings: Sequence[Finding], assume: Assume) -> Refused:
    """The refusal whose line goes to the client, and whose findings go to the journal."""
    return Refused(list(findings), STATUS[code], line(code, assume))


def read_fields(exchange: Exchange, raw: bytes) -> dict[str, str]:
    """The fields of a call. Raises `Refused` with 101 for what is not UTF-8."""
    try:
        return read_form(raw, exchange.advice)
    except Unreadable as unreadable:
        raise refusal(UNREADABLE, [unreadable.finding], Assume.of(exchange.world)) from None


def check_media_type(exchange: Exchange) -> None:
    """Refuses with 102 a body of another content type than a form; one without a content type is read as a form."""
    problem = form_problem(exchange.headers, exchange.body)
    if problem is not None:
        finding = Finding("header content-type", "content-type", problem, "§4.1", "A13")
        raise refusal(BAD_PARAMETER, [finding], Assume.of(exchange.world))


def decode(exchange: Exchange, fields: dict[str, str], name: str, schema: str) -> tuple[Send, bytes]:
    """The `Send` of a call whose recipients are in the field `name`, and its canonical content (A13).

    Several numbers have `;` or `,` between them; those that cannot be normalized are left out. Raises `Refused`: 201
    without a number that is left, 202 for the message, 203 for the sender, 104 for the gateway, 109 for too many
    numbers, 102 for anything else.
    """
    problems: list[Finding] = []
    phone_numbers = [*filter(None, map(str.strip, _SEPARATOR.split(fields.get(name, ""))))]
    if len(phone_numbers) > limits.IN_ALL:
        text = f"{len(phone_numbers)} numbers are more than the {limits.IN_ALL} that one call may have"
        problems.append(_fault(name, "maxItems", text))
    country = account_of(exchange.world).country
    recipients = [
        number for number in phone_numbers[: limits.IN_ALL] if notation.normalize(number, country) is not None
    ]
    if not recipients:
        problem = (
            f"{show(fields[name])} has no number that can be normalized" if phone_numbers else f"no {name} is given"
        )
        problems.append(
            _fault(name, "phone-number" if phone_numbers else "required", f"{problem}; legal: one number or several")
        )
    if "message" not in fields:
        problems.append(_fault("message", "required", "no message is given; legal is a text"))
    problems += check_schema(exchange, fields, schema, {finding.path for finding in problems})
    unknown_parameters(fields, _FIELDS | {name}, exchange.advice)
    if fields.get("type", "utf") not in _TYPES:
        text = f"{show(fields['type'])} is not a type that is known ({', '.join(_TYPES)}) and has no effect"
        exchange.advice.append(advise(UNKNOWN_FIELD, text, "$.type", "§4.1"))
    problems += refused_fields(exchange, exchange.advice)
    names = {"phone_number": name, "message": "message", "datetime": "time"}
    gateway = _GATEWAYS.get(fields.get("gateway", ""))
    if gateway is not None:
        fields = fields | {"gateway": gateway}
    message = message_of(fields, names, recipients, exchange, problems)
    if fields.get("type") in _TYPES:
        step: JsonObject = message["flow"][0][USUAL] if "flow" in message else {}
        message["flow"] = [{USUAL: {**step, "type": fields["type"]}}]
    send = read_message(message, names, exchange, problems)
    expires = _read_expiration(fields, exchange, problems)
    if send is None or problems:
        raise refusal(_code(problems[0], name), problems, Assume.of(exchange.world))
    for number in phone_numbers:
        if number not in recipients:
            remark_recipient(number, None, f"$.{name}", exchange.advice, "is left out (A13)")
    send.expires = expires
    message |= {field: fields[field] for field in ("expiration", "customid") if field in fields}
    return send, canonical(without_callback(message))


def _read_expiration(fields: dict[str, str], exchange: Exchange, problems: list[Finding]) -> int | None:
    """The instant at which the message expires; None where it never does, or the text is no instant."""
    if "expiration" not in fields or any(finding.path == "$.expiration" for finding in problems):
        return None
    findings: list[Finding] = []
    remarks: list[Advice] = []
    expires = read_datetime(fields["expiration"], "$", findings, remarks)
    places = {"$.datetime": "$.expiration"}
    problems += relocate(findings, places)
    exchange.advice += relocate(remarks, places)
    return expires


def check_schema(exchange: Exchange, fields: dict[str, str], schema: str, places: set[str]) -> list[Finding]:
    """The findings of the schema, except at places that already have a finding."""
    # The key may have come another way; the caller is known before any handler runs (§5).
    fields = {"apikey": exchange.key.id, **fields}
    checker = exchange.contract.checker(schema)
    if checker.is_valid(fields):
        return []
    return [finding for finding in checker.findings(fields) if finding.path not in places]


def _code(finding: Finding, name: str) -> int:
    """The code of a refusal by its first finding."""
    if finding.rule == "maxItems":
        return TOO_MANY
    return BAD_NUMBER if finding.path == f"$.{name}" else _CODES.get(finding.path, BAD_PARAMETER)


def _fault(name: str, rule: str, text: str) -> Finding:
    return Finding(f"$.{name}", rule, f"{text} (§4.1, A13)", "§4.1", "A13")


def _send(name: str, schema: str) -> FieldsHandler:
    """The handler of a row whose recipients are in the field `name`: each number gets its own line."""
    return lambda exchange, fields: _accept(exchange, *decode(exchange, fields, name, schema), fields.get("customid"))


def _accept(exchange: Exchange, send: Send, content: bytes, custom_id: str | None) -> Answer:
    finding = unpaid(exchange, send, "A13")
    if finding is not None:
        raise refusal(NO_CREDIT, [finding], Assume.of(exchange.world))
    phone_numbers = [recipient.number for recipient in send.recipients]
    ids = accept(exchange, [send], content).messages[0]
    return answer(ids, phone_numbers, custom_id, Assume.of(exchange.world))


def answer(ids: Sequence[str | None], phone_numbers: Sequence[str], custom_id: str | None, assume: Assume) -> Answer:
    """One line for each number, in their order: `OK|<id>`, with `legacy_answer: number` number and `customid` too."""
    lines = []
    for id, number in zip(ids, phone_numbers, strict=True):
        further = [number, custom_id] if assume.legacy_answer == "number" else []
        lines.append("|".join(filter(None, ("OK", id, *further))))
    return text_answer("\n".join(lines))


def text_answer(text: str) -> Answer:
    """200 with plain text."""
    return Answer(200, text.encode(), CONTENT_TYPE)


#: What the routes of the old interface have in common; each answer has the schema of its refusal unless it says more.
FAMILY: Final = RouteFamily(
    "§4.1", "legacy.json", "SendResult", error, deny, ("A13", "A57"), errors=(400, 401), auth="form"
)


def read_first(operation: str, handler: FieldsHandler) -> Handler:
    """The handler of an operation, for one that gets the fields of the form or the query."""
    form = CALLS[operation].part == "form"

    def handle(exchange: Exchange) -> Answer:
        if form:
            check_media_type(exchange)
        return handler(exchange, read_fields(exchange, exchange.body if form else exchange.query))

    return handle


def _route(operation: str, name: str, schema: str, summary: str) -> Route:
    handler = read_first(operation, _send(name, FAMILY.schema(schema)))
    route = FAMILY.route(operation, summary, handler, schema, "SendResult", *ASSUMED, errors=(400, 401, 402))
    return replace(route, any_case=True, at_root=name == "number")


ROUTES: Final = (
    _route("legacySend", "number", "SendForm", "Send one text with a form (deprecated)"),
    _route("legacySendByQuery", "number", "SendForm", "Send one text with query parameters (deprecated)"),
    _route("legacyApiSend", "to", "ApiSendForm", "Send one text with a form (deprecated)"),
    _route("legacyApiSendByQuery", "to", "ApiSendForm", "Send one text by query (deprecated)"),
)
