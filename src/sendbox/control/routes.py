"""Control over HTTP: every operation as a Starlette route under `/_sandbox`, and the streams of what happens."""

from __future__ import annotations

import asyncio
import gzip
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import cache, partial
from typing import Final, TypeVar

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from sendbox import __version__
from sendbox.control.openapi import document
from sendbox.control.operation import Control, ControlError, Created, Operation, Served, Text, out_of_bounds, refusal
from sendbox.control.stream import STREAMED, Events
from sendbox.engine import bounds
from sendbox.engine.answer import Answer, JsonMapping, JsonObject, encoded
from sendbox.runtime.slot import Conflict, Slice
from sendbox.runtime.store.sharing import Elsewhere
from sendbox.runtime.teams import EVERYONE, Token, token_of
from sendbox.server.application import OpenRoute as OpenRoute
from sendbox.server.origin import ClientLeft, caller_of, read_body
from sendbox.server.origin import origin_of as origin_of
from sendbox.server.wire import WIRE, SocketlessCall

T = TypeVar("T")
log = logging.getLogger("sendbox")
PREFIX = "/_sandbox"
#: The form of a journal that proves that two runs are equal: nothing in it is masked.
CANONICAL: Final = "canonical"
#: The bytes of a body that is too long which are received, so that its client sees the answer.
MAX_DROPPED_BYTES = 16 * 1024 * 1024
#: Real seconds in which the reader of a stream must take what was sent.
READ_TIMEOUT = 30.0
#: The statuses of answers to a call without a token, and to one with a token that is not for it.
DENIALS: Final = (401, 403)
#: Headers of answers, by their status.
HEADERS: Final = {401: {"www-authenticate": 'Bearer realm="sendbox"'}, 429: {"retry-after": "1"}}
#: The bytes of answers that are compressed, and how much: more than that would hold the loop.
SHORTEST_COMPRESSED: Final = 1_000
LONGEST_COMPRESSED: Final = 200_000
COMPRESSION: Final = 4
#: The number of items of a list that are encoded before other tasks of the loop run.
ITEMS_PER_TURN = 50


@cache
def control_routes(served: Served) -> tuple[Route, ...]:
    """All operations as routes below `PREFIX`, of applications whose state has the `control`."""
    return (
        *(
            Route(row.path, partial(_perform, row), methods=[row.method], name=row.name)
            for row in (*served.operations, *STREAMED)
        ),
        OpenRoute("/openapi.json", _openapi, methods=["GET"], name="control_openapi"),
    )


async def _openapi(request: Request) -> Response:
    """The contract of control."""
    control: Control = request.app.state.control
    origin = origin_of(control.runtime, request.scope)
    make_document = partial(document, control.served, prefix=PREFIX, origin=origin, version=__version__)
    return json_answer(await asyncio.get_running_loop().run_in_executor(None, make_document))


def json_answer(value: object, status: int = 200, encode: Callable[[object], bytes] = encoded) -> Response:
    """A JSON answer; one that holds long lists is encoded and sent piece by piece."""
    fields = value.present() if isinstance(value, Answer) else value
    if isinstance(fields, dict) and any(
        isinstance(item, list) and len(item) > ITEMS_PER_TURN for item in fields.values()
    ):
        return Streamed(_pieces(fields, encode), status, media_type="application/json")
    return Response(encode(value), status, media_type="application/json")


