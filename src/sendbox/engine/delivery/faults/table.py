"""All faults of deliveries, by their word. The order is that of the schema and the documentation."""

from __future__ import annotations

from typing import Final

from sendbox.engine.delivery.faults.answer import Answer
from sendbox.engine.delivery.faults.bad_signature import BadSignature
from sendbox.engine.delivery.faults.bundle import Bundle
from sendbox.engine.delivery.faults.content_type import ContentType
from sendbox.engine.delivery.faults.delay import Delay
from sendbox.engine.delivery.faults.drop import Drop
from sendbox.engine.delivery.faults.duplicate import Duplicate
from sendbox.engine.delivery.faults.fault import WebhookFault
from sendbox.engine.delivery.faults.overtake import Overtake
from sendbox.engine.delivery.faults.reorder import Reorder
from sendbox.engine.delivery.faults.split import Split
from sendbox.engine.delivery.faults.stale import Stale
from sendbox.engine.faults.row import by_name, keys, words
from sendbox.engine.forms import Node, either

DELIVERIES: Final[dict[str, type[WebhookFault]]] = by_name(
    Drop, Duplicate, Delay, Reorder, Split, Bundle, BadSignature, Stale, Overtake, ContentType, Answer
)


def definition() -> Node:
    """The faults of deliveries in the language's schema."""
    return either(
        "What goes wrong: a word, or a mapping of one key.",
        words(DELIVERIES, "A fault in its usual form.", "a fault that is a word"),
        keys(DELIVERIES, "webhook fault", "A fault with its details.", "one fault such as {delay: 30s}"),
        "a fault: a word such as drop, or a mapping of one key such as {delay: 30s}",
    ).node
