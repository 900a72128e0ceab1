"""Parameters of a query or a form as the Message that they stand for, read by its rules (§2.1, §4.1; A12, A13).

The interface says under which name each parameter is given; remarks keep the names that the client used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sendbox.contract.parser import Malformed, parse_json
from sendbox.engine.answer import JsonObject
from sendbox.engine.remarks import Advice, Finding
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Exchange, Refused
from sendbox.services.http.forms import relocate
from sendbox.services.http.requests import without_nulls
from sendbox.services.messaging.channels import USUAL
from sendbox.services.messaging.http.sending.decode import decode_message
from sendbox.services.messaging.http.sending.errors import refusal
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
