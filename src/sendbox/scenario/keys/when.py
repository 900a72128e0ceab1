"""The form of `when`, which all lists of rules share: conditions, of which each list has its own, and what limits how
often a rule decides (`from`, `until`, `hours`, `share`, `nth`, `every`, `per`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import Moment
from sendbox.engine.forms import Value, either, mapping, reference, sequence
from sendbox.engine.rules.conditions import Not
from sendbox.engine.rules.rule import WORLD, When
from sendbox.scenario.model import Node, plain, show
from sendbox.scenario.values import Reader, whole_number, words
from sendbox.services import windows
from sendbox.services.windows import Window

T = TypeVar("T")

#: Another name of `nth` in the rules of calls.
CALL: Final = "call"
#: What counts, and so may have a counter for each owner.
_COUNTS: Final = ("nth", CALL, "every")


def one_or_more(node: Node | None, read: Callable[[Node], T]) -> T | tuple[T, ...] | None:
    """A value, or a tuple for a list of them; a list of one means its value."""
    if node is None:
        return None
    several = tuple(read(item) for item in node.items())
    return several if len(several) > 1 else several[0] if several else read(node)


def pattern(description: str) -> Value:
    """A pattern of texts, or a list of them."""
    return reference("patterns", description, lambda node, reader: one_or_more(node, reader.pattern))


def key(description: str) -> Value:
    """A pattern of API keys, or a list of them."""
    return reference("patterns", description, lambda node, reader: one_or_more(node, reader.key))


def one_of(name: str, description: str) -> Value:
    """A word of a definition of the schema that takes a list of them, too."""
    return reference(name, description, lambda node, _: words(node))


def recipient(whose: str, *, operator: bool = False) -> dict[str, Value]:
    """The conditions about the phone of a case; `whose` tells in words which phone it is."""
    phone = reference(
        "numberPatterns", f"{whose[0].upper()}{whose[1:]}.", lambda node, reader: one_or_more(node, reader.phones)
    )
    country = f"The country of {whose}, or a list of them."
    located = reference("countries", country, lambda node, reader: reader.located(node))
    network = f"The operator of {whose} in that country: its MNC as in events, or a list of them."
    operators = reference("networks", network, lambda node, _: one_or_more(node, whole_number))
    return {"phone": phone, "country": located} | ({"operator": operators} if operator else {})


def values_at(node: Node, reader: Reader, rule: str) -> tuple[tuple[tuple[str, ...], object], ...]:
    """Dotted paths, and the values of which one must stand there: texts are patterns."""
    values = []
    for key, item in node.entries().items():
        path = tuple(key.split("."))
        if not all(path):
            reader.add_problem(node, rule, f"{show(key)} is not a dotted path such as order.id", key=key)
        expected = one_or_more(item, lambda node: reader.pattern(node) if isinstance(node.value, str) else node.value)
        values.append((path, expected))
    return tuple(values)


def _moment(node: Node, reader: Reader) -> Moment:
    return reader.moment(node)


#: The limits in their order; the words for `per` differ between lists.
_LIMITS: Final = {
    "nth": reference("nth", read=lambda node, _: one_or_more(node, whole_number)),
    "every": reference("every"),
    "per": reference("per"),
    "share": reference("share", read=lambda node, reader: reader.share(node)),
    "from": reference("from", read=_moment),
    "until": reference("until", read=_moment),
    "hours": reference("recurring", read=lambda node, reader: one_or_more(node, lambda item: hours(item, reader))),
}
#: The names of limits in `When`, where they differ.
_NAMES: Final = {CALL: "nth", "from": "begins", "until": "ends"}


class Conditions(NamedTuple):
    """The conditions of a list of rules, and the form of its `when`.

    `kind` is the first word of its name in the schema, `case` what the rules are about, in words. `asks` are the
    conditions, in the order in which they are asked; `join` checks, and brings together, those that depend on each
    other. `per` are the fields by which counters may be apart, `more` are limits of this list alone.
    """

    kind: str
    case: str
    asks: Mapping[str, Value]
    per: tuple[str, ...]
    join: Callable[[JsonObject, Node, Reader], None] = lambda _asked, _node, _reader: None
    says: str = "a mapping of conditions"
    more: Mapping[str, Value] = MappingProxyType({})

    @property
    def definition(self) -> str:
        """Its name in the schema."""
        return f"{self.kind}When" if self.kind else "when"

    @property
    def limits(self) -> dict[str, Value]:
        """The forms of what limits how often a rule decides."""
        return {**_LIMITS, **self.more}

    @property
    def node(self) -> JsonObject:
        """Its definition in the schema."""
        group = reference(self.definition)
        groups = "Several groups; none of them may hold."
        never = either(
            "Conditions that must not all hold, or a list of such groups.",
            group,
            sequence(groups, group, "a list of mappings of conditions", minItems=1),
            "a mapping of conditions, or a list of them",
        )
        owners = {"enum": [*self.per, WORLD], "x-says": "a word for what has a counter of its own here"}
        per = _LIMITS["per"]
        limits = {**self.limits, "per": per._replace(node=per.node | owners)}
        description = f"What {self.case} must be like; all that is given must hold."
        return mapping(f"{self.kind} when".strip(), description, {**self.asks, "not": never, **limits}, self.says).node

    def read(self, rule: Node, reader: Reader) -> When:
        """The conditions of a rule, and its limits."""
        node = rule.get("when")
        if node is None:
            return When()
        entries = node.entries()
        _counts_once(rule, node, entries, reader)
        limits = {
            _NAMES.get(key, key): limit.read(entries[key], reader)
            for key, limit in self.limits.items()
            if key in entries
        }
        if limits.get("per") == WORLD:
            del limits["per"]
        _is_window(entries, limits.get("begins"), limits.get("ends"), reader)
        return When(**self._asked(node, reader), **limits)

    def _asked(self, node: Node, reader: Reader) -> JsonObject:
        entries = node.entries()
        conditions = {key: form.read(entries[key], reader) for key, form in self.asks.items() if key in entries}
        if "operator" in conditions:
            reader.networks(entries["operator"], entries.get("country"))
        self.join(conditions, node, reader)
        if (never := entries.get("not")) is not None:
            conditions["not"] = Not(*(self._group(item, reader) for item in never.items() or [never]))
        return conditions

    def _group(self, node: Node, reader: Reader) -> JsonObject:
        """Conditions of which one must not hold."""
        for key in node.entries():
            if key in self.limits:
                message = f'{show(key)} stands in "not", which has conditions of a case only; put it beside "not"'
                reader.add_problem(node, "not", message, key=key)
        if not node.entries() and not node.incomplete:
            reader.add_problem(node, "not", f"{show(plain(node))} turns no condition round; give it one")
        return self._asked(node, reader)


def asked(when: When) -> JsonObject:
    """Everything that a rule asks, for its canonical text."""
    return {name: _written(condition) for name, condition in {**when.asked, **when.limits}.items()}


def _written(value: object) -> object:
    """A condition as a scenario has it, where it says how that is."""
    if hasattr(value, "written"):
        value = value.written
    if isinstance(value, Mapping):
        return {name: _written(inner) for name, inner in value.items()}
    return tuple(map(_written, value)) if isinstance(value, tuple) else value


def _counts_once(rule: Node, node: Node, entries: Mapping[str, Node], reader: Reader) -> None:
    """A rule counts in one way, and for something."""
    first, *others = [key for key in _COUNTS if key in entries] or ("",)
    if others:
        message = f"{show(others[0])} stands beside {show(first)}; a rule counts in one way"
        reader.add_problem(node, others[0], message, key=others[0])
    if "per" in entries and not first and rule.get("times") is None and not rule.incomplete:
        message = '"per" says whose counter it is, and nothing is counted; it belongs to nth, every or times'
        reader.add_problem(node, "per", message, key="per")


def _is_window(entries: Mapping[str, Node], begins: Moment | None, ends: Moment | None, reader: Reader) -> None:
    """Complains about a window that is known to end before it begins; what is no moment begins and ends nothing."""
    if begins is None or ends is None or not never(begins, ends, reader.start):
        return
    first, last = entries["from"], entries["until"]
    if {first.path, last.path}.isdisjoint(problem.path for problem in reader.problems):
        message = f"{show(plain(first))} to {show(plain(last))} is not a window: it ends before it begins"
        reader.add_problem(last, "window", message)


def never(begins: Moment, ends: Moment, start: int | None) -> bool:
    """True if a window certainly ends before it begins; without the start of the world this may be unknown (False)."""
    if begins.relative == ends.relative:
        return begins.at >= ends.at
    if start is None:
        return False
    first, last = (moment.at + start * moment.relative for moment in (begins, ends))
    return first >= last


def hours(node: Node, reader: Reader) -> Window:
    """Hours of the week."""
    value: JsonObject = plain(node)
    if isinstance(days := value.get("days"), str):
        value["days"] = [days]
    try:
        return windows.parse(value)
    except ValueError as error:
        reader.add_problem(node, "tz", str(error), key="tz", near=windows.nearest(str(value["tz"])))
        return windows.Window()
