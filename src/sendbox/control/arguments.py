"""Arguments of operations: their types, how a value becomes one of a type, and long bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Final, TypeVar

import msgspec
from msgspec import inspect

from sendbox.engine import bounds
from sendbox.engine.answer import JsonMapping, JsonObject, enum, keywords
from sendbox.engine.durations import duration, excerpt, instant
from sendbox.engine.texts import foreign
from sendbox.runtime.bounds import Builder

K = TypeVar("K")
V = TypeVar("V")
_FLAGS: Final[Mapping[object, bool]] = {"true": True, "1": True, 1: True, "false": False, "0": False, 0: False}
_TYPES: Final = {
    inspect.StrType: "text",
    inspect.IntType: "a whole number",
    inspect.DictType: "an object",
    inspect.ListType: "a list",
    inspect.NoneType: "null",
}


def convert(value: object, kind: object) -> Any:
    """The value of a type that an argument is. Raises `ValueError` that says what is legal.

    A text stands for a number or a flag too, since queries are text, and a number for its text, since YAML makes
    numbers of digits.
    """
    problems = []
    for reading in _readings(value):
        try:
            converted = msgspec.convert(reading, kind, dec_hook=_decoded)
        except msgspec.ValidationError as error:
            problems.append(error.with_traceback(None))  # else it holds this frame, and all those that called it
        else:
            words = _words(kind)
            if words and converted is not None and converted not in words:
                raise ValueError(unknown(converted, words))
            return int(converted) if isinstance(converted, Written) else converted  # the store writes plain ones only
    raise ValueError(_why(value, kind, problems[0]))


def _readings(value: object) -> Iterator[object]:
    """The value, and all that it may stand for."""
    yield value
    if isinstance(value, str) and (number := bounds.whole(value)) is not None:
        yield number
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
    if isinstance(value, str | int | float) and value in _FLAGS:
        yield _FLAGS[value]


def _decoded(kind: type[Written], value: object) -> Written:
    return kind(kind.read(value))


def _words(kind: object) -> Sequence[str]:
    """The legal words of a type that has only some (`enum`)."""
    return [word for meta in getattr(kind, "__metadata__", ()) for word in (meta.extra or {}).get("words", ())]


def unknown(value: object, words: Iterable[str]) -> str:
    """The reason why a value is not legal that is not one of some words."""
    quoted = f'"{value}"' if isinstance(value, str) else excerpt(value)
    return f"{quoted} is not known; legal: {', '.join(words)}{foreign(value) if isinstance(value, str) else ''}"


def _why(value: object, kind: object, error: msgspec.ValidationError) -> str:
    """The reason why a value is not legal."""
    if isinstance(error.__cause__, ValueError):
        return str(error.__cause__)
    legal = _undescribed(inspect.type_info(kind))
    parts = map(_undescribed, legal.types if isinstance(legal, inspect.UnionType) else (legal,))
    types = {type(part): part for part in parts}
    if inspect.BoolType in types:
        return f"{excerpt(value)} is not legal; legal: true, false"
    if isinstance(number := types.get(inspect.IntType), inspect.IntType) and inspect.StrType not in types:
        return _not_whole(value, number)
    return f"{excerpt(value)} is not legal; legal: {' or '.join(_TYPES[part] for part in types)}"


def _undescribed(legal: inspect.Type) -> inspect.Type:
    return legal.type if isinstance(legal, inspect.Metadata) else legal


def _not_whole(value: object, legal: inspect.IntType) -> str:
    """The reason why a value is not a whole number within bounds."""
    number = bounds.whole(value) if isinstance(value, str) else value
    if isinstance(number, int) and not isinstance(number, bool):
        return f"{number} is not legal; legal: {legal.ge} {'and more' if legal.le is None else f'to {legal.le}'}"
    if isinstance(value, str) and bounds.looks_whole(value):
        return bounds.too_large(value)
    return f"{excerpt(value)} is not a whole number"


#: The orders of a list.
ORDERS: Final = ("oldest", "newest")
#: A whole number from 0, or from 1.
Size = Annotated[int, msgspec.Meta(ge=0)]
Count = Annotated[int, msgspec.Meta(ge=1)]


class Written(int):
    """An integer that is written in a form of its own: `SCHEMA` describes the form, `read` reads it or raises."""

    SCHEMA: ClassVar[JsonObject]
    read: ClassVar[staticmethod[[Any], int]]


class Duration(Written):
    """Milliseconds."""

    SCHEMA: ClassVar = {
        "description": "A duration: a text such as 1m. The only number is 0, which needs no unit.",
        "type": ["string", "number"],
        "minimum": 0,
        "maximum": 0,
        "examples": ["1m", 0],
    }
    read = staticmethod(duration)


class Moment(Written):
    """Milliseconds since 1970."""

    SCHEMA: ClassVar = {
        "description": "An instant: a text as in RFC 3339, with Z or an offset.",
        "type": "string",
        "examples": ["2026-03-01T09:00:00Z"],
    }
    read = staticmethod(instant)


class Following(Written):
    """The number that `next_cursor` of the answer before had."""

    SCHEMA: ClassVar = {"type": "string"}
    read = staticmethod(partial(convert, kind=Size))


def described(text: str) -> msgspec.Meta:
    """The description of an argument for `Annotated`."""
    return msgspec.Meta(description=text)


#: What lists take, by their usual names.
Wait = Annotated[Duration | None, described("so long, in real time, to wait until there is an item")]
Last = Annotated[Size | None, described("only so many of the newest")]
Limit = Annotated[Count | None, described("the most items of an answer")]
NEXT: Final = described("`next_cursor` of the answer before; it is null where no items follow")
NextCursor = Annotated[Following | None, NEXT]
Order = Annotated[str, enum(ORDERS), described("with `newest` the newest come first, and older ones follow")]
Search = Annotated[str | None, described("words that all hold for an item, in the grammar of a search")]
Total = Annotated[bool, described("with the `total` of all pages")]
SORTED: Final = described("the field by which they are sorted, rising in the order `oldest`; by time unless given")
After = Annotated[int, described("the number of an entry: only those behind it")]
Phone = Annotated[str | None, described("the number of a phone")]
MessageId = Annotated[str | None, described("the id of a message")]


#: A scenario.
_OBJECT: Final = {"type": "object", "additionalProperties": True}
_SCENARIO: Final = {"type": ["string", "object"], "additionalProperties": True}
ScenarioGiven = Annotated[
    Any,
    keywords(
        **_SCENARIO | {"type": ["string", "object", "array"]},
        description="YAML text, an object, the name of a scenario of the library, or a list of these",
        items=_SCENARIO,
    ),
]


def object_like(*examples: object) -> msgspec.Meta:
    """The keywords of an object as body, with examples."""
    return keywords(**_OBJECT, **({"examples": list(examples)} if examples else {}))


#: An object as body.
Body = Annotated[Any, object_like()]


class Compiled(JsonObject):
    """A long body as it came, and beside it what it was compiled to; `of` is what that depends on besides the body."""

    of: object
    result: Any


async def compile_long(
    builder: Builder,
    arguments: JsonMapping,
    depends: Callable[[JsonMapping], K],
    compile: Callable[[JsonMapping, K], object],
    is_long: Callable[[JsonMapping], bool] = bounds.large,
) -> JsonMapping:
    """The arguments of an operation; a long body is compiled off the loop, by what it `depends` on besides itself.

    Raises what `depends` and `compile` raise.
    """
    raw = arguments.get("raw")
    if not isinstance(raw, dict) or not is_long(raw):
        return arguments
    body = Compiled(raw)
    body.of = depends(raw)
    body.result = await builder.build(partial(compile, body, body.of))
    return {**arguments, "raw": body}


def compiled(raw: JsonMapping, of: K, compile: Callable[[JsonMapping, K], V]) -> V:
    """The compiled form of a body; it is compiled here unless it already was."""
    result: V = raw.result if isinstance(raw, Compiled) and raw.of == of else compile(raw, of)
    return result
