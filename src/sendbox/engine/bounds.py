"""The bounds of all that comes in: by YAML, by control, by requests, by settings.

Integers are those of 64 bits with a sign, which every reader of JSON takes. JSON is nested `DEEPEST` levels at most:
the writer of our answers stops at 254, and they wrap less than twenty levels around what came in. A world's time ends
with the last year of four digits, the last that an instant can be written in.

`schemas/scenario.schema.json` and `schemas/sending.json` say the range of integers again where a number has no other
bound; a test holds them to these.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from sendbox.engine.texts import regex

LOWEST: Final = -(2**63)
HIGHEST: Final = 2**63 - 1
DEEPEST: Final = 200
#: How a size is written: bytes, or with a unit of a thousand or of 1,024.
_SIZE: Final = regex(r"([0-9]+(?:\.[0-9]+)?) ?([kmg]i?)?b?", re.IGNORECASE | re.ASCII)
_UNITS: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}
#: The characters of the path of a mapping or list in a scenario: each value in it has its own path.
PATH: Final = 1_000
#: More parts, or characters of one text, are worked on on a worker thread.
LARGE: Final = 200
LONG: Final = 4_000
#: A scenario, or a part of one, that is sent: its bytes as text, its values, its rules with all other entries of lists
#: on the first level, and the bytes of a body that may hold it (JSON escapes its text).
TEXT: Final = 1024 * 1024
VALUES: Final = 25_000
RULES: Final = 2_000
LONG_BODY: Final = 2 * TEXT
#: The bytes of any other body of control.
SHORT_BODY: Final = 64 * 1024
#: So many parameters of a form or a query are read, and so many escapes (%XX) in them.
PARAMETERS: Final = 200
ESCAPES: Final = 10_000
#: 0001-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z, in milliseconds since 1970.
BEGINNING: Final = -62_135_596_800_000
END: Final = 253_402_300_799_999
#: How many seconds of a world may pass in one real second, at least and at most.
SLOWEST: Final = 0.001
FASTEST: Final = 1_000_000

#: What a message says is legal.
RANGE: Final = f"{LOWEST} to {HIGHEST} (64 bits)"
LEVELS: Final = f"up to {DEEPEST} levels"
YEARS: Final = "0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z"

#: The shortest integer that may lie outside has 19 digits. To look for them so takes a tenth of what a pattern takes.
_ALIKE: Final = bytes.maketrans(b"123456789", b"0" * 9)
_RUN: Final = b"0" * 19
#: In so many digits in a row each sixth character is one, three times: a sixth of the text tells that there are none.
_STEP: Final = 6
_SAMPLE: Final = b"0" * (len(_RUN) // _STEP)
#: An integer as long in JSON, or what looks like one inside a text.
_LONG: Final = regex(rb"(?:^|[\[:,])\s*-?[0-9]{19,}\s*(?:$|[\],}])")
_INTEGER: Final = regex(r"[-+]?[0-9]+")
_TEXTS: Final = regex(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_BRACKETS: Final = bytes.maketrans(b"{}", b"[]")
_OTHER: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")
#: So much of an integer is shown.
_SHOWN: Final = 40


class Outside(Struct, frozen=True):
    """A value outside the bounds: its place as names and indices, the broken rule, and a line that begins with it."""

    place: tuple[str | int, ...]
    rule: str
    message: str


def within(number: float) -> bool:
    """True if a number lies in the range of integers; False for one that is not finite."""
    return LOWEST <= number <= HIGHEST


class Long(str):
    """An integer outside the range, as it was written."""

    __slots__ = ()


def read_integer(text: str) -> int | Long:
    """The integer that digits write, if it is within the range."""
    number = whole(text)
    return Long(text) if number is None else number


def too_large(number: str) -> str:
    """The reason why an integer, as it was written, is refused."""
    short = number if len(number) <= _SHOWN else f"{number[:_SHOWN]}… ({len(number)} characters)"
    return f"{short} is outside the range of integers; legal: {RANGE}"


def wrong(number: object) -> tuple[str, str] | None:
    """The rule that a number breaks, and why; None for one within the bounds, and for all else."""
    if isinstance(number, Long):
        return "range", too_large(number)
    if isinstance(number, int) and not within(number):
        # the text of a very long integer takes long to make, and Python refuses to make it
        return "range", too_large(str(number) if number.bit_length() < 1024 else f"2^{number.bit_length() - 1} or more")
    if isinstance(number, float) and not math.isfinite(number):
        return "finite", f"{number} is not a finite number"
    return None


def whole(text: str) -> int | None:
    """The integer that a text writes in ASCII digits; None if it is not an integer or is outside the range."""
    if len(text) > len(str(LOWEST)) or not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if within(number) else None


def looks_whole(text: str) -> bool:
    """True if a text is an integer in ASCII digits, of any length."""
    return bool(_INTEGER.fullmatch(text))


def deeper(raw: bytes, than: int = DEEPEST) -> bool:
    """True if a JSON text has more than `than` levels of nesting."""
    if raw.count(b"[") + raw.count(b"{") <= than:
        return False
    depth = 0
    for bracket in _TEXTS.sub(b"", raw).translate(_BRACKETS, _OTHER):
        if bracket == 0x5D:
            depth -= 1
        elif depth == than:
            return True
        else:
            depth += 1
    return False


def in_json(raw: bytes, value: object) -> Outside | None:
    """The first value outside the bounds in a JSON text that was read as `value`; usually None.

    The text decides, because readers make floats of long integers. This is on the path of every request: a text without
    many brackets and without a long row of digits costs a look at its bytes.
    """
    if len(raw) > 2 * DEEPEST and deeper(raw):
        return in_value(value)
    if _SAMPLE in raw[::_STEP].translate(_ALIKE) and _RUN in raw.translate(_ALIKE) and _LONG.search(raw):
        return in_value(json.loads(raw, parse_int=read_integer))
    return None


def in_value(value: object) -> Outside | None:
    """The first value outside the bounds in a value from JSON or Python; None if there is none."""
    place: list[str | int] = []
    ways: list[Iterator[tuple[str | int, object]]] = [iter([("", value)])]
    while ways:
        step = next(ways[-1], None)
        if step is None:
            ways.pop()
            if place:
                place.pop()
            continue
        name, item = step
        if isinstance(item, dict | list | tuple):
            if len(ways) > DEEPEST:
                return too_deep((*place[1:], name))
            place.append(name)
            ways.append(iter(item.items() if isinstance(item, dict) else enumerate(item)))
        elif (broken := wrong(item)) is not None:
            return Outside((*place[1:], name) if place else (), *broken)
    return None


def large(value: object, most: int = LARGE, longest: int = LONG) -> bool:
    """True if a value has more than `most` parts or a text longer than `longest`: too much work for one step.

    The defaults are `LARGE` and `LONG`."""
    parts, values = 0, [value]
    while values:
        item = values.pop()
        if isinstance(item, dict | list):
            parts += len(item)
            if parts > most:
                return True
            values += item.values() if isinstance(item, dict) else item
        elif isinstance(item, str) and len(item) > longest:
            return True
    return False


def many(raw: bytes) -> Outside | None:
    """The refusal of a JSON text with more values than a body may have, before it is read; None for all others."""
    if _separators(raw) <= VALUES:
        return None
    count = _separators(_TEXTS.sub(b"", raw))
    return None if count <= VALUES else too_many(count)


def _separators(raw: bytes) -> int:
    """The most values that a JSON text can have besides the first."""
    return raw.count(b",") + raw.count(b":") + raw.count(b"[") + raw.count(b"{")


def too_many(count: int | None = None) -> Outside:
    """The refusal of a JSON text with too many values; `count` is their number if it is known."""
    size = f"more than {VALUES}" if count is None else f"{count}"
    return Outside((), "size", f"{size} values are too many; legal: up to {VALUES}")


def has_too_many_parameters(raw: bytes) -> bool:
    """True if a form or a query has more parameters, or more escapes (%XX), than are read."""
    return raw.count(b"&") >= PARAMETERS or raw.count(b"%") > ESCAPES


def too_far(path: str) -> str:
    """The reason why a mapping or list with so long a path is refused."""
    return f"a path of {len(path)} characters is too long, {path[:_SHOWN]}…; legal: up to {PATH}"


def too_deep(place: tuple[str | int, ...] = ()) -> Outside:
    """The refusal of a value that is nested too deep; its place is cut after the first name."""
    names = [at for at, step in enumerate(place) if isinstance(step, str)]
    return Outside(
        place[: names[0] + 1] if names else (),
        "depth",
        f"the value is nested deeper than {DEEPEST} levels; legal: {LEVELS}",
    )


def parse_size(text: str) -> int:
    """The bytes of a size, at least 1. Raises ValueError."""
    match = _SIZE.fullmatch(text.strip())
    size = 0 if match is None else round(float(match[1]) * _UNITS[(match[2] or "").lower()])
    if not 1 <= size <= HIGHEST:
        raise ValueError(f"{text!r} is not a size of memory; legal: a number above 0 and a unit, such as 512MB or 1GiB")
    return size
