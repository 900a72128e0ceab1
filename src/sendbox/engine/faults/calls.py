"""Faults of the HTTP interfaces: rules that are asked about each call, and what they decide.

The rules of `api:` are asked in order before a call is handled, and the first that applies wins. What is drawn
(`share`, times of a span) is keyed by the rule's key, the operation, the phone and how-manieth such call it is, never
by when it came; `call`, `every`, `times` and `rate_limit` count arrivals, and what they decide is marked
order-sensitive.

A fault of which the client sees the same whatever became of its call says itself whether the call had its effect
(`processed`); a rule may say otherwise, but no answer can come late, or in pieces, that nobody made (`late`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

from sendbox.engine.durations import Moment, Rate
from sendbox.engine.faults.wire import ApiFault
from sendbox.engine.identity import Draw
from sendbox.engine.patterns import Pattern
from sendbox.engine.rules.book import Drawn, Rulebook, Turns, in_time


@dataclass(frozen=True, slots=True)
class ApiWhen:
    """Conditions of a rule; None = not asked, all that are given must hold.

    `phone` is the call's first number. `begins` and `ends` bound a window of the world's clock, the second one
    excluded. `share` is a part of 1. `call` and `every` count from 1 the calls for which all else holds.
    """

    operation: tuple[str, ...] | None = None
    key: Pattern | None = None
    phone: Pattern | None = None
    begins: Moment | None = None
    ends: Moment | None = None
    share: float | None = None
    call: int | None = None
    every: int | None = None


@dataclass(frozen=True, slots=True)
class ApiRule:
    """One entry of `api`. `key` is its name, or its canonical text: what draws are derived from.

    `processed` None = as usual with its fault. `times` limits how often it applies.
    """

    key: str
    when: ApiWhen
    fault: ApiFault
    processed: bool | None = None
    times: int | None = None
    name: str | None = None
    place: str | None = None
    #: set when control put the rule in front, and counts it apart from its equals
    id: str | None = None

    @property
    def label(self) -> str:
        """The rule in words: its name, else its id or its place, else its text."""
        return f'"{self.name}"' if self.name is not None else self.id or self.place or self.key

    @property
    def counts(self) -> bool:
        """Whether it goes by the order of arrival; a rate limit does so where it holds a call back."""
        return self.when.call is not None or self.when.every is not None or self.times is not None

    @property
    def effective(self) -> bool:
        """Whether a call has its effect although this fault hides it."""
        if self.processed is not None:
            return self.processed
        return self.fault.processed


class ApiCall(NamedTuple):
    """What a rule may look at: one call that reached a world and an operation. `phone` is asked only where it counts.

    `content` tells whether two calls are equal, and is asked only where something is drawn.
    """

    operation: str
    key: str
    content: Callable[[], bytes]
    phone: Callable[[], str]
    now: int
    start: int


class Applied(NamedTuple):
    """A fault that applies to a call: `time` as drawn, `wait` the milliseconds until a rate limit lets in again."""

    rule: ApiRule
    operation: str
    key: str
    phone: str
    time: int
    wait: int
    order_sensitive: bool

    @property
    def silent(self) -> bool:
        """Whether the client gets no status at all."""
        return self.rule.fault.silent

    @property
    def shown(self) -> Any:
        """The fault as a scenario would write it, with the time that was drawn."""
        return self.rule.fault.shown(self.time)

    @property
    def line(self) -> str:
        """The fault in one line: which, on what, by which rule, and whether the call had its effect."""
        shown = self.shown
        text = shown if isinstance(shown, str) else " ".join(f"{name} {value}" for name, value in shown.items())
        effect = "the call had its effect" if self.rule.effective else "the call had no effect"
        return f"fault {text} on {self.operation} by the api rule {self.rule.label}; {effect}"


class ApiFaults(Rulebook[ApiRule]):
    """The rules of one world, and what it remembers of their calls."""

    PREFIX = "a"
    __slots__ = ("_let_in", "_seed", "_turns")

    def __init__(self, rules: Sequence[ApiRule], seed: bytes) -> None:
        super().__init__(rules)
        self._seed = seed
        self._turns = Turns()
        #: (rule, whose limit) -> the instants of the calls let in, no more than the limit has
        self._let_in: dict[tuple[str, str], deque[int]] = {}

    # -- what they decide

    def decide(self, call: ApiCall) -> tuple[Applied | None, bool]:
        """The fault of a call, None = it goes well; and whether that depended on the order of arrival.

        A rule that comes after the one that applies counts the call all the same: what it draws, and whose turn it is,
        must not go by what others did.
        """
        order_sensitive = False
        found: Applied | None = None
        # equal rules know a call as one
        drawn: dict[str, Drawn] = {}
        counts: dict[str, int] = {}
        for rule in self.rules:
            if not _holds(rule.when, call):
                continue
            key, fault = rule.id or rule.key, rule.fault
            lot: Draw | None = None
            if rule.when.share is not None or fault.time.low < fault.time.high:
                mine = drawn.get(rule.key) or drawn.setdefault(rule.key, self._drew(rule, call))
                text = f"{rule.key}\0{call.operation}\0{call.phone()}"
                lot = Draw(self._seed, text.encode(), mine.number)
                order_sensitive = order_sensitive or (mine.raced and found is None)
                share = rule.when.share
                if share is not None and lot.weighted((share, 1 - share), "share"):
                    continue
            if rule.counts:
                order_sensitive = order_sensitive or found is None
                if not self._turns.come(key, rule.when.call, rule.when.every, counts):
                    continue
            if found is not None or not self._turns.left(key, rule.times):
                continue
            wait = 0
            if fault.rate is not None:
                wait = self._until_let_in(fault.rate, (key, _whose(fault.per, call)), call.now)
                if not wait:
                    continue
                order_sensitive = True
            self._turns.use(key, rule.times)
            low, high = fault.time.low, fault.time.high
            time = low if low == high or lot is None else lot.between(low, high, "time")
            found = Applied(rule, call.operation, call.key, call.phone(), time, wait, order_sensitive)
        return found, order_sensitive

    def _drew(self, rule: ApiRule, call: ApiCall) -> Drawn:
        content = blake2b(call.content(), digest_size=8).digest()
        return self._turns.draw((rule.key, call.operation, call.phone()), call.now, content)

    def _until_let_in(self, rate: Rate, whose: tuple[str, str], now: int) -> int:
        """Milliseconds until a call is let in again; 0 = it is, and counts."""
        let_in = self._let_in.setdefault(whose, deque())
        while let_in and let_in[0] <= now - rate.within:
            let_in.popleft()
        if len(let_in) >= rate.count:
            return let_in[0] + rate.within - now
        let_in.append(now)
        return 0


def _holds(when: ApiWhen, call: ApiCall) -> bool:
    """Whether all conditions hold but those that draw or count."""
    return (
        (when.operation is None or call.operation in when.operation)
        and (when.key is None or when.key.matches(call.key))
        and in_time(when.begins, when.ends, call.now, call.start)
        and (when.phone is None or when.phone.matches(call.phone()))
    )


def _whose(per: str, call: ApiCall) -> str:
    """What shares one limit with this call."""
    if per == "key":
        return call.key
    return call.phone() if per == "phone" else ""
