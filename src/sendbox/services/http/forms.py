"""Parameters of a query or a form (`application/x-www-form-urlencoded`), decoded strictly: nothing is guessed.

Text is UTF-8 whichever charset a header names; a `%` that does not begin an escape stands for itself, as in browsers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar
from urllib.parse import unquote_to_bytes

from msgspec.structs import replace

from sendbox.contract.findings import QUOTED, show
from sendbox.contract.parser import GZIP
from sendbox.engine import bounds
from sendbox.engine.bounds import ESCAPES, PARAMETERS
from sendbox.engine.remarks import Advice, Finding
from sendbox.services.advice import REPEATED_PARAMETER, advise
from sendbox.services.http.exchange import header
from sendbox.services.http.requests import unknown_fields

#: Media type of a form (§4.1).
FORM: Final = "application/x-www-form-urlencoded"

#: The greatest number of bytes of a form that are read: a hundred numbers and a text take a few thousand.
MAX_FORM_BYTES: Final = 64 * 1024

Remark = TypeVar("Remark", Finding, Advice)


class Unreadable(Exception):
    """The bytes are not parameters; `finding` says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def media_type(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The media type of a body, in lower case and without parameters; None if the headers name none."""
    value = header(headers, b"content-type")
    if value is None:
        return None
    return value.decode("latin-1").partition(";")[0].strip().lower()


def form_problem(headers: Iterable[tuple[bytes, bytes]], body: bytes) -> str | None:
    """The reason why a body is not a form: it is XML, or of another content type; None for a form.

    Clients send XML as a form, too, as it stands or in its field XMLDATA; a body without a content type is a form.
    """
    kind = media_type(headers)
    if body.lstrip().startswith((b"<", b"XMLDATA=")):
        return f"XML is not read: the XML interface is deprecated (§9) and not emulated; legal: {FORM} (§4.1)"
    if kind not in (None, FORM):
        return f"{show(kind)} is not the content type of this call; legal: {FORM} (§4.1)"
    return None


def read_form(raw: bytes, advice: list[Advice]) -> dict[str, str]:
    """The parameters of a raw query or form body, by name.

    Of a repeated one the last counts, with advice. An empty value counts as absent: forms send every field they have.
    Raises `Unreadable` for bytes that are not UTF-8.
    """
    if raw.startswith(GZIP):
        text = "a body compressed with gzip is not a form; legal: a form in UTF-8, uncompressed (§4.1)"
        raise Unreadable(Finding("$", "encoding", text, "§4.1"))
    if bounds.crowded(raw):
        count = raw.count(b"&") + 1
        text = f"{count} parameters are more than the {PARAMETERS} that are read"
        if count <= PARAMETERS:
            text = f"more than {ESCAPES} escapes (%XX) are not read"
        raise Unreadable(Finding("$", "count", text, "§4.1"))
    fields: dict[str, str] = {}
    repeated: dict[str, None] = {}
    for piece in raw.split(b"&"):
        name, _, value = piece.partition(b"=")
        key = _text(name, "$", "the name of a parameter")
        if key in fields:
            repeated[key] = None
        if key or value:
            fields[key] = _text(value, f"$.{key}", f"the value of {show(key)}")
    for key in repeated:
        text = f"{show(key)} is given more than once; the last one counts"
        advice.append(advise(REPEATED_PARAMETER, text, f"$.{key[:QUOTED]}"))
    return {key: value for key, value in fields.items() if value}


def unknown_parameters(fields: Iterable[str], known: frozenset[str], advice: list[Advice]) -> None:
    """Advice for each parameter that is not known (A57), with the nearest name that is."""
    unknown_fields(fields, known, "$", "§4.1", advice, "parameter")


def relocate(remarks: Iterable[Remark], places: Mapping[str, str]) -> list[Remark]:
    """The remarks with paths that begin with a key of `places` turned into its value.

    For parameters that are read by the rules of a Message: `$.to[0].phone_number` is `$.phone_number` to the client.
    """
    moved = []
    for remark in remarks:
        place = next((place for prefix, place in places.items() if remark.path.startswith(prefix)), remark.path)
        moved.append(remark if place == remark.path else replace(remark, path=place))
    return moved


def _text(raw: bytes, path: str, place: str) -> str:
    try:
        return unquote_to_bytes(raw.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        text = f"{show(raw.decode('latin-1'))} in {place} is not UTF-8, the only encoding of parameters (§4.1)"
        raise Unreadable(Finding(path[:QUOTED], "encoding", text, "§4.1")) from None
