"""Uploads of bulk files: `PUT` to an address that `/messaging/url` gave out (§4.2; A35, A79).

The address is the credential. The file is read as it comes, in pieces, so that neither a long one nor what a gzip
unpacks to holds the loop or the memory; it is answered once it is stored, and its lines follow on the world's clock.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route as HttpRoute
from starlette.types import Receive, Scope, Send

from sendbox.contract.validators import preload
from sendbox.engine.remarks import Finding
from sendbox.engine.requests import RequestRecord
from sendbox.runtime.slot import Slice
from sendbox.server.faults import NO_FAULT, Decision, carry_out, decide, spoilt
from sendbox.services.assume import Assume
from sendbox.services.http.advising import remark_accepted
from sendbox.services.http.diagnosis import valued
from sendbox.services.http.exchange import Answer, Exchange, Refused
from sendbox.services.http.requests import canonical
from sendbox.services.http.rest import error, success
from sendbox.services.messaging.bulk import FILETYPES, PART, Bulk, Decoded, Decoder, Intake, Unfit
from sendbox.services.messaging.http.sending.decode import decode_message
from sendbox.services.messaging.http.sending.handlers import read_json, without_callback
from sendbox.services.messaging.http.sending.routes import ROUTES as SENDING
from sendbox.services.messaging.messaging import Messaging

if TYPE_CHECKING:
    from sendbox.contract.validators import Contract
    from sendbox.engine.faults.calls import Applied
    from sendbox.engine.world import World
    from sendbox.runtime.worlds import Hosted, Runtime

#: How a call is journaled, by the application.
Journal = Callable[[Request, "Hosted", RequestRecord, Answer, Decision], None]

PATH: Final = "/upload/{address}"
_OPERATION: Final = "uploadBulk"
#: Every line is such a call (A79).
_SEND: Final = next(row for row in SENDING if row.operation == "sendMessage")


def upload_route(runtime: Runtime, contract: Contract, journal: Journal) -> HttpRoute:
    """The route of uploads; `journal` notes a call and puts the address of its entry into the answer."""
    decoder = line_decoder(contract)

    async def put(request: Request) -> Response:
        """A bulk file arrives."""
        address = request.path_params["address"]
        hosted = runtime.by_tag(address)
        if hosted is None:
            runtime.refuse(None, "/upload/", "no world gave this upload address out", "ask /v1/messaging/url for one")
            return _response(error(403, "Upload address is not valid"))
        token = hosted.request_began()
        try:
            world = hosted.world
            runtime.present(hosted)
            key, findings, decision = world.id, [], NO_FAULT
            try:
                bulk = Messaging.of(world).bulks.begin(address)
                key = bulk.key.id
                Messaging.of(world).bulks.decode = decoder
                if world.api.rules:
                    decision = decide(world, _OPERATION, key, "", b"", b"", {})
                applied = decision[0]
                if applied is not None and not applied.rule.effective:
                    Messaging.of(world).bulks.give_up(bulk)
                    await _pass_over(request)
                    answer = spoilt(applied, error, None)
                else:
                    await _receive(request, hosted, world, bulk)
                    answer = success() if applied is None else spoilt(applied, error, success())
            except Unfit as unfit:
                findings = [Finding("$", "upload", f"{unfit.text} (§4.2)", "§4.2", "A35")]
                answer = error(unfit.status, unfit.text)
                if decision[0] is not None:
                    await _pass_over(request)
                    answer = spoilt(decision[0], error, answer)
            if hosted.world is world and not hosted.gone:
                record = RequestRecord(_OPERATION, "PUT", request.url.path, key, answer.status, b"", answer.body)
                record.findings = findings
                journal(request, hosted, record, answer, decision)
            return _response(answer) if answer.fault is None else _Spoilt(answer.fault, answer, hosted)
        except ClientDisconnect:  # nobody waits for an answer, and half a file is no file
            return _response(error(400, "Upload was broken off"))
        finally:
            hosted.request_ended(token)
            runtime.changed(hosted)

    return HttpRoute(PATH, put, methods=["PUT"])


async def _receive(request: Request, hosted: Hosted, world: World, bulk: Bulk) -> None:
    """Takes the file in and stores it. Raises `Unfit`; whatever goes wrong, the address may be tried again."""
    try:
        wanted = FILETYPES[bulk.filetype]
        given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if given != wanted:
            raise Unfit(400, f"Content-Type must be {wanted}")
        intake = Intake(bulk.filetype, Assume.of(world).bulk)
        work = Slice()
        async for chunk in request.stream():
            for at in range(0, len(chunk), PART):
                for _ in intake.feed(chunk[at : at + PART]):
                    await work.pause()
        intake.close()
        await asyncio.get_running_loop().run_in_executor(None, preload)  # lines are read where nothing can wait for it
        if hosted.gone or hosted.world is not world:
            raise Unfit(403, "Upload address is not valid")
        Messaging.of(world).bulks.store(bulk, intake.blocks, intake.lines)
    finally:
        if bulk.state == "uploading":
            Messaging.of(world).bulks.give_up(bulk)


async def _pass_over(request: Request) -> None:
    """Reads what is left of a body: a connection that is closed before is reset, and takes with it what was sent."""
    with contextlib.suppress(RuntimeError):  # it was read to its end
        async for _ in request.stream():
            pass


def line_decoder(contract: Contract) -> Decoder:
    """Reads a line as `POST /message` reads its body."""

    def decode(world: World, bulk: Bulk, raw: bytes) -> Decoded:
        headers = [(b"content-type", b"application/json")]
        exchange = Exchange(_SEND, world, bulk.key, headers, b"", raw, bulk.origin, contract)
        try:
            message = read_json(exchange)
            send = decode_message(message, "$", exchange, exchange.advice)
            content = canonical(without_callback(message))
        except Refused as refused:
            return Decoded(None, b"", valued(refused.findings, exchange), exchange.advice)
        return Decoded(send, content, (), [*exchange.advice, *remark_accepted(world, [send], bulk.key)])

    return decode


class _Spoilt(Response):
    """An answer of which a rule of `api:` leaves something else."""

    def __init__(self, fault: Applied, answer: Answer, hosted: Hosted) -> None:
        super().__init__()
        self._spoilt = fault, answer, hosted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Does it to the connection, once the call has ended."""
        await carry_out(*self._spoilt, scope, receive, send)


def _response(answer: Answer) -> Response:
    headers = {name.decode(): value.decode("latin-1") for name, value in answer.headers}
    return Response(answer.body, answer.status, headers, media_type=answer.content_type.decode())
