"""Rules of `attempts`: what is decided when an attempt begins, and how the answers combine into a decision.

A rule decides what it names; what it leaves out (path, replies, click) is asked of the rules after it. Everything drawn
is keyed by the rule's key, the phone and the ordinal of the message among those to this phone that drew from the rule,
never by the rule's position or by anything a client varies from run to run.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import msgspec
from msgspec import Struct

from sendbox.engine.draws import UNSEEDED, Chooser
from sendbox.engine.durations import Span
from sendbox.engine.rules.book import Drawn, Rulebook
from sendbox.engine.rules.conditions import Case
from sendbox.engine.rules.rule import Rule as AnyRule
from sendbox.engine.texts import Text


class PathEntry(msgspec.Struct, frozen=True):
    """One entry of `then`: the result reached, `after` the entry before, `info` the `result_info` (None = default)."""

    result: str
    after: Span
    info: str | None = None


class Line(Struct, frozen=True):
    """The text that a phone will write, and the values by which its invented parts are drawn."""

    text: Text
    rule: str
    subject: str
    number: int = 0
    purpose: str = "say"


class Reply(msgspec.Struct, frozen=True):
    """The phone answers, `after` the attempt's `delivered`. `text` stands for the body where that has gaps to fill."""

    after: Span
    body: str
    text: Text | None = None


class Click(msgspec.Struct, frozen=True):
    """The owner opens a link, `after` the attempt's `delivered`.

    `link` counts the links of the attempt's text from 1; None is the first of the message that works.
    """

    after: Span
    link: int | None = None


class Path(msgspec.Struct, frozen=True):
    """The results an attempt goes through, in order.

    `goal` is set instead of `entries` when the scenario names only a result (`then: delivered`): the default path and
    timing to that result, which depends on the channel (`seen` ends at `delivered` for sms) and on `assume.timing`.
    A path of a mix may also say what the phone does then (None: what the rule says); without results it leaves these to
    other rules.
    """

    entries: tuple[PathEntry, ...] = ()
    goal: str | None = None
    replies: tuple[Reply, ...] | None = None
    click: tuple[Click, ...] | None = None

    @property
    def leads(self) -> bool:
        """True if it has results."""
        return bool(self.entries) or self.goal is not None

    @property
    def word(self) -> str:
        """The result that it comes to in the end, by which a plan chooses it out of a mix."""
        return self.goal or (self.entries[-1].result if self.entries else "")


class Rule(AnyRule, frozen=True, kw_only=True):
    """One entry of `attempts`.

    `mix` is a tuple of (path, weight), weights positive numbers. `nth` counts messages, `times` those that it decided.
    """

    DECISIONS = ("path", "replies", "click")
    SUBJECT = "phone"

    path: Path | None = None
    mix: tuple[tuple[Path, float], ...] | None = None
    replies: tuple[Reply, ...] | None = None
    click: tuple[Click, ...] | None = None
    illegal: bool = False

    def decisions(self) -> frozenset[str]:
        """The names of the decisions that it makes, by itself or by its `mix`."""
        named = {"path": self.path, "replies": self.replies, "click": self.click}
        return self.mixed | frozenset(name for name, value in named.items() if value is not None)

    @property
    def mixed(self) -> frozenset[str]:
        """The names of the decisions that a draw of `mix` makes."""
        paths = [path for path, _ in self.mix or ()]
        named = {
            "path": any(path.leads for path in paths),
            "replies": any(path.replies is not None for path in paths),
            "click": any(path.click is not None for path in paths),
        }
        return frozenset(name for name, decides in named.items() if decides)

    @property
    def paths(self) -> list[Path]:
        """The paths that it may decide."""
        return [path for path in (self.path, *(path for path, _ in self.mix or ())) if path is not None and path.leads]


