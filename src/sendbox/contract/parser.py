"""JSON text to values: strictly, with the place of each error (§4, A75).

It stands apart from the validators, whose library the language of scenarios does not need.
"""

from __future__ import annotations

import re
from typing import Final

import orjson

from sendbox.contract.findings import json_path
from sendbox.engine import bounds
from sendbox.engine.remarks import Finding
from sendbox.engine.texts import regex

#: How compressed data begins.
GZIP: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"
#: What the parser says of a text that is nested too deep for it: `depth limit exceeded`, `Recursion limit reached`.
_TOO_DEEP: Final = "limit"
_TOKEN: Final = regex(r"\\u[0-9A-Fa-f]{4}|[A-Za-z0-9_.+-]{1,20}|.", re.DOTALL)


class Malformed(ValueError):
    """The bytes are not JSON, or JSON outside the bounds of `engine/bounds.py`; `finding` says which, and where.

    `message` is one line; `line` and `column` count from 1, columns in characters.
    """

    def __init__(self, message: str, line: int, column: int, finding: Finding | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.finding = finding or Finding("$", "json", message, "§4", "A75")


def parse_json(raw: bytes, first: int = 1) -> object:
    """The value that a JSON text in UTF-8 holds; raises `Malformed` for anything else. `first` is its first line.

    Not JSON are NaN, infinities (also `1e400`), lone surrogates, and a byte order mark. Of a name given twice the last
    counts.
    """
    try:
        value: object = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise _malformed(raw, error, first) from None
    outside = bounds.in_json(raw, value)
    if outside is not None:
        raise _outside(outside)
    return value


def _outside(outside: bounds.Outside) -> Malformed:
    message = f"{outside.message} (§4)"
    return Malformed(message, 1, 1, Finding(json_path(outside.place), outside.rule, message, "§4"))


def _malformed(raw: bytes, error: orjson.JSONDecodeError, first: int) -> Malformed:
    if not raw.strip(b" \t\r\n"):
        return Malformed("an empty body is not JSON; legal: one JSON value in UTF-8 (§4)", 1, 1)
    if raw.startswith(GZIP):
        return Malformed("a body compressed with gzip is not JSON; legal: JSON in UTF-8, uncompressed (§4)", 1, 1)
    if raw.startswith(_BOM):
        return Malformed(
            f"a byte order mark at line {first}, column 1 is not JSON; legal: UTF-8 without one (§4)", first, 1
        )
    try:
        text = raw.decode()
    except UnicodeDecodeError as broken:
        before = raw[: broken.start].decode()
        line, column = before.count("\n") + first, len(before) - before.rfind("\n")
        byte = raw[broken.start]
        return Malformed(
            f"byte 0x{byte:02x} at line {line}, column {column} is not UTF-8; legal: JSON in UTF-8 (§4)", line, column
        )
    if _TOO_DEEP in error.msg and bounds.deeper(raw):
        return _outside(bounds.too_deep())
    line, column = error.lineno + first - 1, error.colno
    token = _TOKEN.match(text, error.pos)
    word = token[0] if token else "the end"
    if not word.isprintable():
        word = ascii(word)[1:-1]  # the message is one line
    return Malformed(
        f"{word} at line {line}, column {column} is not JSON: {error.msg.partition(': line')[0]} (§4)", line, column
    )
