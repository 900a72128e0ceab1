"""The file of a recording: HAR 1.2, which is whole after each call, however the recorder ends.

A call is written over the end of the file, together with a new end.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import orjson

from sendbox import __version__
from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import iso
from sendbox.recording.exchange import MaskedExchange, media_type

_EMPTY: Final = {"log": {"version": "1.2", "creator": {"name": "Sendbox", "version": __version__}, "entries": []}}
_BEGIN: Final = orjson.dumps(_EMPTY).removesuffix(b"]}}")
_END: Final = b"\n]}}\n"
_PHRASES: Final = {status.value: status.phrase for status in HTTPStatus}


class FileFull(Exception):
    """The file takes no more calls."""


class HarFile:
    """A new file for calls, of at most `limit` bytes, that only its owner may read. Raises `OSError`."""

    def __init__(self, path: Path, limit: int) -> None:
        self._file = open(path, "xb", buffering=0, opener=lambda name, flags: os.open(name, flags, 0o600))  # noqa: SIM115
        self._limit = limit
        self._end = len(_BEGIN)
        self.count = 0
        self._file.write(_BEGIN + _END)

    def add(self, entry: JsonObject) -> None:
        """Writes a call. Raises `FileFull`, and `OSError` where it cannot be written; the file is whole then, too."""
        raw = (b",\n" if self.count else b"\n") + orjson.dumps(entry)
        if self._end + len(raw) + len(_END) > self._limit:
            raise FileFull
        try:
            self._write(raw + _END)
        except OSError:
            self._file.truncate(self._end)
            self._write(_END)
            raise
        self._end += len(raw)
        self.count += 1

    def _write(self, data: bytes) -> None:
        self._file.seek(self._end)
        while data:
            data = data[self._file.write(data) :]

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def entry_of(exchange: MaskedExchange) -> JsonObject:
    """A call as HAR has it; `_webhook` marks those that the service made."""
    request: JsonObject = {
        "method": exchange.method,
        "url": exchange.url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _named(exchange.headers),
        "queryString": _named(parse_qsl(urlsplit(exchange.url).query, True)),
        "headersSize": -1,
        "bodySize": len(exchange.body.encode()),
    }
    if exchange.body:
        request["postData"] = {"mimeType": media_type(exchange.headers), "text": exchange.body}
    size = len(exchange.answer.encode())
    entry: JsonObject = {
        "startedDateTime": iso(exchange.at),
        "time": exchange.took,
        "request": request,
        "response": {
            "status": exchange.status,
            "statusText": _PHRASES.get(exchange.status, ""),
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": _named(exchange.answer_headers),
            "content": {"size": size, "mimeType": media_type(exchange.answer_headers), "text": exchange.answer},
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": size,
        },
        "cache": {},
        "timings": {"send": 0, "wait": exchange.took, "receive": 0},
    }
    if exchange.error:
        entry["comment"] = exchange.error
    if exchange.webhook:
        entry["_webhook"] = True
    return entry


def _named(pairs: Iterable[tuple[str, str]]) -> list[JsonObject]:
    return [{"name": name, "value": value} for name, value in pairs]
