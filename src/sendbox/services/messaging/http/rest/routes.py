"""Message rows and uploads as rows of the management interface (§2.4, §4.2, §4.4; base `{rest_url}` with its `/v1`).

`/messages` and `/message` say what became of messages (A28, A29).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from sendbox.contract.findings import show
from sendbox.engine.durations import instant
from sendbox.engine.remarks import Finding
from sendbox.services.advice import BASE_ID, advise
from sendbox.services.http.exchange import Answer, Exchange, Route, in_slices
from sendbox.services.http.numbers import remark_converted
from sendbox.services.http.requests import refusal, together
from sendbox.services.http.rest import no_subaccount, read_query, row, success, unauthorized_or
from sendbox.services.messaging.content import tags
from sendbox.services.messaging.http.accepting import remark_clock
from sendbox.services.messaging.http.rest import listing, uploads
from sendbox.services.messaging.http.rest.listing import Filter, place_of
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.numbers import normal as numbers
from sendbox.services.ports import account_of

NO_DATE: Final = "Missing 'date' or 'xapikey' in request data"
NO_ID: Final = "Missing 'id' in request data"


def read_day(exchange: Exchange, date: str) -> int:
    """The first instant of a day. Raises `Refused` for a day that the calendar does not have."""
    try:
        return instant(f"{date}T00:00:00Z")
    except ValueError:
        text = f"{show(date)} is not a day of the calendar; legal: YYYY-MM-DD (§4.4, A28)"
        raise refusal([Finding("$.date", "date", text, "§4.4", "A28")]) from None


def read_filter(exchange: Exchange, fields: dict[str, str]) -> Filter:
    """The rows that a call asks for: of which sub-account, with which tags, of which phone (§4.4, A60, A70)."""
    wanted_tags: tuple[str, ...] | None = None
    if "tag" in fields:
        cleaned = tags.normalize(fields["tag"])
        if cleaned is not tags.DEFAULT:  # an empty filter does not filter, as an empty tag is not a tag (A60)
            wanted_tags = tuple(sorted(cleaned))
    phone = fields.get("phone_number")
    if phone is not None:
        number = numbers.normalize(phone, account_of(exchange.world).country) or phone
        remark_converted(phone, number, "$.phone_number", exchange.advice, "§4.4")
        phone = number
    billing = account_of(exchange.world).subaccount(exchange.key, fields.get("subid"))
    if billing is None:
        raise no_subaccount()
    return Filter(billing, wanted_tags, phone)


def read_cursor(exchange: Exchange, day: int, text: str | None) -> int:
    """The place that a cursor names, -1 for none. Raises `Refused` for one that this world did not give for the day."""
    if text is None:
        return -1
    place = place_of(exchange.world, day, text)
    if place is None:
        why = f"{show(text)} is not a cursor of this day; legal: next_cursor of the page before (§4.4, A71)"
        raise refusal([Finding("$.cursor", "cursor", why, "§4.4", "A71")])
    return place


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
    return listing.with_messages_found(exchange, _message)


def _message(exchange: Exchange) -> Answer:
    fields = read_query(exchange, NO_ID, "id")
    by_id = Messaging.of(exchange.world).by_id
    if fields["id"] not in by_id and f"{fields['id']}-0" in by_id:
        text = f'"{fields["id"]}" is the base id of an object of /messages; the ids of its messages end in -0, -1, …'
        exchange.advice.append(advise(BASE_ID, text, "$.id"))
    message = listing.message_of(exchange, fields["id"])
    return success(message=None if message is None else listing.status(exchange.world, message))


ROUTES: Final[tuple[Route, ...]] = (
    row(
        "requestUpload", "Get an address to upload a bulk file to", uploads.upload_url,
        "UploadResponse", "A35", "A58", "A79", "A87", schema="UploadRequest", section="§4.2",
    ),
    row(
        "listMessages", "List the messages of a day", messages, "MessagesListResponse",
        "A28", "A60", "A65", "A70", "A71", schema="MessagesQuery", deny=unauthorized_or(NO_DATE),
    ),
    row(
        "getMessage", "Look one message up", message, "MessageStatusResponse",
        "A29", "A30", "A65", "A89", schema="MessageQuery", deny=unauthorized_or(NO_ID),
    ),
)  # fmt: skip
