"""Reads the values of a scenario: durations, instants, numbers, patterns, senders.

A value that breaks its rule becomes a problem and a harmless stand-in, so that reading goes on and finds the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, TypeVar

import msgspec
import orjson
from msgspec.structs import asdict

from sendbox.engine import durations as spans
from sendbox.engine.answer import JsonObject
from sendbox.engine.draws import UNSEEDED, Chooser
from sendbox.engine.durations import Moment, Rate, Span
from sendbox.engine.texts import Pattern
from sendbox.scenario.model import PROBLEMS, Node, Problem, listed, nearest, plain, problem, show
from sendbox.scenario.shape import UNIT
from sendbox.services.numbers import countries, notation
from sendbox.services.numbers.countries import Country, PhoneInCountry, codes

T = TypeVar("T")

#: The calling code of national numbers where none is given.
COUNTRY: Final = "420"

#: What people write between the digits of a number, and patterns do not have.
_SEPARATORS: Final = re.compile(r"[+ \t()./-]+")
_QUOTED: Final = re.compile(r"\A'([^'\\]*)'")
#: Units as people write them, and those of the language.
_UNITS: Final = (
    (re.compile(r"milli-?sec(?:ond)?s?|millis|msecs?"), "ms"),
    (re.compile(r"sec(?:ond)?s?"), "s"),
    (re.compile(r"min(?:ute)?s?"), "m"),
    (re.compile(r"hours?|hrs?"), "h"),
    (re.compile(r"days?"), "d"),
)
#: A rate within a unit without a number, before the unit.
_BARE_UNIT: Final = re.compile(r"/(?=[a-z])")
_MILLIONTHS: Final = 1_000_000


class Reader(msgspec.Struct, eq=False, kw_only=True):
    """Reads values and collects the problems.

    `country` is the calling code that national numbers get (A14), `locale` the language of generated texts, `emulated`
    the operations that exist, `families` the words that stand for several. `root` is the whole scenario, None for a
    single rule or change; `file` is the scenario's own file.
    """

    country: str = COUNTRY
    locale: str = "en_US"
    emulated: Sequence[str] = ()
    families: Mapping[str, tuple[str, ...]] = {}
    root: Node | None = None
    file: str = ""
    problems: list[Problem] = []
    #: the settings of the assumptions
    assume: Any = None
    #: decides what is generated for texts
    chooser: Chooser = UNSEEDED
    #: the start of the world, None if the scenario does not set it
    start: int | None = None

    def add_problem(
        self, node: Node, rule: str, message: str, *, key: str | None = None, near: str | None = None
    ) -> None:
        """Adds a problem; a value that stands in for one that has a problem already gets no other."""
        if (node.incomplete and not isinstance(node.value, dict | list)) or len(self.problems) > PROBLEMS:
            return
        self.problems.append(problem(node, rule, message, key=key, nearest=near))

    def _by(self, read: Callable[[object], T], node: Node, rule: str, stand_in: T) -> T:
        value = plain(node)
        try:
            return read(value)
        except ValueError as error:
            near = _in_units(value, read) if rule in ("duration", "span", "rate") else None
            rule = UNIT if isinstance(error, spans.NoUnit) else rule
            self.add_problem(node, rule, _requoted(str(error), value), near=near)
            return stand_in

    def duration(self, node: Node) -> int:
        """Milliseconds."""
        return self._by(spans.duration, node, "duration", 0)

    def span(self, node: Node | None) -> Span:
        """A span of milliseconds; 0 when there is no node."""
        return Span(0, 0) if node is None else self._by(spans.span, node, "span", Span(0, 0))

    def instant(self, node: Node) -> int:
        """Virtual milliseconds of a date and time."""
        return self._by(spans.instant, node, "instant", 0)

    def moment(self, node: Node) -> Moment:
        """An instant, or a time from the start of the world."""
        value = node.value
        if isinstance(value, str) and spans.is_dated(value):
            return Moment(self.instant(node), relative=False)
        return Moment(self._by(_from_start, node, "duration", 0), relative=True)

    def rate(self, node: Node) -> Rate:
        """A number of events in a time, from either form."""
        return self._by(spans.rate, node, "rate", Rate(1, 1))

    def share(self, node: Node) -> float:
        """A share above 0 and up to 1, from a number or a percentage."""
        text = str(node.value)
        share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
        if not 0 < share <= 1:
            self.add_problem(node, "share", f"{show(node.value)} is not a share; legal: above 0% up to 100%")
        return share

    def operations(self, node: Node | None, legal: Sequence[str], fault: str) -> tuple[str, ...] | None:
        """An operation or a list of them, each one of the `legal`; any other is `fault`."""
        if node is None:
            return None
        for item in node.items() or [node]:
            if isinstance(item.value, str) and item.value not in legal:
                message = f"{show(item.value)} is {fault}; legal: {listed(legal)}"
                self.add_problem(item, "operation", message, near=nearest(item.value, legal))
        return words(node)

    def number(self, node: Node) -> str:
        """A phone number in international form."""
        value = str(node.value)
        try:
            return notation.number(value, self.country)
        except ValueError as error:
            self.add_problem(node, "number", f"{show(value)} {error}")
            return value

    def phones(self, node: Node) -> Pattern:
        """A phone pattern; a text without wildcards is a number and is normalized like one."""
        text = str(node.value)
        if not notation.is_pattern(text):
            return Pattern(self.number(node), digits=True)
        if (wrong := notation.pattern_problem(text)) is not None:
            near = _SEPARATORS.sub("", text)
            likely = notation.pattern_problem(near) is None
            self.add_problem(node, "pattern", f"{show(text)} {wrong}", near=near if likely else None)
        return Pattern(text, digits=True)

    def located(self, node: Node) -> PhoneInCountry:
        """A country or a list of them, as a condition about the phone of a case."""
        meant = [place.iso for item in node.items() or [node] for place in self.countries(item)]
        return PhoneInCountry(tuple(dict.fromkeys(meant)))

    def countries(self, node: Node) -> list[Country]:
        """The countries that an MCC or an ISO code means."""
        every = countries.every()
        meant = [place for place in every if node.value in (place.mcc, place.iso)]
        if not meant:
            by_name = {place.name: place.iso for place in every}
            near = by_name.get(str(node.value)) or by_name.get(nearest(node.value, by_name) or "")
            message = f"{show(node.value)} is not a country: an MCC such as 230 (§6), or two letters such as CZ"
            self.add_problem(node, "country", message, near=near)
        return meant

    def networks(self, node: Node, country: Node | None) -> None:
        """Holds the MNC of an operator, or a list of them, against its country."""
        for item in node.items() or [node]:
            if country is None:
                message = f'{show(item.value)} is an MNC, which means nothing without its "country" (§6)'
                self.add_problem(node, "operator", message)
                continue
            places = [place for code in country.items() or [country] for place in self.countries(code)]
            legal = sorted({network for place in places for network in place.mncs})
            if places and item.value not in legal:
                legal_words = listed(map(str, legal)) or "none is known"
                message = f"{show(item.value)} is not an operator of {places[0].name}; legal: {legal_words} (A82)"
                self.add_problem(item, "operator", message)

    def pattern(self, node: Node) -> Pattern:
        """A text pattern."""
        return Pattern(str(node.value))

    def key(self, node: Node) -> Pattern:
        """A pattern of API keys; a sub-key is known by its name alone, too."""
        return Pattern(str(node.value), mark="~")

    def money(self, node: Node) -> int:
        """Millionths of a currency's unit; a problem where there are smaller parts."""
        amount = Decimal(str(node.value)) * _MILLIONTHS
        if amount != int(amount):
            message = (
                f"{show(node.value)} has more than six decimals; wanted: an amount of money, in millionths at most"
            )
            self.add_problem(node, "decimals", message)
        return int(amount)

    def country_code(self, node: Node) -> str:
        """A calling code that is assigned."""
        code = str(node.value)
        if code not in codes():
            self.add_problem(node, "country", f"{show(code)} is not an assigned calling code; 420 is one (E.164)")
        return code


