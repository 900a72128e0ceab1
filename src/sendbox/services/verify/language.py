"""Compiles `verify:`: the limits of the Verify interface, and the rules about codes (§8, A53)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from sendbox.scenario.keys.when import asked, compile_when, patterns, recipient
from sendbox.scenario.values import Reader, canonical, entries, text_of, whole
from sendbox.scenario.vocabulary import Key, RuleList, Rules, Vocabulary
from sendbox.services.assume import Assume, read_limits
from sendbox.services.verify.rules import VerifyRule

if TYPE_CHECKING:
    from sendbox.scenario.lint.linter import Linter
    from sendbox.scenario.model import Node


def compile_verify_rule(node: Node, reader: Reader) -> VerifyRule:
    """One rule."""
    when, name, times = compile_when(node, reader, _asks), node.get("name"), node.get("times")
    then = {key: str(item.value) for key, item in node.entries()["then"].entries().items()}
    return VerifyRule(
        key=text_of(name) or canonical({"phone": None, **asked(when), "then": then}),
        when=when,
        code=then.get("code"),
        sms=then.get("sms"),
        limited=False if "limits" in then else None,
        times=None if times is None else whole(times),
        name=text_of(name),
        place=node.place,
    )


def _asks(when: Node, reader: Reader) -> dict[str, Any]:
    return {**recipient(when, reader), **patterns(when, reader, "key")}


def _limited(node: Node, reader: Reader) -> Assume:
    """The settings with the limits of this scenario."""
    assume: Assume = reader.assume
    limits = node.get("limits")
    if limits is None:
        return assume
    return replace(assume, verify_limits=read_limits(limits, reader, assume.verify_limits))


def _lint(linter: Linter) -> None:
    """Rules about phones that are not numbers."""
    for position, item in linter.entries("verify", "rules"):
        linter.numbers(item, linter.blueprint.compiled["verify"][position].when)


VERIFY: Final = Vocabulary(
    keys=(
        Key(
            "verify",
            lambda node, reader: entries(node and node.get("rules"), reader, compile_verify_rule),
            late=True,
            assumes=_limited,
            rules=Rules("verifyRule", compile_verify_rule),
            lists=(RuleList(("verify", "rules"), ("phone", "key"), (("code",), ("sms",), ("limits",)), within="then"),),
        ),
    ),
    lints=(_lint,),
)
