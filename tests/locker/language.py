"""The key `lockers` of the language of scenarios: what may stand in it, and what is made of it."""

from __future__ import annotations

from typing import Any, Final

from sendbox.engine.forms import Value, duration, mapping, positive, span, text
from sendbox.engine.rules.rule import When
from sendbox.scenario.model import Node
from sendbox.scenario.values import Reader, canonical, entries
from sendbox.scenario.vocabulary import Key, RuleList, Rules, Vocabulary
from tests.locker.parcels import TOLD, LockerRule


def known(definition: str, read: Any) -> Value:
    """A value of which the schema of the language has the definition already."""
    return Value({"$ref": f"#/$defs/{definition}"}, lambda given, reader: read(reader, given))


WHEN: Final = mapping(
    "locker when",
    "Which parcels the rule is about; every one without it.",
    {
        "phone": known("numberPattern", Reader.phones),
        "locker": known("pattern", Reader.pattern),
        "share": known("share", Reader.share),
        "nth": positive("Which of the parcels for which the other conditions hold."),
    },
    "a mapping of conditions",
)
RULE: Final = mapping(
    "locker rule",
    "A rule about parcels.",
    {
        "name": text("What the rule is about.", "a name"),
        "when": WHEN,
        "stored": span("After what time the courier stores the parcel."),
        "kept": duration("How long the parcel is kept."),
        "times": positive("How many parcels the rule decides about."),
    },
    "a rule such as {kept: 1h}",
)


def compile_rule(node: Node, reader: Reader) -> LockerRule:
    """One rule. What is drawn for it is keyed by its name, or by its text."""
    given = RULE.read(node, reader)
    when = When(**given.pop("when", {}))
    key = given.get("name") or canonical({**given, **when.asked, **when.limits})
    return LockerRule(key, when, **given, place=node.place)


LOCKERS: Final = Vocabulary(
    keys=(
        Key(
            "lockers",
            lambda node, reader: entries(node, reader, compile_rule),
            rules=Rules("lockerRule", compile_rule),
            lists=(RuleList(("lockers",), ("phone", "locker"), extra=("name", "stored", "kept")),),
            times=("stored", "kept"),
        ),
    ),
    schema={
        "properties": {"lockers": {"type": "array", "items": RULE.node, "x-says": "a list of rules"}},
        "$defs": {
            "lockerRule": RULE.node,
            "webhookEvent": {"enum": list(TOLD.values())},
            "thing": {"enum": ["parcels"]},
            "trafficControl": {"properties": {"operation": {"enum": ["collect_parcel"]}}},
        },
    },
)
