"""Rules that never have a say, because an earlier one of the same file fits whenever they do and decides as much.

`CONDITIONS` says how conditions are compared; a `RuleList` where those of a list stand, and what a rule of it may
decide. A rule that asks for anything else, or counts, is never taken to shadow another one: a doubt that is wrong would
be worse than one that is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sendbox.engine.delivery.faults.table import DELIVERIES
from sendbox.engine.faults.table import CALLS
from sendbox.scenario.lint import globs
from sendbox.scenario.lint.doubts import Doubts
from sendbox.scenario.model import Node, plain, show
from sendbox.scenario.vocabulary import RuleList
from sendbox.services.numbers.normal import normalize


def _among(wide: set[str], narrow: set[str], _country: str) -> bool:
    return narrow <= wide


def _text(wide: Any, narrow: Any, _country: str) -> bool:
    return globs.covers(str(wide), str(narrow))


def _number(wide: Any, narrow: Any, country: str) -> bool:
    return globs.covers(_digits(wide, country), _digits(narrow, country), phone=True)


def _digits(value: Any, country: str) -> str:
    text = str(value)
    return text if "*" in text or "?" in text else normalize(text, country) or text


def _payload(wide: Any, narrow: Any, _country: str) -> bool:
    return all(
        path in narrow
        and (
            globs.covers(value, narrow[path])
            if isinstance(value, str) and isinstance(narrow[path], str)
            else type(value) is type(narrow[path]) and value == narrow[path]
        )
        for path, value in wide.items()
    )


#: How a condition is compared with that of a later rule; without an entry: as patterns of text.
CONDITIONS: Final[dict[str, Callable[[Any, Any, str], bool]]] = {
    "channel": _among,
    "operation": _among,
    "result": _among,
    "gateway": _among,
    "event": _among,
    "number": _number,
    "phone": _number,
    "payload": _payload,
}
#: Faults that are decided apart from the others, and those that let pass what fits.
_APART: Final = {kind for kind, fault in DELIVERIES.items() if fault().given is not None}
_LENIENT: Final = {fault.kind for table in (CALLS, DELIVERIES) for fault in table.values() if fault.lenient}
#: Keys of a rule that bound how often it decides.
_COUNTS: Final = {"times"}
#: Conditions by whose beginning rules are looked up, so that thousands are not compared one by one.
_LOOKED_UP: Final = ("phone", "number", "tag", "body", "template", "client", "sender", "key")


@dataclass(slots=True, eq=False)
class _Rule:
    node: Node
    asks: dict[str, Any]
    decides: set[tuple[str, ...]]
    #: whether it fits whenever what it asks holds
    plain: bool
    #: whether it may decide more than is known here
    odd: bool


def find(doubts: Doubts, lists: Iterable[RuleList]) -> None:
    """Warns about every rule that another one shadows."""
    for kind in lists:
        _find(kind, doubts)


def _find(kind: RuleList, doubts: Doubts) -> None:
    country = doubts.country
    #: file (its source) -> what is looked up -> the rules before
    before: dict[int, dict[tuple[str, str] | None, list[_Rule]]] = {}
    for _, node in doubts.entries(*kind.path):
        rule = _rule(node, kind, doubts.families)
        known = before.setdefault(id(node.source), {})
        shadow = None if rule.odd else _shadow(rule, known, country)
        if shadow is not None:
            doubts.warn(node, "shadowed", _message(rule, shadow), value=_title(node))
        elif rule.plain:
            known.setdefault(_place(rule, country), []).append(rule)


def _rule(node: Node, kind: RuleList, families: Mapping[str, tuple[str, ...]]) -> _Rule:
    conditions = node if not kind.when else node.get(kind.when)
    known = {*kind.asks, *kind.extra, *(key for thing in kind.decides for key in thing), kind.when, kind.within}
    asks = {}
    whole = node.entries().keys() <= known
    for key, value in ({} if conditions is None else conditions.entries()).items():
        if key in kind.asks:
            asks[key] = _words(plain(value), families) if CONDITIONS.get(key) is _among else plain(value)
        elif kind.when:
            whole = False
    said = node if kind.within is None else node.get(kind.within) or node
    decides = {thing for thing in kind.decides if any(said.get(key) is not None for key in thing)}
    fault = node.get("fault")
    for word in _faults(fault) & _APART:
        decides = {(word,)}
    whole = whole and not _faults(fault) & _LENIENT
    return _Rule(node, asks, decides or {()}, whole, bool(node.entries().keys() - known - _COUNTS))


def _words(value: Any, families: Mapping[str, tuple[str, ...]]) -> set[str]:
    """The words of a condition, what they stand for in the place of families."""
    words = [str(each) for each in (value if isinstance(value, list) else [value])]
    return {each for word in words for each in families.get(word, (word,))}


def _faults(node: Node | None) -> set[str]:
    """The words of a fault: a word, or the keys of an object."""
    return set() if node is None else set(node.entries()) or {str(node.value)}


def _beginnings(rule: _Rule, country: str) -> Iterator[tuple[str, str]]:
    """What each pattern of a rule begins with, before any wildcard."""
    for key in _LOOKED_UP:
        if key in rule.asks:
            value = rule.asks[key]
            text = _digits(value, country) if CONDITIONS.get(key) is _number else str(value)
            yield key, re.split("[*?]", text, maxsplit=1)[0]


def _place(rule: _Rule, country: str) -> tuple[str, str] | None:
    """Where a rule is kept: a rule that it shadows begins like that."""
    return next((place for place in _beginnings(rule, country) if place[1]), None)


def _places(rule: _Rule, country: str) -> Iterator[tuple[str, str] | None]:
    """Where rules are kept that may shadow this one."""
    yield None
    for key, text in _beginnings(rule, country):
        yield from ((key, text[:end]) for end in range(1, len(text) + 1))


def _shadow(rule: _Rule, known: dict[tuple[str, str] | None, list[_Rule]], country: str) -> list[_Rule] | None:
    """The rules that together leave nothing to this one, None when it has a say."""
    open_ = set(rule.decides)
    found = []
    for place in _places(rule, country):
        for earlier in known.get(place, ()):
            if open_ & earlier.decides and _implied(earlier, rule, country):
                open_ -= earlier.decides
                found.append(earlier)
                if not open_:
                    return found
    return None


def _implied(earlier: _Rule, later: _Rule, country: str) -> bool:
    """Whether the earlier rule fits whenever the later one does."""
    return all(
        key in later.asks and CONDITIONS.get(key, _text)(value, later.asks[key], country)
        for key, value in earlier.asks.items()
    )


def _title(node: Node) -> Any:
    name = node.get("name")
    return plain(node) if name is None else name.value


def _message(rule: _Rule, shadows: list[_Rule]) -> str:
    where = " and ".join(_where(each.node) for each in sorted(shadows, key=lambda each: each.node.line or 0))
    if len(shadows) == 1:
        return f"{show(_title(rule.node))} never has a say: the entry {where} comes first and fits whenever it does"
    return f"{show(_title(rule.node))} never has a say: the entries {where} come first and decide all that it decides"


def _where(node: Node) -> str:
    return f"at {node.path}" if node.line is None else f"on line {node.line}"
