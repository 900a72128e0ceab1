"""Rules: what the core asks when an attempt begins, and how their answers combine into a fate.

A rule decides what it names; what it leaves out (path, replies, click) is asked of the rules after it, first match
wins per thing. Everything drawn is keyed by the rule's key, the phone and how-manieth message to this phone asked the
rule, never by the rule's position or by anything a client varies from run to run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sendbox.engine.durations import Span
from sendbox.engine.identity import Draw
from sendbox.engine.patterns import Pattern
from sendbox.services.messaging.content.gaps import Line, Text
from sendbox.services.messaging.rules import history as before
from sendbox.services.messaging.rules.history import After

if TYPE_CHECKING:
    from sendbox.services.messaging.records import Attempt, Message


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
    """The phone answers, `after` the attempt's `delivered`. `text` stands for the body where that has gaps to fill."""

    after: Span
    body: str
    text: Text | None = None


@dataclass(frozen=True, slots=True)
class Click:
    """The owner opens a link, `after` the attempt's `delivered`.

    `link` counts the links of the attempt's text from 1; None is the first of the message that works.
    """

    after: Span
    link: int | None = None


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
    after: After | None = None


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
    click: tuple[Click, ...] | None = None
    illegal: bool = False
    times: int | None = None
    name: str | None = None
    place: str | None = None
    #: set when control put the rule in front of a list, and counts its `times` apart from its equals
    id: str | None = None


@dataclass(slots=True)
class Ask:
    """What a rule may look at: one attempt about to be handed over.

    `ordinal`, `accepted_at` and `request` are its message's; `now` is the instant at which rules are asked.
    """

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
    request: str = ""
    now: int = 0
    #: the attempt before this one, and what finds the message before this one to the phone
    before: Attempt | None = None
    earlier: Callable[[str, int], Message | None] | None = None


#: Results that `then: <result>` may name.
GOALS: Final = ("sending", "sent", "delivered", "seen", "undelivered", "rejected", "failed")


class Fate(NamedTuple):
    """What becomes of an attempt, as far as rules decided it; None = nobody did.

    `entries` are (result, milliseconds after the entry before, info); `goal` stands instead of them when only a result
    was named. `replies` (milliseconds, body) and `click` (milliseconds, which link) count from `delivered`. `rules`
    name the deciding rules.
    """

    goal: str | None = None
    entries: tuple[tuple[str, int, str | None], ...] | None = None
    replies: tuple[tuple[int, str | Line], ...] | None = None
    click: tuple[tuple[int, int | None], ...] | None = None
    illegal: bool = False
    rules: tuple[str, ...] = ()
    order_sensitive: bool = False


class Asked(NamedTuple):
    """A message that drew from a rule: how-manieth to its phone, when and with which request it came.

    `raced` tells whether it could as well have come before the one before it.
    """

    number: int
    accepted_at: int
    asked_at: int
    request: str
    raced: bool


class Memory:
    """What a world remembers of its rules: who asked, how often they decided. Ordinals are messages'."""

    __slots__ = ("asked", "counted", "fates", "used")

    def __init__(self) -> None:
        #: (rule key, phone) -> {ordinal: what asked}
        self.asked: dict[tuple[str, str], dict[int, Asked]] = {}
        #: rule key -> {ordinal: how-manieth}
        self.counted: dict[str, dict[int, int]] = {}
        #: id of a rule with `times` -> ordinals it decided
        self.used: dict[str, set[int]] = {}
        #: fates in which no time was drawn, one object for all attempts that have it
        self.fates: dict[Fate, Fate] = {}


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
        and (when.after is None or before.holds(when.after, ask))
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
    """Asks the rules in order and combines what they decide; None when none of them had a say.

    A fate without a decision says that it depended on the order of arrival that nobody decided (`nth`, `times`).
    """
    path: Path | None = None
    entries = replies = click = None
    illegal = order_sensitive = varied = False
    path_open = replies_open = click_open = True
    deciding: list[str] = []
    for rule in rules:
        takes_path = path_open and (rule.path is not None or rule.mix is not None)
        takes_replies = replies_open and rule.replies is not None
        takes_click = click_open and rule.click is not None
        takes = takes_path or takes_replies or takes_click
        if not takes and rule.when.nth is None:
            continue
        if takes and rule.when.after is not None and before.raced(rule.when.after, ask):
            order_sensitive = True
        if not holds(rule.when, ask):
            continue
        # a rule counts what fits it, also what an earlier rule took
        if rule.when.nth is not None and _ordinal(rule, ask, memory) != rule.when.nth:
            order_sensitive = order_sensitive or takes
            continue
        if not takes:
            continue
        if rule.when.nth is not None or rule.times is not None:
            order_sensitive = True
            if not _is_left(rule, ask, memory):
                continue
        deciding.append(rule.name or rule.key)
        lot = _Lot(rule, ask, memory, seed)
        if takes_path:
            path_open = False
            illegal = rule.illegal
            path = rule.path if rule.mix is None else lot.choose(rule.mix)
            if path is not None and path.goal is None:
                entries = tuple(
                    (entry.result, lot.time(entry.after, f"after{index}"), entry.info)
                    for index, entry in enumerate(path.entries)
                )
        if takes_replies and rule.replies is not None:
            replies_open = False
            replies = tuple(
                (
                    lot.time(reply.after, f"reply{index}"),
                    reply.body if reply.text is None else lot.line(reply.text, index),
                )
                for index, reply in enumerate(rule.replies)
            )
        if takes_click and rule.click is not None:
            click_open = False
            click = tuple(
                (lot.time(each.after, f"click{index or ''}"), each.link) for index, each in enumerate(rule.click)
            )
        order_sensitive = order_sensitive or lot.raced
        varied = varied or lot.varied
    if not deciding and not order_sensitive:
        return None
    goal = None if path is None else path.goal
    fate = Fate(goal, entries, replies, click, illegal, tuple(deciding), order_sensitive)
    return fate if varied else memory.fates.setdefault(fate, fate)