class Streamed(Response):
    """An answer that is made while it is sent; an `endless` one until the client goes away, or that future is done.

    Starlette's own imports a backend of anyio where it is first used, which holds the loop for 15 ms.
    """

    def __init__(
        self,
        pieces: AsyncGenerator[bytes, None],
        status: int = 200,
        *,
        media_type: str,
        endless: asyncio.Future[None] | None = None,
    ) -> None:
        super().__init__(None, status, media_type=media_type)
        self.raw_headers = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        if endless is not None:  # who has read a stream to its end opens another connection: this one would stay idle
            self.raw_headers.append((b"connection", b"close"))
        self._pieces = pieces
        self._endless = endless
        self._begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends what there is."""
        if self._endless is None:
            await self._send(send)
            return
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_wait_for_disconnect(receive))
        try:
            await asyncio.wait({sending, leaving, self._endless}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ends = self._begun and not (sending.done() or leaving.done())
            sending.cancel()
            leaving.cancel()
            await asyncio.wait({sending, leaving})
            await self._pieces.aclose()
        if not sending.cancelled():
            sending.result()
        elif ends:
            async with asyncio.timeout(READ_TIMEOUT):
                await send({"type": "http.response.body", "body": b""})

    async def _send(self, send: Send) -> None:
        self._begun = True
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for piece in self._pieces:
            # who does not read is dropped, else the connection waits for ever
            async with asyncio.timeout(None if self._endless is None else READ_TIMEOUT):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def _wait_for_disconnect(receive: Receive) -> None:
    """Returns when the client goes away."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _pieces(value: JsonObject, encode: Callable[[object], bytes] = encoded) -> AsyncGenerator[bytes, None]:
    """An object as JSON, in pieces, between which other tasks of the loop run. Its lists are emptied."""
    before, work = b"{", Slice()
    for name, items in value.items():
        yield before + orjson.dumps(name) + b":"
        before = b","
        if not isinstance(items, list) or not items:
            yield encode({name: items})[len(orjson.dumps(name)) + 2 : -1]  # a name says what is masked
            continue
        for first in range(0, len(items), ITEMS_PER_TURN):
            parts = []
            for place in range(first, min(first + ITEMS_PER_TURN, len(items))):
                parts.append(encode(items[place]))  # to mask one may take a while
                items[place] = None  # to free all at once takes long
                await work.pause()
            piece = b",".join(parts)
            yield (b"[" if first == 0 else b",") + piece
            await asyncio.sleep(0)
        yield b"]"
    yield b"}"


async def _perform(row: Operation, request: Request) -> Response:
    control: Control = request.app.state.control
    reading = control.runtime.reading
    began = reading()
    mask = control.runtime.mask(request.path_params.get("id", ""))  # before it is closed
    encode: Callable[[object], bytes] = encoded if row.unmasked else mask.encoded
    try:
        token = EVERYONE if row.scope == "open" else _authenticate(control, request)
        arguments = await _arguments(control, request, row)
        if arguments.get("form") == CANONICAL:
            encode = encoded
        origin = origin_of(control.runtime, request.scope)
        coroutine = control.do(origin, row, request.path_params.get("id"), arguments, token)
        abandonable = (
            (row.reads or row.unlogged)
            and row not in STREAMED
            and not isinstance(request.scope.get("extensions", {}).get(WIRE), SocketlessCall)
        )
        value = await (_run_while_connected(coroutine, request.receive) if abandonable else coroutine)
        if row.logged:
            _note(control, row, request, token, arguments, value)
    except ControlError as error:
        if error.status in DENIALS:
            text = f"control {row.name} from {caller_of(request.scope)} is refused: {error.message}"
            control.runtime.log("", text, "warning", row.name, caller=caller_of(request.scope))
        answer = json_answer(error.as_json(), error.status, encode)
        answer.headers.update(HEADERS.get(error.status, {}))
        return answer
    except ClientLeft:
        return Response(status_code=499)  # nobody reads it
    except Elsewhere:
        raise
    except Exception:
        log.exception("control failed at %s", row.name)
        return json_answer({"error": "internal", "message": "an error of the sandbox itself, see its log"}, 500)
    finally:
        control.runtime.counts.control_seconds[row.name].add(reading() - began)
    if isinstance(value, Text):
        return Response(str(value) if row.unmasked else mask.text(value), row.status, media_type=value.media_type)
    if isinstance(value, Events):
        pieces = value.pieces(request.headers.get("last-event-id"))
        return Streamed(pieces, media_type=value.media_type, endless=value.end)
    return compressed(request, json_answer(value, 201 if isinstance(value, Created) else row.status, encode))


def compressed(request: Request, answer: Response) -> Response:
    """An answer of some length as gzip, if a browser asks, which may be far away; programs get it as it is."""
    if (
        isinstance(answer, Streamed)
        or not SHORTEST_COMPRESSED <= len(answer.body) <= LONGEST_COMPRESSED
        or "sec-fetch-site" not in request.headers
        or "gzip" not in request.headers.get("accept-encoding", "")
    ):
        return answer
    answer.body = gzip.compress(answer.body, COMPRESSION, mtime=0)
    answer.headers.update({"content-length": str(len(answer.body)), "content-encoding": "gzip"})
    answer.headers.add_vary_header("accept-encoding")
    return answer


