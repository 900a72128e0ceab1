"""Control over HTTP: every operation as a Starlette route under `/_sandbox`, and the stream for the page."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from sendbox.control import operations
from sendbox.control.operation import OPERATIONS, ControlError, Operation, perform
from sendbox.core.views import entry_view
from sendbox.runtime import Hosted, Runtime

log = logging.getLogger("sendbox")
PREFIX = "/_sandbox"
#: Real seconds between two signs of life on a stream.
HEARTBEAT = 15.0


def control_routes(runtime: Runtime) -> list[Route]:
    """All operations as routes."""
    operations.load()
    routes = [
        Route(PREFIX + row.path, _endpoint(runtime, row), methods=[row.method], name=row.name)
        for row in OPERATIONS.values()
    ]
    routes.append(Route(PREFIX + "/worlds/{id}/stream", _stream(runtime), methods=["GET"], name="stream"))
    return routes


def json_answer(value: Any, status: int = 200) -> Response:
    """A JSON answer."""
    return Response(orjson.dumps(value), status, media_type="application/json")


def origin_of(runtime: Runtime, request: Request) -> str:
    """Scheme and authority that addresses given out begin with."""
    if runtime.settings.public_url:
        return runtime.settings.public_url.rstrip("/")
    return f"{request.url.scheme}://{request.headers.get('host') or request.url.netloc}"


def _endpoint(runtime: Runtime, row: Operation) -> Any:
    async def serve(request: Request) -> Response:
        try:
            arguments = await _arguments(request, row)
            value = await perform(runtime, origin_of(runtime, request), row, request.path_params.get("id"), arguments)
        except ControlError as error:
            return json_answer(error.as_json(), error.status)
        except Exception:
            log.exception("control failed at %s", row.name)
            return json_answer({"error": "internal", "message": "an error of the sandbox itself, see its log"}, 500)
        return json_answer(value, row.status)

    return serve


async def _arguments(request: Request, row: Operation) -> dict[str, Any]:
    arguments: dict[str, Any] = {name: value for name, value in request.path_params.items() if name != "id"}
    arguments.update(request.query_params)
    if row.method in ("GET", "DELETE"):
        return arguments
    raw = await request.body()
    if row.raw:
        return {**arguments, "raw": _body(raw, text_allowed=True)}
    if raw.strip():
        value = _body(raw, text_allowed=False)
        if not isinstance(value, dict):
            raise ControlError(400, "bad_body", "the body is no JSON object")
        arguments.update(value)
    return arguments


def _body(raw: bytes, *, text_allowed: bool) -> Any:
    """JSON, or where a scenario is expected also YAML text."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if not text_allowed:
            raise ControlError(400, "bad_body", f"the body is no JSON: {error}") from None
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise ControlError(400, "bad_body", "the body is neither JSON nor UTF-8 text") from None


def _stream(runtime: Runtime) -> Any:
    async def serve(request: Request) -> Response:
        """Server-sent events: each entry of the journal as it is made, and the clock."""
        hosted = runtime.worlds.get(request.path_params["id"])
        if hosted is None:
            error = ControlError(404, "no_such_world", f'"{request.path_params["id"]}" is no open world')
            return json_answer(error.as_json(), error.status)
        return StreamingResponse(_entries(runtime, hosted), media_type="text/event-stream")

    return serve


async def _entries(runtime: Runtime, hosted: Hosted) -> AsyncIterator[bytes]:
    shown = len(hosted.world.journal)
    epoch = hosted.world.epoch
    yield b": open\n\n"
    while runtime.worlds.get(hosted.world.id) is hosted:
        world = hosted.world
        if world.epoch != epoch:
            shown, epoch = 0, world.epoch
            yield b"event: reset\ndata: {}\n\n"
        while shown < len(world.journal):
            data = orjson.dumps(entry_view(world, shown))
            yield b"event: entry\nid: %d\ndata: %s\n\n" % (shown, data)
            shown += 1
        try:
            async with asyncio.timeout(HEARTBEAT):
                await hosted.change()
        except TimeoutError:
            yield b": alive\n\n"
