"""Words for places, and the conditions that find them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sendbox.engine.durations import show

if TYPE_CHECKING:
    from sendbox.exploring.census import Called, Census, Posted, Sent


def ordinal(number: int) -> str:
    """A number as an ordinal: 1st, 2nd."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def event_words(event: Posted) -> str:
    """An event by its place."""
    name = event.result or {"incomingReplyMessage": "reply", "incomingMessage": "inbound message"}.get(
        event.event, event.event
    )
    by = f" by {event.gateway}" if event.gateway else ""
    whom = f" of {event.phone}" if event.phone else ""
    return f"the {ordinal(event.ordinal)} webhook {name}{by}{whom}"


def event_when(event: Posted) -> dict[str, Any]:
    """The conditions of a rule of `webhooks` that find it."""
    conditions = {"event": event.event, "gateway": event.gateway, "phone": event.phone, "result": event.result}
    return {**{name: value for name, value in conditions.items() if value}, "nth": event.ordinal}


def call_words(call: Called) -> str:
    """A call by its place."""
    return f"the {ordinal(call.ordinal)} call of {call.operation}"


def call_when(call: Called) -> dict[str, Any]:
    """The conditions of a rule of `api` that find it."""
    return {"operation": call.operation, "nth": call.ordinal}


def message_words(message: Sent) -> str:
    """A message by its place."""
    return f"the {ordinal(message.ordinal)} message to {message.phone}"


def attempt_words(message: Sent, attempt: int) -> str:
    """An attempt of a message, from 1, by its place."""
    if len(message.channels) == 1:
        return message_words(message)
    return f"the {ordinal(attempt)} attempt ({message.attempts[attempt - 1].channel}) of {message_words(message)}"


def message_when(message: Sent, attempt: int) -> dict[str, Any]:
    """The conditions of a rule of `attempts` that find one attempt of a message, from 1."""
    tried = {} if len(message.channels) == 1 else {"attempt": attempt}
    return {"phone": message.phone, **tried, "nth": message.attempts[attempt - 1].nth}


def about_message(world: Census, message: Sent) -> str:
    """The subject of misfortunes of one message."""
    return f"{world.ordinal} message {message.phone} {message.ordinal}"


def later(milliseconds: int) -> str:
    """A duration as a scenario has it."""
    return show(milliseconds)
