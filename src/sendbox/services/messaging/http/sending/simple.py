"""`/simple/message`: one sms to one number, as query parameters or as a form (§4.1, A12).

The parameters are turned into a Message and read by its rules; remarks keep the names that the client used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from sendbox.contract.parse import Malformed, parse_json
from sendbox.engine.remarks import Advice, Finding
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Refused
from sendbox.services.http.forms import FORM, Unreadable, media_type, read_form, relocated, unknown_parameters
from sendbox.services.http.names import spelled
from sendbox.services.http.requests import canonical, without_nulls
from sendbox.services.http.routing import route
from sendbox.services.messaging.channels import USUAL
from sendbox.services.messaging.http.accepting import accept
from sendbox.services.messaging.http.sending.decode import decode_message
from sendbox.services.messaging.http.sending.errors import deny, error, refusal, show

if TYPE_CHECKING:
    from sendbox.services.messaging.model import Send

#: Other names of parameters (A12); they are not deprecated.
ALIASES: Final = {"phone_number": "number", "message": "body", "datetime": "time"}
#: `callback` is ours: it lets a form ask for its own deliveries, as address or as the object of A01 in JSON.
FORM_FIELDS: Final = frozenset({*ALIASES, *ALIASES.values(), "sender", "gateway", "customID", "callback"})
QUERY_FIELDS: Final = FORM_FIELDS | {"apikey"}
#: What is read in place of a number or a text that is missing, so that the rest is read too.
_STAND_IN: Final = "420777000101"
CALLBACK: Final = "sending.json#/$defs/Callback"


def send_by_query(exchange: Exchange) -> Answer:
    """`GET /simple/message` (§4.1)."""
    return _send(exchange, exchange.query, exchange.route.query or "", QUERY_FIELDS)


def send_by_form(exchange: Exchange) -> Answer:
    """`POST /simple/message`: a form only, anything else is 415 (§4.1, §7.1)."""
    kind = media_type(exchange)
    if kind != FORM:
        shown = "no content type" if kind is None else show(kind)
        text = f"{shown} is not the content type of this call; legal: {FORM} (§4.1)"
        raise Refused([Finding("header content-type", "content-type", text, "§4.1", "A12")], 415, text)
    return _send(exchange, exchange.body, exchange.route.request or "", FORM_FIELDS)


def simple_error(status: int, text: str) -> Answer:
    """The answer to a refused call: `{message}` for 415, else `{Message}` (§4.1, A12)."""
    if status == 415:
        return Answer(status, orjson.dumps({"message": text}))
    return error(status, text)


def _send(exchange: Exchange, raw: bytes, schema: str, known: frozenset[str]) -> Answer:
    problems: list[Finding] = []
    fields = _read(exchange, raw, schema, problems)
    unknown_parameters(fields, known, exchange.advice)
    names = {name: spelled(fields, name, alias, "§4.1", exchange.advice) for name, alias in ALIASES.items()}
    message = _message(fields, names, exchange, problems)
    places = {
        "$.to[": f"$.{names['phone_number']}",
        "$.body": f"$.{names['message']}",
        "$.flow[0].sms.body": f"$.{names['message']}",
        "$.flow[0].sms.gateway": "$.gateway",
        "$.flow[0].sms.sender": "$.sender",
        "$.datetime": f"$.{names['datetime']}",
        "$.payload": "$.customID",
    }
    send = _decode(message, places, exchange, problems)
    content = canonical({name: value for name, value in message.items() if name != "callback"})
    accepted = accept(exchange, [send], content)
    if accepted.findings:
        exchange.findings = relocated(accepted.findings, places)
    return _answer(accepted.request_id, accepted.messages[0][0])


def _read(exchange: Exchange, raw: bytes, schema: str, problems: list[Finding]) -> dict[str, str]:
    """The parameters; what the schema finds wrong with them goes to `problems`."""
    try:
        fields = read_form(raw, exchange.advice)
    except Unreadable as unreadable:
        raise refusal([unreadable.finding]) from None
    checker = exchange.contract.checker(schema)
    if not checker.is_valid(fields):
        problems += checker.findings(fields)
    return fields


def _message(
    fields: dict[str, str], names: dict[str, str], exchange: Exchange, problems: list[Finding]
) -> dict[str, Any]:
    """The Message that the parameters stand for (§2.1); parameters with problems are left out of it."""
    bad = {finding.path.removeprefix("$.") for finding in problems}
    problems += [_missing(name) for name in ("phone_number", "message") if names[name] not in fields]
    fields = {name: value for name, value in fields.items() if name not in bad}
    message: dict[str, Any] = {
        "to": [{"phone_number": fields.get(names["phone_number"], _STAND_IN)}],
        "body": fields.get(names["message"], _STAND_IN),
    }
    if "sender" in fields:
        message["sender"] = fields["sender"]
    if "gateway" in fields:
        message["flow"] = [{USUAL: {"gateway": fields["gateway"]}}]
    if names["datetime"] in fields:
        message["datetime"] = fields[names["datetime"]]
    if "customID" in fields:
        message["payload"] = {"customID": fields["customID"]}
    if "callback" in fields:
        try:
            message["callback"] = _callback(fields["callback"], exchange)
        except Refused as refused:
            problems += refused.findings
    return message


def _missing(name: str) -> Finding:
    text = f"no {name} is given; legal is a call with {name} (or {ALIASES[name]}) that is not empty (§4.1, A12)"
    return Finding(f"$.{name}", "required", text, "§4.1", "A12")


def _callback(text: str, exchange: Exchange) -> Any:
    """`callback` of a Message: an address as it stands, an object from its JSON (A01)."""
    value: Any = text
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


def _decode(message: dict[str, Any], places: dict[str, str], exchange: Exchange, problems: list[Finding]) -> Send:
    """The command. Raises `Refused` with the problems found before and those found here."""
    remarks: list[Advice] = []
    send = None
    stand_ins = bool(problems)
    try:
        send = decode_message(message, "$", exchange, remarks)
    except Refused as refused:
        problems += relocated(refused.findings, places)
    if not stand_ins:
        exchange.advice += relocated(remarks, places)
    if send is None or problems:
        raise refusal(problems)
    return send


def _answer(request_id: str, message_id: str | None) -> Answer:
    if message_id is None:
        return Answer(200, orjson.dumps({"request_id": request_id, "accepted": False}))
    return Answer(200, orjson.dumps({"request_id": request_id, "message_id": message_id, "accepted": True}))


#: Assumptions that both ways of calling rest on.
ASSUMED: Final = ("A01", "A08", "A11", "A12", "A14", "A57", "A58", "A59", "A75", "A80", "A86")
_RESPONSES: Final = {200: "sending.json#/$defs/SimpleResponse", 400: "sending.json#/$defs/Error"}

ROUTES: Final = (
    route(
        "sendSimpleMessageByQuery",
        "Send one SMS with query parameters",
        send_by_query,
        "sending.json#/$defs/SimpleQuery",
        _RESPONSES,
        section="§4.1",
        error=simple_error,
        deny=deny,
        assumed=ASSUMED,
        auth="header-or-query",
    ),
    route(
        "sendSimpleMessage",
        "Send one SMS with a form",
        send_by_form,
        "sending.json#/$defs/SimpleForm",
        {**_RESPONSES, 415: "sending.json#/$defs/MediaTypeError"},
        section="§4.1",
        error=simple_error,
        deny=deny,
        assumed=ASSUMED,
    ),
)
