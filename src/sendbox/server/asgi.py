"""One call of an ASGI application without a socket: of ours by a client, or of a test's own that receives webhooks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from sendbox.server.wire import WIRE, Inside

if TYPE_CHECKING:
    from starlette.types import Message


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
        wire: Inside | None = None,
    ) -> None:
        self.scope: dict[str, Any] = {
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

    async def run(self, app: Any) -> None:
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
