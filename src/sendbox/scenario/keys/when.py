"""Compiles `when`, which all lists of rules share: conditions, of which each list has its own, and what limits how
often a rule decides (`from`, `until`, `hours`, `share`, `nth`, `every`, `per`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sendbox.engine.rules.conditions import Not
from sendbox.engine.rules.rule import WORLD, When
from sendbox.scenario.model import Node, plain, show
from sendbox.scenario.values import Reader, whole

if TYPE_CHECKING:
    from sendbox.engine.durations import Moment

T = TypeVar("T")
#: Reads the conditions of a list: what is wanted of each field, by its name.
Asks = Callable[[Node, Reader], dict[str, Any]]

#: Another name of `nth` in the rules of calls.
CALL: Final = "call"
#: What counts, and so may have a counter for each owner.
_COUNTS: Final = ("nth", CALL, "every")
#: Keys that are not about the case by itself, and so cannot be turned round.
_LIMITS: Final = ("from", "until", "hours", "share", *_COUNTS, "per")


def compile_when(rule: Node, reader: Reader, asks: Asks) -> When:
    """The conditions of a rule."""
    node = rule.get("when")
    if node is None:
        return When()
    entries = node.entries()
    _counts_once(rule, node, entries, reader)
    begins, ends = _window(entries, reader)
    nth = entries.get("nth", entries.get(CALL))
    limits: dict[str, Any] = {
        "begins": begins,
        "ends": ends,
        "hours": one_or_more(entries.get("hours"), lambda item: hours(item, reader)),
        "share": reader.share(entries["share"]) if "share" in entries else None,
        "nth": one_or_more(nth, whole),
        "every": whole(entries["every"]) if "every" in entries else None,
        "per": _per(entries),
    }
    return When(**_conditions(node, reader, asks), **limits)


def one_or_more(node: Node | None, read: Callable[[Node], T]) -> T | tuple[T, ...] | None:
    """A value, or a tuple for a list of them; a list of one means its value."""
    if node is None:
        return None
    values = tuple(read(item) for item in node.items())
    return values if len(values) > 1 else values[0] if values else read(node)


def patterns(node: Node, reader: Reader, *names: str) -> dict[str, Any]:
    """The conditions with these names that are patterns of texts, or lists of them."""
    reads = {name: reader.key if name == "key" else reader.pattern for name in names}
    return {name: one_or_more(node.get(name), read) for name, read in reads.items()}


def recipient(node: Node, reader: Reader) -> dict[str, Any]:
    """The conditions about the phone of a case."""
    country, operator = node.get("country"), node.get("operator")
    if operator is not None:
        reader.networks(operator, country)
    return {
        "phone": one_or_more(node.get("phone"), reader.phones),
        "country": None if country is None else reader.located(country),
        "operator": one_or_more(operator, whole),
    }


def values_at(node: Node, reader: Reader, rule: str) -> tuple[tuple[tuple[str, ...], object], ...]:
    """Dotted paths, and the values of which one must stand there: texts are patterns."""
    values = []
    for key, item in node.entries().items():
        path = tuple(key.split("."))
        if not all(path):
            reader.complain(node, rule, f"{show(key)} is not a dotted path such as order.id", key=key)
        values.append((path, one_or_more(item, lambda value: _expected(value, reader))))
    return tuple(values)


def _expected(node: Node, reader: Reader) -> object:
    return reader.pattern(node) if isinstance(node.value, str) else node.value


def asked(when: When) -> dict[str, Any]:
    """Everything that a rule asks, for its canonical text."""
    return {name: _written(condition) for name, condition in {**when.asked, **when.limits}.items()}


def _written(value: Any) -> Any:
    """A condition as a scenario has it, where it says how that is."""
    if hasattr(value, "written"):
        value = value.written
    if isinstance(value, Mapping):
        return {name: _written(inner) for name, inner in value.items()}
    return tuple(map(_written, value)) if isinstance(value, tuple) else value


def _conditions(node: Node, reader: Reader, asks: Asks) -> dict[str, Any]:
    conditions = asks(node, reader)
    if (never := node.get("not")) is not None:
        groups = [_group(item, reader, asks) for item in never.items() or [never]]
        conditions["not"] = Not(*groups)
    return conditions


def _group(node: Node, reader: Reader, asks: Asks) -> dict[str, Any]:
    """Conditions of which one must not hold."""
    for key in node.entries():
        if key in _LIMITS:
            message = f'{show(key)} stands in "not", which has conditions of a case only; put it beside "not"'
            reader.complain(node, "not", message, key=key)
    if not node.entries() and not node.cut:
        reader.complain(node, "not", f"{show(plain(node))} turns no condition round; give it one")
    return {name: condition for name, condition in _conditions(node, reader, asks).items() if condition is not None}


def _counts_once(rule: Node, node: Node, entries: Mapping[str, Node], reader: Reader) -> None:
    """A rule counts in one way, and for something."""
    first, *others = [key for key in _COUNTS if key in entries] or ("",)
    if others:
        message = f"{show(others[0])} stands beside {show(first)}; a rule counts in one way"
        reader.complain(node, others[0], message, key=others[0])
    if "per" in entries and not first and rule.get("times") is None and not rule.cut:
        message = '"per" says whose counter it is, and nothing is counted; it belongs to nth, every or times'
        reader.complain(node, "per", message, key="per")


def _per(entries: Mapping[str, Node]) -> str | None:
    """The field by which the counters of a rule are apart; None: there is one."""
    per = str(entries["per"].value) if "per" in entries else WORLD
    return None if per == WORLD else per


def _window(entries: Mapping[str, Node], reader: Reader) -> tuple[Moment | None, Moment | None]:
    """The moments of `from` and `until`; a problem where the second one is known not to be after the first."""
    before = len(reader.problems)
    begins, ends = (reader.moment(entries[key]) if key in entries else None for key in ("from", "until"))
    if len(reader.problems) > before:  # what is no moment begins and ends nothing
        return begins, ends
    if begins is not None and ends is not None and never(begins, ends, reader.start):
        values = f"{show(plain(entries['from']))} to {show(plain(entries['until']))}"
        reader.complain(entries["until"], "window", f"{values} is not a window: it ends before it begins")
    return begins, ends


def never(begins: Moment, ends: Moment, start: int | None) -> bool:
    """True if a window certainly ends before it begins; without the start of the world this may be unknown (False)."""
    if begins.relative == ends.relative:
        return begins.at >= ends.at
    if start is None:
        return False
    first, last = (moment.at + start * moment.relative for moment in (begins, ends))
    return first >= last


def hours(node: Node, reader: Reader) -> Any:
    """Hours of the week."""
    from sendbox.services import windows  # zones are read only where a scenario has hours

    value: dict[str, Any] = plain(node)
    if isinstance(days := value.get("days"), str):
        value["days"] = [days]
    try:
        return windows.parse(value)
    except ValueError as error:
        reader.complain(node, "tz", str(error), key="tz", near=windows.nearest(str(value["tz"])))
        return windows.Window()
