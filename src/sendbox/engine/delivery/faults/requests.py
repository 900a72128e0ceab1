"""Faults of deliveries that spoil the requests of a batch, or answer its tries."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import ClassVar, Final, NamedTuple

from sendbox.engine.delivery.batches import Target
from sendbox.engine.delivery.faults.fault import Spoilt, WebhookFault
from sendbox.engine.forms import either, text, whole, word
from sendbox.engine.texts import regex

_UNSIGNED: Final = "nothing is signed here: the target has no secret, so no signature can be wrong (A21)"


class BadSignature(WebhookFault, frozen=True):
    """On every try."""

    kind: ClassVar = "bad_signature"
    examples: ClassVar = {"bad_signature": "the request is signed with another secret than the account's"}

    @property
    def spoilt(self) -> Spoilt:
        return Spoilt(bad_signature=True)

    def note(self, target: Target) -> str | None:
        return _UNSIGNED if not target.secret or target.method == "GET" else None


_NO_BODY: Final = "a GET has no body, so no content type can be wrong (A69)"


class ContentType(WebhookFault, frozen=True):
    """The body stays as it is."""

    says: str = ""

    kind: ClassVar = "content_type"
    bare: ClassVar = False
    value: ClassVar = text(
        "What the request says its body is; the body stays as it is.",
        "a content type such as text/plain",
        minLength=1,
        maxLength=200,
    )
    examples: ClassVar = {"{content_type: text/plain}": "the header has this content type; the body is unchanged"}

    @property
    def detail(self) -> str:
        return self.says

    @property
    def spoilt(self) -> Spoilt:
        return Spoilt(content_type=self.says)

    def note(self, target: Target) -> str | None:
        return _NO_BODY if target.method == "GET" else None


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


#: Why a try that a rule answers fails, if not with a status.
SILENCES: Final = ("timeout", "refused", "closed")


class Answer(WebhookFault, frozen=True):
    """`by` is a status, or a word for why there is none."""

    by: str | int = 200

    kind: ClassVar = "answer"
    bare: ClassVar = False
    value: ClassVar = either(
        "Each try ends as if the receiver had given this answer, and does not reach it.",
        whole("A status.", 200, 599, "a status from 200 to 599"),
        word("No answer at all.", SILENCES, "a word for how a try fails"),
        "a status from 200 to 599, or timeout, refused or closed",
    )
    examples: ClassVar = {
        "{answer: 500}": "each try ends as if the receiver had given this answer, and does not reach it",
        "{answer: refused}": "the same without an answer",
    }

    @property
    def detail(self) -> str:
        return str(self.by)

    @property
    def ending(self) -> tuple[int | None, str | None]:
        if isinstance(self.by, str):
            return None, self.by
        return self.by, "redirect" if 300 <= self.by < 400 else None
