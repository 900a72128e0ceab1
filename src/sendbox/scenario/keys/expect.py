"""Compiles `expect:` into the expectations that the engine checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from sendbox.engine.expect.expectation import Condition, Expectation, Range
from sendbox.engine.expect.subjects import Field, Subject
from sendbox.engine.patterns import Pattern
from sendbox.scenario.model import Node, listed, nearest, plain, show
from sendbox.scenario.values import Reader

#: How many legal words are listed even when one of them is similar.
_LISTED: Final = 13
_BOUND: Final = re.compile(r"(>=|<=|>|<) *([0-9]+)")
#: A single number is a range of one.
_RANGE: Final = re.compile(r"([0-9]+)(?:\.\.([0-9]+))?")


def compile_expectation(
    node: Node, reader: Reader, subjects: Mapping[str, Subject], *, follows: bool = False
) -> Expectation:
    """An expectation about one of the subjects."""
    entries = node.entries()
    that = str(entries["that"].value)
    low, high = _counts(node, reader)
    name, within, then = node.get("name"), node.get("within"), node.get("then")
    if then is not None and high == 0:
        message = f"{show(plain(then))} follows something that must not happen"
        reader.complain(node, "then", message, key="then")
    after, before = (None if bound is None else reader.moment(bound) for bound in map(node.get, ("after", "before")))
    if after is not None and before is not None and after.relative == before.relative and after.at > before.at:
        message = (
            f"after {show(plain(entries['after']))} and before {show(plain(entries['before']))}: no instant is both"
        )
        reader.complain(node, "moment", message, key="after")
    length = None if within is None else reader.duration(within)
    if after is not None and after.relative and length is not None and not follows and after.at > length:
        message = (
            f"after {show(plain(entries['after']))} and within {show(plain(entries['within']))}: no instant is both"
        )
        reader.complain(node, "moment", message, key="after")
    return Expectation(
        that=that,
        where=() if entries["that"].cut else _where(node.get("where"), that, subjects[that], reader),
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


def _where(node: Node | None, that: str, subject: Subject, reader: Reader) -> tuple[Condition, ...]:
    if node is None:
        return ()
    fields = subject.fields
    conditions: list[Condition] = []
    for key, item in node.entries().items():
        field = fields.get(key)
        if field is None:
            message = f"{show(key)} is not a field of {that}; legal: {listed(fields)}"
            reader.complain(node, "field", message, key=key, near=nearest(key, fields))
        elif field.kind == "payload":
            conditions += _payload(key, item, reader)
        else:
            values = tuple(_READ[field.kind](choice, key, field, reader) for choice in item.items() or [item])
            means = tuple(choice for word in values for choice in reader.families.get(word, ()))
            conditions.append(Condition(key, values, means=means))
    return tuple(conditions)


def _payload(key: str, node: Node, reader: Reader) -> list[Condition]:
    conditions = []
    for path, item in node.entries().items():
        if not all(path.split(".")):
            reader.complain(node, "payload", f"{show(path)} is not a dotted path such as order.id", key=path)
        values = [
            Pattern(choice.value) if isinstance(choice.value, str) else choice.value
            for choice in item.items() or [item]
        ]
        conditions.append(Condition(key, tuple(values), tuple(path.split("."))))  # type: ignore[arg-type] # scalars
    return conditions


def _text(node: Node, key: str, field: Field, reader: Reader) -> Pattern:
    pattern = reader.pattern(node)
    if field.words and not any(pattern.matches(word) for word in field.words):
        _no_word(node, key, field, reader)
    return pattern


def _word(node: Node, key: str, field: Field, reader: Reader) -> str:
    word = str(node.value)
    if word not in field.words:
        _no_word(node, key, field, reader)
    return word


def _no_word(node: Node, key: str, field: Field, reader: Reader) -> None:
    near = nearest(node.value, field.words)
    message = f"{show(plain(node))} is not a value of {key}"
    if near is None or len(field.words) <= _LISTED:
        message = f"{message}; legal: {listed(field.words)}"
    reader.complain(node, "word", message, near=near)


def _number(node: Node, key: str, _field: Field, reader: Reader) -> Range:
    value, text = node.value, str(node.value)
    if isinstance(value, int) and not isinstance(value, bool):
        return Range(text, value, value)
    if bounds := _RANGE.fullmatch(text):
        return Range(text, int(bounds[1]), int(bounds[2] or bounds[1]))
    if bound := _BOUND.fullmatch(text):
        limit = int(bound[2])
        low = {">": limit + 1, ">=": limit}.get(bound[1])
        return Range(text, low, {"<": limit - 1, "<=": limit}.get(bound[1]))
    reader.complain(node, "range", f'{show(plain(node))} is not a number for {key}: 2, ">=2", "<2" or 2..5 are legal')
    return Range(text, None, None)


def _flag(node: Node, key: str, _field: Field, reader: Reader) -> bool:
    if not isinstance(node.value, bool):
        reader.complain(node, "flag", f"{show(plain(node))} is not a value of {key}; legal: true, false")
    return node.value is True


_READ: Final[dict[str, Callable[[Node, str, Field, Reader], Any]]] = {
    "phone": lambda node, _key, _field, reader: reader.phones(node),
    "text": _text,
    "word": _word,
    "number": _number,
    "flag": _flag,
}