def names_differ(nodes: list[Node], reader: Reader) -> None:
    """A name may be used once in a file; another file may use it again, for its own version of the rule."""
    first: dict[tuple[int, object], Node] = {}
    for node in nodes:
        name = node.get("name")
        if name is None:
            continue
        earlier = first.setdefault((id(node.source), name.value), name)
        if earlier is not name:
            reader.add_problem(
                name, "name", f"{show(name.value)} is the name of another rule already, at {earlier.where}"
            )


def words(node: Node | None) -> tuple[str, ...] | None:
    """A word, or a list of them, each once."""
    if node is None:
        return None
    return tuple(dict.fromkeys(str(item.value) for item in node.items())) or (str(node.value),)


def entries(node: Node | None, reader: Reader, compiling: Callable[[Node, Reader], T]) -> tuple[T, ...]:
    """The entries of a list, in order. Draws, counts and verdicts are keyed by their names, so names must differ."""
    nodes = items(node)
    names_differ(nodes, reader)
    return tuple(compiling(item, reader) for item in nodes)


def items(node: Node | None) -> list[Node]:
    """The entries of a list, none if there is none."""
    return [] if node is None else node.items()


def whole_number(node: Node) -> int:
    """A whole number, as the schema guarantees; one that JSON writes as 1e17 is a fraction in Python."""
    assert isinstance(node.value, int | float)
    return int(node.value)


