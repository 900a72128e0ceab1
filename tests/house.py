"""One sandbox that is reached in every way there is: by a socket, by TLS, without a socket, sync and async."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from sendbox.app import SERVED
from sendbox.assembly import make_app
from sendbox.fixture.transport import LocalTransport
from sendbox.runtime.worlds import Runtime
from sendbox.server.listener import HttpServer
from sendbox.server.loop import Kind
from sendbox.server.thread import ServerThread
from sendbox.server.tls import self_signed
from sendbox.settings import Settings
from tests.box import CONTRACT, START
from tests.scenarios import load
from tests.serving import threaded

#: Ways to the same application; each is (name, by socket).
WAYS = {"socket": True, "socket-async": True, "tls": True, "inside": False, "inside-async": False, "asgi": False}


class House:
    """The application with its servers. Every world is opened by its key; the clock stands until it is moved."""

    def __init__(self, thread: ServerThread, runtime: Runtime, app: Any, origin: str, secure: str, ca: str) -> None:
        self.thread = thread
        self.runtime = runtime
        self.app = app
        self.origin = origin
        self.secure = secure
        self.log: list[tuple[str, str]] = []
        runtime.on_log = lambda line: self.log.append((line.world, line.message))
        self.ca = ca
        self._trust = ssl.create_default_context(cadata=ca)

    def call(
        self,
        way: str,
        method: str,
        path: str,
        *,
        key: str | None = None,
        timeout: float | httpx.Timeout = 60.0,
        **given: Any,
    ) -> httpx.Response:
        """One call by a client of httpx; raises what the client sees."""
        base = self.secure if way == "tls" else self.origin
        headers = {} if key is None else {"x-api-key": key}
        common: dict[str, Any] = {"base_url": base, "headers": headers, "timeout": timeout, "trust_env": False}
        if way in ("socket", "tls", "inside"):
            local = {"transport": LocalTransport(self.app, self.thread)} if way == "inside" else {"verify": self._trust}
            with httpx.Client(**common, **local) as client:
                return client.request(method, path, **given)
        return asyncio.run(self._asynchronously(way, common, method, path, given))

    async def _asynchronously(
        self, way: str, common: dict[str, Any], method: str, path: str, given: dict[str, Any]
    ) -> httpx.Response:
        transports: dict[str, Callable[[], httpx.AsyncBaseTransport]] = {
            "socket-async": httpx.AsyncHTTPTransport,
            "inside-async": lambda: LocalTransport(self.app, self.thread),
            "asgi": lambda: httpx.ASGITransport(self.app),
        }

        async def request() -> httpx.Response:
            async with httpx.AsyncClient(**common, transport=transports[way]()) as client:
                return await client.request(method, path, **given)

        if way == "asgi":  # the application belongs to its loop
            return await asyncio.wrap_future(self.thread.submit(request()))
        return await request()

    def control(self, method: str, path: str, **given: Any) -> Any:
        """A call of control, which must succeed."""
        answer = self.call("socket", method, f"/_sandbox{path}", **given)
        assert answer.is_success, answer.text
        return answer.json()

    def send(
        self, way: str, key: str, phone: str = "420777000101", timeout: float | httpx.Timeout = 60.0
    ) -> httpx.Response:
        """Sends a message."""
        message = {"body": "Hello", "to": [{"phone_number": phone}]}
        return self.call(way, "POST", "/v2/message", key=key, timeout=timeout, json=message)


@contextmanager
def housed(kind: Kind = "auto") -> Iterator[House]:
    """The house until the context is left; nothing may go wrong in it unnoticed."""

    async def opened() -> tuple[Runtime, Any]:
        app = make_app(Settings(mode="manual", start=START, check_answers=True), load("default"), CONTRACT, SERVED)
        return app.runtime, app

    with threaded(kind) as thread, self_signed() as tls:
        runtime, app = thread.run(opened())
        plain, secure = HttpServer(app), HttpServer(app, "localhost", ssl=(tls.certfile, tls.keyfile))
        ports = thread.run(plain.start()), thread.run(secure.start())
        origins = f"http://127.0.0.1:{ports[0]}", f"https://localhost:{ports[1]}"
        try:
            yield House(thread, runtime, app, *origins, tls.ca_pem.decode())
        finally:
            thread.run(plain.stop())
            thread.run(secure.stop())
            thread.run(runtime.aclose())
    assert runtime.violations == []
