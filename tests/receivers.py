"""Receivers of webhooks on real sockets, on the running loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from starlette.types import Receive, Scope, Send

from sendbox.server.listener import HttpServer

Events = list[dict[str, Any]]
#: What a receiver does with a batch of events; it answers with a status.
React = Callable[[Events], Awaitable[int]]


@dataclass
class Receiver:
    """What came, in order: the events of each call, its bytes, and its headers."""

    url: str = ""
    calls: list[Events] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def results(self) -> list[str]:
        """The results of all events, in the order of their arrival."""
        return [event["result"] for events in self.calls for event in events]


@asynccontextmanager
async def receiving(react: React) -> AsyncIterator[Receiver]:
    """A receiver at a free port until the context is left. A redirect points at `/elsewhere`, which answers 200."""
    receiver = Receiver()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        events: Events = orjson.loads(body)
        receiver.calls.append(events)
        receiver.bodies.append(body)
        receiver.headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
        status = 200 if scope["path"] == "/elsewhere" else await react(events)
        headers = [(b"content-length", b"0")]
        if 300 <= status < 400:
            headers.append((b"location", b"/elsewhere"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    server = HttpServer(app)
    receiver.url = f"http://127.0.0.1:{await server.start()}/hook"
    try:
        yield receiver
    finally:
        await server.stop()


def answering(*statuses: int) -> React:
    """Answers these, one a call, and the last one for ever."""
    left = list(statuses)

    async def react(_: Events) -> int:
        return left.pop(0) if len(left) > 1 else left[0]

    return react