class Decision(Struct, frozen=True):
    """All that rules decided about an attempt; a field is None if no rule decided it.

    `entries` are (result, milliseconds after the entry before, info); `goal` replaces them if only a result
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


class Attempts(Rulebook[Rule]):
    """The rules of `attempts`. Its cases are messages, each asked about once for every attempt."""

    PREFIX = "r"
    RETURNING = True

    def __init__(self, rules: Sequence[Rule], chooser: Chooser = UNSEEDED, start: int = 0) -> None:
        super().__init__(rules, chooser, start)
        #: decisions in which no time was drawn, one object for all attempts that have it
        self._decisions: dict[Decision, Decision] = {}

    def came_at(self, case: Case) -> Hashable:
        """Messages accepted at one instant that ask at one instant: their order depends on the order of arrival."""
        return case.fields["accepted_at"], case.instant

    def decision(self, rules: Iterable[Rule], case: Case) -> Decision | None:
        """All that rules decide about an attempt; None if none of them applied.

        An empty one says that it depended on the order of arrival of messages (`nth`, `times`).
        """
        decisions, order_sensitive = self.decide(rules, case)
        if not decisions and not order_sensitive:
            return None
        path: Path | None = None
        entries = replies = click = None
        illegal = varied = False
        for rule, named, _, drawn in decisions:
            draws = _Lot(self, rule, case, drawn)
            mixed_path = None if rule.mix is None or rule.mixed.isdisjoint(named) else draws.choose(rule.mix)
            if "path" in named:
                illegal = rule.illegal
                path = mixed_path if mixed_path is not None and mixed_path.leads else rule.path
                if path is not None and path.goal is None:
                    entries = tuple(
                        (entry.result, draws.time(entry.after, f"after{index}"), entry.info)
                        for index, entry in enumerate(path.entries)
                    )
            if "replies" in named:
                replies = tuple(
                    (
                        draws.time(reply.after, f"reply{index}"),
                        reply.body if reply.text is None else draws.line(reply.text, index),
                    )
                    for index, reply in enumerate((mixed_path and mixed_path.replies) or rule.replies or ())
                )
            if "click" in named:
                click = tuple(
                    (draws.time(opening.after, f"click{index or ''}"), opening.link)
                    for index, opening in enumerate((mixed_path and mixed_path.click) or rule.click or ())
                )
            order_sensitive = order_sensitive or draws.raced
            varied = varied or draws.varied
        goal = None if path is None else path.goal
        deciding = tuple([rule.title for rule, _, _, _ in decisions])
        decision = Decision(goal, entries, replies, click, illegal, deciding, order_sensitive)
        return decision if varied else self._decisions.setdefault(decision, decision)


class _Lot:
    """The draws of one rule for one attempt; counts the message only when something is really drawn.

    `raced` tells whether the count depended on the order of messages, `varied` whether a time was drawn.
    """

    __slots__ = ("_book", "_case", "_drawn", "_rule", "raced", "varied")

    def __init__(self, book: Attempts, rule: Rule, case: Case, drawn: Drawn | None) -> None:
        self._book = book
        self._rule = rule
        self._case = case
        self._drawn = drawn
        self.raced = False
        self.varied = False

    def _draw(self) -> Drawn:
        """The draw of this rule, this phone and the ordinal of the message among those that drew."""
        if self._drawn is None:
            self._drawn = self._book.draw(self._rule.key, self._case)
            self.raced = self._drawn.raced
        return self._drawn

    def line(self, text: Text, index: int) -> Line:
        """The text of a reply; the message is counted only if some part of the text is invented."""
        if not text.draws:
            return Line(text, "", "")
        self.varied = True
        drawn = self._draw()
        purpose = f"say{index}.{self._case.fields['attempt']}"
        return Line(text, self._rule.key, self._case.subject, drawn.number, purpose)

    def choose(self, mix: tuple[tuple[Path, float], ...]) -> Path:
        """One path of a mix, by weight."""
        paths: tuple[Path, ...]
        weights: tuple[float, ...]
        paths, weights = zip(*mix, strict=True)
        return paths[self._draw().draw.weighted(weights, f"mix{self._case.fields['attempt']}", paths)]

    def time(self, span: Span, purpose: str) -> int:
        """Milliseconds of a span: drawn only when there is something to draw."""
        if span.low == span.high:
            return span.low
        self.varied = True
        return self._draw().draw.interval(span.low, span.high, f"{purpose}.{self._case.fields['attempt']}")