def text_of(node: Node | None) -> str | None:
    """The text of a value, None if there is none."""
    return None if node is None else str(node.value)


def canonical(rule: JsonObject) -> str:
    """The text that identifies a rule without a name, in one fixed order: equal rules have equal texts."""
    return _canonical(rule).decode()


def _canonical(value: object) -> bytes:
    return orjson.dumps(value, default=_canonical_value, option=orjson.OPT_SORT_KEYS)


def _canonical_value(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, msgspec.Struct):  # its fields in their own order
        members = (b'"%b":%b' % (name.encode(), _canonical(part)) for name, part in asdict(value).items())
        return orjson.Fragment(b"{%b}" % b",".join(members))
    return value.text if isinstance(value, Pattern) else str(value)


def _from_start(value: object) -> int:
    """A duration in a place that also takes an instant."""
    try:
        return spans.duration(value)
    except spans.NoUnit as error:
        if spans.dated(value) is None:
            raise
        raise ValueError(spans.without_unit(value, dates=True)) from error
    except ValueError as error:
        message = str(error).replace(
            " is not a duration: ", " is neither a duration from the start nor a date and time: "
        )
        if message != str(error):
            message = message.removesuffix(" are legal") + ", or 2026-03-01T09:00:00Z are legal"
        raise ValueError(message) from None


def _in_units(value: object, read: Callable[[object], object]) -> str | None:
    """The duration that `5 minutes` or `2S` probably means, or the rate of `10/min`; None if it means none."""
    text = str(value).lower().replace(" per ", "/").replace(" ", "")
    text = f"0{text}" if text.startswith(".") else text
    for words, unit in _UNITS:
        text = words.sub(unit, text)
    text = _BARE_UNIT.sub("/1", text)
    try:
        read(text)
    except ValueError:
        return None
    return text


def _requoted(text: str, value: object) -> str:
    """A message of the engine, with the value at its beginning quoted as in all messages about scenarios: as JSON."""
    if isinstance(value, dict) and text.startswith(spans.excerpt(value)):
        return show(value) + text.removeprefix(spans.excerpt(value))
    return _QUOTED.sub(lambda match: show(match[1]), text, count=1)
