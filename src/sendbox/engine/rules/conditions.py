"""Conditions of rules: what each asks of a case, whether that holds, and in which words it does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sendbox.engine.patterns import Pattern

if TYPE_CHECKING:
    from sendbox.engine.cases import Case


class Condition(Protocol):
    """One condition; a service brings those that are more than a pattern, a set of words or a number."""

    @property
    def holds(self) -> Callable[[Case], object]:
        """Tells whether a case meets it."""

    def says(self, case: Case) -> str:
        """What a case is that does not meet it, and what was wanted."""


class Backward(Condition, Protocol):
    """A condition about what happened before: it may stop or begin to hold later, and may depend on who came first."""

    def raced(self, case: Case) -> bool:
        """Whether what it looks at could as well have come after the case."""


#: What a condition of a field may want of it.
Wanted = Pattern | tuple[str, ...] | str | int | Condition


class Like:
    """A field, or one of its texts, is like a pattern."""

    __slots__ = ("holds", "name", "pattern")

    def __init__(self, name: str, pattern: Pattern) -> None:
        self.name = name
        self.pattern = pattern
        #: one function, without anything to look up: most conditions are of this kind, and most do not hold
        self.holds: Callable[[Case], object] = _like(name, pattern.matches)

    def says(self, case: Case) -> str:
        """The texts that do not match; a subject is a name, and stands without quotation marks."""
        value, wanted = case.value(self.name), quoted(self.pattern)
        if isinstance(value, str):
            return f"{value if value == case.subject else quoted(value)} does not match {wanted}"
        if value:
            return f"none of {', '.join(map(quoted, value))} matches {wanted}"
        return f"there is no {self.name}, wanted {wanted}"


def _like(name: str, matches: Callable[[str], object]) -> Callable[[Case], object]:
    def holds(case: Case) -> object:
        try:
            value = case.fields[name]
        except KeyError:
            return False
        return matches(value) if value.__class__ is str else any(map(matches, case.words(name)))

    return holds


@dataclass(frozen=True, slots=True)
class Among:
    """A field, or one of its texts, is one of some words."""

    name: str
    words: tuple[str, ...]

    def holds(self, case: Case) -> bool:
        """Whether a text of the field is one of the words."""
        return any(word in self.words for word in case.words(self.name))

    def says(self, case: Case) -> str:
        """The texts that are none of the words."""
        return f"{' and '.join(case.words(self.name)) or 'nothing'} is not {' or '.join(self.words)}"


@dataclass(frozen=True, slots=True)
class Equal:
    """A field is a number."""

    name: str
    number: int

    def holds(self, case: Case) -> bool:
        """Whether the field is that number."""
        return bool(case.value(self.name) == self.number)

    def says(self, case: Case) -> str:
        """The number that it is."""
        return f"this is {self.name} {case.value(self.name)}, wanted {self.name} {self.number}"


def condition(name: str, wanted: Wanted) -> Condition:
    """What a rule wants of a field as a condition."""
    if isinstance(wanted, Pattern):
        return Like(name, wanted)
    if isinstance(wanted, tuple | str):
        return Among(name, (wanted,) if isinstance(wanted, str) else wanted)
    return Equal(name, wanted) if isinstance(wanted, int) else wanted


def quoted(value: object) -> str:
    """A value as JSON, a pattern by its text."""
    import orjson  # `sendbox --help` reads this module, and need not read JSON

    return orjson.dumps(value.text if isinstance(value, Pattern) else value).decode()
