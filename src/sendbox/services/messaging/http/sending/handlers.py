"""The JSON endpoints of the sending interface: one Message, one in the priority queue, up to ten at once (§4.1)."""

from __future__ import annotations

from typing import Any

from sendbox.engine.remarks import Finding
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Refused
from sendbox.services.http.requests import canonical, parsed
from sendbox.services.messaging.http.accepting import accept
from sendbox.services.messaging.http.sending.decode import decode_message
from sendbox.services.messaging.http.sending.encode import message_response, messages_response, recipients_response
from sendbox.services.messaging.http.sending.errors import refusal
from sendbox.services.messaging.http.sending.repair import further
from sendbox.services.messaging.http.sending.steps import channel_finding, is_off
from sendbox.services.messaging.model import Send


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
    content = canonical([without_callback(message) for message in messages])
    accepted = accept(exchange, sends, content)
    if Assume.of(exchange.world).messages_accepted == "recipient":
        return Answer(200, recipients_response(accepted.request_id, accepted.messages))
    return Answer(200, messages_response(accepted.request_id, accepted.base_ids, accepted.messages))


def read_json(exchange: Exchange, line: int = 1) -> Any:
    """The body of a call, parsed and legal by the route's schema. `line` is the number of its first line.

    Raises `Refused`: malformed JSON (A75), or what the schema finds. Another content type is advice only (A75).
    """
    request = parsed(exchange, line)
    checker = exchange.contract.checker(exchange.route.request or "")
    if not checker.is_valid(request):
        findings = _findings(request, checker.findings(request), exchange)
        for path, message in _messages(request):
            findings = findings + further(message, path, findings, exchange)
        raise refusal(findings)
    return request


def _accept_one(exchange: Exchange, message: dict[str, Any], send: Send) -> Answer:
    content = canonical(without_callback(message))
    accepted = accept(exchange, [send], content)
    return Answer(200, message_response(accepted.request_id, accepted.messages[0]))


def without_callback(message: dict[str, Any]) -> dict[str, Any]:
    """The message without its `callback`, which changes from run to run and must not enter its names."""
    if "callback" not in message:
        return message
    others = message.copy()
    del others["callback"]
    return others


def _findings(request: Any, findings: list[Finding], exchange: Exchange) -> list[Finding]:
    """What the schema finds; of a flow channel that is off, nothing but that it is off (A02)."""
    own = [
        channel_finding(name, f"{path}.flow[{index}]", exchange)
        for path, message in _messages(request)
        for index, element in enumerate(_list(message.get("flow")))
        if isinstance(element, dict)
        for name in element
        if is_off(name, exchange)
    ]
    if not own:
        return findings
    places = tuple(finding.path for finding in own)
    return own + [finding for finding in findings if not finding.path.startswith(places)]


def _messages(request: Any) -> list[tuple[str, dict[str, Any]]]:
    if isinstance(request, dict):
        return [("$", request)]
    return [(f"$[{index}]", item) for index, item in enumerate(_list(request)) if isinstance(item, dict)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
