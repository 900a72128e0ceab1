"""The sample client, which sends the entries of the traffic as ASGI calls."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

import orjson

from sendbox.control.operation import Control, ControlError
from sendbox.engine.answer import plain
from sendbox.engine.journal import CODE
from sendbox.engine.traffic import Traffic, parse_reference, resolve
from sendbox.engine.world import World
from sendbox.playing.play_result import Asked
from sendbox.server.application import Application
from sendbox.server.wire import AsgiCall, SocketlessCall
from sendbox.services.messaging.bulk import FILETYPES
from sendbox.services.messaging.messaging import Messaging

_JSON: Final = "application/json"
_FORM: Final = "application/x-www-form-urlencoded"
#: The header with the number of a call's entry in the journal.
_ENTRY_HEADER: Final = b"sendbox-journal"
#: Seconds that the sample client waits for an answer, or for the next part of it.
READ_TIMEOUT: Final = 30.0


class SampleClient:
    """A client that sends entries of the traffic, and keeps the answers for references in later entries."""

    def __init__(self, control: Control, world: World, origin: str) -> None:
        self._app = control.app
        self._control = control
        self._world = world
        self._origin = origin
        self._answers: dict[str, object] = {}

    async def send(self, request: Asked) -> None:
        """Sends one request, and writes its result into `request`."""
        entry = request.traffic
        if entry.form == "control":
            await self._send_act(request)
            return
        try:
            method, target, headers, body = self._request(entry)
        except LookupError as error:
            request.error, request.sent = f"not sent: {error.args[0]}", False
            return
        journal = self._world.journal
        request.before = len(journal)
        try:
            status, answer_headers, answer = await call_app(self._app, self._origin, method, target, headers, body)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # what a client gets from a broken connection, as far as possible without a socket
            request.error = str(error) or type(error).__name__
            request.number = next(journal.find(CODE["request"], request.before), None)
            return
        request.status, request.error = status, None
        try:
            request.answer = orjson.loads(answer)
        except orjson.JSONDecodeError:
            request.answer = answer.decode("utf-8", "replace")
            request.garbled = answer_headers.get(b"content-type", b"").startswith(b"application/json")
        number = answer_headers.get(_ENTRY_HEADER, b"").rpartition(b"/")[2]
        request.number = int(number) if number.isdigit() else None
        if entry.name is not None:
            self._answers[entry.name] = request.answer

    async def _send_act(self, request: Asked) -> None:
        """Carries out an operation of a tester."""
        entry = request.traffic
        try:
            arguments = resolve(entry.value, self._answers)
            answer = await self._control.perform(self._origin, entry.operation, self._world.id, arguments)
            request.answer = plain(answer)
        except LookupError as error:
            request.error, request.sent = f"not done: {error.args[0]}", False
        except ControlError as error:
            request.status, request.answer, request.error = error.status, error.as_json(), None
        else:
            request.status, request.error = self._control.served.by_name[entry.operation].status, None
            if entry.name is not None:
                self._answers[entry.name] = request.answer

    def _request(self, entry: Traffic) -> tuple[str, str, dict[str, str], bytes]:
        """Method, target, headers and body. Raises LookupError if a reference has no target."""
        key = self._key(entry.key)
        content_type = {} if not entry.type else {"content-type": entry.type}
        if entry.form == "call":
            method, target = entry.operation.split(" ", 1)
            target = _without_origin(str(resolve(target, self._answers)))
            return method, target, {"x-api-key": key, **content_type}, entry.content or b""
        call = self._control.served.language.calls[entry.operation]
        params = {name: str(resolve(value, self._answers)) for name, value in entry.params}
        value = resolve(entry.value, self._answers)
        headers = {} if call.path == "/v1/verify-proof" else {"x-api-key": key}
        if entry.operation.startswith("legacy"):  # the key is one of the fields
            headers, value = {}, {"apikey": key, **(value or {})}
        target, body = self._target(entry.operation, call.path, params), b""
        if entry.content is not None:
            return call.method, target, {**headers, **content_type}, entry.content
        if call.part == "query":
            target = f"{target}?{urlencode(value or {})}"
        elif call.part == "form":
            headers["content-type"], body = _FORM, urlencode(value or {}).encode()
        elif call.part == "body" and value is not None:
            headers["content-type"], body = _JSON, orjson.dumps(value)
        elif call.part == "content":
            bulk = Messaging.of(self._world).bulks.find(target.rpartition("/")[2])
            filetype = "jsonl" if bulk is None else bulk.filetype
            headers, body = {"content-type": FILETYPES[filetype]}, str(value or "").encode()
            if filetype == "gz":
                body = gzip.compress(body, mtime=0)
        return call.method, target, headers, body

    def _key(self, key: str | None) -> str:
        if key is None:
            return self._world.id
        return str(resolve(key, self._answers)) if parse_reference(key) else f"{self._world.id}~{key}"

    def _target(self, operation: str, path: str, params: Mapping[str, str]) -> str:
        """The path and the query."""
        if operation == "uploadBulk":
            return _without_origin(params["url"])
        if operation == "openLink":
            return _without_origin(self._link(params["message_id"]))
        return path.format_map({name: quote(value, safe="") for name, value in params.items()})

    def _link(self, message_id: str) -> str:
        """The first short link of a message."""
        message = Messaging.of(self._world).by_id.get(message_id)
        for links in ((message and message.reactions.links) or {}).values():
            for link in links:
                return link.url
        raise LookupError(f'"{message_id}" has no short link by now')


async def call_app(
    app: Application, origin: str, method: str, target: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, dict[bytes, bytes], bytes]:
    """Status, headers and body of a call. Raises exceptions of the application; ConnectionError without an answer.

    A fault of the connection raises the same error as in a client of httpx, at once: no real time passes.
    """
    address = urlsplit(origin)
    path, _, query = target.partition("?")
    raw_headers = [(name.encode(), value.encode()) for name, value in {"host": address.netloc, **headers}.items()]
    server = (address.hostname or "", address.port)
    call = AsgiCall(method, address.scheme, server, path, query, raw_headers, body, SocketlessCall(READ_TIMEOUT))
    await call.run(app)
    if call.status is None:
        raise ConnectionError("the connection was closed without an answer")
    return call.status, dict(call.headers), call.body


def _without_origin(url: str) -> str:
    """An address without scheme and host."""
    address = urlsplit(url)
    return f"{address.path}?{address.query}" if address.query else address.path
