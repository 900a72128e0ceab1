"""`/messages` and `/message`: what became of messages (§2.4, §4.4; A28, A29)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sendbox.engine.keeping.kept import STEP
from sendbox.services.advice import BASE_ID, advise
from sendbox.services.http.diagnosis import together
from sendbox.services.http.exchange import Answer, Exchange, in_slices
from sendbox.services.http.rest import read_query, success
from sendbox.services.messaging.http.advising import remark_clock
from sendbox.services.messaging.http.rest import listing
from sendbox.services.messaging.http.rest.decode import read_cursor, read_day, read_filter
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.ports import account_of

if TYPE_CHECKING:
    from collections.abc import Generator

NO_DATE: Final = "Missing 'date' or 'xapikey' in request data"
NO_ID: Final = "Missing 'id' in request data"


def messages(exchange: Exchange) -> Answer:
    """`GET /messages`: a page of the rows of one day (§4.4, A71)."""
    return in_slices(_page(exchange))


def _page(exchange: Exchange) -> Generator[None, None, Answer]:
    fields = read_query(exchange, NO_DATE, "date")
    day, criteria = together(lambda: read_day(exchange, fields["date"]), lambda: read_filter(exchange, fields))
    remark_clock(exchange.world, "date", "$.date", "§4.4", exchange.advice)
    after = read_cursor(exchange, day, fields.get("cursor"))
    page = yield from listing.page(exchange.world, day, criteria, after)
    return success(messages=page.rows, next_cursor=page.cursor)


def message(exchange: Exchange) -> Answer:
    """`GET /message`: one message; null for an id that is unknown, or another's (§4.4, A29)."""
    if Messaging.of(exchange.world).by_id.behind <= STEP:
        return _message(exchange)
    return in_slices(_found(exchange))


def _found(exchange: Exchange) -> Generator[None, None, Answer]:
    yield from Messaging.of(exchange.world).by_id.read()
    return _message(exchange)


def _message(exchange: Exchange) -> Answer:
    fields = read_query(exchange, NO_ID, "id")
    world, key = exchange.world, exchange.key
    by_id = Messaging.of(world).by_id
    message = by_id.get(fields["id"])
    if message is None and f"{fields['id']}-0" in by_id:
        text = f'"{fields["id"]}" is the base id of an object of /messages; the ids of its messages end in -0, -1, …'
        exchange.advice.append(advise(BASE_ID, text, "$.id"))
    if message is not None and Messaging.of(world).is_test(message.phone):
        message = None
    if message is not None and key.id != world.id:
        account = account_of(world)
        if account.billing_of(message.submission.key) is not account.billing_of(key):
            message = None
    return success(message=None if message is None else listing.status(world, message))
