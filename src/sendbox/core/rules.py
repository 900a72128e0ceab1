"""Rules: what the core asks when an attempt begins, and how their answers combine into a fate.

A rule decides what it names; what it leaves out (path, replies, click) is asked of the rules after it, first match
wins per thing. Everything drawn is keyed by the rule's key, the phone and how-manieth message to this phone asked the
rule, never by the rule's position or by anything a client varies from run to run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from sendbox.core.identity import Draw
from sendbox.core.patterns import Pattern


@dataclass(frozen=True, slots=True)
class Span:
    """A time in milliseconds, or a span from which one is drawn (`1s..5s`, both ends included)."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class PathEntry:
    """One entry of `then`: the result reached, `after` the entry before, `info` the `result_info` (None = default)."""

    result: str
    after: Span
    info: str | None = None


@dataclass(frozen=True, slots=True)
class Path:
    """The results an attempt goes through, in order.

    `goal` is set instead of `entries` when the scenario names only a result (`then: delivered`): the default path and
    timing to that result, which depends on the channel (`seen` ends at `delivered` for sms) and on `assume.timing`.
    """

    entries: tuple[PathEntry, ...] = ()
    goal: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The phone answers, `after` the attempt's `delivered`."""

    after: Span
    body: str


@dataclass(frozen=True, slots=True)
class When:
    """Conditions of a rule; None = not asked, all that are given must hold.

    `tag` asks membership among the message's tags. `attempt` and `nth` count from 1. `nth` counts the messages that
    satisfied the rule's other conditions, in order of arrival (order-sensitive). `payload` maps dotted paths inside the
    request's payload to expected values (strings are patterns).
    """

    channel: tuple[str, ...] | None = None
    phone: Pattern | None = None
    tag: Pattern | None = None
    body: Pattern | None = None
    sender: Pattern | None = None
    operation: tuple[str, ...] | None = None
    attempt: int | None = None
    nth: int | None = None
    key: Pattern | None = None
    payload: tuple[tuple[tuple[str, ...], object], ...] | None = None


@dataclass(slots=True, eq=False)
class Rule:
    """One entry of `attempts`. `key` is its name, or its canonical text: what fates are derived from.

    `mix` is a tuple of (path, weight), weights positive numbers. `times` limits how many messages it may decide
    (rules put in front by control); the count itself is the world's, the rule is shared and never changes.
    """

    key: str
    when: When
    path: Path | None = None
    mix: tuple[tuple[Path, float], ...] | None = None
    replies: tuple[Reply, ...] | None = None
    click: Span | None = None
    illegal: bool = False
    times: int | None = None
    name: str | None = None
    place: str | None = None
    #: set when control put the rule in front of a list, and counts its `times` apart from its equals
    id: str | None = None


@dataclass(slots=True)
class Ask:
    """What a rule may look at: one attempt about to be handed over. `ordinal` and `accepted_at` are its message's."""

    channel: str
    phone: str
    tags: tuple[str, ...]
    body: str
    sender: str
    operation: str
    attempt: int
    key: str
    payload: Callable[[], object]
    ordinal: int = 0
    accepted_at: int = 0


#: Results that `then: <result>` may name.
GOALS: Final = ("sending", "sent", "delivered", "seen", "undelivered", "rejected", "failed")


@dataclass(slots=True)
class Fate:
    """What becomes of an attempt, as far as rules decided it; None = nobody did.

    `entries` are (result, milliseconds after the entry before, info); `goal` stands instead of them when only a result
    was named. `replies` (milliseconds, body) and `click` count from `delivered`. `rules` name the deciding rules.
    """

    goal: str | None = None
    entries: tuple[tuple[str, int, str | None], ...] | None = None
    replies: tuple[tuple[int, str], ...] | None = None
    click: int | None = None
    illegal: bool = False
    rules: list[str] = field(default_factory=list)
    order_sensitive: bool = False


class Memory:
    """What a world remembers of its rules: who asked, how often they decided. Ordinals are messages'."""

    __slots__ = ("asked", "counted", "used")

    def __init__(self) -> None:
        #: (rule key, phone) -> {ordinal: (how-manieth, accepted_at)}
        self.asked: dict[tuple[str, str], dict[int, tuple[int, int]]] = {}
        #: rule key -> {ordinal: how-manieth}
        self.counted: dict[str, dict[int, int]] = {}
        #: id of a rule with `times` -> ordinals it decided
        self.used: dict[str, set[int]] = {}


