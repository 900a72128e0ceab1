"""An app that is served, and a client of plain sockets."""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.types import ASGIApp as App
from starlette.types import Message, Receive, Scope, Send

from sendbox.server.listener import HttpServer
from sendbox.server.loop import Kind
from sendbox.server.thread import ServerThread

#: Seconds a client of these tests waits at most for a socket; reached only when something is broken.
LIMIT = 60
#: Ports that a system gives to nobody who asks for any: for a program that has to be told its port beforehand.
PORTS = range(20_000, 32_000)
_TURNS = itertools.count(os.getpid() * 20)


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the body it got, and the path."""
    message: Message = {"more_body": True, "body": b""}
    body = b""
    while message.get("more_body"):
        message = await receive()
        body += message.get("body", b"")
    answer = scope["path"].encode() + body
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(answer))]})
    await send({"type": "http.response.body", "body": answer})


def served(thread: ServerThread, app: App = hello, **given: Any) -> HttpServer:
    server = HttpServer(app, **given)
    thread.run(server.start())
    return server


def connected(server: HttpServer, host: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection((host, server.port), timeout=LIMIT)


def asked(sock: socket.socket, raw: bytes, end: bytes) -> bytes:
    """Sends `raw` and reads until the answer ends with `end`, or the connection ends."""
    sock.sendall(raw)
    got = b""
    while not got.endswith(end) and (more := sock.recv(65536)):
        got += more
    return got


def free_port(count: int = 1) -> int:
    """The first of so many neighbouring ports on which no program listens. Each call answers other ones."""
    for turn in itertools.islice(_TURNS, len(PORTS)):
        first = PORTS[turn * count % (len(PORTS) - count)]
        try:
            for port in range(first, first + count):
                socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return first
    raise AssertionError(f"a program listens on each port from {PORTS.start} to {PORTS.stop - 1}")


GET = b"GET /a HTTP/1.1\r\nhost: x\r\n\r\n"


@contextmanager
def threaded(kind: Kind) -> Iterator[ServerThread]:
    """A thread with a loop on which nothing may go wrong unnoticed."""
    thread = ServerThread(kind)
    thread.start()
    try:
        yield thread
    finally:
        errors = thread.errors
        thread.stop()
    assert errors == []
