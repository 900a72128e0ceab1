"""An expectation: what a scenario says must have happened, as it is kept until the verdict is asked for.

Its conditions of `where` say what a field must hold, and what a thing must not be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from sendbox.engine.durations import Moment, Rate, iso, show
from sendbox.engine.rules.conditions import equals
from sendbox.engine.rules.conditions import quoted as as_json
from sendbox.engine.texts import Pattern

if TYPE_CHECKING:
    from sendbox.engine.rules.rule import Hours as Window

#: A dotted path into a decoded body, word by word.
Path = tuple[str, ...]
#: The name by which the time of a thing is read; no field has it.
INSTANT: Final = "hours"
#: Reads the field of a name.
Read = Callable[[str], object]


class Reading(NamedTuple):
    """The reader of one part of a thing, or of a thing without parts; the words that name the part, and its line."""

    of: Read
    words: Collection[str] = ()
    line: str = ""


class Range(msgspec.Struct, frozen=True):
    """Numbers from `low` to `high`, None = without end; `text` as the scenario has it."""

    text: str
    low: float | None = None
    high: float | None = None

    def has(self, number: float) -> bool:
        """True if a number lies in the range."""
        return self.overlaps(number, number)

    def overlaps(self, low: float, high: float) -> bool:
        """True if the range contains a number from `low` to `high`."""
        return (self.low is None or self.low <= high) and (self.high is None or self.high >= low)


class Condition(msgspec.Struct, frozen=True):
    """The values that a field may have: one of `expected`, or one of the words that some of these stand for (`means`).

    `path` leads into a field that is an object (`payload`, `json`).
    """

    field: str
    expected: tuple[Pattern | Range | str | float | bool | None, ...]
    path: tuple[str, ...] = ()
    means: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The field as messages call it."""
        return ".".join((self.field, *self.path))

    @property
    def wish(self) -> str:
        """The values that are wanted, as messages show them."""
        return " or ".join(quoted(value) for value in self.expected if value not in self.means)

    @property
    def text(self) -> str:
        """The condition, as messages say it."""
        return f"{self.name} {self.wish}"

    def unmet(self, read: Read) -> Iterator[tuple[str, str]]:
        """The field and the reason why the condition does not hold; nothing if it holds."""
        value = _inside(read(self.field), self.path)
        values = value if isinstance(value, tuple) else (value,)
        if not any(_fits(expected, item) for expected in (*self.expected, *self.means) for item in values):
            yield self.field, f"{describe_value(self.name, value)}, wanted {self.wish}"


class Not(msgspec.Struct, frozen=True):
    """A thing of which all these conditions hold, for one part of it if it has parts, does not count."""

    conditions: tuple[Where, ...]

    @property
    def text(self) -> str:
        """The condition, as messages say it."""
        return f"not ({' and '.join(condition.text for condition in self.conditions)})"

    def unmet(self, readings: Sequence[Reading]) -> Iterator[tuple[str, str]]:
        """One reason if all of them hold; nothing if one does not."""
        if holds(self.conditions, readings):
            yield "not", f"{' and '.join(condition.text for condition in self.conditions)}, wanted not"


class OfPart(msgspec.Struct, frozen=True):
    """Of a part that has this word all these conditions must hold; "" = of any, whatever part the others hold for."""

    word: str
    conditions: tuple[Where, ...]

    @property
    def text(self) -> str:
        """The condition, as messages say it."""
        text = " and ".join(condition.text for condition in self.conditions)
        return f"{self.word} ({text})" if self.word else text

    def unmet(self, readings: Sequence[Reading]) -> Iterator[tuple[str, str]]:
        """The reasons why no such part fulfils the conditions; nothing if one does."""
        named = [reading for reading in readings if not self.word or self.word in reading.words]
        unmet = differences(self.conditions, named)[0] if named else []
        if not self.word:
            yield from unmet
        elif not named:
            yield self.word, f"nothing of it is {self.word}, wanted {self.text}"
        elif unmet:
            yield self.word, f"{self.word}: {'; '.join(why for _, why in unmet)}"


