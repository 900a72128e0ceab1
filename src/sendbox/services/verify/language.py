"""The key `verify`: the limits of the Verify interface, and the rules about codes (§8, A53)."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from sendbox.engine.forms import mapping, text, word
from sendbox.engine.rules.rule import When
from sendbox.scenario.keys.rules import RuleForm
from sendbox.scenario.keys.when import Conditions, asked, key, recipient
from sendbox.scenario.lint.linter import Linter
from sendbox.scenario.model import Node
from sendbox.scenario.values import Reader, canonical
from sendbox.scenario.vocabulary import Vocabulary
from sendbox.services.assume import Assume
from sendbox.services.settings import read_limits
from sendbox.services.verify.rules import RANDOM, VerifyRule


def _make(values: dict[str, Any], when: When, _node: Node, _reader: Reader) -> tuple[str, dict[str, object]]:
    then = values["then"]
    fields = {"code": then.get("code"), "sms": then.get("sms"), "limited": False if "limits" in then else None}
    return canonical({"phone": None, **asked(when), "then": then}), fields


VERIFY_RULES: Final = RuleForm(
    ("verify", "rules"),
    VerifyRule,
    Conditions(
        "verify",
        "a session",
        {**recipient("the number"), "key": key("The API key that began the session.")},
        per=("phone", "key"),
        says='a mapping such as {phone: "420777*"}',
    ),
    "A rule: which phones, and what becomes of their codes.",
    {
        "then": mapping(
            "verify then",
            "What is decided.",
            {
                "code": text(
                    "The code, in quotes, or random for one that is derived from the seed.",
                    "six digits in quotes, or random",
                    pattern="^([0-9]{6}|random)$(?!\n)",
                    examples=["123456", RANDOM],
                ),
                "sms": word(
                    "The result that the SMS with the code comes to, on the usual way.",
                    ("sending", "sent", "delivered", "undelivered", "rejected", "failed"),
                    "a result of an SMS",
                ),
                "limits": word("Whether limits hold for the phone; off lifts them.", ("off",), "a word for limits"),
            },
            'a decision such as {code: "123456"}; it has code, sms or limits',
            minProperties=1,
        )
    },
    "How many sessions the rule may decide",
    'a rule such as {then: {code: "123456"}}',
    _make,
    requires={"required": ["then"]},
    decides=(("code",), ("sms",), ("limits",)),
    within="then",
)


def _with_limits(node: Node, reader: Reader) -> Assume:
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


VERIFY: Final = Vocabulary(keys=(VERIFY_RULES.key(late=True, assumes=_with_limits),), lints=(_lint,))
