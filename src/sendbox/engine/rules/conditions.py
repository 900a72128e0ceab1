"""Cases, which rules, draws and counters look at, and the conditions of rules: what each asks of a case.

A service says what its cases are; the engine knows no more. A condition holds or not, and has the words for a case that
does not meet it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, cast

import msgspec
import orjson

from sendbox.engine.answer import JsonMapping
from sendbox.engine.texts import Pattern


class Case:
    """One case: its `kind` (a word of its service), whom it is about, and what can be asked of it.

    `subject` is a text ("" if there is none). `ordinal` is the same whenever the same case comes, where a list of
    rules is asked about it again. `request` names the request that it came with, `instant` is when rules are asked, in
    virtual milliseconds. `fields` are what conditions ask for by name: a text, a number, None, a tuple of texts of
    which one must fit, or a function that finds one of these when it is needed.
    """

    __slots__ = ("fields", "instant", "kind", "ordinal", "request", "subject")

    def __init__(
        self,
        kind: str,
        subject: str,
        ordinal: int = 0,
        request: str = "",
        instant: int = 0,
        fields: JsonMapping | None = None,
    ) -> None:
        self.kind = kind
        self.subject = subject
        self.ordinal = ordinal
        self.request = request
        self.instant = instant
        self.fields = {} if fields is None else fields

    def value(self, name: str) -> Any:
        """A field by its name; None if the case has no such field."""
        try:  # a service may read a field only when it is asked for
            value = self.fields[name]
        except KeyError:
            return None
        return value() if callable(value) else value

    def words(self, name: str) -> tuple[str, ...]:
        """A field as the texts of which one must fit; none where the case has no such field."""
        value = self.value(name)
        return () if value is None else value if isinstance(value, tuple) else (value,)


class Condition(Protocol):
    """One condition; a service brings those that are more than a pattern, a set of words or a number."""

    @property
    def holds(self) -> Callable[[Case], object]:
        """A function that is true for a case that meets it."""

    def says(self, case: Case) -> str:
        """The words for a case that does not meet it: the actual value, and the wanted one."""


class Backward(Condition, Protocol):
    """A condition about what happened before: it may stop or begin to hold later, and may depend on who came first."""

    def raced(self, case: Case) -> bool:
        """True if the things that it looks at could also have come after the case."""


#: What a condition of a field may want of it; of several values one is enough.
Expected = Pattern | str | int | Condition | tuple[Pattern, ...] | tuple[str, ...] | tuple[int, ...]
T = TypeVar("T")


class Like:
    """A field, or one of its texts, is like a pattern, or like one of several."""

    __slots__ = ("holds", "name", "patterns")

    def __init__(self, name: str, patterns: tuple[Pattern, ...]) -> None:
        self.name = name
        self.patterns = patterns
        #: one function, without anything to look up: most conditions are of this kind, and most do not hold
        self.holds: Callable[[Case], object] = _like(name, patterns)

    def says(self, case: Case) -> str:
        """The texts that do not match; a subject is a name, and stands without quotation marks."""
        value, expected = case.value(self.name), " or ".join(map(quoted, self.patterns))
        if isinstance(value, str):
            return f"{value if value == case.subject else quoted(value)} does not match {expected}"
        if value:
            return f"none of {', '.join(map(quoted, value))} matches {expected}"
        return f"there is no {self.name}, wanted {expected}"


def _like(name: str, patterns: tuple[Pattern, ...]) -> Callable[[Case], object]:
    matches = patterns[0].matches
    if len(patterns) > 1:

        def matches(value: str) -> object:
            return any(pattern.matches(value) for pattern in patterns)

    def holds(case: Case) -> object:
        try:
            value = case.fields[name]
        except KeyError:
            return False
        return matches(value) if value.__class__ is str else any(map(matches, case.words(name)))

    return holds


class Among(msgspec.Struct, frozen=True):
    """A field, or one of its texts, is one of some words."""

    name: str
    words: tuple[str, ...]

    def holds(self, case: Case) -> bool:
        """True if a text of the field is one of the words."""
        return any(word in self.words for word in case.words(self.name))

    def says(self, case: Case) -> str:
        """The texts that are none of the words."""
        return f"{' and '.join(case.words(self.name)) or 'nothing'} is not {' or '.join(self.words)}"


class Equal(msgspec.Struct, frozen=True):
    """A field is one of some numbers."""

    name: str
    numbers: tuple[int, ...]

    def holds(self, case: Case) -> bool:
        """True if the field is one of the numbers."""
        return case.value(self.name) in self.numbers

    def says(self, case: Case) -> str:
        """The number that it is."""
        expected = " or ".join(map(str, self.numbers))
        return f"this is {self.name} {case.value(self.name)}, wanted {self.name} {expected}"


class Not:
    """Conditions that must not all hold; of several groups no one may hold."""

    __slots__ = ("groups", "raced", "tests")

    #: only where a condition in it is about what happened before
    raced: Callable[[Case], bool]

    def __init__(self, *groups: Mapping[str, Expected]) -> None:
        self.groups = groups
        self.tests = tuple(
            tuple((name, condition(name, expected)) for name, expected in group.items()) for group in groups
        )
        backward = [test for group in self.tests for _, test in group if hasattr(test, "raced")]
        if backward:
            self.raced = lambda case: any(test.raced(case) for test in cast("list[Backward]", backward))

    @property
    def written(self) -> object:
        """The conditions, as a scenario has them."""
        return self.groups[0] if len(self.groups) == 1 else self.groups

    def holds(self, case: Case) -> bool:
        """True if no group holds as a whole."""
        return not any(all(test.holds(case) for _, test in group) for group in self.tests)

    def says(self, case: Case) -> str:
        """The conditions of the groups that hold."""
        held = [group for group in self.tests if all(test.holds(case) for _, test in group)]
        return "; ".join(f"{' and '.join(name for name, _ in group)} must not hold, and does" for group in held)

    def without(self, name: str) -> Not | None:
        """The same without the groups that ask for a field; None if no group is left."""
        left = [group for group in self.groups if name not in group]
        return Not(*left) if left else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Not) and self.groups == other.groups

    def __hash__(self) -> int:
        return hash(tuple(tuple(group) for group in self.groups))

    def __repr__(self) -> str:
        return f"Not({', '.join(map(repr, self.groups))})"


def condition(name: str, expected: Expected) -> Condition:
    """The condition for the value that a rule wants of a field."""
    values: Any = several(expected)
    for kind, condition_type in ((Pattern, Like), (str, Among), (int, Equal)):
        if isinstance(values[0], kind):
            return condition_type(name, values)
    return cast("Condition", expected)


def several(value: T | tuple[T, ...] | None) -> tuple[T, ...]:
    """The values of which one is expected: one, several, or none."""
    return value if isinstance(value, tuple) else () if value is None else (value,)


def equals(value: object, expected: object) -> bool:
    """True if a value is the expected one; a text may also match a pattern."""
    if isinstance(expected, Pattern):
        return isinstance(value, str) and bool(expected.matches(value))
    return type(value) is type(expected) and bool(value == expected)


def fits(value: object, expected: object) -> bool:
    """True if a value is the expected one, or one of several."""
    return any(equals(value, one) for one in choices(expected))


def choices(expected: object) -> tuple[object, ...]:
    """The values of which one is expected; null is a value too."""
    return several(expected) or (None,)


def quoted(value: object) -> str:
    """A value as JSON, a pattern by its text."""
    return orjson.dumps(value.text if isinstance(value, Pattern) else value).decode()
