"""Compiles `verify:`: the limits of the Verify interface, and the rules about codes (§8, A53)."""

from __future__ import annotations

from dataclasses import replace

from sendbox.engine.durations import Rate
from sendbox.engine.rules.rule import When
from sendbox.scenario import validate as lint
from sendbox.scenario.model import Node
from sendbox.scenario.values import Reader, canonical, text_of
from sendbox.services.assume import VerifyLimits
from sendbox.services.verify.rules import VerifyRule

_OFF = "off"


def compile_limits(node: Node, reader: Reader, base: VerifyLimits | None = None) -> VerifyLimits:
    """`off`, or a mapping of limits; what that leaves out stays as in `base`."""
    if node.value == _OFF:
        return VerifyLimits(None, None)
    given = {name: _limit(item, reader) for name, item in node.entries().items()}
    return replace(base or VerifyLimits(), **given)


def _limit(node: Node, reader: Reader) -> Rate | None:
    return None if node.value == _OFF else reader.rate(node)


def compile_verify_rules(nodes: list[Node], reader: Reader) -> tuple[VerifyRule, ...]:
    """The rules of a list, in order. A name may stand once in a file, since codes are keyed by it."""
    lint.names_differ(nodes, reader)
    return tuple(compile_verify_rule(node, reader) for node in nodes)


def compile_verify_rule(node: Node, reader: Reader) -> VerifyRule:
    """One rule."""
    asked, name = node.get("when"), node.get("name")
    phone = None if asked is None else asked.get("phone")
    pattern = None if phone is None else reader.phones(phone)
    then = {key: str(item.value) for key, item in node.entries()["then"].entries().items()}
    return VerifyRule(
        key=text_of(name) or canonical({"phone": pattern, "then": then}),
        when=When(phone=pattern),
        code=then.get("code"),
        sms=then.get("sms"),
        limited=False if "limits" in then else None,
        name=text_of(name),
        place=node.place,
    )
