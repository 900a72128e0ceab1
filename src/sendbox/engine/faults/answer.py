"""`answer`: an answer of the scenario's own, such as the page of a proxy, or a redirect."""

from __future__ import annotations

from typing import ClassVar, Final

import orjson

from sendbox.engine.answer import JsonObject
from sendbox.engine.faults.fault import ApiFault, Whole
from sendbox.engine.faults.status import HEADERS
from sendbox.engine.forms import Value, ValueNode, ValueReader, mapping, whole

_TEXT: Final = "text/plain; charset=utf-8"
_JSON: Final = "application/json"
_TYPE: Final = "content-type"
#: Answers that have no body.
_EMPTY: Final = frozenset({204, 205, 304})


def _body(source: ValueNode, _reader: ValueReader) -> tuple[str, str]:
    """A body as text, and its content type."""
    value = _plain(source)
    return (value, _TEXT) if isinstance(value, str) else (orjson.dumps(value).decode(), _JSON)


def _plain(source: ValueNode) -> object:
    if isinstance(source.value, dict):
        return {key: _plain(item) for key, item in source.entries().items()}
    return list(map(_plain, source.items())) if isinstance(source.value, list) else source.value


class Answer(ApiFault, frozen=True):
    """`body` with its content type, unless `headers` have another one."""

    status: int = 200
    body: tuple[str, str] = ("", _TEXT)
    headers: tuple[tuple[str, str], ...] = ()

    kind: ClassVar = "answer"
    bare: ClassVar = False
    effective: ClassVar = False
    value: ClassVar = mapping(
        "api answer",
        "An answer of your own, with status, body and headers.",
        {
            "status": whole("The HTTP status; 200 unless given.", 200, 599, "an HTTP status from 200 to 599"),
            "body": Value(
                {
                    "description": "The body: a text, or a mapping or a list that is sent as JSON; empty unless given.",
                    "type": ["string", "object", "array"],
                    "items": {"description": "An item of the body.", "x-says": "a value"},
                    "x-says": "a text, a mapping or a list",
                    "examples": ["<html>Bad gateway</html>"],
                },
                _body,
            ),
            "headers": HEADERS,
        },
        'an answer such as {status: 502, body: "Bad gateway"}',
        minProperties=1,
    )
    examples: ClassVar = {
        '{answer: {status: 502, body: "<html>Bad gateway</html>", headers: {Content-Type: text/html}}}': (
            "this answer, as it stands"
        ),
        "{answer: {body: {accepted: []}}}": "200 with this JSON",
        '{answer: {status: 307, headers: {Location: "http://127.0.0.1:9/elsewhere"}}}': "a redirect",
    }

    def replacement(self, _body: bytes, _wait: int) -> Whole:
        text, content_type = self.body
        types = [value for name, value in self.headers if name.lower() == _TYPE]
        others = tuple((name, value) for name, value in self.headers if name.lower() != _TYPE)
        data = b"" if self.status in _EMPTY else text.encode()
        return Whole(self.status, data, types[-1] if types else content_type, others)

    def shown(self, _time: int) -> JsonObject:
        return {self.kind: self.status}
