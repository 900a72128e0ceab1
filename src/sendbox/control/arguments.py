"""Arguments of operations: the forms that are not types, each with the refusal of what has another form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Annotated, Any, Final, TypeVar

from sendbox.control.operation import Call, ControlError
from sendbox.engine import bounds
from sendbox.engine.answer import keywords
from sendbox.engine.characters import foreign
from sendbox.engine.durations import duration, shown

K = TypeVar("K")
# What an argument may be, as keywords of JSON Schema beside its type, and arguments that may be of several types. Their
# values are checked by the functions below.
#: A whole number; from 0, or from 1.
Whole = Annotated[Any, keywords(type="integer")]
Size = Annotated[Any, keywords(type="integer", minimum=0)]
Count = Annotated[Any, keywords(type="integer", minimum=1)]
Flag = Annotated[Any, keywords(type="boolean")]
#: A duration, a number is milliseconds; and an instant, a number is seconds.
Duration = Annotated[Any, keywords(type=["string", "number"], examples=["1m", 500])]
Moment = Annotated[Any, keywords(type=["string", "number"], examples=["2026-03-01T09:00:00Z"])]
#: What `next_cursor` of the answer before was.
Following = Annotated[Any, keywords(type="string")]
#: A scenario.
_OBJECT: Final = {"type": "object", "additionalProperties": True}
_SCENARIO: Final = {"anyOf": [{"type": "string", "description": "A name of the library, or YAML."}, _OBJECT]}
ScenarioGiven = Annotated[Any, keywords(anyOf=[*_SCENARIO["anyOf"], {"type": "array", "items": _SCENARIO}])]
#: An object as body.
Body = Annotated[Any, keywords(**_OBJECT)]


class Compiled(dict[str, Any]):
    """A long body as it came, and beside it what it was compiled to; `of` is what that depends on besides the body."""

    of: Any
    result: Any


async def beside(call: Call, raw: Mapping[str, Any], of: K, compile: Callable[[Mapping[str, Any], K], Any]) -> Compiled:
    """A body, compiled off the loop. Raises what `compile` raises."""
    long = Compiled(raw)
    long.of = of
    long.result = await call.runtime.builder.build(partial(compile, long, of))
    return long


def compiled(raw: Mapping[str, Any], of: K, compile: Callable[[Mapping[str, Any], K], Any]) -> Any:
    """The compiled form of a body; it is compiled here unless it already was."""
    return raw.result if isinstance(raw, Compiled) and raw.of == of else compile(raw, of)


def milliseconds(value: Any, name: str) -> int:
    """A duration argument. Raises `ControlError` that says what was legal."""
    try:
        return duration(value)
    except ValueError as error:
        raise ControlError(400, "bad_argument", f"{name}: {error}") from None


def whole(value: Any, name: str, least: int | None = None, most: int | None = None) -> int:
    """A whole number as argument, or a text that writes one, of `least` to `most`. Raises `ControlError`."""
    number = bounds.whole(value) if isinstance(value, str) else value
    if isinstance(number, int) and not isinstance(number, bool):
        if (least is not None and number < least) or (most is not None and number > most):
            legal = f"{least} and more" if most is None else f"{least} to {most}"
            raise ControlError(400, "bad_argument", f"{name}: {number} is not legal; legal: {legal}")
        return number
    if isinstance(value, str) and bounds.looks_whole(value):
        raise ControlError(400, "bad_argument", f"{name}: {bounds.too_large(value)}")
    raise ControlError(400, "bad_argument", f"{name}: {value!r} is not a whole number")


def one_of(value: Any, name: str, words: Iterable[str]) -> None:
    """Raises `ControlError` for an argument that is not one of some words."""
    if not isinstance(value, str) or value not in words:
        strange = foreign(value) if isinstance(value, str) else ""
        raise ControlError(400, "bad_argument", f'{name}: "{value}" is not known; legal: {", ".join(words)}{strange}')


def flag(value: Any, name: str) -> bool:
    """An argument that is true or false, or a text that says so. Raises `ControlError`."""
    if value in (True, "true", "1"):
        return True
    if value in (False, "false", "0"):
        return False
    raise ControlError(400, "bad_argument", f"{name}: {value!r} is not legal; legal: true, false")


def json_object(raw: Any, meaning: str) -> dict[str, Any]:
    """A body that must be a JSON object, and is to be what `meaning` says. Raises `ControlError`."""
    if not isinstance(raw, dict):
        raise ControlError(400, "bad_body", f"{shown(raw)} is not {meaning}; legal: a JSON object")
    return raw
