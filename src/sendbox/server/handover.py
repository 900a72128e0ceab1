"""The handover of calls: a call to a world that another process has goes there, and its answer comes back.

Which world a call is for is known where it is served. What is found there to be elsewhere is handed on from here, with
all that had come of its request. A process that cannot be reached is asked for again, until its lease has ended and the
world is this process's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from operator import itemgetter
from typing import Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sendbox.engine.answer import JsonObject
from sendbox.runtime.callbacks import Callbacks
from sendbox.runtime.policy import HttpCall
from sendbox.runtime.sender import Sender, never_sent
from sendbox.runtime.store.sharing import PAUSE, Elsewhere, Sharing
from sendbox.runtime.store.store import LEASE
from sendbox.runtime.worlds import Runtime
from sendbox.server.origin import CALLER, caller_of
from sendbox.server.relay import Incoming, carry, handed_on, text, was_reset
from sendbox.server.wire import AsgiCall, wire_of
from sendbox.services.http.exchange import header

#: The header that says how often a call was handed on, and how often that may be.
HOPS: Final = b"sendbox-hops"
MOST_HOPS: Final = 4
#: How often a process is asked that does not answer, or takes no calls any more: for a minute.
MOST_TRIES: Final = round(60 / PAUSE)
#: Methods of calls that are made again where a process ended before it had answered.
_SAFE: Final = ("GET", "HEAD")
#: Real seconds in which a process must be reached.
REACH: Final = 2.0
_UNREACHED: Final = f"the process that has this world was not reached; it is given up {LEASE:g} s after its last sign"


class Received:
    """What has come of a request. It can be read again from its beginning. `elsewhere` is where it belongs."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._messages: list[Message] = []
        self._next = 0
        self.elsewhere: Elsewhere | None = None

    async def __call__(self) -> Message:
        """The next message."""
        if self._next == len(self._messages):
            message = await self._receive()
            if message["type"] == "http.disconnect":
                return message
            self._messages.append(message)
        self._next += 1
        return self._messages[self._next - 1]

    def rewind(self) -> None:
        """It is read from its beginning."""
        self._next, self.elsewhere = 0, None


class _NoAnswer(Response):
    """A call has no answer here."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends nothing."""


async def note_elsewhere(request: Request, error: Exception) -> Response:
    """A handler of exceptions: a call is for another process, and has no answer here."""
    received = request.receive
    assert isinstance(received, Received)
    assert isinstance(error, Elsewhere)
    received.elsewhere = error
    return _NoAnswer()


