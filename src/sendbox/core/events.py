"""Webhook events, derived from the records at the moment they are sent or looked at (§6).

A batch is always a JSON array, but for the notification of a signup, which is one object by itself (A24). `payload`
goes out as the bytes that came in, so it is unchanged (§2.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from sendbox.core.countries import country
from sendbox.core.lifecycle import DELIVERED, FAILED, REJECTED, STATES, UNDELIVERED
from sendbox.core.partner_records import Onboarding
from sendbox.core.records import Attempt, Inbound

if TYPE_CHECKING:
    from sendbox.core.records import Delivery
    from sendbox.core.world import World

#: `result_info` of a result when nothing else was said (A23); the others have none and the field is left out.
DEFAULT_INFO: Final = {
    DELIVERED: "[0] Delivered",
    UNDELIVERED: "[1] Undelivered",
    REJECTED: "[2] Rejected",
    FAILED: "[3] Failed",
}
#: The field that holds the channel's details; `chatapp_text` is called `chatapp_body` there (§6).
_DETAILS: Final = {
    "sms": "sms",
    "richmsg": "richmsg",
    "chatapp_text": "chatapp_body",
    "chatapp_template": "chatapp_template",
}


def info_of(attempt: Attempt, code: int) -> str | None:
    """The `result_info` of a transition; None where the field is left out."""
    given = attempt.info(code)
    return (DEFAULT_INFO.get(code) if given is None else given) or None


def channel_details(world: World, attempt: Attempt) -> dict[str, Any]:
    """Sender, country (MCC), operator (MNC), prices and segments of an attempt (A67, A82)."""
    step = attempt.step
    place = country(attempt.message.phone) if attempt.message.valid else None
    eur, czk = attempt.price or (0, 0)
    details: dict[str, Any] = {}
    if step.channel != "richmsg":
        details["gateway"] = step.gateway if step.channel == "sms" else "chatapp"
    return details | {
        "sender": world.phones.sender_of(attempt),
        "country": 0 if place is None else place.mcc,
        "operator": attempt.mnc,
        "price_czk": czk / 1_000_000,
        "price_eur": eur / 1_000_000,
        "count": attempt.count,
    }


def sent_message(world: World, attempt: Attempt, code: int, until: int) -> dict[str, Any]:
    """One `sentMessage` event: a status of an outgoing message changed, at `until` at the latest (§6)."""
    message = attempt.message
    submission = message.submission
    channel = attempt.step.channel
    event: dict[str, Any] = {
        "request_id": submission.request_id,
        "message_id": message.id,
        "gateway": channel,
        "timestamp": attempt.entered(code, until) // 1000,
        "payload": orjson.Fragment(submission.send.payload),
        "type": "outgoing",
        "to": {"phone_number": message.phone},
        "result": STATES[code],
    }
    info = info_of(attempt, code)
    if info is not None:
        event["result_info"] = info
    event[_DETAILS[channel]] = channel_details(world, attempt)
    return event


def incoming(inbound: Inbound) -> dict[str, Any]:
    """One `incomingReplyMessage` (a reply to one of our messages) or `incomingMessage` event (§6)."""
    event: dict[str, Any] = {}
    if inbound.message is not None:
        submission = inbound.message.submission
        event["request_id"] = submission.request_id
        event["message_id"] = inbound.message.id
        event["payload"] = orjson.Fragment(submission.send.payload)
    event["gateway"] = inbound.channel
    event["timestamp"] = inbound.at // 1000
    event["type"] = "incoming"
    event["sender"] = inbound.sender
    event["recipient"] = inbound.recipient
    event["body"] = inbound.body
    return event


def event_of(world: World, event: Any, until: int) -> dict[str, Any]:
    """An event record as the object that goes into a batch made at `until`."""
    if isinstance(event, Inbound):
        return incoming(event)
    if isinstance(event, Onboarding):
        return event.fields
    attempt, code = event
    return sent_message(world, attempt, code, until)


def kind_of(event: Any) -> str:
    """`sentMessage`, `incomingReplyMessage`, `incomingMessage` or `partnerOnboarding`."""
    if isinstance(event, Onboarding):
        return "partnerOnboarding"
    if isinstance(event, Inbound):
        return "incomingMessage" if event.message is None else "incomingReplyMessage"
    return "sentMessage"


def batch_bytes(world: World, delivery: Delivery) -> bytes:
    """The JSON array of a delivery, or its one object (A24); the same bytes on every try while it lives (A22)."""
    if delivery.body is not None:
        return delivery.body
    events = [event_of(world, event, delivery.made_at) for event in delivery.events]
    body = orjson.dumps(events[0] if isinstance(delivery.events[0], Onboarding) else events)
    if delivery.state == "sending":
        delivery.body = body
    return body


def listed(batch: Any) -> list[dict[str, Any]]:
    """The events of a batch as a list, also of one that is a single object (A24)."""
    return batch if isinstance(batch, list) else [batch]
