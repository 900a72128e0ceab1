"""An ASGI app on uvicorn, without uvicorn's main loop: started in about a millisecond, stopped in less.

uvicorn's own `serve` ticks ten times a second, sleeps twice while stopping, installs signal handlers, configures
logging and exits the process when a port is taken. Here its `startup` is called with sockets of ours, and the stop is
ours: nothing sleeps, nothing is logged, and nothing that a test's own uvicorn uses is touched. It is long because the
protocol reads, watches and refuses by one state of the connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, Final, cast

import uvicorn
from starlette.types import ASGIApp as App
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from sendbox.engine.answer import JsonObject
from sendbox.server.application import Application
from sendbox.server.wire import WIRE, JoiningTransport, Line, encode_answer, wait_for_disconnect
from sendbox.services.http.exchange import Answer
from sendbox.settings import LAST_PORT

#: Seconds a connection may be idle: longer than a developer looks at a breakpoint, so that a client's pool stays good.
KEEP_ALIVE: Final = 300
#: The headers that say that a request has a body.
FRAMING: Final = (b"content-length", b"transfer-encoding")
#: Seconds in which the head of a request must be whole, and in which some more of its body must come.
SILENCE: Final = 10.0
#: Bytes that the target and the headers of a request may have.
HEAD: Final = 64 * 1024
#: Seconds of the loop's clock that requests under way have to end once they are cancelled.
END_TIMEOUT: Final = 1.0
#: Seconds that an idle connection has for its next request when the server stops.
LINGER: Final = 0.25
#: Turns of the loop in which closed transports report their end, and requests that listen for it end; and in which
#: connections are accepted, and what they have sent is read.
TURNS: Final = 5


class CannotListen(OSError):
    """The server cannot listen at the given address; the message says why and what to do."""

    def __str__(self) -> str:
        return self.strerror or super().__str__()


async def _broken(error: Exception, _scope: Scope, _receive: Receive, _send: Send) -> None:
    """An application that breaks, for uvicorn to say so: in its log, and to the client by a 500."""
    raise error


def _nothing() -> None:
    """In place of a connection that a request no longer needs."""


class Protocol(HttpToolsProtocol):
    """uvicorn's protocol, without an access log, and able to decline an upgrade.

    The log is switched off here and not by `access_log=False`, which takes the handlers from every uvicorn of the
    process.

    Java's HttpClient offers `Upgrade: h2c` with each request, and a server may go on in HTTP/1.1 as if it had not. But
    uvicorn's parser stops behind such a head: the request is answered without its body, which is then taken for the
    next request (Kludex/uvicorn#2722). So a new parser reads the head again, without the offer, and then the rest.

    Where a client sends its next request before it has an answer, uvicorn tells the end of the connection to the newest
    request only. Here those before it learn of it too: a fault may keep one of them waiting for just that.

    A request that is begun and not ended would hold its connection for ever. Its head must be whole `SILENCE` seconds
    after its first byte. A body may take its time, as long as there are never so many seconds without a byte of it. A
    timer is made only for a request that does not come in one packet.

    A request that comes whole, in one packet, is answered while the packet is read, where an `application` of ours need
    not wait for anything: without a task, and in one write. That takes 17 % less processor time. One timer looks after
    a connection that is idle between such requests, not one for each.
    """

    def __init__(self, application: Application | None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._application = application
        self._mark = b"" if application is None else b"%b: %b\r\n" % application.mark
        #: whether the packet that is being read may still hold a request that is answered at once, and that request
        self._at_once = False
        self._begun: tuple[RequestResponseCycle, Any] | None = None
        self.access_log = False
        self._offered = False
        self._packet = b""
        self._again: bytes | None = None
        self._extensions: JsonObject = {}
        self._line: Line | None = None
        #: whether the head of a request is being read, and how much of it came in earlier packets
        self._heading, self._head = True, 0
        self._too_long = False
        #: a body of CONNECT has no meaning (RFC 9110 9.3.6), and is not read: the answer ends the connection
        self._tunnel = False
        #: when the head that is being read began, or the last byte of the body came, and what looks after that
        self._since = 0.0
        self._watch: asyncio.TimerHandle | None = None
        #: when the last request was answered at once, and what looks after the idle connection
        self._idle_since = 0.0
        self._idle_watch: asyncio.TimerHandle | None = None
        #: done when the connection has ended, once it must
        self._left: asyncio.Future[None] | None = None
        #: requests that were not answered yet when the next one came
        self._behind: list[RequestResponseCycle] = []

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begins a connection whose answers leave in one piece."""
        if self._application is not None:
            self._application.runtime.counts.connections += 1
        self._joined = joined = JoiningTransport(transport, self.loop)
        super().connection_made(joined)
        self._line = Line(joined)
        self._extensions = {WIRE: self._line}

    def on_message_begin(self) -> None:
        """Begins a request; faults of a scenario reach the connection through it."""
        self._heading = True
        super().on_message_begin()
        self.scope["extensions"] = self._extensions

    def data_received(self, data: bytes) -> None:
        """Reads a packet, and again from an offer on that stopped the parser."""
        if self._tunnel:
            return
        if self._too_long:  # to close with data unread would take the refusal from the client
            self._head += len(data)
            if self._head > 16 * HEAD:
                self.transport.close()
            return
        self._at_once = self._application is not None
        began = not self._heading or not self._head
        self._again = data
        while self._again is not None:
            self._packet, self._again = self._again, None
            super().data_received(self._packet)
            if self._heading and not self._too_long:
                self._head += len(self._packet)
                if self._head > HEAD:
                    self._too_long = True
                    self.send_400_response("")
        self._packet = b""
        self._at_once = False
        if self._begun is not None:  # the rest of its body is on its way
            begun, self._begun = self._begun, None
            super()._start_asgi_task(*begun)
        if self._unfinished():
            if began or not self._heading:
                self._since = self.loop.time()
            if self._watch is None:
                self._watch = self.loop.call_later(SILENCE, self._check_silence)

    def _unfinished(self) -> bool:
        """True if a request has begun to arrive and is not complete."""
        cycle: RequestResponseCycle | None = self.cycle
        begun = self._head > 0 if self._heading else cycle is not None and cycle.more_body
        return begun and not (self._too_long or self.transport.is_closing())

    def _check_silence(self) -> None:
        """Ends the connection where nothing more has come for too long; else looks again when that may be."""
        self._watch = None
        if not self._unfinished():
            return
        if not self._heading and (self.flow.read_paused or self.cycle.waiting_for_100_continue):
            self._since = self.loop.time()  # it is the client that waits
        left = self._since + SILENCE - self.loop.time()
        if left > 0:
            self._watch = self.loop.call_later(left, self._check_silence)
            return
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or (cycle.response_complete if self._heading else not cycle.response_started):
            self._refuse(b"408 Request Timeout", b"the request did not come whole: nothing came for %d s" % SILENCE)
        self.transport.close()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Called by uvicorn to serve a request whose head was read; the first of a packet waits for its body."""
        if self._at_once and not cycle.waiting_for_100_continue:
            self._at_once = False
            self._begun = cycle, app
        else:
            super()._start_asgi_task(cycle, app)

    def on_headers_complete(self) -> None:
        """Begins a request, unless its head is to be read again."""
        read, self._heading, self._head = self._head + len(self._packet), False, 0
        if read > HEAD and sum(len(name) + len(value) for name, value in self.headers) + len(self.url) > HEAD:
            self._too_long = True
            raise ValueError("the head of the request is too long")  # the parser stops, and a refusal is sent
        self._offered = self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"
        if not self._offered:
            before: RequestResponseCycle | None = self.cycle
            super().on_headers_complete()
            if self._left is not None:
                self.cycle.keep_alive = False
            if self.parser.get_method() == b"CONNECT" and any(name in FRAMING for name, _ in self.headers):
                self._tunnel = True
                self.cycle.keep_alive = False
            if before is not None and before is not self.cycle and not before.response_complete:
                self._behind = [cycle for cycle in self._behind if not cycle.response_complete]
                self._behind.append(before)
                if self._line is not None and self._line.hangs:
                    self.flow.resume_reading()  # uvicorn reads no further, and would not notice that the client leaves

    def leave(self, linger: float) -> asyncio.Future[None]:
        """Ends the connection behind its next answer, or after `linger` seconds without a request.

        A client that sends its next request just then would else find a closed connection. The returned future is done
        when the connection has ended.
        """
        if self._left is None:
            self._left = self.loop.create_future()
            cycle: RequestResponseCycle | None = self.cycle
            if cycle is not None and not cycle.response_complete:
                self.shutdown()
            else:
                self.loop.call_later(linger, self._end_linger)
        return self._left

    def _end_linger(self) -> None:
        """No request has come: the connection ends."""
        if not (self._heading and self._unfinished()):
            self.shutdown()
            self._note_end()

    def on_response_complete(self) -> None:
        """Called when a request was answered."""
        super().on_response_complete()
        self._note_end()

    def _note_end(self) -> None:
        """The connection has ended, as far as it is awaited: nothing is left to send. TLS still says farewell."""
        left, transport = self._left, self.transport
        if left is not None and not left.done() and transport.is_closing() and not transport.get_write_buffer_size():
            left.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends all requests of the connection."""
        super().connection_lost(exc)
        if self._application is not None:
            self._application.runtime.counts.connections -= 1
        for watch in (self._watch, self._idle_watch):
            if watch is not None:
                watch.cancel()
        self._watch = self._idle_watch = None
        if self._left is not None and not self._left.done():
            self._left.set_result(None)
        for cycle in self._behind:
            if not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()

    def on_message_complete(self) -> None:
        """Ends a request; the parser reports that for a head with an offer as well."""
        if self._offered:
            return
        if self._begun is not None and self._begun[0] is self.cycle:
            self._answer_at_once(*self._begun)
        else:
            super().on_message_complete()

    def _answer_at_once(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Answers a request that came whole without a task of its own, where nothing has to be waited for."""
        self._begun = None
        cycle.more_body = False
        answer = None
        if self._application is not None and app is self.app and not self.flow.write_paused:
            try:
                scope: Any = cycle.scope
                answer = self._application.answer_at_once(scope, bytes(cycle.body))
            except Exception as error:  # the parser would take it for a fault of the client
                app = partial(_broken, error)
        if answer is None:
            cycle.message_event.set()
            super()._start_asgi_task(cycle, app)
        elif self._application is None or self._application.persistence is None:
            self._write_answer(cycle, answer)
        else:  # nothing leaves before it is kept
            self._application.persistence.after_commit(partial(self._write_kept, self._application, cycle, answer))

    def _write_kept(
        self, application: Application, cycle: RequestResponseCycle, answer: Answer, why: str | None
    ) -> None:
        """Answers a request that is in the store, or refuses it because it is not."""
        if not self.transport.is_closing():
            scope = cast("Scope", cycle.scope)
            self._write_answer(cycle, answer if why is None else application.unavailable(scope, why))

    def _write_answer(self, cycle: RequestResponseCycle, answer: Answer) -> None:
        """Sends the whole answer to a request, and ends it."""
        cycle.response_started = cycle.response_complete = True
        self._joined.whole(encode_answer(answer, close=not cycle.keep_alive))
        if not cycle.keep_alive:
            self.transport.close()
        if self.pipeline or self.flow.read_paused or not cycle.keep_alive:
            cycle.on_response()
        else:
            self.server_state.total_requests += 1
            self._idle_since = self.loop.time()
            if self._idle_watch is None:
                self._idle_watch = self.loop.call_later(self.timeout_keep_alive, self._check_idle)
        cycle.on_response = _nothing

    def _check_idle(self) -> None:
        """Ends a connection without a request for too long; else looks again when that may be."""
        self._idle_watch = None
        left = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self._idle_watch = self.loop.call_later(left, self._check_idle)
        # a request under way, or one that was not answered at once, has its own timer
        elif self.cycle.response_complete and self.timeout_keep_alive_task is None and not self._unfinished():
            self.timeout_keep_alive_handler()

    def send_400_response(self, msg: str) -> None:
        """Refuses what is not HTTP, or has too long a head, and ends the connection."""
        status, text = b"400 Bad Request", msg.encode("ascii")
        if self._too_long:
            status, text = b"431 Request Header Fields Too Large", b"the head of a request may have %d bytes" % HEAD
        self._refuse(status, text)
        if self._too_long:
            self.loop.call_later(END_TIMEOUT, self.transport.close)
        else:
            self.transport.close()

    def _refuse(self, status: bytes, text: bytes) -> None:
        """Answers instead of the application; the connection is to be closed behind it."""
        head = b"HTTP/1.1 %b\r\n%bcontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n" % (
            status,
            self._mark,
        )
        self.transport.write(b"%bcontent-length: %d\r\n\r\n%b" % (head, len(text), text))

    def _unsupported_upgrade_warning(self) -> None:
        """Called when the parser has stopped, while its exception, which holds the position, is being handled."""
        stop = sys.exception()
        if self._offered and stop is not None:
            method, version = self.parser.get_method(), self.parser.get_http_version().encode()
            lines = [b"%b %b HTTP/%b" % (method, self.url, version), *_without_offer(self.headers), b""]
            self._again = b"\r\n".join([*lines, self._packet[stop.args[0] :]])
            self.parser = type(self.parser)(self)  # the old one reads nothing more where the client said `close`
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does


def _without_offer(headers: list[tuple[bytes, bytes]]) -> Iterator[bytes]:
    """The lines of a head but for `Upgrade`, and what `Connection` says about it."""
    offer = (b"upgrade", b"http2-settings")
    for name, value in headers:
        if name == b"connection":
            value = b",".join(token for token in value.split(b",") if token.strip().lower() not in offer)
        if name not in offer and (value or name != b"connection"):
            yield b"%b: %b" % (name, value)


class HttpServer:
    """One app on one port, on the loop that runs when it is started.

    `host` is an address or a name, "" for every address; `port` 0 takes a free one. `ssl` is (certificate file, key
    file). `limit` answers 503 beyond that many connections or requests at once, None = never.
    """

    def __init__(
        self,
        app: App,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        ssl: tuple[str, str] | None = None,
        limit: int | None = None,
        backlog: int = 2048,
    ) -> None:
        self.host = host
        self.port = port
        self._app = app
        self._ssl = ssl
        self._limit = limit
        self._backlog = backlog
        self._server: uvicorn.Server | None = None
        self._stopping = False

    async def start(self) -> int:
        """Listens, and returns the port. CannotListen where that cannot be, RuntimeError if it listens already."""
        if self._server is not None:
            raise RuntimeError(f"{self.host}:{self.port} is being served already: stop it first")
        self._stopping = False
        config = self._make_config()
        sockets = await _bind_sockets(self.host, self.port)
        server = uvicorn.Server(config)
        server.lifespan = config.lifespan_class(config)
        await server.startup(sockets=sockets)
        self._server = server
        self.port = int(sockets[0].getsockname()[1])
        return self.port

    async def drain(self, grace: float, linger: float = LINGER) -> int:
        """Takes no more connections, and ends each behind its last answer; returns how many have not ended in time.

        `grace` is in real seconds; so is `linger`, after which a connection without a request ends.
        """
        assert self._server is not None
        loop, connections = asyncio.get_running_loop(), self._server.server_state.connections
        end = loop.time() + grace
        await _take_turns()  # what has come is read
        await self._stop_listening(self._server)
        await _take_turns()
        while True:
            ends = [cast("Protocol", connection).leave(linger) for connection in connections]
            waiting = [left for left in ends if not left.done()]
            seconds = end - loop.time()
            if not waiting or seconds <= 0:
                return len(waiting)
            await asyncio.wait(waiting, timeout=seconds)

    async def stop(self) -> None:
        """Closes the port and every connection, and cancels the requests under way. Does nothing when stopped."""
        server, self._server = self._server, None
        if server is None:
            return
        self._stopping = True
        state = server.server_state
        await self._stop_listening(server)
        # Connections first: a request whose connection is gone ends by itself if it listens, and without a word if it
        # is cancelled; while it is there, uvicorn logs an error. Who was just accepted is known after some turns.
        for _ in range(TURNS):
            for connection in list(state.connections):
                transport: asyncio.Transport = connection.transport
                # Only what can go out at once still does: a TLS farewell or a slow reader would hold the stop up.
                if self._ssl is None and not transport.get_write_buffer_size():
                    transport.close()
                else:
                    transport.abort()
            await asyncio.sleep(0)
        if tasks := list(state.tasks):
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=END_TIMEOUT)

    @staticmethod
    async def _stop_listening(server: uvicorn.Server) -> None:
        """Closes the port. The connections that were being accepted are known some turns later.

        asyncio's own server (3.11) leaves a connection open that is being accepted while it is closed, so it stops to
        accept some turns before.
        """
        loop = asyncio.get_running_loop()
        sockets = [accepting for listener in server.servers for accepting in listener.sockets]
        with contextlib.suppress(NotImplementedError):  # a loop that waits for no sockets, as on Windows
            removed = [loop.remove_reader(accepting) for accepting in sockets]
            if any(removed):
                await _take_turns()
        for listener in server.servers:
            listener.close()

    def _make_config(self) -> uvicorn.Config:
        certificate, key = self._ssl or (None, None)
        application = self._app if isinstance(self._app, Application) else None
        config = uvicorn.Config(
            self._guarded,
            http=cast("type[asyncio.Protocol]", partial(Protocol, application)),
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            workers=1,  # else read from WEB_CONCURRENCY
            limit_concurrency=self._limit,
            backlog=self._backlog,
            timeout_keep_alive=KEEP_ALIVE,
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )
        try:
            config.load()
        except OSError as error:  # ssl.SSLError is one
            raise CannotListen(f"{certificate} cannot be served with the key {key}: {error}") from error
        return config

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        line: Line | None = scope.get("extensions", {}).get(WIRE)
        if line is not None and line.closing:  # it waited behind another request: nobody would get the answer
            await wait_for_disconnect(receive)
            return
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            if not self._stopping:  # uvicorn would log a stop as an error of the app
                raise


async def _take_turns() -> None:
    """Lets the loop turn until what it has begun is known."""
    for _ in range(TURNS):
        await asyncio.sleep(0)


async def _bind_sockets(host: str, port: int) -> list[socket.socket]:
    """A socket for each address of `host`, all on one port."""
    if not 0 <= port <= LAST_PORT:  # the system would take the rest of a division
        raise CannotListen(errno.EINVAL, f"{port} is not a port: give 1 to {LAST_PORT}, or 0 for any that is free")
    sockets: list[socket.socket] = []
    missing: OSError | None = None
    try:
        for family, address in await _addresses(host, port):
            sock = _new_socket(family)
            if sockets:
                address = (address[0], sockets[0].getsockname()[1], *address[2:])
            try:
                sock.bind(address)
            except OSError as error:
                sock.close()
                if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    raise
                missing = error  # a name may have an address of a family this machine has not
            else:
                sockets.append(sock)
        if missing is not None and not sockets:
            raise missing
    except OSError as error:
        for sock in sockets:
            sock.close()
        raise CannotListen(error.errno, _reason(host, port, error)) from error
    return sockets


async def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, tuple[object, ...]]]:
    kind, flags = socket.SOCK_STREAM, socket.AI_PASSIVE
    try:  # an address needs no resolver, and no thread that waits for it
        # as bytes it needs no codec for names of hosts, and what is not ASCII is no address
        number = host.encode("ascii") or None
        infos = socket.getaddrinfo(number, port, type=kind, flags=flags | socket.AI_NUMERICHOST)
    except (socket.gaierror, UnicodeEncodeError):
        try:
            infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=kind, flags=flags)
        except UnicodeError as error:  # a name with an empty label, or one that is too long
            raise socket.gaierror(socket.EAI_NONAME, str(error)) from None
    return list(dict.fromkeys((family, address) for family, _, _, _, address in infos))


def _new_socket(family: socket.AddressFamily) -> socket.socket:
    # The protocol must be named: asyncio sets TCP_NODELAY only on connections of a socket made with it, and without
    # TCP_NODELAY every answer waits 44 ms for the client's delayed acknowledgement.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setblocking(False)
    if os.name == "posix" and sys.platform != "cygwin":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    return sock


def _reason(host: str, port: int, error: OSError) -> str:
    where = f"[{host}]:{port}" if ":" in host else f"{host or '*'}:{port}"
    if isinstance(error, socket.gaierror):
        return f"{host} is not a host name that resolves: give 127.0.0.1, 0.0.0.0 or a name of this machine"
    match error.errno:
        case errno.EADDRINUSE:
            return f"{where} is taken by another program: give another port, or 0 for any that is free"
        case errno.EACCES:
            return f"{where} needs a privilege: give a port from 1024 up, or 0 for any that is free"
        case errno.EADDRNOTAVAIL:
            return f"{host} is not an address of this machine: give 127.0.0.1, 0.0.0.0 or one of its own"
        case _:
            return f"{where} cannot be listened on: {error}"
