"""Webhook events, derived from the records at the moment they are sent or looked at (§6).

`payload` goes out as the bytes that came in, so it is unchanged (§2.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import orjson

from sendbox.engine.answer import JsonObject
from sendbox.engine.delivery.batches import EventKind, Events
from sendbox.engine.rules.conditions import Case
from sendbox.services.messaging.channels import DELIVERED, FAILED, REJECTED, ROWS, SENT, STATES, UNDELIVERED
from sendbox.services.messaging.model import POSTED, AttemptFields
from sendbox.services.messaging.records import Attempt, Inbound, Message
from sendbox.services.numbers.countries import country

if TYPE_CHECKING:
    from sendbox.engine.world import World


#: `result_info` of a result when nothing else was said (A23); the others have none and the field is left out.
DEFAULT_INFO: Final = {
    SENT: "Sent",
    DELIVERED: "[0] Delivered",
    UNDELIVERED: "[1] Undelivered",
    REJECTED: "[2] Rejected",
    FAILED: "[3] Failed",
}


def info_of(attempt: Attempt, code: int) -> str | None:
    """The `result_info` of a transition; None where the field is left out."""
    info = attempt.info(code)
    return (DEFAULT_INFO.get(code) if info is None else info) or None


def timeline_of(attempt: Attempt) -> list[tuple[int, str, str | None]]:
    """The results that an attempt reached: instant, result and info of each."""
    return [(at, STATES[code], info_of(attempt, code)) for code, at in attempt.transitions()]


def _shared_details(attempt: Attempt) -> JsonObject:
    """Sender and gateway, the same for each message of a submission; the rest is the message's own."""
    step = attempt.step
    details: JsonObject = {}
    gateway = ROWS[step.channel].gateway
    if gateway is not None:
        details["gateway"] = gateway or step.gateway
    details["sender"] = attempt.shown_sender
    return details


def _own_details(attempt: Attempt, details: JsonObject) -> JsonObject:
    """The same with country (MCC), operator (MNC), prices and segments of an attempt (A67, A82)."""
    message = attempt.message
    place = country(message.phone) if message.valid else None
    eur, czk = attempt.price or (0, 0)
    details["country"] = 0 if place is None else place.mcc
    details["operator"] = attempt.mnc
    details["price_czk"] = czk / 1_000_000
    details["price_eur"] = eur / 1_000_000
    details["count"] = attempt.count
    return details


def channel_details(attempt: Attempt) -> JsonObject:
    """Sender, country (MCC), operator (MNC), prices and segments of an attempt (A67, A82)."""
    return _own_details(attempt, _shared_details(attempt))


def _shared(attempt: Attempt, code: int) -> JsonObject:
    """The fields that the events of a result share in one submission; None stands for each message's own value."""
    submission = attempt.message.submission
    channel = attempt.step.channel
    event: JsonObject = {
        "request_id": submission.request_id,
        "message_id": None,
        "gateway": channel,
        "timestamp": None,
        "payload": orjson.Fragment(submission.send.payload),
        "type": "outgoing",
        "to": None,
        "result": STATES[code],
    }
    event.update(submission.send.labels or {})
    info = info_of(attempt, code)
    if info is not None:
        event["result_info"] = info
    event[ROWS[channel].details] = None
    return event


def sent_messages(events: Sequence[tuple[Attempt, int]], until: int) -> list[JsonObject]:
    """`sentMessage` events: statuses of outgoing messages changed, at `until` at the latest (§6).

    What those of one step of a submission have in common is asked once.
    """
    bodies = []
    submission = extra = code = number = None
    for attempt, result in events:
        message = attempt.message
        if (
            message.submission is not submission
            or result != code
            or attempt.number != number
            or attempt.extra is not extra  # where an info may be
        ):
            submission, code, number, extra = message.submission, result, attempt.number, attempt.extra
            shared, details = _shared(attempt, result), _shared_details(attempt)
            field = ROWS[attempt.step.channel].details
        event = shared.copy()
        event["message_id"] = message.id
        event["timestamp"] = attempt.entered(result, until) // 1000
        event["to"] = {"phone_number": message.phone}
        event[field] = _own_details(attempt, details.copy())
        bodies.append(event)
    return bodies


