"""Bodies that are read as they come, at addresses that worlds gave out (`services/http/interfaces.py`).

In pieces, so that neither a long body nor what it unpacks to holds the loop or the memory.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from sendbox.contract.validators import preload
from sendbox.engine.requests import RequestRecord
from sendbox.runtime.slot import Slice
from sendbox.server.faults import NO_FAULT, Decision, carry_out, decide, spoilt
from sendbox.server.links import response
from sendbox.services.http.exchange import Answer, Refused

if TYPE_CHECKING:
    from sendbox.contract.validators import Contract
    from sendbox.engine.faults.calls import Applied
    from sendbox.engine.world import World
    from sendbox.runtime.worlds import Hosted, Runtime
    from sendbox.services.http.interfaces import Incoming, Upload

#: How a call is journaled, by the application.
Journal = Callable[[Request, "Hosted", RequestRecord, Answer, Decision], None]


def upload_route(runtime: Runtime, contract: Contract, journal: Journal, upload: Upload) -> Route:
    """The route of uploads; `journal` notes a call and puts the address of its entry into the answer."""
    error = upload.error

    async def put(request: Request) -> Response:
        """A body arrives."""
        address = request.path_params["address"]
        hosted = runtime.by_tag(address)
        if hosted is None:
            runtime.refuse(None, upload.path.partition("{")[0], *upload.unknown)
            lost = upload.lost()
            return response(error(lost.status, lost.text))
        token = hosted.request_began()
        try:
            world = hosted.world
            runtime.present(hosted)
            key, findings, decision = world.id, [], NO_FAULT
            try:
                incoming = upload.receive(world, address, contract)
                key = incoming.key
                if world.api.rules:
                    decision = decide(world, upload.operation, key, "", b"", b"", "")
                applied = decision[0]
                if applied is not None and not applied.rule.effective:
                    incoming.give_up()
                    await _pass_over(request)
                    answer = spoilt(applied, error, None)
                else:
                    await _receive(request, hosted, world, upload, incoming)
                    answer = upload.success() if applied is None else spoilt(applied, error, upload.success())
            except Refused as refused:
                findings = refused.findings
                answer = error(refused.status, refused.text)
                if decision[0] is not None:
                    await _pass_over(request)
                    answer = spoilt(decision[0], error, answer)
            if hosted.world is world and not hosted.gone:
                record = RequestRecord(upload.operation, "PUT", request.url.path, key, answer.status, b"", answer.body)
                record.findings = findings
                journal(request, hosted, record, answer, decision)
            return response(answer) if answer.fault is None else _Spoilt(answer.fault, answer, hosted)
        except ClientDisconnect:  # nobody waits for an answer, and half a body is none
            return response(error(400, "Upload was broken off"))
        finally:
            hosted.request_ended(token)
            runtime.changed(hosted)

    return Route(upload.path, put, methods=["PUT"])


async def _receive(request: Request, hosted: Hosted, world: World, upload: Upload, incoming: Incoming) -> None:
    """Takes a body in and stores it. Raises `Refused`; whatever goes wrong, the address may be tried again."""
    try:
        incoming.begin(request.headers.get("content-type", "").partition(";")[0].strip().lower())
        work = Slice()
        async for chunk in request.stream():
            for _ in incoming.feed(chunk):
                await work.pause()
        await asyncio.get_running_loop().run_in_executor(None, preload)  # it is read where nothing can wait for it
        if hosted.gone or hosted.world is not world:
            raise upload.lost()
        incoming.store()
    finally:
        incoming.give_up()


async def _pass_over(request: Request) -> None:
    """Reads what is left of a body: a connection that is closed before is reset, and takes with it what was sent."""
    with contextlib.suppress(RuntimeError):  # it was read to its end
        async for _ in request.stream():
            pass


class _Spoilt(Response):
    """An answer of which a rule of `api:` leaves something else."""

    def __init__(self, fault: Applied, answer: Answer, hosted: Hosted) -> None:
        super().__init__()
        self._spoilt = fault, answer, hosted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Does it to the connection, once the call has ended."""
        await carry_out(*self._spoilt, scope, receive, send)
