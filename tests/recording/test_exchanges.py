"""Every conformance exchange through the recorder, in front of a sandbox that stands for the service.

What arrives at the service is what the client sent, and what arrives at the client what the service answered. Of the
headers only these differ: the host of a request and what belongs to a connection (`host`, `connection`,
`transfer-encoding`), and `content-length: 0`, which a request without a body may have or not.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from sendbox.comparing.recording import read
from sendbox.server.listener import HttpServer
from tests.box import ORIGIN, Answer, Box, boxed
from tests.conformance import exchanges
from tests.recording.recording import Recording, exchanged, recording, request

#: Headers that may differ on the way, beside an empty length.
OF_THE_WAY: Final = (b"host", b"connection", b"transfer-encoding")

Headers = list[tuple[bytes, bytes]]


class Tap:
    """An application in front of a sandbox that keeps the last call as it came, and its answer as it left."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.calls = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.calls += 1
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        self.request, self.request_headers = (scope["method"].encode(), target), scope["headers"]
        self.body, self.answer, more = b"", b"", True
        while more:
            message = await receive()
            self.body, more = self.body + message.get("body", b""), message.get("more_body", False)
        coming = [{"type": "http.request", "body": self.body, "more_body": False}]

        async def receiving() -> Any:
            return coming.pop() if coming else await receive()

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.status, self.headers = message["status"], list(message["headers"])
            self.answer += message.get("body", b"")
            await send(message)

        await self._app(scope, receiving, sending)


class ThroughRecorder(Box):
    """A box whose calls of interfaces go over two sockets, through the recorder; control is called as usual."""

    def __init__(self, box: Box, tap: Tap) -> None:
        super().__init__(box.app)
        self._tap = tap
        self.recorder: Recording | None = None

    async def call(
        self, method: str, target: str, body: bytes = b"", headers: dict[str, str] | None = None, **more: Any
    ) -> Answer:
        if target.startswith("/_sandbox"):
            return await super().call(method, target, body, headers, **more)
        assert self.recorder is not None
        named = {"host": "box:7357", **(headers or {})}
        raw = request(f"{method} {target}", body, **named)
        head, _, came = (await exchanged(self.recorder.port, raw)).partition(b"\r\n\r\n")
        lines = [(name, value) for name, _, value in (line.partition(b": ") for line in head.split(b"\r\n")[1:])]
        assert self._tap.request == (method.encode(), target.encode())
        sent = [(name.encode(), value.encode()) for name, value in named.items()]
        length = [(b"content-length", b"%d" % len(body))] if body else []
        assert _handed_on(self._tap.request_headers) == _handed_on([*sent, *length])
        assert self._tap.body == body
        assert (int(head.split()[1]), came) == (self._tap.status, self._tap.answer)
        assert _handed_on(lines) == _handed_on(self._tap.headers)
        return Answer(self._tap.status, lines, came)


def _handed_on(headers: Headers) -> Headers:
    named = [(name.lower(), value) for name, value in headers]
    return [pair for pair in named if pair[0] not in OF_THE_WAY and pair != (b"content-length", b"0")]


class Runner:
    """A loop with a sandbox, and the recorder in front of it."""

    def __init__(self, runner: asyncio.Runner, box: ThroughRecorder, file: Path) -> None:
        self._runner = runner
        self._box = box
        self.file = file

    def run(self, case: exchanges.Case) -> list[str]:
        return self._runner.run(exchanges.run(case, self._box))


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    file = tmp_path_factory.mktemp("exchanges") / "calls.har"

    async def begin(stack: AsyncExitStack) -> ThroughRecorder:
        box = await stack.enter_async_context(boxed(public_url=ORIGIN))
        tap = Tap(box.app)
        server = HttpServer(tap)
        port = await server.start()
        stack.push_async_callback(server.stop)
        calling = ThroughRecorder(box, tap)
        calling.recorder = await stack.enter_async_context(recording(f"http://127.0.0.1:{port}", file))
        stack.callback(_check, calling.recorder, tap)
        return calling

    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        box = runner.run(begin(stack))
        yield Runner(runner, box, file)
        runner.run(stack.aclose())
    raw = file.read_bytes()
    assert read(raw)
    names = {case.name.encode() for case in exchanges.load()}
    assert [key for key in re.findall(rb"test-([a-z0-9-]+)", raw) if key in names] == []


def _check(recorder: Recording, tap: Tap) -> None:
    assert tap.calls > 0
    assert not [line for line in recorder.lines if "no whole answer" in line or "cannot be read" in line]


@pytest.mark.unmeasured
@pytest.mark.sample(20)
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in exchanges.load()])
def test_an_exchange_is_unchanged(case: exchanges.Case, through: Runner) -> None:
    """The case goes as the specification says, and each request and each answer is the same."""
    assert through.run(case) == []
