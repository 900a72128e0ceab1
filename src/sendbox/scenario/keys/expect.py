"""Compiles `expect:` into the expectations that the core judges."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from sendbox.engine.expect.expectation import Condition, Expectation, Range
from sendbox.engine.expect.subjects import Field, Thing
from sendbox.engine.patterns import Pattern
from sendbox.scenario.model import Node, listed, nearest, plain, show
from sendbox.scenario.values import Reader

#: So many legal words are listed even when one of them is near.
_LISTED: Final = 13
_BOUND: Final = re.compile(r"(>=|<=|>|<) *([0-9]+)")
_RANGE: Final = re.compile(r"([0-9]+)\.\.([0-9]+)")


def compile_expectation(
    node: Node, reader: Reader, subjects: Mapping[str, Thing], *, follows: bool = False
) -> Expectation:
    """An expectation about one of the subjects that there are."""
    given = node.entries()
    that = str(given["that"].value)
    low, high = _counts(node, reader)
    name, within, then = node.get("name"), node.get("within"), node.get("then")
    if then is not None and high == 0:
        message = f"{show(plain(then))} follows a thing of which there is to be none"
        reader.complain(node, "then", message, key="then")
    after, before = (None if each is None else reader.moment(each) for each in map(node.get, ("after", "before")))
    if after is not None and before is not None and after.relative == before.relative and after.at > before.at:
        message = f"after {show(plain(given['after']))} and before {show(plain(given['before']))}: no instant is both"
        reader.complain(node, "moment", message, key="after")
    length = None if within is None else reader.duration(within)
    if after is not None and after.relative and length is not None and not follows and after.at > length:
        message = f"after {show(plain(given['after']))} and within {show(plain(given['within']))}: no instant is both"
        reader.complain(node, "moment", message, key="after")
    return Expectation(
        that=that,
        where=() if given["that"].cut else _where(node.get("where"), that, subjects[that], reader),
        low=low,
        high=high,
        within=length,
        after=after,
        before=before,
        then=()
        if then is None
        else tuple(compile_expectation(item, reader, subjects, follows=True) for item in then.items()),
        name=None if name is None else str(name.value),
        place=node.place,
    )


def _counts(node: Node, reader: Reader) -> tuple[int | None, int | None]:
    count, low, high = (_whole(node.get(key)) for key in ("count", "at_least", "at_most"))
    if count is not None:
        if low is not None or high is not None:
            message = '"count" stands beside at_least or at_most; it says both'
            reader.complain(node, "count", message, key="count")
        return count, count
    if low is not None and high is not None and low > high:
        reader.complain(node, "count", f"at_least {low} is more than at_most {high}", key="at_least")
    return (1 if high is None else None) if low is None else low, high


def _whole(node: Node | None) -> int | None:
    return None if node is None or not isinstance(node.value, int) else node.value


def _where(node: Node | None, that: str, subject: Thing, reader: Reader) -> tuple[Condition, ...]:
    if node is None:
        return ()
    fields = subject.fields
    conditions: list[Condition] = []
    for key, item in node.entries().items():
        field = fields.get(key)
        if field is None:
            message = f"{show(key)} is no field of {that}; legal: {listed(fields)}"
            reader.complain(node, "field", message, key=key, near=nearest(key, fields))
        elif field.kind == "payload":
            conditions += _payload(key, item, reader)
        else:
            read = [_READ[field.kind](each, key, field, reader) for each in item.items() or [item]]
            wanted = tuple(value for values in read for value in values)
            means = tuple(each for word in wanted for each in reader.families.get(word, ()))
            conditions.append(Condition(key, wanted, means=means))
    return tuple(conditions)


def _payload(key: str, node: Node, reader: Reader) -> list[Condition]:
    conditions = []
    for path, item in node.entries().items():
        if not all(path.split(".")):
            reader.complain(node, "payload", f"{show(path)} is no dotted path such as order.id", key=path)
        wanted = [Pattern(each.value) if isinstance(each.value, str) else each.value for each in item.items() or [item]]
        conditions.append(Condition(key, tuple(wanted), tuple(path.split("."))))  # type: ignore[arg-type] # scalars
    return conditions


def _phones(node: Node, _key: str, _field: Field, reader: Reader) -> list[Any]:
    return [reader.phones(node)]


def _texts(node: Node, key: str, field: Field, reader: Reader) -> list[Any]:
    pattern = reader.pattern(node)
    if field.words and not any(pattern.matches(word) for word in field.words):
        _no_word(node, key, field, reader)
    return [pattern]


def _words(node: Node, key: str, field: Field, reader: Reader) -> list[Any]:
    word = str(node.value)
    if word not in field.words:
        _no_word(node, key, field, reader)
    return [word]


def _no_word(node: Node, key: str, field: Field, reader: Reader) -> None:
    near = nearest(node.value, field.words)
    message = f"{show(plain(node))} is no {key} here"
    if near is None or len(field.words) <= _LISTED:
        message = f"{message}; legal: {listed(field.words)}"
    reader.complain(node, "word", message, near=near)


def _numbers(node: Node, key: str, _field: Field, reader: Reader) -> list[Any]:
    value = node.value
    text = str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return [Range(text, value, value)]
    if text.isascii() and text.isdecimal():  # in quotes, where ${…} must have some
        return [Range(text, int(text), int(text))]
    if found := _RANGE.fullmatch(text):
        return [Range(text, int(found[1]), int(found[2]))]
    if found := _BOUND.fullmatch(text):
        limit = int(found[2])
        low = {">": limit + 1, ">=": limit}.get(found[1])
        return [Range(text, low, {"<": limit - 1, "<=": limit}.get(found[1]))]
    reader.complain(node, "range", f'{show(plain(node))} is no number for {key}: 2, ">=2", "<2" or 2..5 are legal')
    return []


def _flags(node: Node, key: str, _field: Field, reader: Reader) -> list[Any]:
    if not isinstance(node.value, bool):
        reader.complain(node, "flag", f"{show(plain(node))} is no {key}; legal: true, false")
    return [node.value]


_READ: Final = {"phone": _phones, "text": _texts, "word": _words, "number": _numbers, "flag": _flags}
