"""Message rows and uploads as rows of the management interface (§2.4, §4.2, §4.4; base `{rest_url}` with its `/v1`).

`/messages` and `/message` say what became of messages (A28, A29). `/messaging/url` gives an address out, to which a
bulk file is uploaded (A35, A79): the address is the credential. A file is answered once it is stored, and its lines
follow on the world's clock.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from msgspec.structs import replace

from sendbox.contract.findings import show
from sendbox.contract.validators import Contract
from sendbox.engine.durations import instant
from sendbox.engine.remarks import Finding
from sendbox.engine.world import World
from sendbox.services.advice import BASE_ID, advise
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Incoming, Refused, Route, Upload, in_slices
from sendbox.services.http.numbers import remark_converted
from sendbox.services.http.requests import add_values, canonical, refusal, together
from sendbox.services.http.rest import (
    REST,
    error,
    no_subaccount,
    read_body,
    read_query,
    refuse,
    success,
    unauthorized_or,
)
from sendbox.services.messaging.bulk import FILETYPES, PART, Bulk, DecodedLine, Decoder, IllegalFile, Intake
from sendbox.services.messaging.content import tags
from sendbox.services.messaging.http.accepting import remark_accepted, remark_clock
from sendbox.services.messaging.http.rest import listing
from sendbox.services.messaging.http.rest.listing import Filter, place_of
from sendbox.services.messaging.http.sending.decode import decode_message, read_datetime
from sendbox.services.messaging.http.sending.routes import ROUTES as SENDING
from sendbox.services.messaging.http.sending.routes import read_json, without_callback
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.numbers import notation
from sendbox.services.ports import account_of

_MISSING: Final = "Missing 'bulk_id' or 'filetype' in request data"
_LOST: Final = IllegalFile(403, "Upload address is not valid")
#: Every line is such a call (A79).
_SEND: Final = next(row for row in SENDING if row.operation == "sendMessage")


def upload_url(exchange: Exchange) -> Answer:
    """`POST /messaging/url`: the address works once, for a minute of the world's time (§4.2).

    A file with a `datetime` is processed then (A87).
    """
    request = read_body(exchange, _MISSING, "bulk_id", "filetype")
    filetype: str = request["filetype"]
    if filetype not in FILETYPES:
        raise refuse("Unsupported filetype", "$.filetype", "filetype", "§4.2", "A35")
    at, problems = None, list[Finding]()
    if "datetime" in request:
        at = read_datetime(request["datetime"], "$", problems, exchange.advice)
    if problems:
        raise refusal(problems)
    bulks = Messaging.of(exchange.world).bulks
    bulk = bulks.issue(request["bulk_id"], filetype, exchange.key, exchange.content or b"", exchange.origin, at)
    return success(url=f"{exchange.origin}/upload/{bulk.address}")


def _refusal(unfit: IllegalFile) -> Refused:
    return refuse(unfit.text, "$", "upload", "§4.2", "A35", unfit.status)


@contextmanager
def _refusing() -> Iterator[None]:
    """A file that does not fit is refused."""
    try:
        yield
    except IllegalFile as unfit:
        raise _refusal(unfit) from None


def _receive(world: World, address: str, contract: Contract) -> Incoming:
    """Begins to take a file in, for the upload of an address."""
    bulks = Messaging.of(world).bulks
    with _refusing():
        bulk = bulks.begin(address)
    bulks.decode = line_decoder(contract)

    def take(content_type: str, pieces: Iterable[bytes]) -> Iterator[None]:
        """The type of the content must be that of the file; its lines are read once it is complete."""
        expected_type, intake = FILETYPES[bulk.filetype], Intake(bulk.filetype, Assume.of(world).bulk)
        with _refusing():
            if content_type != expected_type:
                raise IllegalFile(400, f"Content-Type must be {expected_type}")
            for piece in pieces:
                yield from intake.feed(piece)
            intake.close()
        bulks.store(bulk, intake.blocks, intake.lines)

    return Incoming(bulk.key.id, take, lambda: bulks.give_up(bulk))


def line_decoder(contract: Contract) -> Decoder:
    """Reads a line as `POST /message` reads its body."""

    def decode(world: World, bulk: Bulk, raw: bytes) -> DecodedLine:
        headers = [(b"content-type", b"application/json")]
        exchange = Exchange(_SEND, world, bulk.key, headers, b"", raw, bulk.origin, contract)
        try:
            message = read_json(exchange, bulk.line)
            send = decode_message(message, "$", exchange, exchange.advice)
            content = canonical(without_callback(message))
        except Refused as refused:
            return DecodedLine(None, b"", add_values(refused.findings, exchange), exchange.advice)
        remarks = remark_accepted(Messaging.of(world), [send], bulk.key)
        return DecodedLine(send, content, (), [*exchange.advice, *remarks])

    return decode


UPLOAD: Final = Upload(
    operation="uploadBulk",
    path="/upload/{address}",
    receive=_receive,
    longest=lambda world: Assume.of(world).bulk.bytes + PART,
    success=success,
    error=error,
    lost=lambda: _refusal(_LOST),
    unknown=("no world gave this upload address out", "ask /v1/messaging/url for one"),
    interface="rest",
    section="§4.2",
    accepted='PUT /upload/ADDRESS {"body": "Hello", "to": [{"phone_number": "420777000101"}]}',
    refused='sendbox.advance("60s"); client.upload(url, lines)',
)


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
        number = notation.normalize(phone, account_of(exchange.world).country) or phone
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
    return listing.with_messages_read(exchange, _message)


def _message(exchange: Exchange) -> Answer:
    fields = read_query(exchange, NO_ID, "id")
    by_id = Messaging.of(exchange.world).by_id
    if fields["id"] not in by_id and f"{fields['id']}-0" in by_id:
        text = f'"{fields["id"]}" is the base id of an object of /messages; the ids of its messages end in -0, -1, …'
        exchange.advice.append(advise(BASE_ID, text, "$.id"))
    message = listing.message_of(exchange, fields["id"])
    return success(message=None if message is None else listing.status(exchange.world, message))


ROUTES: Final[tuple[Route, ...]] = (
    replace(REST, section="§4.2").route(
        "requestUpload", "Get an address to upload a bulk file to", upload_url, "UploadRequest", "UploadResponse",
        "A35", "A58", "A79", "A87",
    ),
    replace(REST, deny=unauthorized_or(NO_DATE)).route(
        "listMessages", "List the messages of a day", messages, "MessagesQuery", "MessagesListResponse",
        "A28", "A60", "A65", "A70", "A71",
    ),
    replace(REST, deny=unauthorized_or(NO_ID)).route(
        "getMessage", "Look one message up", message, "MessageQuery", "MessageStatusResponse",
        "A29", "A30", "A65", "A89",
    ),
)  # fmt: skip
