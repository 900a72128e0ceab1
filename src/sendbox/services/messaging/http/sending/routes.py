"""The JSON endpoints of the sending interface: one Message, one in the priority queue, up to ten at once (§4.1).

Their base is `{base_url}` with its `/v2`. Their answer, MessageResponse (§2.3), is made as bytes (A07, A09): ids
are made by the core of hexadecimal digits and hyphens, so nothing in them needs escaping.

A Message of a wrong shape is read once more with stand-ins where the schema found problems. So a refusal's diagnosis
has the findings of meaning beside those of shape. Stand-ins are legal everywhere, and findings at or below their places
do not count.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, Final

import orjson

from sendbox.engine.answer import JsonObject
from sendbox.engine.draws import UUID_PARTS, uuid_parts
from sendbox.engine.remarks import Advice, Finding
from sendbox.services import limits
from sendbox.services.advice import UNKNOWN_FIELD
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Refused
from sendbox.services.http.requests import Step, canonical, parsed, refusal, steps_of
from sendbox.services.http.routing import RouteFamily
from sendbox.services.messaging.channels import USUAL
from sendbox.services.messaging.http.accepting import RebuiltRequest, accept, deny, error
from sendbox.services.messaging.http.sending.decode import decode_message
from sendbox.services.messaging.http.sending.steps import channel_finding, is_off
from sendbox.services.messaging.model import Send
from sendbox.services.messaging.records import NAMED, Accepted, Request, make_id

#: Assumptions that every JSON endpoint here rests on: fields and forms of Message, its answers, its refusals.
ASSUMED: Final = (
    "A01", "A02", "A03", "A06", "A07", "A08", "A09", "A11", "A14", "A15", "A16", "A17", "A55", "A56", "A57", "A58",
    "A59", "A60", "A64", "A75", "A77", "A80", "A85", "A86", "A89",
)  # fmt: skip
#: The operation of a message that takes the priority queue.
PRIORITY_OPERATION: Final = "sendPriorityMessage"


class OneObject(RebuiltRequest, eq=False, gc=False):
    """A request with one object."""

    def content(self, body: bytes) -> bytes:
        """The canonical request without callback."""
        return canonical(without_callback(orjson.loads(body)))

    def answer(self) -> bytes:
        """The answer, in which every recipient was accepted."""
        return accepted_response(self, self.count)


class SeveralObjects(RebuiltRequest, eq=False, gc=False):
    """A request with several objects."""

    def content(self, body: bytes) -> bytes:
        """The canonical request without callbacks."""
        return canonical([without_callback(message) for message in orjson.loads(body)])

    def answer(self) -> bytes:
        """The answer, in which every object was accepted."""
        base_ids = [self.base_id(index) for index in range(self.count)]
        return messages_response(self.id, base_ids, [[base_id] for base_id in base_ids])


def send_message(exchange: Exchange) -> Answer:
    """`POST /message`, and for the priority queue `/message/priority`: one Message to 1 to 10 recipients (§4.1)."""
    message = read_json(exchange)
    send = decode_message(message, "$", exchange, exchange.advice)
    if exchange.route.operation == PRIORITY_OPERATION:
        send.priority = True
    accepted = accept(exchange, [send], canonical(without_callback(message)), OneObject)
    if not accepted.complete:
        return Answer(200, message_response(accepted.request_id, accepted.messages[0]))
    _, count, _ = accepted.objects[0]
    answer = Answer(200, accepted_response(accepted.request, count))
    _is_remade(exchange, accepted, answer, count)
    return answer


def send_messages(exchange: Exchange) -> Answer:
    """`POST /messages`: an array of 1 to 10 Messages, refused as a whole when one is illegal (§4.1, A10).

    With `messages_refusal: partial` those that are legal are accepted, and the others are in `rejected` (A88).
    """
    request = parsed(exchange)
    problems = _problems(request, exchange)
    bad = _bad(request, exchange) if problems else ()
    if problems and len(bad) == len(_list(request)):
        raise refusal(problems)
    messages: list[JsonObject] = request
    sends: list[Send] = []
    for index, message in enumerate(messages):
        if index not in bad:
            try:
                send = decode_message(message, f"$[{index}]", exchange, exchange.advice)
            except Refused as refused:
                problems = [*problems, *refused.findings]
            else:
                send.index = index
                sends.append(send)
    assume = Assume.of(exchange.world)
    if problems and (not sends or assume.messages_refusal != "partial"):
        raise refusal(problems)
    content = canonical([without_callback(message) for message in messages])
    accepted = accept(exchange, sends, content, SeveralObjects)
    base_ids, ids = accepted.base_ids, accepted.messages
    if problems:
        exchange.findings = [*problems, *exchange.findings]
        places = {send.index: place for place, send in enumerate(sends)}
        base_ids = [base_ids[places[index]] if index in places else "" for index in range(len(messages))]
        ids = [ids[places[index]] if index in places else _none_of(message) for index, message in enumerate(messages)]
    if assume.messages_accepted == "recipient":
        return Answer(200, recipients_response(accepted.request_id, ids))
    answer = Answer(200, messages_response(accepted.request_id, base_ids, ids))
    if not problems and all(map(any, ids)):
        _is_remade(exchange, accepted, answer, len(ids))
    return answer


def read_json(exchange: Exchange, line: int = 1) -> JsonObject:
    """The body of a call, parsed and legal by the route's schema. `line` is the number of its first line.

    Raises `Refused`: malformed JSON (A75), or what the schema finds; another content type (A75).
    """
    request: JsonObject = parsed(exchange, line)
    if not exchange.contract.checker(exchange.route.request or "").is_valid(request):
        raise refusal(_problems(request, exchange))
    return request


def _problems(request: object, exchange: Exchange) -> Sequence[Finding]:
    """The findings of the schema, and those of the further checks."""
    checker = exchange.contract.checker(exchange.route.request or "")
    if checker.is_valid(request):
        return ()
    findings = _findings(request, checker.findings(request), exchange)
    for path, message in _messages(request):
        findings = findings + further(message, path, findings, exchange)
    return findings


def _bad(request: object, exchange: Exchange) -> Collection[int]:
    """The messages of a call that are not legal by their schema: all where the call is refused as a whole (A88)."""
    messages = _list(request)
    places = range(len(messages))
    if Assume.of(exchange.world).messages_refusal != "partial" or not 0 < len(places) <= limits.MESSAGES:
        return places
    if not all(isinstance(message, dict) for message in messages):
        return places
    checker = exchange.contract.checker(MESSAGE)
    return [index for index in places if not checker.is_valid(messages[index])]


def _none_of(message: JsonObject) -> list[str | None]:
    """No id for each recipient of a refused message, as far as they can be counted."""
    return [None] * len(_list(message.get("to")))


def _is_remade(exchange: Exchange, accepted: Accepted, answer: Answer, count: int) -> None:
    """Leaves it to the request to make its answer again, where the request is what is kept of the call."""
    request = accepted.request
    if isinstance(request, RebuiltRequest):
        request.count = count
        exchange.remade = answer


def without_callback(message: JsonObject) -> JsonObject:
    """The message without its `callback`, which changes from run to run and must not enter its names."""
    if "callback" not in message:
        return message
    others = message.copy()
    del others["callback"]
    return others


def _findings(request: object, findings: list[Finding], exchange: Exchange) -> list[Finding]:
    """The findings of the schema; for a flow channel that is off, only the finding that it is off (A02)."""
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


def _messages(request: object) -> list[tuple[str, JsonObject]]:
    if isinstance(request, dict):
        return [("$", request)]
    return [(f"$[{index}]", item) for index, item in enumerate(_list(request)) if isinstance(item, dict)]


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def message_response(request_id: str, messages: Sequence[str | None]) -> bytes:
    """The answer to one Message: `key` is the index of the recipient; None is a rejected one (§2.3, A07, A09)."""
    return _response(request_id, list(enumerate(messages)))


def accepted_response(request: Request, count: int) -> bytes:
    """The answer to one Message all of whose recipients were accepted."""
    names = request.names
    first = uuid_parts(names)[: UUID_PARTS * (1 + count)]
    if count <= NAMED:
        return _accepted_form(count) % first
    others = [make_id(names, request.naming, place).encode() for place in range(NAMED + 1, count + 1)]
    return _accepted_form(count) % (*first, *others)


@lru_cache(16)
def _accepted_form(count: int) -> bytes:
    """That answer, with gaps for the parts of the ids that the names of the request have, and for the other ids."""
    gaps = [b"-".join([b"%b"] * UUID_PARTS) if place <= NAMED else b"%b" for place in range(1 + count)]
    rows = b",".join(b'{"key":"%d","message_id":"%b"}' % (key, gap) for key, gap in enumerate(gaps[1:]))
    return b'{"request_id":"%b","accepted":[%b],"rejected":[]}' % (gaps[0], rows)


def messages_response(request_id: str, base_ids: Sequence[str], messages: Sequence[Sequence[str | None]]) -> bytes:
    """The answer to `/messages`: `key` is the index of the object, `message_id` its base id (A09).

    An object none of whose recipients is accepted is in `rejected`.
    """
    return _response(request_id, [(key, base_ids[key] if any(ids) else None) for key, ids in enumerate(messages)])


def recipients_response(request_id: str, messages: Sequence[Sequence[str | None]]) -> bytes:
    """The answer to `/messages` by recipient: `key` is `<object>-<recipient>`, ids in full (A09, `recipient`).

    A refused object without recipients is rejected under its own index (A88).
    """
    every: list[tuple[str, str | None]] = []
    for index, ids in enumerate(messages):
        every += [(f"{index}-{place}", id) for place, id in enumerate(ids)] if ids else [(str(index), None)]
    return _response(request_id, every)


def _response(request_id: str, rows: Sequence[tuple[object, str | None]]) -> bytes:
    accepted = ",".join([f'{{"key":"{key}","message_id":"{id}"}}' for key, id in rows if id is not None])
    rejected = ",".join([f'{{"key":"{key}"}}' for key, id in rows if id is None])
    return f'{{"request_id":"{request_id}","accepted":[{accepted}],"rejected":[{rejected}]}}'.encode()


#: The schema of their answer.
ANSWER: Final = "MessageResponse"
_FAMILY: Final = RouteFamily("§4.1", "sending.json", "Error", error, deny, ASSUMED)
ROUTES: Final = (
    _FAMILY.route("sendMessage", "Send one message to 1 to 10 recipients", send_message, "Message", ANSWER),
    _FAMILY.route(PRIORITY_OPERATION, "Send one message by the priority queue", send_message, "Message", ANSWER, "A18"),
    _FAMILY.route(
        "sendMessages", "Send up to ten messages in one call", send_messages, "Messages", ANSWER, "A10", "A88"
    ),
)


MESSAGE: Final = "sending.json#/$defs/Message"
#: What stands in for a field that is required somewhere, by its name; others are left out.
_STAND_INS: Final[JsonObject] = {
    "to": [{"phone_number": "420777000101"}],
    "flow": [{USUAL: {}}],
    "phone_number": "420777000101",
    "body": "x",
    "sender": "1",
    "template_name": "x",
    "language": "x",
    "title": "x",
    "url": "https://stand.in/",
}
#: And for an entry of a list, by the list's name.
_ENTRIES: Final[JsonObject] = {"to": {"phone_number": "420777000101"}, "flow": {USUAL: {}}}
_GONE: Final = object()


def further(message: object, path: str, findings: Sequence[Finding], exchange: Exchange) -> list[Finding]:
    """The findings of meaning of a Message at `path` of the request, whose shape has the problems `findings`.

    Its unknown fields go to the advice of the exchange.
    """
    broken = [finding.path for finding in findings if _below(finding.path, path)]
    if path in broken or not isinstance(message, dict):
        return []
    repaired = message
    for place in broken:
        repaired = _repaired(repaired, steps_of(place.removeprefix(path)))
    if not exchange.contract.checker(MESSAGE).is_valid(repaired):
        return []
    remarks: list[Advice] = []
    meant: list[Finding] = []
    try:
        decode_message(repaired, path, exchange, remarks)
    except Refused as refused:
        meant = refused.findings
    exchange.advice += [remark for remark in remarks if remark.code == UNKNOWN_FIELD]
    return [finding for finding in meant if not any(_below(finding.path, place) for place in broken)]


def _below(path: str, above: str) -> bool:
    return path == above or path.startswith((f"{above}.", f"{above}["))


def _repaired(value: object, steps: list[Step], holder: str = "") -> Any:
    """The value with something legal where the steps lead; what lies on the way is copied."""
    if not steps:
        return _ENTRIES.get(holder, _GONE)
    step, *deeper = steps
    if isinstance(value, dict) and isinstance(step, str):
        copy = dict(value)
        stand_in = _STAND_INS.get(step, _GONE) if not deeper else _repaired(copy.get(step), deeper, step)
        copy.pop(step, None)
        return copy if stand_in is _GONE else copy | {step: stand_in}
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        copied = list(value)
        stand_in = _repaired(copied[step], deeper, holder)
        if stand_in is _GONE:
            return _GONE
        copied[step] = stand_in
        return copied
    return _GONE
