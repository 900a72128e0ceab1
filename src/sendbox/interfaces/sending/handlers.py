"""The JSON endpoints of the sending interface: one Message, one in the priority queue, up to ten at once (§4.1)."""

from __future__ import annotations

from typing import Any, Final

import orjson

from sendbox.contract.parse import Malformed, parse_json
from sendbox.core.advice import CONTENT_TYPE_MISSING, CONTENT_TYPE_NOT_JSON, advise
from sendbox.core.model import Send
from sendbox.core.remarks import Finding
from sendbox.interfaces.exchange import Answer, Exchange, Refused
from sendbox.interfaces.sending.decode import decode_message, too_deep, without_nulls
from sendbox.interfaces.sending.encode import message_response, messages_response, recipients_response
from sendbox.interfaces.sending.errors import refusal, show
from sendbox.interfaces.sending.steps import RCS, channel_finding

JSON: Final = b"application/json"


def send_message(exchange: Exchange) -> Answer:
    """`POST /message`: one Message to 1 to 10 recipients (§4.1, §2.1)."""
    message: dict[str, Any] = read_json(exchange)
    return _accept_one(exchange, message, decode_message(message, "$", exchange, exchange.advice))


def send_priority_message(exchange: Exchange) -> Answer:
    """`POST /message/priority`: the same, by the priority queue (§4.1)."""
    message: dict[str, Any] = read_json(exchange)
    send = decode_message(message, "$", exchange, exchange.advice)
    send.priority = True
    return _accept_one(exchange, message, send)


def send_messages(exchange: Exchange) -> Answer:
    """`POST /messages`: an array of 1 to 10 Messages, refused as a whole when one is illegal (§4.1, A10)."""
    messages: list[dict[str, Any]] = read_json(exchange)
    sends: list[Send] = []
    problems: list[Finding] = []
    for index, message in enumerate(messages):
        try:
            sends.append(decode_message(message, f"$[{index}]", exchange, exchange.advice))
        except Refused as refused:
            problems += refused.findings
    if problems:
        raise refusal(problems)
    content = canonical([_without_callback(message) for message in messages])
    accepted = exchange.accept(sends, content)
    if exchange.world.assume.messages_accepted == "recipient":
        return Answer(200, recipients_response(accepted.request_id, accepted.messages))
    return Answer(200, messages_response(accepted.request_id, accepted.base_ids, accepted.messages))


def read_json(exchange: Exchange) -> Any:
    """The body of a call, parsed and legal by the route's schema.

    Raises `Refused`: malformed JSON (A75), or what the schema finds. Another content type is advice only (A75).
    """
    content_type = exchange.header(b"content-type")
    if content_type != JSON:
        _remark_content_type(content_type, exchange)
    body = exchange.body
    try:
        request = parse_json(body)
    except Malformed as malformed:
        raise refusal([Finding("$", "json", str(malformed), "§4", "A75")]) from None
    if b"null" in body and exchange.world.assume.nulls == "absent":
        request = without_nulls(request)
    checker = exchange.contract.checker(exchange.route.request or "")
    if not checker.is_valid(request):
        raise refusal(_findings(request, checker.findings(request), exchange))
    return request


def canonical(request: Any) -> bytes:
    """The request in one form, whatever the order of its fields: what its names are derived from.

    Raises `Refused` when it is nested too deep to be written.
    """
    try:
        return orjson.dumps(request, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        raise refusal([too_deep("$")]) from None


def _accept_one(exchange: Exchange, message: dict[str, Any], send: Send) -> Answer:
    content = canonical(_without_callback(message))
    accepted = exchange.accept([send], content)
    return Answer(200, message_response(accepted.request_id, accepted.messages[0]))


def _without_callback(message: dict[str, Any]) -> dict[str, Any]:
    """The message without its `callback`, which changes from run to run and must not enter its names."""
    if "callback" not in message:
        return message
    rest = message.copy()
    del rest["callback"]
    return rest


def _remark_content_type(value: bytes | None, exchange: Exchange) -> None:
    if value is None:
        text = "no content type is given; the body is read as application/json"
        exchange.advice.append(advise(CONTENT_TYPE_MISSING, text, "header content-type"))
        return
    kind = value.split(b";")[0].strip().lower()
    if kind != JSON and not (kind.startswith(b"application/") and kind.endswith(b"+json")):
        text = f"{show(value.decode('latin-1'))} is not application/json; the body is read as JSON all the same"
        exchange.advice.append(advise(CONTENT_TYPE_NOT_JSON, text, "header content-type"))


def _findings(request: Any, found: list[Finding], exchange: Exchange) -> list[Finding]:
    """What the schema finds, but with a flow channel that is off refused by its own rule first (A02)."""
    own = [
        channel_finding(RCS, f"{path}.flow[{index}]", exchange)
        for path, message in _messages(request)
        for index, element in enumerate(_list(message.get("flow")))
        if isinstance(element, dict) and RCS in element
    ]
    if not own:
        return found
    places = {finding.path for finding in own}
    return own + [finding for finding in found if finding.path not in places]


def _messages(request: Any) -> list[tuple[str, dict[str, Any]]]:
    if isinstance(request, dict):
        return [("$", request)]
    return [(f"$[{index}]", item) for index, item in enumerate(_list(request)) if isinstance(item, dict)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
