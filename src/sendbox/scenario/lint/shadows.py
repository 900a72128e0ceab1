"""Rules that never decide, because an earlier one of the same file matches whenever they do and decides as much; and
rules that may decide more often than they ever can.

`CONDITIONS` says how conditions are compared; a `RuleList` says where those of a list stand, and what its rules may
decide. A rule with any other condition, or with a count, never counts as shadowing another one: a wrong warning would
be worse than a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from sendbox.engine.answer import JsonMapping
from sendbox.engine.faults.table import CALLS, DELIVERIES
from sendbox.scenario.lint import globs
from sendbox.scenario.lint.linter import Linter
from sendbox.scenario.model import Node, plain, show
from sendbox.scenario.vocabulary import RuleList
from sendbox.services.numbers.notation import normalize


def _among(wide: set[str], narrow: set[str], _country: str) -> bool:
    return narrow <= wide


def _text(wide: object, narrow: object, _country: str) -> bool:
    return globs.covers(str(wide), str(narrow))


def _number(wide: object, narrow: object, country: str) -> bool:
    return globs.covers(_digits(wide, country), _digits(narrow, country), phone=True)


def _digits(value: object, country: str) -> str:
    text = str(value)
    return text if "*" in text or "?" in text else normalize(text, country) or text


def _payload(wide: JsonMapping, narrow: JsonMapping, country: str) -> bool:
    return all(path in narrow and _covers(_value, value, narrow[path], country) for path, value in wide.items())


def _value(wide: object, narrow: object, _country: str) -> bool:
    if isinstance(wide, str) and isinstance(narrow, str):
        return globs.covers(wide, narrow)
    return type(wide) is type(narrow) and bool(wide == narrow)


def _covers(compare: Callable[[Any, Any, str], bool], wide: object, narrow: object, country: str) -> bool:
    """True if each value of a condition, one or several, is covered by a value of another condition."""
    wides, narrows = (value if isinstance(value, list) else [value] for value in (wide, narrow))
    return all(any(compare(one, other, country) for one in wides) for other in narrows)


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
#: Conditions that are not compared.
_OTHER: Final = {"after", "country", "headers", "operator"}
#: Faults that are decided independently of the others, and those that may let a matching case pass.
_APART: Final = {kind for kind, fault in DELIVERIES.items() if fault().ending is not None}
_LENIENT: Final = {fault.kind for table in (CALLS, DELIVERIES) for fault in table.values() if fault.lenient}
#: Keys of a rule that bound how often it decides.
_COUNTS: Final = {"times"}
#: Rules are looked up by the beginning of these conditions, so that thousands are not compared one by one.
_LOOKED_UP: Final = ("phone", "number", "tag", "body", "template", "client", "sender", "key")


class _Rule(msgspec.Struct, eq=False):
    node: Node
    asks: dict[str, object]
    decides: set[tuple[str, ...]]
    #: True if it matches whenever its conditions hold
    plain: bool
    #: True if it may decide more than is listed here
    odd: bool


def find(linter: Linter, lists: Iterable[RuleList]) -> None:
    """Warns about every rule that another one shadows."""
    for kind in lists:
        _find(kind, linter)


def _find(kind: RuleList, linter: Linter) -> None:
    country = linter.country
    #: file (its source) -> beginning of a condition -> the earlier rules
    before: dict[int, dict[tuple[str, str] | None, list[_Rule]]] = {}
    for _, node in linter.entries(*kind.path):
        _once(node, kind, linter)
        rule = _rule(node, kind, linter.families)
        earlier = before.setdefault(id(node.source), {})
        shadow = None if rule.odd else _shadow(rule, earlier, country)
        if shadow is not None:
            linter.warn(node, "shadowed", _message(rule, shadow), value=_title(node))
        elif rule.plain:
            earlier.setdefault(_place(rule, country), []).append(rule)


def _once(node: Node, kind: RuleList, linter: Linter) -> None:
    """Warns about a rule that may decide more often than its condition lets it."""
    times, conditions = node.get("times"), node.get(kind.when)
    for key in ("nth", "call"):
        position = None if conditions is None else conditions.get(key)
        if times is not None and position is not None and times.value != 1:
            message = f"{show(times.value)} times is more than ever happens: {key} {show(position.value)} comes once"
            linter.warn(times, "once", message)


def _rule(node: Node, kind: RuleList, families: Mapping[str, tuple[str, ...]]) -> _Rule:
    conditions = node if not kind.when else node.get(kind.when)
    keys = {*kind.asks, *kind.extra, *(key for group in kind.decides for key in group), kind.when, kind.within}
    asks = {}
    complete = node.entries().keys() <= keys
    for key, value in ({} if conditions is None else conditions.entries()).items():
        if key in kind.asks and key not in _OTHER:
            asks[key] = _words(plain(value), families) if CONDITIONS.get(key) is _among else plain(value)
        elif kind.when:
            complete = False
    decisions = node if kind.within is None else node.get(kind.within) or node
    decides = {group for group in kind.decides if any(decisions.get(key) is not None for key in group)}
    fault = node.get("fault")
    for word in _faults(fault) & _APART:
        decides = {(word,)}
    complete = complete and not _faults(fault) & _LENIENT
    return _Rule(node, asks, decides or {()}, complete, bool(node.entries().keys() - keys - _COUNTS))


def _words(value: object, families: Mapping[str, tuple[str, ...]]) -> set[str]:
    """The words of a condition, with families replaced by their members."""
    words = [str(text) for text in (value if isinstance(value, list) else [value])]
    return {text for word in words for text in families.get(word, (word,))}


def _faults(node: Node | None) -> set[str]:
    """The words of a fault: a word, or the keys of an object."""
    if node is None:
        return set()
    return set().union(*map(_faults, node.items())) or set(node.entries()) or {str(node.value)}


def _beginnings(rule: _Rule, country: str) -> Iterator[tuple[str, str]]:
    """The beginning of each pattern of a rule, before any wildcard; what covers several covers the first."""
    for key in _LOOKED_UP:
        if key in rule.asks:
            value = rule.asks[key]
            value = value[0] if isinstance(value, list) else value
            text = _digits(value, country) if CONDITIONS.get(key) is _number else str(value)
            yield key, re.split("[*?]", text, maxsplit=1)[0]


def _place(rule: _Rule, country: str) -> tuple[str, str] | None:
    """The place of a rule: every rule that it shadows begins like that."""
    return next((at for at in _beginnings(rule, country) if at[1] and not isinstance(rule.asks[at[0]], list)), None)


def _places(rule: _Rule, country: str) -> Iterator[tuple[str, str] | None]:
    """The places of rules that may shadow this one."""
    yield None
    for key, text in _beginnings(rule, country):
        yield from ((key, text[:end]) for end in range(1, len(text) + 1))


def _shadow(rule: _Rule, places: dict[tuple[str, str] | None, list[_Rule]], country: str) -> list[_Rule] | None:
    """The rules that together decide everything that this one decides, None if it may decide something."""
    open_ = set(rule.decides)
    shadows = []
    for place in _places(rule, country):
        for earlier in places.get(place, ()):
            if open_ & earlier.decides and _implied(earlier, rule, country):
                open_ -= earlier.decides
                shadows.append(earlier)
                if not open_:
                    return shadows
    return None


def _implied(earlier: _Rule, later: _Rule, country: str) -> bool:
    """True if the earlier rule matches whenever the later one does."""
    return all(
        key in later.asks and _covers(CONDITIONS.get(key, _text), value, later.asks[key], country)
        for key, value in earlier.asks.items()
    )


def _title(node: Node) -> object:
    name = node.get("name")
    return plain(node) if name is None else name.value


def _message(rule: _Rule, shadows: list[_Rule]) -> str:
    where = " and ".join(_where(shadow.node) for shadow in sorted(shadows, key=lambda shadow: shadow.node.line or 0))
    if len(shadows) == 1:
        return f"{show(_title(rule.node))} never decides: the entry {where} comes first and matches whenever it does"
    return (
        f"{show(_title(rule.node))} never decides: the entries {where} come first and decide everything that it decides"
    )


def _where(node: Node) -> str:
    return f"at {node.path}" if node.line is None else f"on line {node.line}"
