"""Faults of the HTTP interfaces: rules that are asked about each call, and what they decide.

The rules of `api:` are asked in order before a call is handled, and the first that applies wins. What is drawn
(`share`, times of a span) is keyed by the rule's key, the operation, the subject and the ordinal among such calls,
never by when a call came; `call` (a rule's `nth`), `every`, `times` and `rate_limit` count arrivals, and what they
decide is marked order-sensitive.

Where a client cannot see whether its call had an effect, the fault says so itself (`processed`). A rule may say
otherwise, but an answer that was not made cannot come late or in pieces (`late`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Final

import msgspec
from msgspec import Struct

from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.draws import Chooser
from sendbox.engine.faults.fault import ApiFault
from sendbox.engine.rules.book import Rulebook, owner
from sendbox.engine.rules.conditions import Case, Not, quoted
from sendbox.engine.rules.rule import Rule as AnyRule
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern

#: The greatest number of calls whose answer was lost that are remembered.
MAX_LOST_CALLS: Final = 100


class ApiRule(AnyRule, frozen=True, kw_only=True):
    """One entry of `api`. `processed` None = as usual with its fault."""

    when: When
    fault: ApiFault
    processed: bool | None = None

    @property
    def label(self) -> str:
        """The rule in words: its name, else its id or its place, else its text."""
        return f'"{self.name}"' if self.name is not None else self.id or self.place or self.key

    @property
    def draws(self) -> bool:
        """True if something is drawn for every call: a share, or the time of the fault."""
        return self.when.share is not None or self.fault.time.low < self.fault.time.high

    @property
    def lenient(self) -> bool:
        """A rate limit lets calls pass until there are too many."""
        return self.fault.lenient

    @property
    def has_effect(self) -> bool:
        """True if a call has its effect although this fault hides it from the client."""
        return self.fault.has_effect if self.processed is None else self.processed


class Headers(msgspec.Struct, frozen=True):
    """A condition about the headers of a call: each of these is there, and like one of its patterns."""

    patterns: tuple[tuple[str, tuple[Pattern, ...]], ...]

    @property
    def written(self) -> dict[str, Pattern | tuple[Pattern, ...]]:
        """The patterns by names, as a scenario has them."""
        return {name: patterns if len(patterns) > 1 else patterns[0] for name, patterns in self.patterns}

    def holds(self, case: Case) -> bool:
        """True if all these headers are there and match."""
        return not self._differing(case)

    def says(self, case: Case) -> str:
        """Each header that is not."""
        return "; ".join(
            f"{name} is {', '.join(map(quoted, values)) or 'not there'}, wanted {' or '.join(map(quoted, patterns))}"
            for name, values, patterns in self._differing(case)
        )

    def _differing(self, case: Case) -> list[tuple[str, list[str], tuple[Pattern, ...]]]:
        came = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in case.fields["headers"]]
        values = {name: [value for other, value in came if other == name] for name, _ in self.patterns}
        return [
            (name, values[name], patterns)
            for name, patterns in self.patterns
            if not any(pattern.matches(value) for pattern in patterns for value in values[name])
        ]


class Call(Case):
    """One call that reached a world, with its `operation` and its `key` among its fields.

    Its subject is read only when it is needed; so is its content, by which calls that are equal cannot race.
    """

    def __init__(
        self, fields: JsonMapping, subject: Callable[[], str], content: Callable[[], bytes], instant: int
    ) -> None:
        self.kind = "call"
        self.instant = instant
        self.fields = fields
        self._subject = subject
        self._content = content

    @cached_property
    def subject(self) -> str:  # type: ignore[override] # found when it is first asked for
        """Whom the call is about."""
        return self._subject()

    @cached_property
    def request(self) -> str:  # type: ignore[override]
        """A hash of the content, equal for equal calls."""
        return blake2b(self._content(), digest_size=8).hexdigest()


class Applied(Struct, frozen=True):
    """A fault that applies to a call: `time` as drawn, `wait` the milliseconds until a rate limit lets in again."""

    rule: ApiRule
    operation: str
    key: str
    subject: str
    time: int
    wait: int
    order_sensitive: bool

    @property
    def silent(self) -> bool:
        """True if the client gets no status at all."""
        return self.rule.fault.silent

    @property
    def as_written(self) -> str | JsonObject:
        """The fault as a scenario would write it, with the time that was drawn."""
        return self.rule.fault.as_written(self.time)

    @property
    def line(self) -> str:
        """The fault in one line: which, on what, by which rule, and whether the call had its effect."""
        view = self.as_written
        text = view if isinstance(view, str) else " ".join(f"{name} {value}" for name, value in view.items())
        effect = "the call had its effect" if self.rule.has_effect else "the call had no effect"
        return f"fault {text} on {self.operation} by the api rule {self.rule.label}; {effect}"


class ApiFaults(Rulebook[ApiRule]):
    """The rules of `api`. Its cases are calls, before they are handled."""

    PREFIX = "a"

    def __init__(self, rules: Sequence[ApiRule], chooser: Chooser, start: int) -> None:
        super().__init__(rules, chooser, start)
        #: (rule, whose limit) -> the instants of the calls let in, no more than the limit has
        self._let_in: dict[tuple[str, str], deque[int]] = {}
        #: calls that had their effect although the client got no good answer, by their content: their instants
        self.unanswered: dict[bytes, int] = {}
        #: milliseconds until the rate limit that struck last lets in again
        self._wait = 0
        self._arrange(self.rules)

    def _arrange(self, rules: list[ApiRule]) -> None:
        super()._arrange(rules)
        #: the headers that rules ask for: a call is recorded with them
        self.headers = frozenset(name.encode("latin-1") for rule in rules for name in _headers(rule.when))
        #: the rules that are asked about calls which no operation serves
        self.of_paths = [rule for rule in rules if "path" in rule.when.asked]

    def note_unanswered(self, content: bytes, now: int) -> None:
        """Remembers a call whose answer was lost; of many only the newest."""
        if len(self.unanswered) >= MAX_LOST_CALLS:
            del self.unanswered[next(iter(self.unanswered))]
        self.unanswered[content] = now

    def whose(self, case: Case) -> str:
        """Calls of an operation draw by themselves."""
        return f"{case.fields['operation']}\0{case.subject}"

    def strike(self, call: Call, *, served: bool = True) -> tuple[Applied | None, bool]:
        """The fault of a call, None = it goes well; and whether that depended on the order of arrival.

        About a call that is not `served` only rules that ask for its path are asked.
        """
        self._wait = 0
        decisions, order_sensitive = self.decide(self.rules if served else self.of_paths, call)
        if not decisions:
            return None, order_sensitive
        ((rule, _, _, drawn),) = decisions
        order_sensitive = order_sensitive or self._wait > 0
        low, high = rule.fault.time.low, rule.fault.time.high
        time = low if low == high or drawn is None else drawn.draw.interval(low, high, "time")
        operation, key = call.fields["operation"], call.fields["key"]
        return Applied(rule, operation, key, call.subject, time, self._wait, order_sensitive), order_sensitive

    def strikes(self, rule: ApiRule, case: Case) -> bool:
        """True if a call exceeds the rate limit of a rule; always True for a rule without one."""
        fault = rule.fault
        if fault.rate is None:
            return True
        let_in = self._let_in.setdefault((rule.id or rule.key, owner(fault.per, case)), deque())
        self._wait = fault.rate.wait(let_in, case.instant)
        if not self._wait:
            let_in.append(case.instant)
        return self._wait > 0


def _headers(when: When) -> Iterator[str]:
    """The names of the headers that a rule asks for."""
    never = when.asked.get("not")
    for group in (when.asked, *(never.groups if isinstance(never, Not) else ())):
        headers = group.get("headers")
        yield from (name for name, _ in headers.patterns) if isinstance(headers, Headers) else ()
