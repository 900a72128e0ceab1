"""Message rows and message status, as the management interface shows them (§2.4, §4.4; A29, A30, A60, A65, A71).

A message has a row from the instant at which it was handed over or refused. Rows are kept in that order, which is the
order of the journal, so a page that was read stays what it was while new messages arrive; a cursor names a place in it.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_left
from collections.abc import Generator
from typing import Final

import orjson
from msgspec import Struct

from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import DAY, iso
from sendbox.engine.kept import ITEMS_PER_PAUSE
from sendbox.engine.texts import regex
from sendbox.engine.world import World
from sendbox.services.http.exchange import Answer, Exchange, Handler, in_slices
from sendbox.services.http.rest import decimal
from sendbox.services.messaging.channels import DELIVERED, FAILED, REJECTED, SEEN, SENT, UNDELIVERED
from sendbox.services.messaging.content.text import text_shown
from sendbox.services.messaging.events import DEFAULT_INFO, info_of
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.records import Attempt, Message, Submission
from sendbox.services.ports import Billing, account_of

#: Rows of a page (A71).
PAGE: Final = 100
#: So many messages are looked at, or rows made, between two pauses.
_LOOKED: Final = 500
_MADE: Final = 16

_CODE: Final = regex(r"\[([0-9]+)\]")


class Filter(Struct, frozen=True):
    """The rows that are asked for: those of one sub-account; with these tags, sorted; of this phone (A60, A70)."""

    billing: Billing
    tags: tuple[str, ...] | None = None
    phone: str | None = None


class Page(Struct, frozen=True):
    """One page of rows, and the cursor of the next one; None when this is the last."""

    rows: list[JsonObject]
    cursor: str | None


def page(world: World, day: int, criteria: Filter, after: int = -1) -> Generator[None, None, Page]:
    """The rows of a day (its first instant) that come after a place; pauses now and then."""
    rows = Messaging.of(world).rows
    lost = rows.messages.lost  # the places of a cursor count what was forgotten too
    first = max(bisect_left(rows.at, day), after + 1 - lost)
    last = bisect_left(rows.at, day + DAY)
    places: list[int] = []
    for count, place in enumerate(range(first, last)):
        if _fits(world, rows.messages[place], criteria):
            if len(places) == PAGE:
                break
            places.append(place)
        if count % _LOOKED == _LOOKED - 1:
            yield
    else:
        last = -1
    page_rows = []
    for place in places:
        page_rows.append(row(world, rows.messages[place]))
        if len(page_rows) % _MADE == 0:
            yield
    return Page(page_rows, None if last < 0 else cursor(world, day, lost + places[-1]))


def _fits(world: World, message: Message, criteria: Filter) -> bool:
    submission = message.submission
    return (
        account_of(world).billing_of(submission.key) is criteria.billing
        and (criteria.phone is None or message.phone == criteria.phone)
        and (criteria.tags is None or tuple(sorted(submission.send.tags)) == criteria.tags)
    )


def cursor(world: World, day: int, place: int) -> str:
    """The cursor that names the row at a place; only its world can have made it."""
    body = place.to_bytes(8, "big")
    return urlsafe_b64encode(body + _seal(world, day, body)).decode()


def place_of(world: World, day: int, text: str) -> int | None:
    """The place that a cursor of this world and day names; None for anything else."""
    try:
        raw = urlsafe_b64decode(text)
    except ValueError:
        return None
    body, seal = raw[:8], raw[8:]
    return int.from_bytes(body, "big") if seal == _seal(world, day, body) else None


def _seal(world: World, day: int, body: bytes) -> bytes:
    return world.name("cursor", day.to_bytes(8, "big", signed=True) + body)[:10]


# Rows


def row(world: World, message: Message) -> JsonObject:
    """The row of a message that has one (§2.4): the attempt it shows, with flags and times of all attempts (A65)."""
    attempt = message.furthest_attempt
    assert attempt is not None
    times = ReachedTimes(message)
    eur, czk = attempt.price or (0, 0)
    return {
        "message_id": message.id,
        **(message.submission.send.labels or {}),
        "message_parts": attempt.count,
        "ts_sent": _iso(times.sent),
        "ts_delivered": _iso(times.delivered),
        "ts_updated": _iso(times.updated),
        "ts_clicked": _iso(message.reactions.clicked_at),
        "ts_seen": _iso(times.seen),
        "ts_replied": _iso(message.reactions.replied_at),
        "ts_optout": _iso(message.reactions.optout_at),
        "sent": int(times.sent is not None),
        "delivered": int(times.delivered is not None),
        "seen": int(times.seen is not None),
        "clicked": int(message.reactions.clicked_at is not None),
        "replied": int(message.reactions.replied_at is not None),
        "optout": int(message.reactions.optout_at is not None),
        "nondelivered": int(times.missed),
        "body": text_shown(attempt, account_of(world)),
        "flow": attempt.step.channel,
        "sender": attempt.shown_sender,
        "phone_number": message.phone,
        "price_czk": decimal(czk),
        "price_eur": decimal(eur),
    }


class ReachedTimes:
    """When a message first reached the results that a row shows, and whether an attempt was not delivered."""

    __slots__ = ("delivered", "missed", "seen", "sent", "updated")

    def __init__(self, message: Message) -> None:
        first: dict[int, int] = {}
        newest: list[int] = []
        for attempt in message.attempts:
            for code, at in attempt.transitions():
                first[code] = min(at, first.get(code, at))
                newest.append(at)
        self.sent = first.get(SENT)
        self.delivered = first.get(DELIVERED)
        self.seen = first.get(SEEN)
        self.missed = not first.keys().isdisjoint((UNDELIVERED, REJECTED, FAILED))
        acts = (message.reactions.clicked_at, message.reactions.replied_at, message.reactions.optout_at)
        self.updated = max([*newest, *(at for at in acts if at is not None)], default=None)


# One message


def message_of(exchange: Exchange, id: str) -> Message | None:
    """The message of an id; None for one that is unknown or another's, and for one to the test number (A29, A89)."""
    world, key = exchange.world, exchange.key
    message = Messaging.of(world).by_id.get(id)
    if message is None or Messaging.of(world).is_test(message.phone):
        return None
    account = account_of(world)
    owned = key.id == world.id or account.billing_of(message.submission.key) is account.billing_of(key)
    return message if owned else None


