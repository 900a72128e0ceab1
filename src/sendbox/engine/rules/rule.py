"""The form of every rule: which cases it is about, which of them it takes, and by what it is known.

Within a rule its conditions, its window and its hours come first, then `share`, then `nth` and `every`, then `times`.
`share` is drawn for the subject. Counters look at the cases for which all before them holds, in order of arrival,
whether another rule took them or not. There is one counter for all of them, or with `per` one for each owner.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Protocol

import msgspec
from msgspec.structs import force_setattr

from sendbox.engine.durations import Moment
from sendbox.engine.rules.conditions import Backward, Case, Condition, Expected, Not, condition, several
from sendbox.engine.texts import Pattern

#: Whose counter a rule has where it says none: the whole world's.
WORLD: Final = "world"


class Hours(Protocol):
    """Hours that come again."""

    def open(self, at: int) -> bool:
        """True if an instant lies in these hours."""


class When:
    """The cases that a rule takes.

    `asked` is what it wants of fields, by their names: a pattern, words, a number, or a condition of a service; those
    that are None are not asked, and all the others must hold. `begins` and `ends` bound a window of the world's clock,
    the second one excluded; of several `hours` one must be open. `share` is from 0 to 1. `nth` and `every` count from
    1, of several `nth` one must fit; `per` is the field by which counters are apart, None = the whole world has one.
    """

    __slots__ = (
        *("asked", "begins", "conditions", "ends", "every", "hours", "looks_back", "nth", "per", "plain", "share"),
        *("tests",),
    )

    def __init__(
        self,
        *,
        begins: Moment | None = None,
        ends: Moment | None = None,
        hours: Hours | tuple[Hours, ...] | None = None,
        share: float | None = None,
        nth: int | tuple[int, ...] | None = None,
        every: int | None = None,
        per: str | None = None,
        **asked: Expected | None,
    ) -> None:
        self.asked = {name: expected for name, expected in asked.items() if expected is not None}
        self.conditions: Final[tuple[tuple[str, Condition], ...]] = tuple(
            (name, condition(name, expected)) for name, expected in self.asked.items()
        )
        self.tests: Final = tuple(test.holds for _, test in self.conditions)
        #: those about what happened before
        self.looks_back: Final[tuple[Backward, ...]] = tuple(
            test  # type: ignore[misc] # known by what it has
            for _, test in self.conditions
            if hasattr(test, "raced")
        )
        self.begins = begins
        self.ends = ends
        self.hours = hours
        self.share = share
        self.nth = nth
        self.every = every
        self.per = per
        #: True if it takes every case for which its conditions hold
        self.plain = not self.limits

    @property
    def limits(self) -> dict[str, object]:
        """The limits that it has besides conditions, by name."""
        values = {name: getattr(self, name) for name in _LIMITS}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def turns(self) -> bool:
        """True if it counts the cases that it is about."""
        return self.nth is not None or self.every is not None

    def closed(self, now: int, start: int) -> str | None:
        """`window` or `hours`, if an instant does not lie in it, else None; `start` is the instant of the epoch."""
        if (self.begins is not None and now < self.begins.instant(start)) or (
            self.ends is not None and now >= self.ends.instant(start)
        ):
            return "window"
        if self.hours is not None and not any(hours.open(now) for hours in several(self.hours)):
            return "hours"
        return None

    def pattern(self, name: str) -> Pattern | None:
        """The one pattern that it wants of a field; None if it wants none or several."""
        expected = self.asked.get(name)
        return expected if isinstance(expected, Pattern) else None

    def patterns(self, name: str) -> tuple[Pattern, ...]:
        """The patterns of which it wants one of a field."""
        return tuple(expected for expected in several(self.asked.get(name)) if isinstance(expected, Pattern))

    def words(self, name: str) -> tuple[str, ...] | None:
        """The words that it wants of a field; None if it asks nothing of the field."""
        return tuple(expected for expected in several(self.asked.get(name)) if isinstance(expected, str)) or None

    def without(self, name: str) -> When:
        """The same without one of its conditions."""
        arguments: dict[str, Any] = {**self.limits, **self.asked}
        arguments.pop(name, None)
        if isinstance(never := arguments.get("not"), Not):
            arguments["not"] = never.without(name)
        return When(**arguments)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, When) and (self.asked, self.limits) == (other.asked, other.limits)

    def __hash__(self) -> int:
        return hash((*self.asked, *self.limits))

    def __repr__(self) -> str:
        arguments = {**self.asked, **self.limits}
        return f"When({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"


#: What a rule asks beside conditions.
_LIMITS: Final = ("begins", "ends", "hours", "share", "nth", "every", "per")
#: Asks nothing.
ANY: Final = When()


class Rule(msgspec.Struct, frozen=True):
    """A rule of any list. A list's own rules add what they decide.

    `key` is its name, or its canonical text: what is drawn for it is keyed by that. `times` limits how many cases it
    may decide. Equal rules, those of one key, count what asks them once; `id` is set when control put the rule in
    front, and counts it apart from its equals.
    """

    #: what rules of the list may decide, each apart from the others; and the field that holds its cases' subject
    DECISIONS: ClassVar[tuple[str, ...]] = ("all",)
    SUBJECT: ClassVar[str] = ""
    #: fields that follow from the others
    DERIVED: ClassVar[tuple[str, ...]] = ("decides", "plain", "about")

    key: str
    when: When = ANY
    times: int | None = None
    name: str | None = None
    place: str | None = None
    id: str | None = None
    #: the things that it decides, whether it takes every case that it is about, and what it wants of their subject
    decides: frozenset[str] = frozenset()
    plain: bool = False
    about: Pattern | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "decides", self.decisions())
        plain = self.when.plain and self.times is None and not self.draws and not self.lenient
        force_setattr(self, "plain", plain)
        force_setattr(self, "about", self.when.pattern(self.SUBJECT))

    def decisions(self) -> frozenset[str]:
        """The things that it decides."""
        return frozenset(self.DECISIONS)

    @property
    def draws(self) -> bool:
        """True if something is drawn for every case that it is about."""
        return self.when.share is not None

    @property
    def lenient(self) -> bool:
        """True if it may let a case pass whose turn has come."""
        return False

    @property
    def counts(self) -> bool:
        """True if it depends on the order of arrival."""
        return self.when.turns or self.times is not None

    @property
    def title(self) -> str:
        """Its name, or its text."""
        return self.name or self.key


def difference(rule: Rule, case: Case) -> bool:
    """True if some condition does not hold; False means that the rule is about the case."""
    for holds in rule.when.tests:  # noqa: SIM110 # `any` makes a generator, for every rule of every attempt
        if not holds(case):
            return True
    return False


def differences(rule: Rule, case: Case, *, lasting: bool = False) -> list[str]:
    """Each condition that does not hold, `name: what there is, what was wanted`; empty: the rule is about the case.

    With `lasting` only those that cannot begin to hold later.
    """
    return [
        f"{name}: {test.says(case)}"
        for name, test in rule.when.conditions
        if not (lasting and test in rule.when.looks_back) and not test.holds(case)
    ]
