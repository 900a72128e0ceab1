"""All that messaging brings to the language, as a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sendbox.scenario.values import Reader, entries
from sendbox.scenario.vocabulary import Key, RuleList, Rules, Vocabulary
from sendbox.services.messaging.channels import CHANNELS, FAMILIES, MEANT
from sendbox.services.messaging.language.happenings import HAPPENINGS
from sendbox.services.messaging.language.lints import find, seen
from sendbox.services.messaging.language.rules import compile_rule
from sendbox.services.messaging.model import PhoneSpec
from sendbox.services.messaging.results import WAYS

if TYPE_CHECKING:
    from sendbox.scenario.model import Node


def _phone(node: Node, reader: Reader) -> PhoneSpec:
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
            lambda node, reader: entries(node, reader, _phone),
            lists=(RuleList(("phones",), ("number",), when="", extra=("name", "channels", "conversation", "offline")),),
        ),
        Key(
            "attempts",
            lambda node, reader: entries(node, reader, compile_rule),
            rules=Rules("rule", compile_rule),
            lists=(
                RuleList(
                    ("attempts",),
                    ("channel", "phone", "tag", "body", "sender", "template", "operation", "attempt", "key", "payload"),
                    (("then", "mix"), ("replies",), ("click",)),
                    extra=("name", "illegal", "locale"),
                ),
            ),
            times=tuple(WAYS),
        ),
    ),
    happenings=HAPPENINGS,
    lints=(find,),
    doubts=(seen,),
    families={family: MEANT[family] for family in FAMILIES if family not in CHANNELS},
)