def incoming(inbound: Inbound) -> JsonObject:
    """One `incomingReplyMessage` (a reply to one of our messages) or `incomingMessage` event (§6)."""
    event: JsonObject = {}
    if inbound.message is not None:
        submission = inbound.message.submission
        event["request_id"] = submission.request_id
        event["message_id"] = inbound.message.id
        event["payload"] = orjson.Fragment(submission.send.payload)
        event.update(submission.send.labels or {})
    event["gateway"] = inbound.channel
    event["timestamp"] = inbound.at // 1000
    event["type"] = "incoming"
    event["sender"] = inbound.sender
    event["recipient"] = inbound.recipient
    event["body"] = inbound.body
    return event


def kind_of(event: object) -> str:
    """`sentMessage`, `incomingReplyMessage` or `incomingMessage`."""
    if isinstance(event, Inbound):
        return "incomingMessage" if event.message is None else "incomingReplyMessage"
    return "sentMessage"


def _case_of_sent(event: tuple[Attempt, int]) -> Case:
    attempt, code = event
    message = attempt.message
    fields = AttemptFields(
        attempt,
        event="sentMessage",
        gateway=attempt.step.channel,
        result=STATES[code],
        operator=lambda: attempt.mnc,
    )
    return Case("sentMessage", message.phone, request=message.submission.request_id, fields=fields)


def _fields(event: str, gateway: str, phone: str, message: Message | None) -> JsonObject:
    """The fields that conditions of `webhooks` ask for, of an event without a result; a reply is about a message."""
    texts = {} if message is None else {row.name: row.of(message) for row in POSTED if not row.of_step}
    return {"event": event, "gateway": gateway, "phone": phone, **texts}


def _older_of_sent(event: tuple[Attempt, int]) -> tuple[Attempt, int] | None:
    """The result of the same message before this one."""
    attempt, code = event
    codes = [reached for reached, _ in attempt.transitions()]
    before = codes[: len(codes) - 1 - codes[::-1].index(code)]
    if before:
        return attempt, before[-1]
    earlier = attempt.previous
    return None if earlier is None else (earlier, earlier.state)


def _key_of_sent(world: World, event: tuple[Attempt, int], at: int) -> str:
    attempt, code = event
    return f"{attempt.message.id} {attempt.number} {code} {at - world.start}"


def _case_of_incoming(inbound: Inbound) -> Case:
    replied = inbound.message
    request = "" if replied is None else replied.submission.request_id
    fields = _fields(kind_of(inbound), inbound.channel, inbound.sender, replied)
    return Case(kind_of(inbound), inbound.sender, request=request, fields=fields)


def _older_of_incoming(inbound: Inbound) -> tuple[Attempt, int] | None:
    """The newest result of the message that is answered."""
    last = None if inbound.message is None else inbound.message.last
    return None if last is None or not last.position else (last, last.state)


def expected_case(channel: str, message: Message) -> Case:
    """The events of a message just accepted, as rules see them before there is a result."""
    return Case("sentMessage", message.phone, fields=_fields("sentMessage", channel, message.phone, message))


#: A result of a message is (attempt, state code), what a phone wrote an `Inbound`.
EVENTS: Final[Events] = {
    tuple: EventKind(
        _case_of_sent,
        _older_of_sent,
        lambda event: event[0].message,
        _key_of_sent,
        lambda _world, event, until: sent_messages([event], until)[0],
        bodies=lambda _world, events, until: sent_messages(events, until),
    ),
    Inbound: EventKind(
        _case_of_incoming,
        _older_of_incoming,
        lambda inbound: inbound.message or inbound,
        lambda _world, inbound, _at: f"inbound {inbound.number}",
        lambda _world, inbound, _until: incoming(inbound),
    ),
}
