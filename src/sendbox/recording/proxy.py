"""The proxy: hands calls on to the service, and webhooks to the client, as they come.

In requests, its own addresses for webhooks take the place of those of the client.

A body is not held until it is whole, in either direction; only a request in which an address for webhooks may have to
be replaced is. The proxy answers nothing itself: where the service has no answer, the connection ends without one, as
it would have for the client, and a line says why.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from typing import Any, Final
from urllib.parse import quote_plus, unquote_plus, urlsplit

import orjson
from starlette.types import Receive, Scope, Send

from sendbox.engine.texts import regex
from sendbox.recording.exchange import MAX_BODY, Body, Exchange
from sendbox.recording.recorder import Recorder
from sendbox.runtime import wall
from sendbox.runtime.policy import HttpCall
from sendbox.runtime.sender import Sender, failure
from sendbox.server.relay import ClientLeft, Incoming, carry, causes, handed_on, text, was_reset
from sendbox.server.wire import wire_of
from sendbox.services.http.exchange import header

#: The beginning of the paths that the recorder gives out.
PATH: Final = "/_record/webhooks/"
#: So many addresses are replaced; further ones stay as they are.
MAX_ADDRESSES: Final = 10_000
_NAME: Final = "callback"
_PARAMETER: Final = regex(r"(?<![^&])([^&=]*callback[^&=]*=)([^&]+)", re.IGNORECASE)


class Callbacks:
    """Replaces addresses by ones that begin with `origin`. `say` is told once that no more are replaced."""

    def __init__(self, origin: str, say: Callable[[str], None]) -> None:
        self._origin = origin
        self._say = say
        #: the addresses of the client with their numbers, and in the order of these
        self._numbers: dict[str, int] = {}
        self._addresses: list[str] = []
        self._full = False

    def replace(self, body: bytes) -> bytes:
        """A request with our addresses; the same bytes where it has no address to replace."""
        if _NAME.encode() not in body.lower():
            return body
        try:
            value = orjson.loads(body)
        except orjson.JSONDecodeError:
            text = body.decode("latin-1")
            replaced = self.replace_parameters(text)
            return body if replaced == text else replaced.encode("latin-1")
        replaced = self._in_value(value, "")
        return body if replaced == value else orjson.dumps(replaced)

    def replace_parameters(self, text: str) -> str:
        """A query or a form with our addresses."""
        return _PARAMETER.sub(self._in_parameter, text)

    def original(self, path: str, query: str) -> str | None:
        """The address of the client that a path stands for, with the query that came; None for no such path."""
        number = path.removeprefix(PATH)
        if number == path or not number.isdecimal() or int(number) >= len(self._addresses):
            return None
        address = self._addresses[int(number)]
        return f"{address}{'&' if '?' in address else '?'}{query}" if query else address

    def _in_parameter(self, match: re.Match[str]) -> str:
        value = unquote_plus(match[2])
        try:
            replaced = orjson.dumps(self._in_value(orjson.loads(value), _NAME)).decode()
        except orjson.JSONDecodeError:
            replaced = self._address(value)
        return match[0] if replaced == value else match[1] + quote_plus(replaced)

    def _in_value(self, value: Any, name: str) -> Any:
        if isinstance(value, str):
            return self._address(value) if _NAME in name.lower() else value
        if isinstance(value, dict):
            inside = _NAME in name.lower()
            return {
                key: self._in_value(item, _NAME if inside and key == "url" else "" if inside else key)
                for key, item in value.items()
            }
        return [self._in_value(item, name) for item in value] if isinstance(value, list) else value

    def _address(self, address: str) -> str:
        """Our address for one of the client; user and password stay, so that the service sends them."""
        try:
            parsed = urlsplit(address)
        except ValueError:  # brackets that do not close
            return address
        if parsed.scheme not in ("http", "https") or not parsed.netloc or address.startswith(f"{self._origin}{PATH}"):
            return address
        user, at, host = parsed.netloc.rpartition("@")
        target = parsed._replace(netloc=host, fragment="").geturl()
        if target not in self._numbers:
            if len(self._addresses) >= MAX_ADDRESSES:
                if not self._full:
                    self._full = True
                    self._say(f"{MAX_ADDRESSES} callback addresses are replaced; further ones stay as they are")
                return address
            self._numbers[target] = len(self._addresses)
            self._addresses.append(target)
        scheme, separator, ours = self._origin.partition("://")
        return f"{scheme}{separator}{user}{at}{ours}{PATH}{self._numbers[target]}"


#: Connections, and so calls, at once; further ones are answered with 503.
MAX_CONNECTIONS: Final = 1_000
#: Headers that are about the way of a request to its server.
_OF_THE_WAY: Final = frozenset({b"host", b"expect"})


class Proxy:
    """An ASGI application in front of the service at the origin `to`."""

    def __init__(self, to: str, sender: Sender, recorder: Recorder, callbacks: Callbacks | None = None) -> None:
        self._to = to
        self._sender = sender
        self._recorder = recorder
        self._callbacks = callbacks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands a call on."""
        path, query = scope["raw_path"].decode("latin-1"), scope["query_string"].decode("latin-1")
        url = f"{self._to}{path}{f'?{query}' if query else ''}"
        webhook = self._callbacks is not None and path.startswith(PATH)
        if webhook and self._callbacks is not None:
            target = self._callbacks.original(path, query)
            if target is None:
                self._recorder.say(f"{scope['method']} {path} is no address that this recorder gave out")
                await wire_of(scope).end(receive)
                return
            url = target
        budget = self._recorder.budget
        exchange = Exchange(
            at=wall.now_ms(),
            method=scope["method"],
            url=url,
            headers=scope["headers"],
            body=Body(budget),
            answer=Body(budget),
            webhook=webhook,
            begun=wall.monotonic_ns(),
        )
        try:
            await self._hand_on(exchange, scope, receive, send)
        finally:
            exchange.took = (wall.monotonic_ns() - exchange.begun) // 1_000_000
            self._recorder.add(exchange)

    async def _hand_on(self, exchange: Exchange, scope: Scope, receive: Receive, send: Send) -> None:
        """Carries the request there and the answer back, until one of the two sides leaves."""
        incoming = Incoming(exchange.headers, receive, exchange.body.add)
        try:
            if not await incoming.while_connected(self._carry(exchange, incoming, send)):
                exchange.status, exchange.error = 0, "the client closed the connection"
        except Exception as error:  # whatever the service did, the client sees the same
            why = _explain(error)
            exchange.status, exchange.error = 0, why
            self._recorder.say(f"{exchange.method} {exchange.url.partition('?')[0]} has no whole answer: {why}")
            await wire_of(scope).end(receive, reset=was_reset(error))

    async def _carry(self, exchange: Exchange, incoming: Incoming, send: Send) -> None:
        call, pieces = await self._outgoing(exchange, incoming)

        def begun(status: int, headers: list[tuple[bytes, bytes]]) -> None:
            exchange.status, exchange.answer_headers = status, headers

        await carry(self._sender, call, pieces, send, begun=begun, note=exchange.answer.add)

    async def _outgoing(self, exchange: Exchange, incoming: Incoming) -> tuple[HttpCall, AsyncIterator[bytes] | None]:
        """The request as it goes out, and the pieces of its body if they are still to come."""
        headers = [pair for pair in handed_on(exchange.headers) if pair[0] not in _OF_THE_WAY]
        url, body, pieces = exchange.url, b"", incoming.pieces() if incoming.has_body else None
        if self._callbacks is not None and not exchange.webhook:
            path, mark, query = url.partition("?")
            url = f"{path}{mark}{self._callbacks.replace_parameters(query)}"
            length = header(exchange.headers, b"content-length")
            if pieces is not None and int(length or MAX_BODY) < MAX_BODY and not header(headers, b"content-encoding"):
                raw = b"".join([piece async for piece in pieces])
                body, pieces = self._callbacks.replace(raw), None
                headers = [pair for pair in headers if pair[0] != b"content-length"]
                headers.append((b"content-length", b"%d" % len(body)))
        return HttpCall(exchange.method, url, [(text(name), text(value)) for name, value in headers], body), pieces


def _explain(error: Exception) -> str:
    """The reason why a call has no answer: a word, and what the client of HTTP says."""
    if any(isinstance(cause, ClientLeft) for cause in causes(error)):
        return "the client closed the connection"
    return f"{failure(error)} ({str(error) or type(error).__name__})"
