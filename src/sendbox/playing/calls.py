"""Calls of the sample client: an entry of the traffic as one ASGI call, and its answer."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode, urlsplit

import orjson

from sendbox.engine.journal import CODE
from sendbox.engine.traffic import Traffic, reference, resolved
from sendbox.server.asgi import AsgiCall
from sendbox.server.wire import Inside
from sendbox.services.messaging.bulk import FILETYPES
from sendbox.services.messaging.messaging import Messaging

if TYPE_CHECKING:
    from sendbox.control.operation import Control
    from sendbox.engine.world import World
    from sendbox.playing.played import Asked

_JSON: Final = "application/json"
_FORM: Final = "application/x-www-form-urlencoded"
#: What holds the number of a call's entry in the journal.
_HINT: Final = b"sendbox-journal"
#: How many seconds the sample client waits for an answer, or the next piece of one, before it gives up.
READ: Final = 30.0


class Caller:
    """Sends entries of the traffic, and keeps the answers that later ones refer to."""

    def __init__(self, app: Any, control: Control, world: World, origin: str) -> None:
        self._app = app
        self._control = control
        self._world = world
        self._origin = origin
        self._answers: dict[str, Any] = {}

    async def send(self, asked: Asked) -> None:
        """One request; what came of it goes into `asked`."""
        entry = asked.traffic
        if entry.form == "control":
            await self._act(asked)
            return
        try:
            method, target, headers, body = self._request(entry)
        except LookupError as error:
            asked.error, asked.sent = f"not sent: {error.args[0]}", False
            return
        journal = self._world.journal
        asked.before = len(journal)
        try:
            status, given, answer = await self._answered(method, target, headers, body)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # what a broken connection is to a client, as far as one is broken without a socket
            asked.error = str(error) or type(error).__name__
            asked.number = next(journal.find(CODE["request"], asked.before), None)
            return
        asked.status, asked.error = status, None
        try:
            asked.answer = orjson.loads(answer)
        except orjson.JSONDecodeError:
            asked.answer = answer.decode("utf-8", "replace")
            asked.garbled = given.get(b"content-type", b"").startswith(b"application/json")
        number = given.get(_HINT, b"").rpartition(b"/")[2]
        asked.number = int(number) if number.isdigit() else None
        if entry.name is not None:
            self._answers[entry.name] = asked.answer

    async def _act(self, asked: Asked) -> None:
        """Something that a tester does."""
        from sendbox.control.operation import ControlError

        entry = asked.traffic
        try:
            arguments = resolved(entry.value, self._answers)
            asked.answer = await self._control.perform(self._origin, entry.operation, self._world.id, arguments)
        except LookupError as error:
            asked.error, asked.sent = f"not done: {error.args[0]}", False
        except ControlError as error:
            asked.status, asked.answer, asked.error = error.status, error.as_json(), None
        else:
            asked.status, asked.error = self._control.served.by_name[entry.operation].status, None
            if entry.name is not None:
                self._answers[entry.name] = asked.answer

    async def _answered(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[bytes, bytes], bytes]:
        """Status, headers and body. Raises what the application raises; ConnectionError without an answer.

        A fault that no answer can show raises what it would in a client of httpx, at once: no real time passes.
        """
        parts = urlsplit(self._origin)
        path, _, query = target.partition("?")
        given = [(name.encode(), value.encode()) for name, value in {"host": parts.netloc, **headers}.items()]
        server = (parts.hostname or "", parts.port)
        call = AsgiCall(method, parts.scheme, server, path, query, given, body, Inside(READ))
        await call.run(self._app)
        if call.status is None:
            raise ConnectionError("the connection was closed without an answer")
        return call.status, dict(call.headers), call.body

    def _request(self, entry: Traffic) -> tuple[str, str, dict[str, str], bytes]:
        """Method, target, headers and body. LookupError where a reference leads nowhere."""
        key = self._key(entry.key)
        kept = {} if not entry.type else {"content-type": entry.type}
        if entry.form == "call":
            method, target = entry.operation.split(" ", 1)
            target = _local(str(resolved(target, self._answers)))
            return method, target, {"x-api-key": key, **kept}, entry.content or b""
        call = self._control.served.language.calls[entry.operation]
        params = {name: str(resolved(value, self._answers)) for name, value in entry.params}
        value = resolved(entry.value, self._answers)
        headers = {} if call.path == "/v1/verify-proof" else {"x-api-key": key}
        if entry.operation.startswith("legacy"):  # the key stands among the fields
            headers, value = {}, {"apikey": key, **(value or {})}
        target, body = self._target(entry.operation, call.path, params), b""
        if entry.content is not None:
            return call.method, target, {**headers, **kept}, entry.content
        if call.part == "query":
            target = f"{target}?{urlencode(value or {})}"
        elif call.part == "form":
            headers["content-type"], body = _FORM, urlencode(value or {}).encode()
        elif call.part == "body" and value is not None:
            headers["content-type"], body = _JSON, orjson.dumps(value)
        elif call.part == "content":
            filetype = self._filetype(target)
            headers, body = {"content-type": FILETYPES[filetype]}, str(value or "").encode()
            if filetype == "gz":
                body = gzip.compress(body, mtime=0)
        return call.method, target, headers, body

    def _key(self, key: str | None) -> str:
        if key is None:
            return self._world.id
        return str(resolved(key, self._answers)) if reference(key) else f"{self._world.id}~{key}"

    def _target(self, operation: str, path: str, params: Mapping[str, str]) -> str:
        """Path and query."""
        if operation == "uploadBulk":
            return _local(params["url"])
        if operation == "openLink":
            return _local(self._link(params["message_id"]))
        return path.format_map({name: quote(value, safe="") for name, value in params.items()})

    def _link(self, message_id: str) -> str:
        """The first short link of a message."""
        message = Messaging.of(self._world).by_id.get(message_id)
        for links in ((message and message.links) or {}).values():
            for link in links:
                return link.url
        raise LookupError(f'"{message_id}" has no short link by now')

    def _filetype(self, target: str) -> str:
        bulk = Messaging.of(self._world).bulks.find(target.rpartition("/")[2])
        return "jsonl" if bulk is None else bulk.filetype


def _local(url: str) -> str:
    """An address without scheme and host."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
