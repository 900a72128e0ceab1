"""What all services share of the language: the key `assume` (`services/assumptions.py` names the assumption of each of
its settings), and what senders and templates must be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, Final

from sendbox.engine.durations import Rate
from sendbox.engine.patterns import Pattern
from sendbox.scenario.lint.doubts import Doubts
from sendbox.scenario.model import Node, listed, show
from sendbox.scenario.values import Reader
from sendbox.scenario.vocabulary import Vocabulary
from sendbox.services.assume import Assume, BulkLimits, Prices, Proof, Timing, VerifyLimits

_OFF: Final = "off"
_SENDER_NAME: Final = 11
_VARIABLE: Final = re.compile(r"\{\{\s*([^{}\s]+)\s*\}\}")
_UNCLOSED: Final = re.compile(r"\{\{(?![^{}]*\}\})")


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


def compile_limits(node: Node, reader: Reader, base: VerifyLimits | None = None) -> VerifyLimits:
    """`off`, or a mapping of limits; what that leaves out stays as in `base`."""
    if node.value == _OFF:
        return VerifyLimits(None, None)
    given = {name: _limit(item, reader) for name, item in node.entries().items()}
    return replace(base or VerifyLimits(), **given)


def _limit(node: Node, reader: Reader) -> Rate | None:
    return None if node.value == _OFF else reader.rate(node)


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


def compile_sender(node: Node, family: str, numeric: Collection[str], reader: Reader) -> str:
    """A sender of an account, in the form its family of channels wants; those `numeric` want Phone Number IDs (A59)."""
    text = str(node.value)
    if family in numeric:
        if not (text.isascii() and text.isdigit()):
            reader.complain(node, "sender", f"{show(text)} is no sender of {family}: a phone number id has digits only")
    elif text.startswith("+") and text[1:].isdigit():
        reader.complain(node, "sender", f"{show(text)} is written with +; a virtual number has none", near=text[1:])
    elif not text.isdigit() and len(text) > _SENDER_NAME:
        message = f"{show(text)} has {len(text)} characters, a sender name has at most {_SENDER_NAME} (§8)"
        reader.complain(node, "sender", message)
    return text


def template_makes_sense(node: Node, reader: Reader) -> None:
    """A template has one body, and variables that a step can fill (§2.2)."""
    components = node.entries()["components"]
    kinds = [item.entries()["type"].value for item in components.items()]
    if not components.cut:
        for kind in dict.fromkeys(kinds):
            if kinds.count(kind) > 1:
                times = kinds.count(kind)
                reader.complain(components, "template", f'"{kind}" stands {times} times, a template has it once')
        if "BODY" not in kinds:
            reader.complain(components, "template", f"{show(kinds)} has no BODY, which every template needs")
    for item in components.items():
        if (text := item.get("text")) is not None:
            _variables_make_sense(text, reader)


def _variables_make_sense(node: Node, reader: Reader) -> None:
    text = str(node.value)
    if _UNCLOSED.search(text):
        reader.complain(node, "variable", f"{show(text)} opens a variable with {{{{ that }}}} does not close")
    names = list(dict.fromkeys(_VARIABLE.findall(text)))
    numbers = sorted(int(name) for name in names if name.isascii() and name.isdigit())
    if numbers and len(numbers) < len(names):
        reader.complain(node, "variable", f"{show(text)} mixes numbered and named variables; use one kind")
    elif numbers and numbers != list(range(1, len(numbers) + 1)):
        wanted = listed(f"{{{{{number}}}}}" for number in range(1, len(numbers) + 1))
        reader.complain(node, "variable", f"{show(text)} does not number its variables from 1 on: {wanted}")


def country_of(root: Node) -> Node | None:
    """Where a scenario says the calling code of national numbers (A14)."""
    return (root.get("assume") or root).get("country") or (root.get("account") or root).get("country")


def _doubts(doubts: Doubts) -> None:
    """Numbers that are allowed, and are none."""
    for _, item in doubts.entries("assume", "allowed"):
        doubts.number(item, Pattern(str(item.value), digits=True))


SHARED: Final = Vocabulary(doubts=(_doubts,))
