"""Phone numbers that a call names: normalized with advice, and whom the call is about.

The phones of a call are read before it is checked, in any field in which its interface has numbers; the first is whom
it is about. The call may be malformed: one that cannot be read names no number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from sendbox.contract.findings import show
from sendbox.contract.parser import Malformed, parse_json
from sendbox.engine import bounds
from sendbox.engine.remarks import Advice
from sendbox.engine.texts import regex
from sendbox.services.advice import NUMBER_CONVERTED, NUMBER_DOUBTFUL, NUMBER_INVALID, advise
from sendbox.services.numbers import notation
from sendbox.services.ports import account_of

if TYPE_CHECKING:
    from sendbox.engine.commands.record import RequestRecord
    from sendbox.engine.world import World


def remark_number(number: str, path: str, advice: list[Advice]) -> None:
    """Advice on a normalized number that looks wrong for its country; it is used anyway (A14)."""
    if notation.doubtful(number):
        advice.append(advise(NUMBER_DOUBTFUL, f'"{number}" {notation.doubt(number)}; it is used anyway', path))


def remark_converted(raw: str, number: str, path: str, advice: list[Advice], section: str | None = None) -> None:
    """Advice on a number that was written in another form."""
    if number != raw:
        advice.append(advise(NUMBER_CONVERTED, f"{show(raw)} is converted to {number}", path, section))


def remark_recipient(
    raw: str, number: str | None, path: str, advice: list[Advice], consequence: str = "will be rejected"
) -> None:
    """Advice on a recipient as it was given, and its number; None for a recipient that cannot be normalized.

    `consequence` says what happens to a recipient that cannot be normalized.
    """
    if number is None:
        text = f"{show(raw)} cannot be normalized to a number in international format and {consequence}"
        advice.append(advise(NUMBER_INVALID, text, path))
        return
    remark_converted(raw, number, path, advice)
    remark_number(number, path, advice)


#: The fields that hold numbers, in JSON and in forms (§2.1, §4.1, §4.3 to §4.5).
FIELDS: Final = ("to", "phone_number", "number", "phoneNumber", "phone_numbers")
#: What stands between several numbers in one text.
_SEVERAL: Final = regex(r"[;,\n]")
#: No number is nested deeper: an array of messages, each with an array of recipients.
_DEEP: Final = 6


def addressee(world: World, body: bytes, query: bytes) -> str:
    """The number in international form, as written if it has none, "" if body and query name no number."""
    raw = _in(_fields(body)) or _in(_fields(query))
    return notation.normalize(raw, account_of(world).country) or raw


def phones_of(world: World, record: RequestRecord) -> tuple[str, ...]:
    """Every number that a call names, in international form."""
    country = account_of(world).country
    named = (*_all(_fields(record.body)), *_all(_fields(record.query)))
    return tuple(dict.fromkeys(notation.normalize(raw, country) or raw for raw in named))


def tags_of(record: RequestRecord) -> list[str]:
    """Every tag that a call names, in any message of it."""
    return [tag for raw in (record.body, record.query) for tag in _tags(_fields(raw))]


def _tags(value: object) -> Iterator[str]:
    """The tags in a request: of the message that it is, or of each in its list; several stand in one text, too."""
    for message in value if isinstance(value, list) else [value]:
        for name in ("tag", "messageTag"):
            tags = message.get(name) if isinstance(message, dict) else None
            for text in tags if isinstance(tags, list) else [tags]:
                if isinstance(text, str):
                    yield from map(str.strip, text.split(","))


def _fields(raw: bytes) -> object:
    """The content of a body or a query, as JSON or as a form."""
    if raw.lstrip()[:1] in (b"{", b"["):
        try:
            return parse_json(raw)
        except Malformed:
            return None
    return None if bounds.has_too_many_parameters(raw) else parse_qs(raw.decode("utf-8", "replace"))


def _in(value: object, deep: int = _DEEP) -> str:
    """The first number in a value: a text is the number itself, of a list the first item counts."""
    if isinstance(value, str | int):
        return _SEVERAL.split(str(value).strip(), maxsplit=1)[0].strip()
    if isinstance(value, list) and value and deep:
        first = value[0]
        return "" if isinstance(first, list) else _in(first, deep - 1)
    if isinstance(value, dict) and deep:
        return next((number for name in FIELDS if name in value and (number := _in(value[name], deep - 1))), "")
    return ""


def _all(value: object, deep: int = _DEEP) -> Iterator[str]:
    """Every number in a value."""
    if isinstance(value, str | int):
        yield from filter(None, map(str.strip, _SEVERAL.split(str(value))))
    elif isinstance(value, list) and deep:
        for item in value:
            yield from _all(item, deep - 1)
    elif isinstance(value, dict) and deep:
        for name in FIELDS:
            if name in value:
                yield from _all(value[name], deep - 1)
