"""`status`: an error in the shape of the interface that was called."""

from __future__ import annotations

from typing import ClassVar, Final, Self

from sendbox.engine.answer import JsonObject
from sendbox.engine.faults.fault import ApiFault, Error
from sendbox.engine.forms import Value, any_keys, either, mapping, text, whole

_CODE: Final = whole("The HTTP status.", 400, 599, "an HTTP status from 400 to 599")
#: Names of headers.
HEADER_NAMES: Final = text(
    "The name of a header.",
    "the name of a header",
    pattern="^[A-Za-z0-9!#$%&'*+.^_`|~-]+$(?!\n)",
    examples=["Retry-After"],
).node
_HEADERS: Final = any_keys(
    "headers",
    "Headers that the answer has too.",
    text(
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
HEADERS: Final = Value(
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
    value: ClassVar = either(
        "An error with the body of the interface that was called.",
        _CODE,
        mapping(
            "api status",
            "Long form.",
            {
                "code": _CODE,
                "message": text("What the error says; the usual words of the status unless given.", "a text"),
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

    def shown(self, _time: int) -> JsonObject:
        return {self.kind: self.status}
