"""Recorded calls with their answers: read from a HAR file, or from a journal of Sendbox."""

from __future__ import annotations

import contextlib
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

import orjson

from sendbox.engine import bounds
from sendbox.engine.answer import JsonMapping
from sendbox.engine.durations import excerpt

#: The parameter of a query or a form that holds a key.
_APIKEY: Final = "apikey"
_FORM: Final = "application/x-www-form-urlencoded"
_HEADERS: Final = frozenset({"content-type", "x-api-key"})
LEGAL: Final = "legal: a HAR file (log.entries), or what GET /_sandbox/worlds/ID/journal answers"


class Unreadable(Exception):
    """A file that is not a recording; the text gives the problem, and the legal kinds of files."""


class RecordedCall(NamedTuple):
    """One call and its answer. `number` counts from 1; `at` is in milliseconds.

    `url` is as it was called, `key` the API key, None if there was none. `headers` are those that affect the answer,
    None if the recording has no headers and no query. `incomplete` is the reason why the call cannot be made again, ""
    if it can.
    """

    number: int
    at: int
    method: str
    url: str
    headers: Mapping[str, str] | None
    key: str | None
    body: bytes
    status: int
    answer: bytes
    incomplete: str = ""

    @property
    def path(self) -> str:
        """The path of the URL."""
        return urlsplit(self.url).path

    @property
    def fields(self) -> bytes:
        """The query, or the body where there is none."""
        return urlsplit(self.url).query.encode() or self.body


def read(raw: bytes) -> list[RecordedCall]:
    """The calls of a file, in the order in which they began. Raises `Unreadable`."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        value = _cut_off(raw)
        if value is None:
            raise Unreadable(f"it is not JSON: {error}; {LEGAL}") from None
    calls: list[RecordedCall] = []
    for place, read_one, entry in _entries(value):
        try:
            calls.append(read_one(entry))
        except _WRONG as error:
            problem = "its fields are not those of a recorded call"
            if isinstance(error, KeyError):
                problem = f'"{error.args[0]}" is missing'
            elif isinstance(error, ValueError):
                problem = str(error)
            raise Unreadable(f"it is damaged: {place}: {problem}") from None
    if not calls:
        raise Unreadable(f"it has no call; {LEGAL}")
    calls.sort(key=lambda call: call.at)
    return [call._replace(number=number) for number, call in enumerate(calls, 1)]


def _cut_off(raw: bytes) -> JsonMapping | None:
    """The whole calls of a file of `sendbox record`, each on a line, that was cut off; None for another file."""
    begin, _, rest = raw.partition(b"\n")
    if not (begin.startswith(b'{"log":') and begin.endswith(b"[")):
        return None
    entries: list[object] = []
    with contextlib.suppress(orjson.JSONDecodeError):
        entries.extend(orjson.loads(line.removesuffix(b",")) for line in rest.split(b"\n"))
    return {"log": {"entries": entries}}


#: What comes of reading fields that are not as they should be.
_WRONG: Final = (KeyError, TypeError, ValueError, AttributeError)


def _entries(value: object) -> Iterator[tuple[str, Callable[[JsonMapping], RecordedCall], JsonMapping]]:
    """The entries of calls, each with its place and the function that reads it."""
    form = value if isinstance(value, dict) else {}
    if isinstance(form.get("log"), dict) and isinstance(form["log"].get("entries"), list):
        for number, entry in enumerate(form["log"]["entries"]):
            yield f"log.entries[{number}]", _from_har, entry
        return
    entries = form.get("entries", form.get("requests"))
    if not isinstance(entries, list) or form.get("form") == "canonical":
        raise Unreadable(f"it is neither of the two forms; {LEGAL}")
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise Unreadable(f"it is damaged: entries[{number}] is not an object")
        if entry.get("kind") == "request":
            yield f"entries[{number}]", _from_journal, entry


def _from_har(entry: JsonMapping) -> RecordedCall:
    request, response = entry["request"], entry["response"]
    headers = {str(header["name"]).lower(): str(header["value"]) for header in request.get("headers", ())}
    posted = request.get("postData") or {}
    if "content-type" not in headers and posted.get("mimeType"):
        headers["content-type"] = posted["mimeType"]
    body = _bytes(posted.get("text") or "", posted.get("encoding"))
    if not body and posted.get("params"):
        body = urlencode([(param["name"], param.get("value", "")) for param in posted["params"]]).encode()
    content = response.get("content") or {}
    url, status = str(request["url"]), _status(response["status"])
    answer = _bytes(content.get("text") or "", content.get("encoding"))
    key = headers.get("x-api-key") or _key(urlsplit(url).query, body, headers)
    why = "it is a webhook" if entry.get("_webhook") else "it has no answer" if status == 0 else ""
    if not answer and content.get("size", 0) > 0:
        why = "the recording does not have the answer's content"
    at = _instant(entry["startedDateTime"])
    sent = {name: value for name, value in headers.items() if name in _HEADERS}
    return RecordedCall(0, at, str(request["method"]).upper(), url, sent, key, body, status, answer, why)


def _from_journal(entry: JsonMapping) -> RecordedCall:
    """A request of a journal. Its query, which may hold the key, is not there, nor is its content type."""
    status, path, body, key = _status(entry["status"]), str(entry["path"]), entry["body"].encode(), str(entry["key"])
    why = "it has no answer" if status == 0 else "" if "fault" not in entry else "a fault of the scenario answered it"
    return RecordedCall(
        0, _instant(entry["at"]), str(entry["method"]), path, None, key, body, status, entry["answer"].encode(), why
    )


def _key(query: str, body: bytes, headers: Mapping[str, str]) -> str | None:
    """The key of a call that has none in its header."""
    form = body.decode("utf-8", "replace") if headers.get("content-type", "").startswith(_FORM) else ""
    return next((value for text in (query, form) for name, value in parse_qsl(text) if name == _APIKEY), None)


def _bytes(text: str, encoding: str | None) -> bytes:
    return b64decode(text, validate=True) if encoding == "base64" else text.encode()


def _status(value: object) -> int:
    """The status of an answer, 0 for none. Raises ValueError."""
    number = bounds.whole(str(value))
    if number is None:
        raise ValueError(f'"status" is {excerpt(value)}, which is no status')
    return number


def _instant(text: object) -> int:
    """Milliseconds; a time without a zone is in UTC. Raises ValueError."""
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        raise ValueError(f"{excerpt(text)} is not an instant, such as 2026-03-01T09:00:00.000Z") from None
    return round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)