def holds(when: When, ask: Ask) -> bool:
    """Whether all conditions but `nth` hold."""
    return (
        (when.phone is None or when.phone.matches(ask.phone))
        and (when.channel is None or ask.channel in when.channel)
        and (when.tag is None or any(map(when.tag.matches, ask.tags)))
        and (when.sender is None or when.sender.matches(ask.sender))
        and (when.operation is None or ask.operation in when.operation)
        and (when.attempt is None or when.attempt == ask.attempt)
        and (when.key is None or when.key.matches(ask.key))
        and (when.body is None or when.body.matches(ask.body))
        and (when.payload is None or _payload_holds(when.payload, ask.payload()))
    )


def _payload_holds(wanted: tuple[tuple[tuple[str, ...], object], ...], payload: Any) -> bool:
    for path, expected in wanted:
        value = payload
        for name in path:
            if not isinstance(value, dict) or name not in value:
                return False
            value = value[name]
        if isinstance(expected, Pattern):
            if not (isinstance(value, str) and expected.matches(value)):
                return False
        elif type(value) is not type(expected) or value != expected:
            return False
    return True


def decide(rules: Iterable[Rule], ask: Ask, memory: Memory, seed: bytes) -> Fate | None:
    """Asks the rules in order and combines what they decide; None when nobody decided anything."""
    fate: Fate | None = None
    path_open = replies_open = click_open = True
    for rule in rules:
        takes_path = path_open and (rule.path is not None or rule.mix is not None)
        takes_replies = replies_open and rule.replies is not None
        takes_click = click_open and rule.click is not None
        if not (takes_path or takes_replies or takes_click) or not holds(rule.when, ask):
            continue
        if rule.when.nth is not None:
            fate = fate or Fate()
            fate.order_sensitive = True
            if _count(memory.counted.setdefault(rule.key, {}), ask.ordinal) != rule.when.nth:
                continue
        if rule.times is not None:
            used = memory.used.setdefault(rule.id or rule.key, set())
            if ask.ordinal not in used and len(used) >= rule.times:
                continue
            used.add(ask.ordinal)
        fate = fate or Fate()
        fate.order_sensitive = fate.order_sensitive or rule.times is not None
        fate.rules.append(rule.name or rule.key)
        lot = _Lot(rule, ask, memory, seed, fate)
        if takes_path:
            path_open = False
            fate.illegal = rule.illegal
            path = rule.path
            if rule.mix is not None:
                path = rule.mix[lot.draw().weighted(tuple(weight for _, weight in rule.mix), f"mix{ask.attempt}")][0]
            assert path is not None
            if path.goal is not None:
                fate.goal = path.goal
            else:
                fate.entries = tuple(
                    (entry.result, lot.time(entry.after, f"after{index}"), entry.info)
                    for index, entry in enumerate(path.entries)
                )
        if takes_replies and rule.replies is not None:
            replies_open = False
            fate.replies = tuple(
                (lot.time(reply.after, f"reply{index}"), reply.body) for index, reply in enumerate(rule.replies)
            )
        if takes_click and rule.click is not None:
            click_open = False
            fate.click = lot.time(rule.click, "click")
    return fate


def _count(counted: dict[int, int], ordinal: int) -> int:
    """How-manieth this message is among those counted; asking again does not count again."""
    return counted.setdefault(ordinal, len(counted) + 1)


class _Lot:
    """The draws of one rule for one attempt; counts the message only when something is really drawn."""

    __slots__ = ("_ask", "_draw", "_fate", "_memory", "_rule", "_seed")

    def __init__(self, rule: Rule, ask: Ask, memory: Memory, seed: bytes, fate: Fate) -> None:
        self._rule = rule
        self._ask = ask
        self._memory = memory
        self._seed = seed
        self._fate = fate
        self._draw: Draw | None = None

    def draw(self) -> Draw:
        """The draw of this rule, this phone and how-manieth message asked."""
        if self._draw is None:
            ask = self._ask
            asked = self._memory.asked.setdefault((self._rule.key, ask.phone), {})
            if ask.ordinal not in asked:
                # two messages of one instant to one phone: which of them is the first depends on who came first
                if asked and next(reversed(asked.values()))[1] == ask.accepted_at:
                    self._fate.order_sensitive = True
                asked[ask.ordinal] = (len(asked), ask.accepted_at)
            key = f"{self._rule.key}\0{ask.phone}".encode()
            self._draw = Draw(self._seed, key, asked[ask.ordinal][0])
        return self._draw

    def time(self, span: Span, purpose: str) -> int:
        """Milliseconds of a span: drawn only when there is something to draw."""
        if span.low == span.high:
            return span.low
        return self.draw().between(span.low, span.high, f"{purpose}.{self._ask.attempt}")
