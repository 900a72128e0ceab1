"""Wires: what brought a call, and answers on them, also those that a fault of the scenario spoils.

A server puts its wire into `scope["extensions"]` under `WIRE`. A caller of the application without a socket puts none
there, or a `SocketlessCall`: on it a fault raises what a client of httpx would have seen, and no real time passes.

A fault is carried out after the call has been journaled: an answer that takes its time holds up no advance. That time
is real, since a client's timeout is; it ends with the client, with the world's epoch, and with the server. No fault has
a name here.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import struct
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import unquote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sendbox.engine.faults.calls import Applied
from sendbox.engine.faults.fault import Advance, End, Piece, Wait
from sendbox.runtime.slot import HostedWorld
from sendbox.runtime.worlds import Runtime
from sendbox.services.http.exchange import Answer

if TYPE_CHECKING:
    import httpx


#: Where a wire stands among the extensions of a scope.
WIRE: Final = "sendbox.wire"
#: `struct linger`: on, for no time.
_AT_ONCE: Final = struct.pack("ii", 1, 0)
#: Milliseconds of real time in a second.
_MS: Final = 1_000


class Wire(Protocol):
    """The connection that a call came by."""

    def write(self, data: bytes) -> None:
        """Sends bytes that are not an answer."""

    async def end(self, receive: Receive, *, reset: bool = False) -> None:
        """Ends the connection, after what was sent or, by a `reset`, at once; returns once it has ended."""

    async def wait(self, milliseconds: int | None, ended: asyncio.Future[None], receive: Receive) -> bool:
        """Waits in real time (None = without end). True when it is over; False when the client left, or `ended`."""


def wire_of(scope: Scope) -> Wire:
    """The wire of a call."""
    wire: Wire | None = (scope.get("extensions") or {}).get(WIRE)
    return SocketlessCall() if wire is None else wire


class Line:
    """A connection over a socket, TLS or not. `hangs` while a fault waits on it."""

    __slots__ = ("_transport", "hangs")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.hangs = False

    @property
    def closing(self) -> bool:
        """True if nothing more can be sent."""
        return self._transport.is_closing()

    def write(self, data: bytes) -> None:
        """Sends bytes that are not an answer."""
        self._transport.write(data)

    async def end(self, receive: Receive, *, reset: bool = False) -> None:
        """Ends the connection; waits for its end, as a server whose app sends nothing would answer 500.

        A socket that does not linger is closed by a TCP RST.
        """
        if reset:
            self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            self._transport.abort()
        else:
            self._transport.close()
        await wait_for_disconnect(receive)

    async def wait(self, milliseconds: int | None, ended: asyncio.Future[None], receive: Receive) -> bool:
        """Waits on the loop's clock, which no frozen test stops."""
        loop = asyncio.get_running_loop()
        over: asyncio.Future[None] = loop.create_future()
        timer = None if milliseconds is None else loop.call_later(milliseconds / _MS, over.set_result, None)
        leaving = loop.create_task(wait_for_disconnect(receive))
        self.hangs = True
        try:
            await asyncio.wait({over, ended, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return over.done()
        finally:
            self.hangs = False
            leaving.cancel()
            if timer is not None:
                timer.cancel()


async def wait_for_disconnect(receive: Receive) -> None:
    """Waits until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


class SocketlessCall:
    """A call without a socket: raises what a client of httpx would have seen over one.

    `read` is the client's read timeout in seconds, None = it has none. A wait takes no time; one that is longer than
    the client reads, or without end, is its ReadTimeout.
    """

    __slots__ = ("_read", "_request", "_written", "broken")

    def __init__(self, read: float | None = None, request: httpx.Request | None = None) -> None:
        self._read = read
        self._request = request
        self._written = b""
        #: what was raised; nothing is sent after it
        self.broken: httpx.TransportError | None = None

    def write(self, data: bytes) -> None:
        """Bytes that a client cannot read as an answer."""
        self._written += data

    async def end(self, receive: Receive, *, reset: bool = False) -> None:
        """Raises RemoteProtocolError: the connection ended before the answer did, or what came is none.

        By a `reset` it raises ReadError.
        """
        import httpx

        if reset:
            text = str(ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET)))
            self.broken = httpx.ReadError(text, request=self._request)
            raise self.broken
        text = "Server disconnected before its answer was complete"
        if self._written:
            text = f"illegal status line: {self._written!r}"
        self.broken = httpx.RemoteProtocolError(text, request=self._request)
        raise self.broken

    async def wait(self, milliseconds: int | None, ended: asyncio.Future[None], receive: Receive) -> bool:
        """Raises ReadTimeout if a client would; else the time is over."""
        if milliseconds is None or (self._read is not None and milliseconds > self._read * _MS):
            import httpx

            self.broken = httpx.ReadTimeout("The read operation timed out", request=self._request)
            raise self.broken
        return True


#: How the head of an answer begins; nothing else that is written does, bodies follow their heads.
_HEAD: Final = b"HTTP/1.1 "


class JoiningTransport(asyncio.Transport):
    """A transport that sends the head of an answer together with its body; all but writing goes straight through.

    uvicorn writes the two apart, and on a fresh buffer each write is a system call of its own: a fifth of the time that
    a small answer takes. A head is held until the body comes, at the latest until the loop's next turn.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._held = b""
        self._waits = False

    def write(self, data: Any) -> None:
        """Sends, with what is held in front of it; holds the head of an answer."""
        if self._held:
            data, self._held = self._held + bytes(data), b""
        elif data.startswith(_HEAD):
            self._held = data
            if not self._waits:
                self._waits = True
                self._loop.call_soon(self._send_held)
            return
        self._transport.write(data)

    def whole(self, data: bytes) -> None:
        """Sends an answer that has its head."""
        if self._held:
            self._send_held()
        self._transport.write(data)

    def _send_held(self) -> None:
        self._waits = False
        if self._held:
            held, self._held = self._held, b""
            self._transport.write(held)

    def writelines(self, list_of_data: Iterable[Any]) -> None:
        """Sends several pieces."""
        self.write(b"".join(list_of_data))

    def close(self) -> None:
        """Closes once everything is sent."""
        self._send_held()
        self._transport.close()

    def abort(self) -> None:
        """Closes at once."""
        self._held = b""
        self._transport.abort()

    def is_closing(self) -> bool:
        """True if the connection is closing or closed."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: object = None) -> object:
        """A piece of information about the connection."""
        return self._transport.get_extra_info(name, default)

    def get_write_buffer_size(self) -> int:
        """Bytes that are still to be sent."""
        return len(self._held) + self._transport.get_write_buffer_size()

    def pause_reading(self) -> None:
        """No more data for now."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Data again."""
        self._transport.resume_reading()


#: The first lines of answers.
_STATUS: Final = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


async def carry_out(
    runtime: Runtime,
    applied: Applied,
    answer: Answer,
    hosted: HostedWorld,
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    """Does to the connection what a fault says; `answer` is what would have come."""
    wire, begun = wire_of(scope), False
    with _lingering(hosted) as ended:
        acts = applied.rule.fault.acts(len(answer.body), applied.time)
        for number, act in enumerate(acts, 1):
            match act:
                case Wait(milliseconds):
                    if milliseconds is None:
                        hosted.endless.add(ended)
                        if hosted.leaving and not ended.done():
                            ended.set_result(None)
                    if not await wire.wait(milliseconds, ended, receive):
                        break
                case Advance(milliseconds, waits):
                    await runtime.mover.ahead(hosted, milliseconds, ended, waits=waits)
                    if ended.done():
                        break
                case Piece(begin, end):
                    if not begun:
                        begun = True
                        await send(_head(answer))
                    more = number < len(acts)
                    await send({"type": "http.response.body", "body": answer.body[begin:end], "more_body": more})
                case End(data, reset):
                    wire.write(data)
                    await wire.end(receive, reset=reset)
        if ended.done():
            await wire.end(receive)


@contextlib.contextmanager
def _lingering(hosted: HostedWorld) -> Iterator[asyncio.Future[None]]:
    """While a fault uses a connection: a future that is done once the world was closed or reset."""
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    hosted.lingering.add(ended)
    try:
        yield ended
    finally:
        hosted.lingering.discard(ended)
        hosted.endless.discard(ended)


async def reply(send: Send, answer: Answer) -> None:
    """Sends an answer whole; every call comes here, so it does not wait for anything else."""
    await send(_head(answer))
    await send({"type": "http.response.body", "body": answer.body})


def encode_answer(answer: Answer, *, close: bool) -> bytes:
    """An answer whole, as it goes out over HTTP/1.1; with `close` the connection ends after it."""
    headers = b""
    for pair in answer.headers:
        headers += b"%b: %b\r\n" % pair
    return b"%bcontent-type: %b\r\ncontent-length: %d\r\n%b%b\r\n%b" % (
        _STATUS[answer.status],
        answer.content_type,
        len(answer.body),
        headers,
        b"connection: close\r\n" if close else b"",
        answer.body,
    )


def _head(answer: Answer) -> Message:
    length = b"%d" % len(answer.body)
    headers = [(b"content-type", answer.content_type), (b"content-length", length), *answer.headers]
    return {"type": "http.response.start", "status": answer.status, "headers": headers}


class AsgiCall:
    """One request with its whole body at hand, and what is answered; after the body, its client is gone.

    `path` and `query` as they stand in a URL. A `wire` raises what a fault of the scenario does to a connection;
    nothing counts that is sent after it.
    """

    def __init__(
        self,
        method: str,
        scheme: str,
        server: tuple[str, int | None],
        path: str,
        query: str,
        headers: Iterable[tuple[bytes, bytes]],
        body: bytes = b"",
        wire: SocketlessCall | None = None,
    ) -> None:
        self.scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": scheme,
            "path": unquote(path),
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": list(headers),
            "client": ("127.0.0.1", 0),
            "server": server,
            "state": {},
        }
        if wire is not None:
            self.scope["extensions"] = {WIRE: wire}
        self._wire = wire
        self._coming = [{"type": "http.request", "body": body, "more_body": False}]
        self._pieces: list[bytes] = []
        #: of the answer, None until it has begun
        self.status: int | None = None
        self.headers: list[tuple[bytes, bytes]] = []
        #: the whole answer was sent; what the application does afterwards is its own affair
        self.answered = False

    @property
    def body(self) -> bytes:
        """The answer's, as far as it was sent."""
        return b"".join(self._pieces)

    async def run(self, app: ASGIApp) -> None:
        """Calls the application; raises what it raises."""
        await app(self.scope, self.receive, self.send)

    async def receive(self) -> Message:
        """The next message from the client."""
        return self._coming.pop() if self._coming else {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """A part of the answer."""
        if self._wire is not None and self._wire.broken is not None:  # a handler of exceptions has something to say
            return
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message.get("headers", ()))
        elif message["type"] == "http.response.body":
            self._pieces.append(message.get("body", b""))
            if not message.get("more_body", False):
                self.answered = self.status is not None
