"""Calls of an emulated interface as the journal keeps them, made from what a test says of them."""

from __future__ import annotations

from typing import Any, Final

import orjson

from sendbox.engine.commands.command import Body, Call
from sendbox.engine.commands.record import JSON_TYPE, RequestRecord

#: Headers of a usual call.
HEADERS: Final = ((b"content-type", JSON_TYPE), (b"x-api-key", b"test-w"))
ORIGIN: Final = "http://sandbox.example"


def call_of(
    body: Body = b"{}",
    *,
    key: str = "test-w",
    path: str = "/v2/message",
    method: str = "POST",
    query: bytes = b"",
    headers: tuple[tuple[bytes, bytes], ...] = HEADERS,
) -> Call:
    """What came."""
    return Call(method, path, query, headers, body, ORIGIN, key)


def asked(
    operation: str = "sendMessage", body: Any = b"{}", *, status: int = 200, answer: bytes = b"{}", **call: Any
) -> RequestRecord:
    """What came and what was answered; a `body` may be an object, other fields are those of `call_of`."""
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    return RequestRecord.of(operation, call_of(raw, **call), status, answer)