def _ordinal(rule: Rule, ask: Ask, memory: Memory) -> int:
    """The ordinal of this message among those that fit the rule, by arrival; a further attempt has the same."""
    counted = memory.counted.setdefault(rule.key, {})
    return counted.setdefault(ask.ordinal, len(counted) + 1)


def _is_left(rule: Rule, ask: Ask, memory: Memory) -> bool:
    """Whether the rule may still be used for this message, and if so counts the use."""
    if rule.times is None:
        return True
    used = memory.used.setdefault(rule.id or rule.key, set())
    if ask.ordinal not in used and len(used) >= rule.times:
        return False
    used.add(ask.ordinal)
    return True


def _draw_key(rule: str, phone: str) -> bytes:
    return f"{rule}\0{phone}".encode()


class _Lot:
    """The draws of one rule for one attempt; counts the message only when something is really drawn.

    `raced` tells whether the count depended on who came first, `varied` whether a time was drawn.
    """

    __slots__ = ("_ask", "_draw", "_memory", "_rule", "_seed", "raced", "varied")

    def __init__(self, rule: Rule, ask: Ask, memory: Memory, seed: bytes) -> None:
        self._rule = rule
        self._ask = ask
        self._memory = memory
        self._seed = seed
        self._draw: Draw | None = None
        self.raced = False
        self.varied = False

    def _drawn(self) -> Draw:
        """The draw of this rule, this phone and how-manieth message asked."""
        if self._draw is None:
            ask = self._ask
            asked = self._memory.asked.setdefault((self._rule.key, ask.phone), {})
            mine = asked.get(ask.ordinal)
            if mine is None:
                before = next(reversed(asked.values()), None)
                # two requests of one instant whose messages ask at one instant: who is first depends on who came first
                raced = (
                    before is not None
                    and (before.accepted_at, before.asked_at) == (ask.accepted_at, ask.now)
                    and before.request != ask.request
                )
                mine = asked[ask.ordinal] = Asked(len(asked), ask.accepted_at, ask.now, ask.request, raced)
            self.raced = mine.raced
            self._draw = Draw(self._seed, _draw_key(self._rule.key, ask.phone), mine.number)
        return self._draw

    def line(self, text: Text, index: int) -> Line:
        """What a reply will say; the message is counted only when something of it is invented."""
        if not text.draws:
            return Line(text, b"")
        self._drawn()
        self.varied = True
        key = (self._rule.key, self._ask.phone)
        number = self._memory.asked[key][self._ask.ordinal].number
        return Line(text, _draw_key(*key), number, f"say{index}.{self._ask.attempt}")

    def choose(self, mix: tuple[tuple[Path, float], ...]) -> Path:
        """One path of a mix, by weight."""
        weights = tuple(weight for _, weight in mix)
        return mix[self._drawn().weighted(weights, f"mix{self._ask.attempt}")][0]

    def time(self, span: Span, purpose: str) -> int:
        """Milliseconds of a span: drawn only when there is something to draw."""
        if span.low == span.high:
            return span.low
        self.varied = True
        return self._drawn().between(span.low, span.high, f"{purpose}.{self._ask.attempt}")
