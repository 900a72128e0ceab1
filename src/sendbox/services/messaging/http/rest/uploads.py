"""Bulk files: `/messaging/url` gives an address out, to which a file is uploaded (§4.2; A35, A79).

The address is the credential. A file is answered once it is stored, and its lines follow on the world's clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from sendbox.contract.validators import Contract
from sendbox.engine.remarks import Finding
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Incoming, Refused, Upload
from sendbox.services.http.requests import add_values, canonical, refusal
from sendbox.services.http.rest import error, read_body, refuse, success
from sendbox.services.messaging.bulk import FILETYPES, PART, Bulk, DecodedLine, Decoder, IllegalFile, Intake
from sendbox.services.messaging.http.accepting import remark_accepted
from sendbox.services.messaging.http.sending.decode import decode_message, read_datetime
from sendbox.services.messaging.http.sending.routes import ROUTES as SENDING
from sendbox.services.messaging.http.sending.routes import read_json, without_callback
from sendbox.services.messaging.messaging import Messaging

if TYPE_CHECKING:
    from sendbox.engine.world import World


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
