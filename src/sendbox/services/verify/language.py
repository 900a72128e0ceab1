"""Compiles `verify:`: the limits of the Verify interface, and the rules about codes (§8, A53)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sendbox.engine.rules.rule import When
from sendbox.scenario.lint.linter import Linter
from sendbox.scenario.model import Node
from sendbox.scenario.values import Reader, canonical, entries, text_of
from sendbox.scenario.vocabulary import Key, RuleList, Rules, Vocabulary
from sendbox.services.assume import Assume, read_limits
from sendbox.services.verify.rules import VerifyRule


def compile_verify_rule(node: Node, reader: Reader) -> VerifyRule:
    """One rule."""
    when, name = node.get("when"), node.get("name")
    about = {} if when is None else reader.recipient(when.entries())
    then = {key: str(item.value) for key, item in node.entries()["then"].entries().items()}
    return VerifyRule(
        key=text_of(name) or canonical({"phone": None, **about, "then": then}),
        when=When(**about),
        code=then.get("code"),
        sms=then.get("sms"),
        limited=False if "limits" in then else None,
        name=text_of(name),
        place=node.place,
    )


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
        pattern = linter.blueprint.compiled["verify"][position].when.pattern("phone")
        if pattern is not None:
            linter.number(item.entries()["when"].entries()["phone"], pattern)


VERIFY: Final = Vocabulary(
    keys=(
        Key(
            "verify",
            lambda node, reader: entries(node and node.get("rules"), reader, compile_verify_rule),
            late=True,
            assumes=_limited,
            rules=Rules("verifyRule", compile_verify_rule),
            lists=(RuleList(("verify", "rules"), ("phone",), (("code",), ("sms",), ("limits",)), within="then"),),
        ),
    ),
    lints=(_lint,),
)
