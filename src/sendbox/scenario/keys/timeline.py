"""Compiles `timeline:`: what happens by itself at an instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import orjson

from sendbox.engine.happenings import TimelineEntry
from sendbox.scenario.keys.texts import compile_text
from sendbox.scenario.model import Node, listed, nearest, plain, show
from sendbox.scenario.values import Reader
from sendbox.services.account.language import changes, currency_of
from sendbox.services.messaging.content.gaps import GAPS, Text
from sendbox.services.messaging.language import channels_of
from sendbox.services.messaging.outages import Outage
from sendbox.services.numbers import countries

#: The kinds of entries, in the order of the documentation.
KINDS: Final = ("inbound", "reply", "phone", "outage", "account", "clock", "template", "number")
#: Which act a key of `phone` belongs to.
_ONLY_WITH: Final = {"link": "click", "button": "press"}


def compile_timeline(nodes: list[Node], reader: Reader, account: Node | None) -> tuple[TimelineEntry, ...]:
    """The entries in their order; `account` is what changes of the account are changes of."""
    currency = "EUR" if account is None else currency_of(account)
    equal: Counter[str] = Counter()
    entries = []
    for node in nodes:
        entry = _happening(node, reader, currency)
        if entry.key:  # texts that are written twice say two things
            equal[entry.key] += 1
            entry = replace(entry, key=f"{entry.key}{equal[entry.key]}")
        entries.append(entry)
    return tuple(entries)


def _happening(node: Node, reader: Reader, currency: str) -> TimelineEntry:
    parts = node.entries()
    at, relative = reader.moment(parts["at"])
    kind = next(kind for kind in KINDS if kind in parts)
    others = [key for key in parts if key not in ("at", kind)]
    if others:
        message = f"{show(others[0])} stands beside {show(kind)}; one thing happens in an entry"
        reader.complain(node, "happening", message, key=others[0])
    part = parts[kind]
    what: dict[str, Any] = plain(part)
    means = _account(part, reader, currency) if kind == "account" else _READ[kind](part, what, reader)
    key = orjson.dumps([kind, what], option=orjson.OPT_SORT_KEYS).decode() if isinstance(means, Text) else ""
    return TimelineEntry(at, relative, kind, what, node.place, means, key)


def _inbound(node: Node, what: dict[str, Any], reader: Reader) -> Any:
    parts = node.entries()
    what["from"] = reader.number(parts["from"])
    if "to" in parts:
        what["to"] = reader.sender(parts["to"], str(what["channel"]))
    return compile_text(parts["body"], reader, ("phone",), node.get("locale"))


def _reply(node: Node, what: dict[str, Any], reader: Reader) -> Any:
    parts = node.entries()
    what["phone"] = reader.number(parts["phone"])
    return compile_text(parts["body"], reader, GAPS, node.get("locale"))


def _phone(node: Node, what: dict[str, Any], reader: Reader) -> None:
    parts = node.entries()
    what["number"] = reader.number(parts["number"])
    for key, act in _ONLY_WITH.items():
        if key in parts and what["act"] != act and not parts["act"].cut and not node.cut:
            message = f'{show(key)} stands beside the act "{what["act"]}"; it belongs to "{act}"'
            reader.complain(node, "act", message, key=key)


def _outage(node: Node, what: dict[str, Any], reader: Reader) -> Outage:
    parts = node.entries()
    lasts = reader.duration(parts["for"])
    if lasts == 0 and not any(found.path == parts["for"].path for found in reader.problems):
        reader.complain(parts["for"], "outage", f"{show(what['for'])} is no time; an outage lasts a while")
    if "info" in parts and not node.cut and {what.get("in_flight", "wait"), what.get("new", "wait")} == {"wait"}:
        message = f'{show(what["info"])} is never used, since all wait; it belongs to a bad end of "in_flight" or "new"'
        reader.complain(parts["info"], "outage", message)
    places = _places(node.get("country"), reader)
    return Outage(
        lasts,
        channels_of(node.get("channel"), reader),
        None if places is None else frozenset(place.iso for place in places),
        _network(node, places, reader),
        str(what.get("in_flight", "wait")),
        str(what.get("new", "wait")),
        what.get("info"),
    )


def _places(node: Node | None, reader: Reader) -> list[countries.Country] | None:
    """The countries that an MCC or an ISO code means."""
    if node is None:
        return None
    every = countries.every()
    found = [place for place in every if node.value in (place.mcc, place.iso)]
    if not found:
        by_name = {place.name: place.iso for place in every}
        near = by_name.get(nearest(node.value, by_name) or "")
        message = f"{show(node.value)} is no country: an MCC such as 230 (§6), or two letters such as CZ"
        reader.complain(node, "country", message, near=near)
    return found


def _network(node: Node, places: list[countries.Country] | None, reader: Reader) -> int | None:
    operator = node.get("operator")
    if operator is None or not isinstance(operator.value, int):
        return None
    if places is None:
        message = f'{show(operator.value)} is an MNC, which means nothing without its "country" (§6)'
        reader.complain(operator, "operator", message)
    elif places:
        legal = sorted({network for place in places for network in place.mncs})
        if operator.value not in legal:
            known = listed(map(str, legal)) or "none is known"
            message = f"{show(operator.value)} is no operator of {places[0].name}; legal: {known} (A82)"
            reader.complain(operator, "operator", message)
    return operator.value


def _account(node: Node, reader: Reader, currency: str) -> dict[str, Any]:
    stated = node.get("currency")
    return changes(node, reader, currency if stated is None else str(stated.value), node.source.file)


def _as_written(node: Node, what: dict[str, Any], reader: Reader) -> None:
    """Nothing but what is written."""


def _number(node: Node, what: dict[str, Any], reader: Reader) -> None:
    what["phone_number"] = reader.phones(node.entries()["phone_number"]).text
    if what.keys() == {"phone_number"} and not node.cut:
        reader.complain(node, "number", f"{show(what)} changes nothing; give it a status or a quality")


_READ: Final[dict[str, Callable[[Node, dict[str, Any], Reader], Any]]] = {
    "inbound": _inbound,
    "reply": _reply,
    "phone": _phone,
    "outage": _outage,
    "clock": _as_written,
    "template": _as_written,
    "number": _number,
}
