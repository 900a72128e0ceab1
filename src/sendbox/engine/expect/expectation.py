"""An expectation: what a scenario says must have happened, as it is kept until the verdict is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from sendbox.engine.patterns import Pattern

if TYPE_CHECKING:
    from sendbox.engine.durations import Moment


#: The doubt about the name of a rule, which a tester may still put into the world.
RULE_UNKNOWN: Final = "rule-unknown"


class Never(NamedTuple):
    """A condition that nothing can meet: the rule by which it is doubted, and why."""

    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from `low` to `high`, None = without end; `text` as the scenario has it."""

    text: str
    low: float | None = None
    high: float | None = None

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
    def text(self) -> str:
        """What is wanted, as messages say it."""
        return " or ".join(quoted(value) for value in self.wanted if value not in self.means)


@dataclass(frozen=True, slots=True)
class Expectation:
    """One entry of `expect`, or of the `then` of one. `low` and `high` bound how many must count, None = no bound.

    `within` in milliseconds; `before` and `after` bound the instants, both ends included.
    """

    that: str
    where: tuple[Condition, ...] = ()
    low: int | None = 1
    high: int | None = None
    within: int | None = None
    after: Moment | None = None
    before: Moment | None = None
    then: tuple[Expectation, ...] = ()
    name: str | None = None
    place: str | None = None
    #: what of it, and of its `then`, nothing can meet
    never: tuple[Never, ...] = field(default=(), compare=False)

    @property
    def wanted(self) -> str:
        """How many must count, in words."""
        if self.low == self.high:
            return f"exactly {self.low}" if self.low else "none"
        bounds = []
        if self.low is not None:
            bounds.append(f"at least {self.low}")
        if self.high is not None:
            bounds.append(f"at most {self.high}")
        return " and ".join(bounds)

    @property
    def text(self) -> str:
        """What must count, in words."""
        conditions = [f"{condition.name} {condition.text}" for condition in self.where]
        return f"{self.that} with {' and '.join(conditions)}" if conditions else self.that


def quoted(value: Any) -> str:
    """A value as messages say it."""
    if isinstance(value, Range):
        return value.text
    return orjson.dumps(value.text if isinstance(value, Pattern) else value).decode()
