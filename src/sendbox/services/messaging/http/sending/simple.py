"""`/simple/message`: one sms to one number, as query parameters or as a form (§4.1, A12).

The parameters are turned into the Message that they stand for, and read by its rules (§2.1, A13), here and for the old
interface (§4.1). The interface says under which name each is given; remarks keep the names that the client used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import orjson
from msgspec.structs import replace

from sendbox.contract.findings import show
from sendbox.contract.parser import Malformed, parse_json
from sendbox.engine.answer import JsonObject
from sendbox.engine.draws import uuid_text
from sendbox.engine.remarks import Advice, Finding
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Refused
from sendbox.services.http.requests import (
    FORM,
    Unreadable,
    canonical,
    choose_name,
    line,
    media_type,
    read_form,
    refusal,
    refused_fields,
    relocate,
    unknown_parameters,
    without_nulls,
)
from sendbox.services.http.routing import RouteFamily
from sendbox.services.messaging.channels import USUAL
from sendbox.services.messaging.http.accepting import accept, avoid_denial_words, deny, error, unpaid
from sendbox.services.messaging.http.sending.decode import decode_message
from sendbox.services.messaging.http.sending.routes import without_callback
from sendbox.services.messaging.messaging import number_finding
from sendbox.services.messaging.model import Send

#: What is read in place of a number or a text that is missing, so that the rest is read too.
_STAND_IN: Final = "420777000101"
CALLBACK: Final = "sending.json#/$defs/Callback"


def message_of(
    fields: Mapping[str, str],
    names: Mapping[str, str],
    numbers: Sequence[str],
    exchange: Exchange,
    problems: list[Finding],
) -> JsonObject:
    """The Message that parameters stand for; those with problems are left out of it, or have a stand-in.

    `names` has the client's names of `message` and `datetime`; of `callback` may be an address, or an object as JSON.
    """
    bad = {finding.path.removeprefix("$.") for finding in problems}
    fields = {name: value for name, value in fields.items() if name not in bad}
    message: JsonObject = {
        "to": [{"phone_number": number} for number in numbers or [_STAND_IN]],
        "body": fields.get(names["message"], _STAND_IN),
    }
    if "sender" in fields:
        message["sender"] = fields["sender"]
    if "gateway" in fields:
        message["flow"] = [{USUAL: {"gateway": fields["gateway"]}}]
    if names["datetime"] in fields:
        message["datetime"] = fields[names["datetime"]]
    if "callback" in fields:
        try:
            message["callback"] = _callback(fields["callback"], exchange)
        except Refused as refused:
            problems += refused.findings
    return message


def read_message(
    message: JsonObject, names: Mapping[str, str], exchange: Exchange, problems: list[Finding]
) -> Send | None:
    """The command of a Message made of parameters; None, and more problems, where it is not legal.

    `names` has the client's names of `phone_number`, `message` and `datetime`.
    """
    remarks: list[Advice] = []
    stand_ins = bool(problems)
    send = None
    places = _places(names)
    try:
        send = decode_message(message, "$", exchange, remarks)
    except Refused as refused:
        problems += relocate(refused.findings, places)
    if not stand_ins:
        exchange.advice += relocate(remarks, places)
    return send


def _places(names: Mapping[str, str]) -> dict[str, str]:
    """Where the client finds what a remark says of the Message."""
    return {
        "$.to[": f"$.{names['phone_number']}",
        "$.body": f"$.{names['message']}",
        "$.flow[0].sms.body": f"$.{names['message']}",
        "$.flow[0].sms.gateway": "$.gateway",
        "$.flow[0].sms.sender": "$.sender",
        "$.datetime": f"$.{names['datetime']}",
        "$.payload": "$.customID",
    }


def _callback(text: str, exchange: Exchange) -> object:
    """`callback` of a Message: an address as it stands, an object from its JSON (A01)."""
    value: object = text
    if text.lstrip().startswith("{"):
        try:
            value = parse_json(text.encode())
        except Malformed as malformed:
            raise refusal([_under_callback(malformed.finding, "§2.1", "A01")]) from None
        if Assume.of(exchange.world).nulls == "absent":
            value = without_nulls(value)
    checker = exchange.contract.checker(CALLBACK)
    if not checker.is_valid(value):
        findings = checker.findings(value)
        raise refusal([_under_callback(finding, finding.section, finding.assumed) for finding in findings])
    return value


def _under_callback(finding: Finding, section: str, assumed: str | None) -> Finding:
    path = f"$.callback{finding.path.removeprefix('$')}"
    return Finding(path, finding.rule, finding.message, section, assumed)


#: Other names of parameters (A12); they are not deprecated.
ALIASES: Final = {"phone_number": "number", "message": "body", "datetime": "time"}
#: `callback` is ours: it lets a form ask for its own deliveries, as address or as the object of A01 in JSON.
FORM_FIELDS: Final = frozenset({*ALIASES, *ALIASES.values(), "sender", "gateway", "customID", "callback"})
QUERY_FIELDS: Final = FORM_FIELDS | {"apikey"}


def send_by_query(exchange: Exchange) -> Answer:
    """`GET /simple/message` (§4.1)."""
    return _send(exchange, exchange.query, exchange.route.query or "", QUERY_FIELDS)


def send_by_form(exchange: Exchange) -> Answer:
    """`POST /simple/message`: a form only, anything else is 415 (§4.1, §7.1)."""
    kind = media_type(exchange.headers)
    if kind != FORM:
        type_text = "no content type" if kind is None else show(kind)
        text = f"{type_text} is not the content type of this call; legal: {FORM} (§4.1)"
        raise Refused([Finding("header content-type", "content-type", text, "§4.1", "A12")], 415, text)
    return _send(exchange, exchange.body, exchange.route.request or "", FORM_FIELDS)


def simple_error(status: int, text: str) -> Answer:
    """The answer to a refused call: `{message}` for 415, else `{Message}` (§4.1, A12)."""
    if status == 415:
        return Answer(status, orjson.dumps({"message": text}))
    return error(status, text)


def _send(exchange: Exchange, raw: bytes, schema: str, parameters: frozenset[str]) -> Answer:
    try:
        fields = read_form(raw, exchange.advice)
    except Unreadable as unreadable:
        raise _malformed(exchange, {}, [unreadable.finding]) from None
    checker = exchange.contract.checker(schema)
    problems = [] if checker.is_valid(fields) else list(checker.findings(fields))
    unknown_parameters(fields, parameters, exchange.advice)
    problems += refused_fields(exchange, exchange.advice)
    names = {name: choose_name(fields, name, alias, "§4.1", exchange.advice) for name, alias in ALIASES.items()}
    problems += [_missing(name) for name in ("phone_number", "message") if names[name] not in fields]
    numbers = [fields[names["phone_number"]]] if names["phone_number"] in fields else []
    message = message_of(fields, names, numbers, exchange, problems)
    if "customID" in fields:
        message["payload"] = {"customID": fields["customID"]}
    send = read_message(message, names, exchange, problems)
    if send is None or problems:
        raise _malformed(exchange, fields, problems)
    finding = unpaid(exchange, send, "A12")
    if not send.recipients[0].valid:
        finding = number_finding(send.recipients[0].number, f"$.{names['phone_number']}", "A12")
    if finding is not None:
        raise _refused(exchange, fields, [finding], 200)
    accepted = accept(exchange, [send], canonical(without_callback(message)))
    body = {"request_id": accepted.request_id, "message_id": accepted.messages[0][0], "accepted": True}
    return Answer(200, orjson.dumps(body))


def _malformed(exchange: Exchange, fields: Mapping[str, str], problems: list[Finding]) -> Refused:
    """The refusal of parameters that are missing or malformed; by GET it has the status 200 all the same (A12)."""
    return _refused(exchange, fields, problems, 200 if exchange.route.method == "GET" else 400)


def _refused(exchange: Exchange, fields: Mapping[str, str], problems: list[Finding], status: int) -> Refused:
    """The refusal that says `accepted: false`, from 400 on with the reason as `Message` (§5.6, A12)."""
    content = canonical({name: value for name, value in fields.items() if name not in ("apikey", "callback")})
    request_id = uuid_text(exchange.world.named("request", exchange.route.operation, content))
    reason = {"Message": avoid_denial_words(line(problems[0]))} if status >= 400 else {}
    body = {**reason, "request_id": request_id, "accepted": False}
    return Refused(problems, status, answer=Answer(status, orjson.dumps(body), refuses=True))


def _missing(name: str) -> Finding:
    text = f"no {name} is given; legal is a call with {name} (or {ALIASES[name]}) that is not empty (§4.1, A12)"
    return Finding(f"$.{name}", "required", text, "§4.1", "A12")


#: Assumptions that both ways of calling rest on.
ASSUMED: Final = ("A01", "A11", "A12", "A14", "A57", "A58", "A59", "A75", "A80", "A86", "A89")
_FAMILY: Final = RouteFamily("§4.1", "sending.json", "SimpleError", simple_error, deny, ASSUMED)
_BY_FORM: Final = _FAMILY.route(
    "sendSimpleMessage", "Send one SMS with a form", send_by_form, "SimpleForm", "SimpleResponse"
)
ROUTES: Final = (
    replace(
        _FAMILY.route(
            "sendSimpleMessageByQuery",
            "Send one SMS with query parameters",
            send_by_query,
            "SimpleQuery",
            "SimpleResponse",
        ),
        auth="header-or-query",
        refused="",  # it is answered with 200
    ),
    replace(_BY_FORM, responses={**_BY_FORM.responses, 415: _FAMILY.schema("MediaTypeError")}),
)