class Hours(msgspec.Struct, frozen=True):
    """A thing must have come within one of these hours; `says` is how the scenario has them."""

    windows: tuple[Window, ...]
    says: str

    @property
    def text(self) -> str:
        """The condition, as messages say it."""
        return f"{INSTANT} {self.says}"

    def unmet(self, read: Read) -> Iterator[tuple[str, str]]:
        """The reason why the time is wrong; nothing if it is right."""
        at = read(INSTANT)
        assert isinstance(at, int)
        if not any(window.open(at) for window in self.windows):
            yield INSTANT, f"came at {iso(at)}, wanted {self.text}"


Where = Condition | Not | OfPart | Hours


def conditions_of(where: Iterable[Where]) -> Iterator[Condition]:
    """Each condition on a field that must hold, also of a part."""
    for condition in where:
        if isinstance(condition, OfPart):
            yield from conditions_of(condition.conditions)
        elif isinstance(condition, Condition):
            yield condition


def holds(where: tuple[Where, ...], readings: Sequence[Reading]) -> bool:
    """True if all conditions hold for one part of a thing."""
    return not all(any(True for _ in _unmet(where, readings, part)) for part in readings)


def differences(where: tuple[Where, ...], readings: Sequence[Reading]) -> tuple[list[tuple[str, str]], Reading]:
    """The fields that do not hold, each with why, of the part with the fewest of them; and that part."""
    every = [(list(_unmet(where, readings, part)), part) for part in reversed(readings)]
    return min(every, key=lambda unmet: len(unmet[0]))


def _unmet(where: tuple[Where, ...], readings: Sequence[Reading], part: Reading) -> Iterator[tuple[str, str]]:
    for condition in where:
        if isinstance(condition, Not | OfPart):
            yield from condition.unmet(readings)
        else:
            yield from condition.unmet(part.of)


def describe_value(name: str, value: object) -> str:
    """The value of a field, in words."""
    if value is None or value == ():
        return f"{name} is empty"
    return f"{name} is {' and '.join(map(quoted, value)) if isinstance(value, tuple) else quoted(value)}"


def quoted(value: object) -> str:
    """A value as messages say it."""
    return value.text if isinstance(value, Range) else as_json(value)


def _inside(value: object, path: tuple[str, ...]) -> object:
    """The value at a path, None if there is none; of a list on the way that of the item whose number is named, else
    those of all items, as a tuple."""
    if not path:
        return value
    values = [item for inner in values_at(value, path) for item in (inner if isinstance(inner, list) else [inner])]
    return values[0] if len(values) == 1 else tuple(values) or None


def values_at(value: object, path: Iterable[str]) -> list[object]:
    """All values at a path; of a list on the way, a number leads to one item, anything else to all."""
    values = [value]
    for name in path:
        values = [inner for holder in values for inner in _at(holder, name)]
    return values


def _at(holder: object, name: str) -> list[object]:
    if isinstance(holder, dict):
        return [holder.get(name)]
    if not isinstance(holder, list):
        return []
    if name.isdecimal():
        return holder[int(name) :][:1]
    return [item.get(name) for item in holder if isinstance(item, dict)]


def _fits(expected: object, value: object) -> bool:
    if isinstance(expected, Range):
        return isinstance(value, int | float) and not isinstance(value, bool) and expected.has(value)
    return equals(value, expected)


#: As many subjects as `each` must find unless the expectation says something else.
SOME: Final = Range("at least 1", 1)


#: The doubt about the name of a rule, which a tester may still put into the world.
RULE_UNKNOWN: Final = "rule-unknown"


class Never(NamedTuple):
    """A condition that nothing can meet: the rule by which it is doubted, and why."""

    rule: str
    message: str


