"""The key `lockers` of the language of scenarios: what may stand in it, and what is made of it."""

from __future__ import annotations

from typing import Any, Final

from sendbox.engine.forms import duration, span
from sendbox.engine.rules.rule import When
from sendbox.scenario.keys.rules import RuleForm
from sendbox.scenario.keys.when import Conditions, asked, pattern, recipient
from sendbox.scenario.model import Node
from sendbox.scenario.values import Reader, canonical
from sendbox.scenario.vocabulary import Vocabulary
from tests.locker.parcels import TOLD, LockerRule


def make(values: dict[str, Any], when: When, _node: Node, _reader: Reader) -> tuple[str, dict[str, Any]]:
    """The text by which draws of a rule without a name are keyed, and its fields."""
    return canonical({**values, "when": asked(when)}), values


RULES: Final = RuleForm(
    ("lockers",),
    LockerRule,
    Conditions("locker", "a parcel", {**recipient("the recipient"), "locker": pattern("The locker.")}, per=("phone",)),
    "A rule about parcels.",
    {
        "stored": span("After what time the courier stores the parcel."),
        "kept": duration("How long the parcel is kept."),
    },
    "How many parcels the rule decides about",
    "a rule such as {kept: 1h}",
    make,
)

LOCKERS: Final = Vocabulary(
    keys=(RULES.key(times=("stored", "kept")),),
    schema={
        "properties": {
            "lockers": {"type": "array", "items": {"$ref": "#/$defs/lockerRule"}, "x-says": "a list of rules"}
        },
        "$defs": {
            **RULES.definitions,
            "webhookEvent": {"enum": list(TOLD.values())},
            "thing": {"enum": ["parcels"]},
            "trafficControl": {"properties": {"operation": {"enum": ["collect_parcel"]}}},
        },
    },
)
