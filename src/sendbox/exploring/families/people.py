"""`people`: recipients answer at awkward moments and in awkward words, opt out, open links, and switch phones off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from sendbox.engine.answer import JsonObject
from sendbox.exploring.census import Census, ObservedMessage
from sendbox.exploring.misfortune import Kind, Spot, Value, about_message, duration_text, message_words
from sendbox.services import limits
from sendbox.services.messaging.channels import CODES, FAMILY, REACH

#: What a phone answers, and what it answers then.
_PLAIN: Final = "Yes"
_SECOND: Final = "No"
#: Texts that clients get wrong, each in words.
_AWKWARD: Final = (
    ("Příliš žluťoučký kůň. Ano!", "in accents"),
    ("👍🏽 👩\u200d👩\u200d👧 🇨🇿", "in emoji"),
    ("\"Yes\" & <no>; 'maybe' \\ 100 %\nthen bye", "in quotes and on two lines"),
    ("yes, " * (limits.BODY // 5), f"with {limits.BODY} characters"),
    ("", "without a text"),
)


def _newest(message: ObservedMessage, same: Iterable[ObservedMessage], at: int) -> bool:
    """True if the last attempt of a message is the newest that its phone has at an instant."""
    had = [
        (attempt.results[0][1], other.ordinal, number)
        for other in same
        for number, attempt in enumerate(other.attempts, 1)
        for result in [result for result, reached in attempt.results if reached < at][-1:]
        if result == "sending" or REACH[CODES[result]] > 0  # the phone may have it, as far as is known
    ]
    return max(had)[1:] == (message.ordinal, len(message.attempts)) if had else False


def _receipt(message: ObservedMessage) -> int | None:
    """The instant from which the newest attempt of a message is known to be on its phone."""
    reached = map(message.attempts[-1].reached, ("delivered", "seen")) if message.attempts else iter(())
    return next((at for at in reached if at is not None), None)


def _moments(message: ObservedMessage, same: Iterable[ObservedMessage]) -> list[tuple[int, str]]:
    """Instants at which the phone may do something with a message, in words.

    They are in the advance in which it was last heard of: after the receipt, or after `sent` where none comes; and
    between `sent` and the receipt.
    """
    receipt = _receipt(message)
    sent = message.attempts[-1].reached("sent") if message.attempts else None
    moments = []
    if receipt is not None:
        moments.append((receipt + 1, "right after its receipt"))
        if sent is not None and sent < receipt:
            moments.append(((sent + receipt + 1) // 2, "before its receipt"))
    elif sent is not None and message.attempts[-1].results[-1][0] == "sent":
        moments.append((sent + 1, "without any receipt"))
    return [(at, when) for at, when in moments if at <= message.until and _newest(message, same, at)]


def _answerable(world: Census) -> Iterator[tuple[ObservedMessage, list[tuple[int, str]]]]:
    """Each message with the moments at which its phone may do something with it."""
    phones: dict[str, list[ObservedMessage]] = {}
    for message in world.messages:
        phones.setdefault(message.phone, []).append(message)
    for message in world.messages:
        yield message, _moments(message, phones[message.phone])


def _answer(message: ObservedMessage, at: int, body: str) -> JsonObject:
    """The phone answers; an empty answer is a message like any other that it writes."""
    if body:
        return {"at": duration_text(at), "reply": {"phone": message.phone, "body": body}}
    family = FAMILY[message.attempts[-1].channel]
    return {"at": duration_text(at), "inbound": {"channel": family, "from": message.phone, "body": body}}


def _spot(kind: Kind, world: Census, message: ObservedMessage, values: Iterable[Value]) -> Iterator[Spot]:
    """A spot at a message, if anything may happen there."""
    return kind.at(world, message_words(message), about_message(message), values, phone=message.phone)


def _says(*happenings: JsonObject) -> JsonObject:
    return {"timeline": list(happenings)}


def _reply(kind: Kind, world: Census) -> Iterator[Spot]:
    for message, moments in _answerable(world):
        values = [
            Value(f'is answered with "{_PLAIN}" {when}', _says(_answer(message, at, _PLAIN))) for at, when in moments
        ]
        for at, when in moments[:1]:
            for body, how in _AWKWARD:
                values.append(Value(f"is answered {how} {when}", _says(_answer(message, at, body))))
        yield from _spot(kind, world, message, values)


def _two(kind: Kind, world: Census) -> Iterator[Spot]:
    for message, moments in _answerable(world):
        values = [
            Value(
                f'is answered with "{_PLAIN}" and at once with "{_SECOND}" {when}',
                _says(_answer(message, at, _PLAIN), _answer(message, at, _SECOND)),
            )
            for at, when in moments
        ]
        yield from _spot(kind, world, message, values)


def _stop(kind: Kind, world: Census) -> Iterator[Spot]:
    for message, moments in _answerable(world):
        values = [
            Value(f'is answered with "{word}" {when}', _says(_answer(message, at, word)))
            for stop in world.stop_words[:1]
            for at, when in moments
            for word in dict.fromkeys((stop, stop.capitalize()))
        ]
        yield from _spot(kind, world, message, values)


def _click(kind: Kind, world: Census) -> Iterator[Spot]:
    for message, moments in _answerable(world):
        if not message.links:
            continue
        values = []
        for at, when in moments:
            opened = {"at": duration_text(at), "phone": {"number": message.phone, "act": "click"}}
            values.append(Value(f"has its link opened {when}", _says(opened)))
            values.append(Value(f"has its link opened twice {when}", _says(opened, opened)))
        yield from _spot(kind, world, message, values)


def _off(kind: Kind, world: Census) -> Iterator[Spot]:
    for message in world.messages:
        receipt = _receipt(message)
        if receipt is None or receipt >= message.until:
            continue
        off = {"at": duration_text(message.attempts[0].at), "phone": {"number": message.phone, "act": "offline"}}
        values: dict[int, Value] = {}
        for at, when in (
            (receipt + 1, "right after its receipt was due"),
            (message.until, "at the end of the advance"),
        ):
            on = {"at": duration_text(at), "phone": {"number": message.phone, "act": "online"}}
            values.setdefault(at, Value(f"finds its phone switched off, which comes back {when}", _says(off, on)))
        yield from _spot(kind, world, message, values.values())


_of_people = partial(Kind, "people")
KINDS: Final = (
    _of_people(
        "reply",
        ("§6", "A68"),
        "A reply names the message that it answers; it may come at any time after the message was sent, with any text.",
        _reply,
    ),
    _of_people("two replies", ("§6", "A68"), "Each reply is an event of its own.", _two),
    _of_people(
        "stop",
        ("§2.1", "A60", "A81"),
        "Who opted out gets no promotional messages from then on; others still arrive.",
        _stop,
    ),
    _of_people(
        "click",
        ("§2.1", "A17"),
        "A link may be opened as soon as the message was sent, and more than once; the first time is kept.",
        _click,
    ),
    _of_people(
        "switched off",
        ("§3.1", "A05"),
        "While a phone is off nothing is confirmed; what waited for it is confirmed when it is back.",
        _off,
    ),
)
