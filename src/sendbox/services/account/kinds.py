"""The observation of the account's journal entries: keys, lists of numbers, orders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sendbox.engine.coverage import Collector
from sendbox.engine.digest import Canon
from sendbox.engine.kinds.narration import WORLD, Entry, Narration, Narrator, short_line
from sendbox.engine.kinds.rows import Kind, Line, ObservationRows, Observer, View
from sendbox.services.account.keys import Key
from sendbox.services.account.orders import Order

#: How many numbers of a list are shown in one entry.
MOST_LISTED: Final = 100


def _key(_on: Observer, change: tuple[Key, str]) -> View:
    key, word = change
    return {"key": key.id, "what": word, "scope": key.scope, "disabled": key.disabled, "note": key.note}


def _key_lines(canon: Canon, change: tuple[Key, str]) -> Iterator[Line]:
    key, word = change
    yield {"key": canon.alias(key.id), "word": word, "scope": key.scope, "disabled": key.disabled}


def _count_key(collector: Collector, change: tuple[Key, str]) -> None:
    collector.count("states", f"key {change[1]}")


def _listed(_on: Observer, change: tuple[str, str, tuple[str, ...]]) -> View:
    name, subid, numbers = change
    return {"list": name, "subid": subid, "count": len(numbers), "phones": list(numbers[:MOST_LISTED])}


def _listed_lines(canon: Canon, change: tuple[str, str, tuple[str, ...]]) -> Iterator[Line]:
    name, subid, numbers = change
    for number in numbers:
        yield {"list": name, "subid": canon.alias(subid), "phone": number}


def _order(_on: Observer, change: tuple[Order, str]) -> View:
    order, state = change
    return {
        "order": order.id,
        "service": order.service,
        "subject": order.subject,
        "period": order.period,
        "fee": order.fee / 1_000_000,
        "currency": order.billing.currency,
        "state": state,
    }


def _order_lines(_canon: Canon, change: tuple[Order, str]) -> Iterator[Line]:
    order, state = change
    yield {"service": order.service, "subject": order.subject, "fee": order.fee, "state": state}


def _count_order(collector: Collector, change: tuple[Order, str]) -> None:
    collector.count("states", f"order {change[1]}")


def _narrate_order(_narrator: Narrator, entry: Entry) -> Narration:
    fee = f", {entry['fee']:g} {entry['currency']}" if "fee" in entry else ""
    return Narration(WORLD, f"order of {entry.get('service')} for {entry.get('subject')} {entry.get('state')}{fee}")


OBSERVED: Final = ObservationRows(
    kinds=(
        Kind(
            "key",
            _key,
            _key_lines,
            _count_key,
            lambda _narrator, entry: Narration(WORLD, f"key {entry['key']} {entry['what']}"),
        ),
        Kind(
            "listed",
            _listed,
            _listed_lines,
            lambda collector, _what: collector.lean("A81"),
            lambda _narrator, entry: Narration(WORLD, f"{entry['list']}: {short_line(', '.join(entry['phones']))}"),
        ),
        Kind("order", _order, _order_lines, _count_order, _narrate_order),
    ),
    steps={"activation_due": lambda order: {"what": f"the order of {order.service} is active"}},
)
