"""JSON text to values: strictly, with the place of what is wrong (§4, A75)."""

from __future__ import annotations

import re
from typing import Final

import orjson

_BOM: Final = b"\xef\xbb\xbf"
_TOKEN: Final = re.compile(r"\\u[0-9A-Fa-f]{4}|[A-Za-z0-9_.+-]{1,20}|.", re.DOTALL)


class Malformed(ValueError):
    """The bytes are no JSON. `message` is one line; `line` and `column` count from 1, columns in characters."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


def parse_json(raw: bytes) -> object:
    """The value that a JSON text in UTF-8 holds; raises `Malformed` for anything else.

    Not JSON are NaN, infinities (also `1e400`), lone surrogates, a byte order mark, and more than 1024 levels. Of a
    name given twice the last counts.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise _malformed(raw, error) from None


def _malformed(raw: bytes, error: orjson.JSONDecodeError) -> Malformed:
    if not raw.strip(b" \t\r\n"):
        return Malformed("an empty body is not JSON; legal: one JSON value in UTF-8 (§4)", 1, 1)
    if raw.startswith(_BOM):
        return Malformed("a byte order mark at line 1, column 1 is not JSON; legal: UTF-8 without one (§4)", 1, 1)
    try:
        text = raw.decode()
    except UnicodeDecodeError as broken:
        before = raw[: broken.start].decode()
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        byte = raw[broken.start]
        return Malformed(
            f"byte 0x{byte:02x} at line {line}, column {column} is not UTF-8; legal: JSON in UTF-8 (§4)", line, column
        )
    line, column = error.lineno, error.colno
    token = _TOKEN.match(text, error.pos)
    given = token[0] if token else "the end"
    if not given.isprintable():
        given = ascii(given)[1:-1]  # the message is one line
    return Malformed(
        f"{given} at line {line}, column {column} is not JSON: {error.msg.partition(': line')[0]} (§4)", line, column
    )