async def _run_while_connected(coroutine: Awaitable[T], receive: Receive) -> T:
    """Return the answer of an operation that only reads. It ends when its client goes away. Raises `ClientLeft`."""
    asking = asyncio.current_task()
    assert asking is not None
    over = left = False

    def leave(_leaving: asyncio.Task[None]) -> None:
        nonlocal left
        if not over:
            left = True
            asking.cancel()

    leaving = asyncio.create_task(_wait_for_disconnect(receive))
    leaving.add_done_callback(leave)
    try:
        return await coroutine
    except asyncio.CancelledError:
        if not left:
            raise
        asking.uncancel()
        raise ClientLeft from None
    finally:
        over = True
        leaving.cancel()


def _authenticate(control: Control, request: Request) -> Token:
    """The token of a call. Raises `ControlError` if control asks for one and the call has none of them."""
    tokens = control.runtime.settings.control_tokens
    if not tokens:
        return EVERYONE
    sent = [value for name, value in request.scope["headers"] if name == b"authorization"]
    token = token_of(tokens, sent)
    if token is None:
        why = "the token of this call is none of this server" if sent else "this server asks for a token"
        raise ControlError(401, "no_token", f"{why}; legal: the header Authorization: Bearer TOKEN")
    return token


def _note(
    control: Control, row: Operation, request: Request, token: Token, arguments: JsonMapping, answer: JsonMapping
) -> None:
    """Notes in the audit and in the log what a client did through control."""
    world = request.path_params.get("id") or answer.get("id") or ""
    about = world if row.path.startswith("/worlds") else ""
    if "prefix" in arguments:
        about = f"{arguments['prefix']}*"
    caller = caller_of(request.scope)
    control.runtime.note_control(token, caller, row.name, about)
    by = {"token": token.name} if token.name else {}
    holder = f" with the token {token.name}" if token.name else ""
    control.runtime.log(world, f"control {row.name} from {caller}{holder}", "info", row.name, caller=caller, **by)


async def _arguments(control: Control, request: Request, row: Operation) -> JsonObject:
    arguments: JsonObject = {}
    for name, value in request.query_params.multi_items():
        if name in arguments:
            raise _duplicate_argument(name)
        arguments[name] = value
    if row.method not in ("GET", "DELETE"):
        raw = await read_body(request.receive, row.longest, MAX_DROPPED_BYTES)
        if raw is None:
            text = f"the body is longer than {row.longest} bytes, the most that is read here"
            raise ControlError(413, "too_long", text)
        if row.raw:
            arguments["raw"] = await _read(control, raw, text_allowed=True)
        elif raw.strip():
            body = await _read(control, raw, text_allowed=False)
            if not isinstance(body, dict):
                raise ControlError(400, "bad_body", "the body is not a JSON object")
            for name in arguments.keys() & body.keys():
                raise _duplicate_argument(name)
            arguments.update(body)
    for name, value in request.path_params.items():
        if name in arguments:
            raise ControlError(400, "bad_argument", f'"{name}" stands in the path already, as "{value}"')
        if name != "id":
            arguments[name] = value
    return arguments


def _duplicate_argument(name: str) -> ControlError:
    return ControlError(400, "bad_argument", f"{name}: it is given more than once; legal: one value")


async def _read(control: Control, raw: bytes, *, text_allowed: bool) -> object:
    """A body as a value; a long one is read on a worker thread, one at a time."""
    read = partial(_body, raw, text_allowed=text_allowed)
    if len(raw) <= bounds.SHORT_BODY:
        return read()
    try:
        return await control.runtime.builder.build(read)
    except Conflict as conflict:
        raise refusal(conflict) from None


def _body(raw: bytes, *, text_allowed: bool) -> object:
    """JSON, or where a scenario is expected also YAML text."""
    try:
        if (outside := bounds.many(raw)) is not None and raw.lstrip()[:1] in (b"[", b"{"):
            raise out_of_bounds(outside)
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if not text_allowed:
            if bounds.deeper(raw):
                raise out_of_bounds(bounds.too_deep()) from None
            raise ControlError(400, "bad_body", f"the body is not JSON: {error}") from None
    else:
        outside = bounds.in_json(raw, value)
        if outside is not None:
            raise out_of_bounds(outside)
        return value
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise ControlError(400, "bad_body", "the body is neither JSON nor UTF-8 text") from None
