"""Conditions of `where`: what a field must hold, and what a thing must not be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

import orjson

from sendbox.engine.classes import dataclass
from sendbox.engine.durations import iso
from sendbox.engine.patterns import Pattern

#: The name by which the time of a thing is read; no field has it.
INSTANT: Final = "hours"
#: Reads the field of a name of one thing.
Reading = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from `low` to `high`, None = without end; `text` as the scenario has it."""

    text: str
    low: float | None = None
    high: float | None = None

    def has(self, number: float) -> bool:
        """Whether a number lies in it."""
        return self.overlaps(number, number)

    def overlaps(self, low: float, high: float) -> bool:
        """Whether it has a number from `low` to `high`."""
        return (self.low is None or self.low <= high) and (self.high is None or self.high >= low)


@dataclass(frozen=True, slots=True)
class Condition:
    """What a field must hold: one of `wanted`, or of the words that some of them stand for, which are `means`.

    `path` leads into a field that is an object (`payload`).
    """

    field: str
    wanted: tuple[Pattern | Range | str | float | bool | None, ...]
    path: tuple[str, ...] = ()
    means: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The field as messages call it."""
        return ".".join((self.field, *self.path))

    @property
    def wish(self) -> str:
        """What is wanted, as messages say it."""
        return " or ".join(quoted(value) for value in self.wanted if value not in self.means)

    @property
    def text(self) -> str:
        """The condition, as messages say it."""
        return f"{self.name} {self.wish}"

    def unmet(self, read: Reading) -> Iterator[tuple[str, str]]:
        """The field and why it does not hold; nothing where it holds."""
        value = _inside(read(self.field), self.path)
        values = value if isinstance(value, tuple) else (value,)
        if not any(_fits(wanted, item) for wanted in (*self.wanted, *self.means) for item in values):
            yield self.field, f"{said(self.name, value)}, wanted {self.wish}"


@dataclass(frozen=True, slots=True)
class Not:
    """A thing of which all these conditions hold does not count."""

    conditions: tuple[Where, ...]

    @property
    def text(self) -> str:
        """The condition, as messages say it."""
        return f"not ({' and '.join(condition.text for condition in self.conditions)})"

    def unmet(self, read: Reading) -> Iterator[tuple[str, str]]:
        """One reason where all of them hold; nothing where one does not."""
        if holds(self.conditions, read):
            yield "not", f"{' and '.join(condition.text for condition in self.conditions)}, wanted not"


class Window(Protocol):
    """Hours of the week."""

    def open(self, at: int) -> bool:
        """Whether an instant lies inside."""


@dataclass(frozen=True, slots=True)
class Hours:
    """A thing must have come within one of these hours; `says` is how the scenario has them."""

    windows: tuple[Window, ...]
    says: str

    @property
    def text(self) -> str:
        """The condition, as messages say it."""
        return f"{INSTANT} {self.says}"

    def unmet(self, read: Reading) -> Iterator[tuple[str, str]]:
        """Why the time does not hold; nothing where it does."""
        if not any(window.open(read(INSTANT)) for window in self.windows):
            yield INSTANT, f"came at {iso(read(INSTANT))}, wanted {self.text}"


Where = Condition | Not | Hours


def holds(where: tuple[Where, ...], read: Reading) -> bool:
    """Whether all conditions hold for a thing."""
    return not any(True for condition in where for _ in condition.unmet(read))


def said(name: str, value: Any) -> str:
    """What a field holds, in words."""
    if value is None or value == ():
        return f"{name} is empty"
    return f"{name} is {' and '.join(map(quoted, value)) if isinstance(value, tuple) else quoted(value)}"


def quoted(value: Any) -> str:
    """A value as messages say it."""
    if isinstance(value, Range):
        return value.text
    return orjson.dumps(value.text if isinstance(value, Pattern) else value).decode()


def _inside(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _fits(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, Pattern):
        return isinstance(value, str) and bool(wanted.matches(value))
    if isinstance(wanted, Range):
        return isinstance(value, int | float) and not isinstance(value, bool) and wanted.has(value)
    return type(value) is type(wanted) and bool(value == wanted)
