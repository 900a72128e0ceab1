"""The keys and the timeline entries that messaging brings to the language of scenarios, as a row."""

from __future__ import annotations

from typing import Final

from sendbox.engine.answer import JsonObject
from sendbox.engine.rules.conditions import several
from sendbox.scenario.keys.texts import compile_text
from sendbox.scenario.keys.timeline import Happening
from sendbox.scenario.keys.when import one_or_more
from sendbox.scenario.model import Node, show
from sendbox.scenario.values import Reader, canonical, entries, whole_number
from sendbox.scenario.vocabulary import Key, RuleList, Vocabulary
from sendbox.services.language import compile_sender
from sendbox.services.messaging.channels import CHANNELS, FAMILIES, MEANT, SENDERS, WAYS
from sendbox.services.messaging.content.text import GAPS
from sendbox.services.messaging.language.lints import find, seen
from sendbox.services.messaging.language.lints import inbound as lint_inbound
from sendbox.services.messaging.language.rules import ATTEMPT_RULES, channels_of, text_condition
from sendbox.services.messaging.model import POSTED, PhoneSpec
from sendbox.services.messaging.outages import Outage

#: Which act a key of `phone` belongs to.
_ONLY_WITH: Final = {"link": "click", "button": "press"}


def _inbound(node: Node, entry: JsonObject, reader: Reader) -> object:
    parts = node.entries()
    entry["from"] = reader.number(parts["from"])
    if "to" in parts:
        entry["to"] = compile_sender(parts["to"], str(entry["channel"]), SENDERS, reader)
    return compile_text(parts["body"], reader, ("phone",), node.get("locale"))


def _reply(node: Node, entry: JsonObject, reader: Reader) -> object:
    parts = node.entries()
    entry["phone"] = reader.number(parts["phone"])
    return compile_text(parts["body"], reader, GAPS, node.get("locale"))


def _phone(node: Node, entry: JsonObject, reader: Reader) -> None:
    parts = node.entries()
    entry["number"] = reader.number(parts["number"])
    for key, act in _ONLY_WITH.items():
        if key in parts and entry["act"] != act and not parts["act"].incomplete and not node.incomplete:
            message = f'{show(key)} stands beside the act "{entry["act"]}"; it belongs to "{act}"'
            reader.add_problem(node, "act", message, key=key)


def _outage(node: Node, entry: JsonObject, reader: Reader) -> Outage:
    parts = node.entries()
    lasts = reader.duration(parts["for"])
    if lasts == 0 and not any(problem.path == parts["for"].path for problem in reader.problems):
        reader.add_problem(
            parts["for"], "outage", f"{show(entry['for'])} is not the length of an outage, which is more than 0"
        )
    if (
        "info" in parts
        and not node.incomplete
        and {entry.get("in_flight", "wait"), entry.get("new", "wait")} == {"wait"}
    ):
        message = (
            f'{show(entry["info"])} is never used, since all wait; it belongs to a bad end of "in_flight" or "new"'
        )
        reader.add_problem(parts["info"], "outage", message)
    country = node.get("country")
    operator, share = node.get("operator"), node.get("share")
    if operator is not None:
        reader.networks(operator, country)
    places = None if country is None else reader.countries(country)
    return Outage(
        lasts,
        channels_of(node.get("channel"), reader),
        None if places is None else frozenset(place.iso for place in places),
        None if operator is None else whole_number(operator),
        str(entry.get("in_flight", "wait")),
        str(entry.get("new", "wait")),
        entry.get("info"),
        several(one_or_more(node.get("phone"), reader.phones)) or None,
        None if share is None else reader.share(share),
        "" if share is None else canonical({"outage": entry}),
    )


HAPPENINGS: Final = (
    Happening("inbound", _inbound, lint_inbound),
    Happening("reply", _reply),
    Happening("phone", _phone),
    Happening("outage", _outage),
)


def _handset(node: Node, reader: Reader) -> PhoneSpec:
    channels, conversation, offline = node.get("channels"), node.get("conversation"), node.get("offline")
    return PhoneSpec(
        number=reader.phones(node.entries()["number"]),
        channels=None if channels is None else frozenset(str(item.value) for item in channels.items()),
        conversation=conversation is not None and conversation.value == "open",
        offline=offline is not None and offline.value is True,
    )


MESSAGING: Final = Vocabulary(
    keys=(
        Key(
            "phones",
            lambda node, reader: entries(node, reader, _handset),
            lists=(RuleList(("phones",), ("number",), when="", extra=("name", "channels", "conversation", "offline")),),
        ),
        ATTEMPT_RULES.key(times=tuple(WAYS)),
    ),
    happenings=HAPPENINGS,
    lints=(find,),
    doubts=(seen,),
    posted={row.name: text_condition(row) for row in POSTED},
    families={family: MEANT[family] for family in FAMILIES if family not in CHANNELS},
)
