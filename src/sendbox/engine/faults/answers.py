"""Faults of calls that give the client another answer than the real one."""

from __future__ import annotations

from typing import ClassVar, Final, Self

import orjson

from sendbox.engine import forms
from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import Rate, show
from sendbox.engine.faults.fault import NO_ANSWER, ApiFault, Body, Error, Whole

_STATUS: Final = forms.whole("The HTTP status.", 400, 599, "an HTTP status from 400 to 599")
#: Names of headers.
HEADER_NAMES: Final = forms.text(
    "The name of a header.",
    "the name of a header",
    pattern="^[A-Za-z0-9!#$%&'*+.^_`|~-]+$(?!\n)",
    examples=["Retry-After"],
).node
_HEADERS: Final = forms.any_keys(
    "headers",
    "Headers that the answer has too.",
    forms.text(
        "The value of a header.",
        "the value of a header: one line of ASCII text",
        type=["string", "integer"],
        minimum=-(2**63),
        maximum=2**63 - 1,
        pattern="^[\\x20-\\x7e]*$(?!\n)",
        examples=["30"],
    ),
    "a mapping of headers, such as {Retry-After: 30}",
    propertyNames=HEADER_NAMES,
)
#: Headers of an answer, in the order in which they stand.
HEADERS: Final = forms.Value(
    _HEADERS.node,
    lambda source, reader: tuple((name, str(value)) for name, value in _HEADERS.read(source, reader).items()),
)


class Status(ApiFault, frozen=True):
    """`message` None = the usual words of the status; `headers` are those that the answer has too."""

    status: int = 0
    message: str | None = None
    headers: tuple[tuple[str, str], ...] = ()

    kind: ClassVar = "status"
    bare: ClassVar = False
    effective: ClassVar = False
    value: ClassVar = forms.either(
        "An error with the body of the interface that was called.",
        _STATUS,
        forms.mapping(
            "api status",
            "Long form.",
            {
                "code": _STATUS,
                "message": forms.text("What the error says; the usual words of the status unless given.", "a text"),
                "headers": HEADERS,
            },
            "a status such as {code: 503, headers: {Retry-After: 30}}",
            required=["code"],
        ),
        says="a status from 400 to 599, or a mapping of code, message and headers",
    )
    examples: ClassVar = {
        "{status: 500}": "an error, from 400 to 599, with the body of the interface that was called",
        '{status: {code: 429, message: "Slow down", headers: {Retry-After: 7}}}': "the same with a text and headers",
    }

    @classmethod
    def of(cls, detail: object) -> Self:
        return cls(detail.pop("code"), **detail) if isinstance(detail, dict) else super().of(detail)

    def replacement(self, _body: bytes, _wait: int) -> Error:
        return Error(self.status, self.message, self.headers)

    def as_written(self, _time: int) -> JsonObject:
        return {self.kind: self.status}


_TEXT: Final = "text/plain; charset=utf-8"
_JSON: Final = "application/json"
_CONTENT_TYPE: Final = "content-type"
#: Answers that have no body.
_EMPTY: Final = frozenset({204, 205, 304})


def _body(source: forms.ValueNode, _reader: forms.ValueReader) -> tuple[str, str]:
    """A body as text, and its content type."""
    value = _plain(source)
    return (value, _TEXT) if isinstance(value, str) else (orjson.dumps(value).decode(), _JSON)


def _plain(source: forms.ValueNode) -> object:
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
    value: ClassVar = forms.mapping(
        "api answer",
        "An answer of your own, with status, body and headers.",
        {
            "status": forms.whole("The HTTP status; 200 unless given.", 200, 599, "an HTTP status from 200 to 599"),
            "body": forms.Value(
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
        types = [value for name, value in self.headers if name.lower() == _CONTENT_TYPE]
        others = tuple((name, value) for name, value in self.headers if name.lower() != _CONTENT_TYPE)
        data = b"" if self.status in _EMPTY else text.encode()
        return Whole(self.status, data, types[-1] if types else content_type, others)

    def as_written(self, _time: int) -> JsonObject:
        return {self.kind: self.status}


#: What a rule always says otherwise.
_NO_RATE: Final = Rate(0, 0)
_RATE: Final = forms.either(
    "More calls than that are answered with 429 and Retry-After, by the world's clock.",
    forms.text("Short form, such as 10/s.", "a rate such as 10/s or 5/10m", "rate", "10/s", "5/10m", minLength=1),
    forms.mapping(
        "rate limit",
        "Long form.",
        {
            "max": forms.positive("How many calls."),
            "within": forms.window("In how much time."),
            "per": forms.word(
                "What has a limit of its own; each API key unless given.",
                ("key", "phone", "world"),
                "what has a limit of its own",
            ),
        },
        "a rate such as {max: 5, within: 1h, per: key}",
        required=["max", "within"],
    ),
    says="a rate such as 10/s, or {max: 5, within: 1h, per: key}",
).node


def _limit(source: forms.ValueNode, reader: forms.ValueReader) -> dict[str, object]:
    per = source.get("per")
    return {"rate": reader.rate(source), **({} if per is None else {"per": per.value})}


class RateLimit(ApiFault, frozen=True):
    """`per` says what has a limit of its own."""

    rate: Rate = _NO_RATE
    per: str = "key"

    kind: ClassVar = "rate_limit"
    bare: ClassVar = False
    effective: ClassVar = False
    lenient: ClassVar = True
    value: ClassVar = forms.Value(_RATE, _limit)
    examples: ClassVar = {
        "{rate_limit: 2/1m}": "429 of that interface, with `Retry-After` in seconds, for every call over the limit",
        "{rate_limit: {max: 100, within: 1m, per: phone}}": "the same, with a limit for each phone",
    }

    def replacement(self, _body: bytes, wait: int) -> Error:
        return Error(429, headers=(("Retry-After", str(-(-wait // 1000))),))

    def as_written(self, _time: int) -> JsonObject:
        return {self.kind: f"{self.rate.count}/{show(self.rate.within)}"}


class BadJson(ApiFault, frozen=True):
    """A fault that sends only the first half of the body, which is not legal JSON any more."""

    kind: ClassVar = "bad_json"
    examples: ClassVar = {"bad_json": "200 with the first half of the body"}

    def replacement(self, body: bytes, _wait: int) -> Body:
        return Body(body[: max(1, len(body) // 2)] or NO_ANSWER[: len(NO_ANSWER) // 2])


class Twice(ApiFault, frozen=True):
    """`doubled`: the time whose answer the client gets, `first` or `last`."""

    doubled: str = "last"

    kind: ClassVar = "twice"
    value: ClassVar = forms.word(
        "The call is carried out twice; the client gets the first or the last answer.",
        ("first", "last"),
        "which of the two answers the client gets",
    )
    examples: ClassVar = {
        "twice": "the call is carried out twice, as when a proxy makes it again; the same as `{twice: last}`",
        "{twice: first}": "the same, and the client gets the answer to the first time",
    }

    @property
    def late(self) -> bool:
        return True

    def as_written(self, _time: int) -> JsonObject:
        return {self.kind: self.doubled}
