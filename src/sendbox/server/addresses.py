"""Addresses that worlds give out: links, open to everyone, and those that bodies are sent to.

`services/http/exchange.py` has what a service says of them. A body is taken in piece by piece, into a file where it
is long, so that it holds neither the loop nor the memory.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from sendbox.engine.commands.command import Body
from sendbox.engine.faults.calls import Applied
from sendbox.runtime.slot import HostedWorld
from sendbox.runtime.spool import Writer
from sendbox.runtime.worlds import Runtime
from sendbox.server.gateway import Emulated
from sendbox.server.origin import call_of
from sendbox.server.wire import carry_out
from sendbox.services.http.exchange import Answer, Link, Upload
from sendbox.services.http.executor import CallExecutor


def link_route(
    runtime: Runtime, executor: CallExecutor, link: Link, page: Callable[[int, str], Awaitable[Response]]
) -> Route:
    """The route of a kind of links. A browser that follows one that leads nowhere gets the page that `page` makes."""

    async def follow(request: Request) -> Response:
        """A link is followed."""
        code = request.path_params["code"]
        hosted = await runtime.by_tag(code)
        if hosted is not None:
            await hosted.wait_until_idle()
        if hosted is None or hosted.gone or not link.known(hosted.world, code):
            return await answered(request, link.lost)
        runtime.present(hosted)
        answer = executor.follow(hosted.world, call_of(runtime, request.scope, hosted.world.id, b"", ()), link)
        if answer.status < 400:
            runtime.note_change(hosted)
        return await answered(request, answer)

    async def answered(request: Request, answer: Answer) -> Response:
        if answer.status >= 400 and "text/html" in request.headers.get("accept", ""):
            return await page(answer.status, answer.body.decode())
        return response(answer)

    return Route(link.path, follow, methods=["GET"])


def response(answer: Answer) -> Response:
    """An answer as Starlette sends it."""
    headers = {name.decode(): value.decode("latin-1") for name, value in answer.headers}
    return Response(answer.body, answer.status, headers, media_type=answer.content_type.decode() or None)


def upload_route(runtime: Runtime, emulated: Emulated, upload: Upload) -> Route:
    """The route of uploads."""
    error, executor = upload.error, emulated.executor

    async def put(request: Request) -> Response:
        """A body arrives."""
        hosted = await runtime.by_tag(request.path_params["address"])
        if hosted is None:
            return lost()
        full = runtime.refusal(hosted.world.id, sends=True)
        if full is not None:
            runtime.refuse(None, upload.path.partition("{")[0], *full, full=True)
            emulated.denied(upload.operation, 503)
            return response(error(503, full.why))
        world = hosted.world
        try:
            body = await _read(request, hosted, upload.longest(world))
        except ClientDisconnect:  # no client waits for an answer, and half a body is not a body
            return response(error(400, "Upload was broken off"))
        token = hosted.request_began()  # an advance does not wait for a body that is on its way
        try:
            await hosted.wait_until_idle()
            if hosted.gone or hosted.world is not world:
                return lost()
            call = call_of(runtime, request.scope, world.id, body)
            runtime.present(hosted)
            outcome = await hosted.run_exclusively(executor.upload(world, call, upload))
            emulated.note(hosted, outcome)
            answer = emulated.with_hints(outcome, hosted, call.origin)
            return response(answer) if answer.fault is None else _SpoiltResponse(runtime, answer.fault, answer, hosted)
        finally:
            hosted.request_ended(token)
            runtime.note_change(hosted)

    def lost() -> Response:
        """The address is of no world, or of one that is not there any more."""
        runtime.refuse(None, upload.path.partition("{")[0], *upload.unknown)
        refused = upload.lost()
        emulated.denied(upload.operation, refused.status)
        return response(error(refused.status, refused.text))

    return Route(upload.path, put, methods=["PUT"])


async def _read(request: Request, hosted: HostedWorld, longest: int) -> Body:
    """The body, cut off where it is longer than what is taken in: that much is enough to refuse it."""
    body = Writer(hosted.spool)
    async for chunk in request.stream():
        if body.size <= longest:
            body.feed(chunk[: longest + 1 - body.size])
    return body.end()


class _SpoiltResponse(Response):
    """An answer of which a rule of `api:` leaves something else."""

    def __init__(self, runtime: Runtime, fault: Applied, answer: Answer, hosted: HostedWorld) -> None:
        super().__init__()
        self._spoilt = runtime, fault, answer, hosted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Does it to the connection, once the call has ended."""
        await carry_out(*self._spoilt, scope, receive, send)