class Handover:
    """The handover of the calls of one application, which `serve` serves here."""

    def __init__(
        self, runtime: Runtime, sharing: Sharing, serve: ASGIApp, refuse: Callable[[Scope, str], ASGIApp]
    ) -> None:
        self._runtime = runtime
        self._sharing = sharing
        self._serve = serve
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a call, here or elsewhere."""
        received = Received(receive)
        sent = header(scope["headers"], HOPS) or b"0"
        hops = int(sent) if sent.isdigit() else MOST_HOPS
        combined = None if hops or "shard" in _query(scope) else COMBINED.get((scope["method"], scope["path"]))
        if combined is not None:
            await self._serve_everywhere(scope, received, send, combined)
            return
        for _ in range(MOST_TRIES):
            received.rewind()
            await self._serve({**scope}, received, send)
            if received.elsewhere is None:
                return
            address = received.elsewhere.address
            if hops >= MOST_HOPS:
                break
            if address and await self._hand_on(address, hops + 1, scope, received, send):
                return
            await self._sharing.pause()
        await self._refuse(scope, _UNREACHED)(scope, receive, send)

    async def _hand_on(self, address: str, hops: int, scope: Scope, received: Received, send: Send) -> bool:
        """Hands a call on; returns False if it is to be served again, because it was not or may be sent twice."""
        received.rewind()
        incoming = Incoming(scope["headers"], received)
        begun = False

        def begin(_status: int, _headers: object) -> None:
            nonlocal begun
            begun = True

        call = _call_to(address, hops, scope)
        pieces = incoming.pieces() if incoming.has_body else None
        more = ((b"connection", b"close"),) if self._runtime.leaving else ()
        work = carry(self._sender(address), call, pieces, send, begun=begin, more=more, reach=REACH)
        try:
            with self._sharing.watched(address) as lost:
                if not await incoming.while_connected(work, lost) and lost.done():
                    raise ConnectionResetError(address)
        except Exception as error:  # whatever that process did, the client sees the same
            if never_sent(error) or (not begun and scope["method"] in _SAFE):
                return False
            await wire_of(scope).end(received, reset=was_reset(error))
        return True

    def _sender(self, address: str) -> Sender:
        """The client for calls to another process."""
        return self._runtime.senders.of(Callbacks.parse(urlsplit(address).netloc))

    async def _serve_everywhere(self, scope: Scope, received: Received, send: Send, combined: Combined) -> None:
        """Serves a call in all processes, and answers with what they have answered together.

        The others come first: the worlds of a process that ends meanwhile are this one's then.
        """
        try:
            elsewhere = await self._call_others(scope)
        except Exception:  # whatever another process did, or the store: it may not have done what was asked
            await self._refuse(scope, combined.incomplete)(scope, received, send)
            return
        here = AsgiCall(scope["method"], "http", ("", None), "", "", ())
        await self._serve(scope, received, here.send)
        body = here.body
        if here.status == 200:
            if any(call.status != 200 for call in elsewhere):  # a refusal of all is that of this process too
                await self._refuse(scope, combined.incomplete)(scope, received, send)
                return
            body = orjson.dumps(combined.combine(scope, [orjson.loads(call.body) for call in (*elsewhere, here)]))
        headers = [pair for pair in here.headers if pair[0] != b"content-length"]
        headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": here.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _call_others(self, scope: Scope) -> list[AsgiCall]:
        """A call as each of the other processes has answered it."""
        calls = [await self._call_at(address, scope) for address in await self._sharing.others()]
        return [call for call in calls if call is not None]

    async def _call_at(self, address: str, scope: Scope) -> AsgiCall | None:
        """A call as another process has answered it; None if that has ended meanwhile."""
        while address in await self._sharing.others():
            call = AsgiCall(scope["method"], "http", ("", None), "", "", ())
            try:
                await carry(self._sender(address), _call_to(address, 1, scope), None, call.send, reach=REACH)
            except Exception as error:
                if not never_sent(error):
                    raise
                await self._sharing.pause()
            else:
                return call
        return None


def _query(scope: Scope) -> dict[str, list[str]]:
    """The arguments in the query of a call."""
    return parse_qs(scope["query_string"].decode("latin-1"))


def _add_closed(_scope: Scope, answers: list[JsonObject]) -> JsonObject:
    """How many worlds were closed in all processes."""
    return {"closed": sum(answer["closed"] for answer in answers)}


def _merge(name: str, scope: Scope, answers: list[JsonObject]) -> JsonObject:
    """The rows of all processes in the order of their time; the newest of them where the call asks for the `last`."""
    rows = sorted((row for answer in answers for row in answer[name]), key=itemgetter("at"))
    last = _query(scope).get("last")
    return {name: rows if last is None else rows[max(0, len(rows) - int(last[0])) :]}


class Combined(NamedTuple):
    """A call that concerns all processes: `combine` makes one answer of theirs, else the refusal is `incomplete`."""

    combine: Callable[[Scope, list[JsonObject]], JsonObject]
    incomplete: str


_NOT_ASKED: Final = "another process could not be asked: its rows are missing; make the call again"
#: The calls that concern all processes.
COMBINED: Final[Mapping[tuple[str, str], Combined]] = {
    ("DELETE", "/_sandbox/worlds"): Combined(
        _add_closed, "another process did not close its worlds: some may still be open; make the call again"
    ),
    ("GET", "/_sandbox/audit"): Combined(partial(_merge, "calls"), _NOT_ASKED),
    ("GET", "/_sandbox/refused"): Combined(partial(_merge, "refused"), _NOT_ASKED),
}


def _call_to(address: str, hops: int, scope: Scope) -> HttpCall:
    """The call as it goes out to another process: with the `Host` that the client named, over a connection of its own.

    A connection that is kept could end just when the call is sent.
    """
    query = scope["query_string"].decode("latin-1")
    url = f"{address}{scope['raw_path'].decode('latin-1')}{f'?{query}' if query else ''}"
    own = (HOPS, CALLER, b"expect")
    headers = [(text(name), text(value)) for name, value in handed_on(scope["headers"]) if name not in own]
    headers += [(text(HOPS), str(hops)), (text(CALLER), caller_of(scope)), ("Connection", "close")]
    return HttpCall(scope["method"], url, headers, b"")