class Share(NamedTuple):
    """A part of all, and how the scenario writes it."""

    text: str
    of: Fraction


def describe(that: str, where: tuple[Where, ...]) -> str:
    """The things of a kind that meet some conditions, in words."""
    return f"{that} with {' and '.join(condition.text for condition in where)}" if where else that


class Expectation(msgspec.Struct, frozen=True):
    """One entry of `expect`, or of the `then` of one. `low` and `high` bound how many must count, None = no bound.

    `within` in milliseconds; `before` and `after` bound the instants, both ends included. All of them count from the
    world's start, of an entry of `then` from the thing that it follows; the first that follows must not come sooner
    than `not_before` (milliseconds). With `each` it is judged for each subject that these names tell apart, and
    `subjects` says how many there must be. Of an entry of `then`, `same` are the names that must agree with the thing
    that it follows. `among` are, by their kind, the things that say which subjects are judged, or, without `each`, of
    which things `share_low` and `share_high` are a part. `rate` bounds how many come within a time, `pauses`
    (milliseconds) the time from each to the next, the last one also all further ones. Of those that count, what meets
    one of the conditions of `in_order` comes after something that meets the one before. Where the content of calls is
    compared, `ignoring` are the paths in their bodies that may differ.
    """

    that: str
    where: tuple[Where, ...] = ()
    low: int | None = 1
    high: int | None = None
    within: int | None = None
    after: Moment | None = None
    before: Moment | None = None
    then: tuple[Expectation, ...] = ()
    name: str | None = None
    place: str | None = None
    each: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    among: tuple[tuple[str, tuple[Where, ...]], ...] = ()
    subjects: Range = SOME
    share_low: Share | None = None
    share_high: Share | None = None
    rate: Rate | None = None
    pauses: tuple[int, ...] = ()
    not_before: int | None = None
    in_order: tuple[tuple[Where, ...], ...] = ()
    ignoring: tuple[Path, ...] = ()
    #: what of it, and of its `then`, nothing can meet
    never: tuple[Never, ...] = ()

    @property
    def chain(self) -> tuple[Expectation, ...]:
        """The entry itself, and each of its `then`."""
        return (self, *self.then)

    def names(self, step: int) -> tuple[str, ...]:
        """The names whose values an entry's things must share with the subject, or with the thing that they follow."""
        return self.chain[step].same if step else self.each

    @property
    def soonest(self) -> int | None:
        """The time from the thing that it follows until an entry of `then` begins to count, in milliseconds."""
        return self.after.at if self.after is not None and self.after.relative else None

    @property
    def latest(self) -> int | None:
        """The time from the thing that it follows until an entry of `then` no longer counts, in milliseconds."""
        ends = [self.within, self.before.at if self.before is not None and self.before.relative else None]
        return min((end for end in ends if end is not None), default=None)

    @property
    def expected_count(self) -> str:
        """The number of things that must count, in words."""
        if self.low == self.high and self.low is not None:
            bounds = [f"exactly {self.low}" if self.low else "none"]
        else:
            bounds = [] if self.low is None else [f"at least {self.low}"]
            bounds += [] if self.high is None else [f"at most {self.high}"]
        if self.rate is not None:
            bounds.append(f"at most {self.rate.count} within {show(self.rate.within)}")
        if self.pauses:
            bounds.append(f"pauses of at least {', '.join(map(show, self.pauses))}")
        if self.not_before is not None:
            bounds.append(f"not before {show(self.not_before)}")
        bounds += ["in order"] if self.in_order else []
        return " and ".join(bounds)

    @property
    def share(self) -> str:
        """The share of all things for which it must hold, in words; "" = all."""
        bounds = (("at least", self.share_low), ("at most", self.share_high))
        return " and ".join(f"{word} {share.text}" for word, share in bounds if share is not None)

    @property
    def text(self) -> str:
        """The things that must count, in words."""
        return describe(self.that, self.where)
