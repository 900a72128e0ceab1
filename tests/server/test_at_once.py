"""Requests that are answered without a task of their own: those that come whole, where the app can at once."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from sendbox.runtime.counts import Counts
from sendbox.server.application import Application
from sendbox.server.listener import HttpServer
from sendbox.server.wire import AsgiCall
from sendbox.services.http.exchange import Answer
from tests.box import KEY, boxed

#: Turns of the loop in which a request is served.
TURNS = 20


class App(Application):
    """Answers at once what is posted to /now, breaks at /broken, and serves all else."""

    def __init__(self) -> None:
        self.mark = (b"sendbox-instance", b"1")
        runtime: Any = SimpleNamespace(counts=Counts())
        self.runtime = runtime

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers the body, as every application does."""
        body = b""
        more = True
        while more:
            message = await receive()
            body, more = body + message["body"], message["more_body"]
        head = [(b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 201, "headers": head})
        await send({"type": "http.response.body", "body": body})

    def answer_at_once(self, scope: Scope, body: bytes) -> Answer | None:
        """The body again, None at other paths."""
        if scope["path"] == "/broken":
            raise LookupError("planned")
        return Answer(200, body, b"text/plain") if scope["path"] == "/now" else None


class Wire(asyncio.Transport):
    """A connection of which every packet is given by hand."""

    def __init__(self) -> None:
        super().__init__({"sockname": ("127.0.0.1", 80), "peername": ("127.0.0.1", 8080)})
        self.sent = b""
        self.closed = False

    def write(self, data: Any) -> None:
        """Keeps what is sent."""
        self.sent += data

    def is_closing(self) -> bool:
        """Whether it was closed."""
        return self.closed

    def close(self) -> None:
        """Ends the connection."""
        self.closed = True

    def pause_reading(self) -> None:
        """No packet comes by itself."""

    def resume_reading(self) -> None:
        """Nor does one that was held back."""


async def answers(packets: list[bytes]) -> list[bytes]:
    """What goes back after each packet."""
    config = HttpServer(App())._make_config()
    protocol: Any = config.http_protocol_class(config=config, server_state=ServerState(), app_state={})  # type: ignore[call-arg]
    wire = Wire()
    protocol.connection_made(wire)
    found = []
    for packet in packets:
        protocol.data_received(packet)
        for _ in range(TURNS):
            await asyncio.sleep(0)
        found.append(wire.sent)
        wire.sent = b""
    protocol.connection_lost(None)
    return found


def post(path: bytes, body: bytes, version: bytes = b"1.1") -> bytes:
    return b"POST %b HTTP/%b\r\nhost: a\r\ncontent-length: %d\r\n\r\n%b" % (path, version, len(body), body)


NOW = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello"
SERVED = b"HTTP/1.1 201 Created\r\ncontent-length: 5\r\n\r\nhello"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([post(b"/now", b"hello")] * 2, [NOW, NOW]),
        ([post(b"/else", b"hello")], [SERVED]),
        ([post(b"/now", b"hello")[:-3], b"llo"], [b"", SERVED]),
        ([post(b"/now", b"hello") + post(b"/now", b"hello")], [NOW + SERVED]),
        ([post(b"/else", b"hello") + post(b"/now", b"hello")], [SERVED + SERVED]),
        ([post(b"/now", b"hello", b"1.0")], [NOW.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")]),
    ],
    ids=["whole", "not at once", "in two packets", "two in a packet", "behind one that is served", "the last one"],
)
def test_requests_are_answered_in_order(sent: list[bytes], expected: list[bytes]) -> None:
    """Each request has its answer, the first of a packet at once if it came whole and the app can."""
    assert asyncio.run(answers(sent)) == expected


def test_an_app_that_breaks_answers_500(caplog: pytest.LogCaptureFixture) -> None:
    """What breaks at once is an error of the server in its log, not a fault of the client."""
    with caplog.at_level(logging.ERROR):
        (answer,) = asyncio.run(answers([post(b"/broken", b"hello")]))
    assert answer.startswith(b"HTTP/1.1 500 Internal Server Error")
    assert "LookupError: planned" in caplog.text


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("settings", "scenario", "at_once"),
    [
        ({}, None, True),
        ({"max_messages": 1}, None, True),
        ({}, {"sendbox": 1, "extends": "default", "api": [{"fault": {"status": 503}}]}, False),
    ],
    ids=["plain", "below a bound", "rules for calls"],
)
async def test_what_must_be_asked_is_not_passed_over(settings: Any, scenario: Any, at_once: bool) -> None:
    """Where a rule for calls may decide, a call is served as every other one."""
    async with boxed(**settings) as box:
        await box.open(**({} if scenario is None else {"scenario": scenario}))
        headers = [(b"host", b"box"), (b"content-type", b"application/json"), (b"x-api-key", KEY.encode())]
        call = AsgiCall("POST", "http", ("127.0.0.1", 80), "/v2/message", "", headers)
        answer = box.app.answer_at_once(call.scope, b'{"body":"Hello","to":[{"phone_number":"420777000101"}]}')
        assert (answer is not None and answer.status == 200) is at_once
