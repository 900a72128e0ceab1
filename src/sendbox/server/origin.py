"""What is read from a call that arrives, before anybody knows whose it is: its key, its body, its origin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from sendbox.engine.requests import JSON_TYPE
from sendbox.services.http.exchange import header

if TYPE_CHECKING:
    from sendbox.runtime.worlds import Runtime

#: The longest body that is read; a longer one is refused before it is read whole.
BODY_CAP: Final = 16 * 1024 * 1024


def origin_of(runtime: Runtime, scope: Scope) -> str:
    """Scheme and authority that addresses given out begin with."""
    if runtime.settings.public_url:
        return runtime.settings.public_url.rstrip("/")
    host = header(scope["headers"], b"host")
    if host is None:
        server = scope.get("server") or ("127.0.0.1", runtime.settings.port)
        return f"{scope['scheme']}://{server[0]}:{server[1]}"
    return f"{scope['scheme']}://{host.decode('latin-1')}"


async def read_body(receive: Receive) -> bytes | None:
    """The whole body; None when it is longer than what is read. Raises `ClientDisconnect`."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > BODY_CAP:
            return None
        if not message.get("more_body", False):
            return b"".join((*chunks, chunk)) if chunks else chunk
        chunks.append(chunk)


def header_key(scope: Scope) -> str | None:
    """The API key of the header, None where there is none."""
    value = header(scope["headers"], b"x-api-key")
    return None if value is None else value.decode("latin-1")


def content_type(scope: Scope) -> bytes | None:
    """The value of the header, None where there is none; JSON's is one object, whoever sends it."""
    value = header(scope["headers"], b"content-type")
    return JSON_TYPE if value == JSON_TYPE else value


def key_field(raw: bytes) -> str | None:
    """The last value of `apikey` in a form or query; None when it is absent."""
    values = parse_qs(raw.decode("latin-1"), keep_blank_values=True).get("apikey")
    return values[-1] if values else None
