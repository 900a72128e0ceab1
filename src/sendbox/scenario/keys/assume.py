"""Compiles `assume:` into the settings of the core; `services/assumptions.py` names the assumption of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sendbox.scenario.model import Node, show
from sendbox.scenario.values import Reader
from sendbox.services.assume import Assume, BulkLimits, Prices, Proof, Timing
from sendbox.services.verify.language import compile_limits


def compile_assume(node: Node | None, reader: Reader) -> Assume:
    """The settings, with the defaults for those that are not given."""
    if node is None:
        return Assume()
    return Assume(**{name: _READ.get(name, _as_it_is)(item, reader) for name, item in node.entries().items()})


def _as_it_is(node: Node, _reader: Reader) -> Any:
    return node.value


def _durations(node: Node, reader: Reader) -> tuple[int, ...]:
    times = []
    for item in node.items():
        time = reader.duration(item)
        if time == 0 and item.value in (0, "0s", "0ms"):
            reader.complain(
                item, "webhook_retry", f"{show(item.value)} is no time to wait; a try follows after 1ms or more"
            )
        times.append(time)
    return tuple(times)


def _timing(node: Node, reader: Reader) -> Timing:
    return Timing(**{result: reader.duration(item) for result, item in node.entries().items()})


def _prices(node: Node, reader: Reader) -> Prices:
    table = {}
    for channel, codes in node.entries().items():
        for code, price in codes.entries().items():
            each = price.entries()
            table[channel, "" if code == "default" else code] = (reader.money(each["eur"]), reader.money(each["czk"]))
    return Prices(table)


def _hours(node: Node, reader: Reader) -> tuple[int, int] | None:
    if node.value is None:
        return None
    start, _, end = str(node.value).partition("-")
    first, last = (int(time[:2]) * 60 + int(time[3:]) for time in (start, end))
    if first == last:
        reader.complain(
            node, "promotional_window", f"{show(node.value)} is no time at all; leave the setting out, or null"
        )
    return first, last


def _bulk(node: Node, _reader: Reader) -> BulkLimits:
    limits: dict[str, Any] = {name: item.value for name, item in node.entries().items()}
    return BulkLimits(**limits)


def _allowed(node: Node, reader: Reader) -> tuple[str, ...]:
    return tuple(reader.phones(item).text for item in node.items())


def _proof(node: Node, _reader: Reader) -> Proof:
    return Proof(
        **{
            name: tuple(str(each.value) for each in item.items()) if name == "order" else item.value
            for name, item in node.entries().items()
        }  # type: ignore[arg-type] # words of the schema
    )


_READ: Final[dict[str, Callable[[Node, Reader], Any]]] = {
    "country": lambda node, reader: reader.country_code(node),
    "queue": lambda node, reader: reader.rate(node.entries()["normal"]),
    "prices": _prices,
    "timing": _timing,
    "conversation": lambda node, reader: reader.duration(node),
    "promotional_window": _hours,
    "webhook_retry": _durations,
    "webhook_timeout": lambda node, reader: reader.duration(node),
    "allowed": _allowed,
    "identical": lambda node, reader: reader.rate(node),
    "bulk": _bulk,
    "list_delay": lambda node, reader: reader.duration(node),
    "proof": _proof,
    "verify_limits": lambda node, reader: compile_limits(node, reader),
    "template_review": lambda node, reader: reader.duration(node),
}