def with_messages_read(exchange: Exchange, handler: Handler) -> Answer:
    """The answer of a handler that looks messages up by their ids, once all new ones are read; that may take slices."""
    by_id = Messaging.of(exchange.world).by_id
    if by_id.behind <= ITEMS_PER_PAUSE:
        return handler(exchange)

    def work() -> Generator[None, None, Answer]:
        yield from by_id.read()
        return handler(exchange)

    return in_slices(work())


def status(world: World, message: Message) -> JsonObject:
    """The status of one message, also of one that still waits (A29)."""
    shown_attempt = message.furthest_attempt
    submission = message.submission
    times = ReachedTimes(message)
    sending, delivery = (None, None) if shown_attempt is None else codes(shown_attempt)
    price = None if shown_attempt is None else shown_attempt.price
    currency = account_of(world).billing_of(submission.key).currency
    return {
        "status_code": sending,
        "delivery_code": delivery,
        "status_info": None if shown_attempt is None else _text_of(info_of(shown_attempt, shown_attempt.state)),
        "tag": ",".join(submission.send.tags),
        "body": (submission.send.text(submission.send.steps[0]) or "")
        if shown_attempt is None
        else text_shown(shown_attempt, account_of(world)),
        "to": {"phone_number": message.phone},
        "request_id": submission.request_id,
        "ts_created": iso(message.accepted_at),
        "ts_sent": _iso(times.sent),
        "ts_delivered": _iso(times.delivered),
        "ts_seen": _iso(times.seen),
        "ts_clicked": _iso(message.reactions.clicked_at),
        "ts_updated": _iso(times.updated),
        "flow": _flow_of(submission),
        "flow_index": None if shown_attempt is None else str(shown_attempt.number),
        "flow_status": {
            str(attempt.number): dict(zip(("status_code", "delivery_code"), codes(attempt), strict=True))
            for attempt in message.attempts
        },
        "price": None if price is None else price[currency != "EUR"] / 1_000_000,
    }


def _flow_of(submission: Submission) -> list[object]:
    """The flow as the client sent it; of a request without one, its only step without fields (A29)."""
    request = orjson.loads(submission.content or b"{}")
    message = request[submission.index] if isinstance(request, list) else request
    flow: list[object] | None = message.get("flow") if isinstance(message, dict) else None
    return flow or [{submission.send.steps[0].channel: {}}]


def codes(attempt: Attempt) -> tuple[str | None, str | None]:
    """(`status_code`, `delivery_code`) of an attempt (A30).

    An end without the recipient carries the code of its `result_info`: in `status_code` where the message
    was refused or broke, in `delivery_code` where it was sent and not delivered.
    """
    state = attempt.state
    info = info_of(attempt, state)
    if state in (REJECTED, FAILED):
        return _code_of(info, state), None
    if state == UNDELIVERED:
        return "200", _code_of(info, state)
    delivery = {DELIVERED: "201", SEEN: "202"}.get(state)
    return "200" if state in (SENT, DELIVERED, SEEN) else None, delivery


def _text_of(info: str | None) -> str | None:
    """The text of a `result_info` without its code, None where it has none (A29)."""
    return _CODE.sub("", info or "", count=1).strip() or None


def _code_of(info: str | None, state: int) -> str:
    """The code in a `result_info`, that of the default text where it has none (§7.3)."""
    return next(match[1] for text in (info, DEFAULT_INFO[state]) if (match := _CODE.match(text or "")))


def _iso(at: int | None) -> str | None:
    return None if at is None else iso(at)
