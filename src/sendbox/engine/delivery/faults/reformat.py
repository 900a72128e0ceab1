"""`reformat`: the same JSON in other bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import ClassVar, Final, NamedTuple

from sendbox.engine.delivery.faults.fault import Spoilt, WebhookFault
from sendbox.engine.forms import word
from sendbox.engine.regex import regex

#: A text in JSON.
_TEXT: Final = regex(r'"(?:[^"\\]|\\.)*"')


def _compact(value: object, *, ascii_only: bool = False) -> str:
    return json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))


def _reversed(value: object) -> object:
    """A value whose objects have their keys in the reverse order."""
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


def _escaped(value: object) -> str:
    """A value with a hyphen in any text, as each date has it, escaped too."""
    return _TEXT.sub(lambda text: text[0].replace("/", "\\/").replace("-", "\\u002d"), _compact(value, ascii_only=True))


class Writing(NamedTuple):
    """A way to write the same JSON, in words and as a function."""

    says: str
    write: Callable[[object], str]


#: The ways to write the same JSON.
WAYS: Final = {
    "spaces": Writing("with spaces between its parts", lambda value: json.dumps(value, ensure_ascii=False)),
    "escapes": Writing("with escaped characters", _escaped),
    "order": Writing("with its keys in another order", lambda value: _compact(_reversed(value))),
}


def rewrite(body: bytes, way: str) -> bytes:
    """The same JSON, written in another way."""
    return WAYS[way].write(json.loads(body)).encode()


class Reformat(WebhookFault, frozen=True):
    """On every try, and the signature is right: it is made of the bytes that are sent."""

    by: str = "spaces"

    kind: ClassVar = "reformat"
    value: ClassVar = word(
        "How the JSON is written: with spaces, with escaped characters, or with keys in another order.",
        WAYS,
        "a word for how the JSON is written",
    )
    examples: ClassVar = {
        "reformat": "the same JSON with spaces; the signature is right",
        "{reformat: escapes}": "the same JSON with escaped characters: `\\u00e9` for é, `\\/` for /, `\\u002d` for -",
        "{reformat: order}": "the same JSON with its keys in another order",
    }

    @property
    def detail(self) -> str:
        return self.by

    @property
    def spoilt(self) -> Spoilt:
        return Spoilt(way=self.by)
