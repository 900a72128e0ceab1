"""An expectation: what a scenario says must have happened, as it is kept until the verdict is asked for."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

import msgspec

from sendbox.engine.durations import Moment, Rate, show
from sendbox.engine.expect.conditions import Path, Range, Where

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
