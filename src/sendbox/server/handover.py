"""The handover of calls: a call to a world that another process has goes there, and its answer comes back.

Which world a call is for is known where it is served. What is found there to be elsewhere is handed on from here, with
all that had come of its request. A process that cannot be reached is asked for again, until its lease has ended and the
world is this process's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import orjson
from starlette.responses import Response

from sendbox.runtime.callbacks import Callbacks
from sendbox.runtime.policy import HttpCall
from sendbox.runtime.sender import never_sent
from sendbox.runtime.store.sharing import PAUSE, Elsewhere
from sendbox.runtime.store.store import LEASE
from sendbox.server.relay import Incoming, carry, handed_on, text, was_reset
from sendbox.server.wire import AsgiCall, wire_of
from sendbox.services.http.exchange import header

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from sendbox.runtime.sender import Sender
    from sendbox.runtime.store.sharing import Sharing
    from sendbox.runtime.worlds import Runtime

#: The header that says how often a call was handed on, and how often that may be.
HOPS: Final = b"sendbox-hops"
MOST_HOPS: Final = 4
#: How often a process is asked that does not answer, or takes no calls any more: for a minute.
MOST_TRIES: Final = round(60 / PAUSE)
#: Methods of calls that are made again where a process ended before it had answered.
_SAFE: Final = ("GET", "HEAD")
#: Real seconds in which a process must be reached.
REACH: Final = 2.0
#: The path of a call that concerns the worlds of all processes.
WORLDS: Final = "/_sandbox/worlds"
_NOT_ALL: Final = "another process did not close its worlds: some may still be open; make the call again"
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
        if scope["method"] == "DELETE" and scope["path"] == WORLDS and not hops:
            await self._close_everywhere(scope, received, send)
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

    async def _close_everywhere(self, scope: Scope, received: Received, send: Send) -> None:
        """Closes worlds by their prefix in all processes, and adds up how many there were."""
        try:
            closed = await self._close_elsewhere(scope)
        except Exception:  # whatever another process did, or the store: some of the worlds may be there still
            await self._refuse(scope, _NOT_ALL)(scope, received, send)
            return
        here = AsgiCall("DELETE", "http", ("", None), "", "", ())
        await self._serve(scope, received, here.send)
        body = here.body
        if here.status == 200:
            if None in closed:
                await self._refuse(scope, _NOT_ALL)(scope, received, send)
                return
            body = orjson.dumps({"closed": sum(filter(None, closed), orjson.loads(body)["closed"])})
        headers = [pair for pair in here.headers if pair[0] != b"content-length"]
        headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": here.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _close_elsewhere(self, scope: Scope) -> list[int | None]:
        """Closes worlds by their prefix in the other processes; returns how many there were in each."""
        return [await self._close_at(address, scope) for address in await self._sharing.others()]

    async def _close_at(self, address: str, scope: Scope) -> int | None:
        """Closes worlds by their prefix in another process, if that does not end meanwhile.

        Returns how many there were; None if that process refuses the call, as this one may too.
        """
        while address in await self._sharing.others():
            call = AsgiCall("DELETE", "http", ("", None), "", "", ())
            try:
                await carry(self._sender(address), _call_to(address, 1, scope), None, call.send, reach=REACH)
            except Exception as error:
                if not never_sent(error):
                    raise
                await self._sharing.pause()
            else:
                return int(orjson.loads(call.body)["closed"]) if call.status == 200 else None
        return 0


def _call_to(address: str, hops: int, scope: Scope) -> HttpCall:
    """The call as it goes out to another process: with the `Host` that the client named, over a connection of its own.

    A connection that is kept could end just when the call is sent.
    """
    query = scope["query_string"].decode("latin-1")
    url = f"{address}{scope['raw_path'].decode('latin-1')}{f'?{query}' if query else ''}"
    own = (HOPS, b"expect")
    headers = [(text(name), text(value)) for name, value in handed_on(scope["headers"]) if name not in own]
    return HttpCall(scope["method"], url, [*headers, (text(HOPS), str(hops)), ("Connection", "close")], b"")
