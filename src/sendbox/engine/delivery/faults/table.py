"""All faults of deliveries, by their word. The order is that of the schema and the documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sendbox.engine.delivery.faults.answer import Answer
from sendbox.engine.delivery.faults.bad_signature import BadSignature
from sendbox.engine.delivery.faults.bundle import Bundle
from sendbox.engine.delivery.faults.content_type import ContentType
from sendbox.engine.delivery.faults.delay import Delay
from sendbox.engine.delivery.faults.drop import Drop
from sendbox.engine.delivery.faults.duplicate import Duplicate
from sendbox.engine.delivery.faults.overtake import Overtake
from sendbox.engine.delivery.faults.reformat import Reformat
from sendbox.engine.delivery.faults.reorder import Reorder
from sendbox.engine.delivery.faults.repeat import Repeat
from sendbox.engine.delivery.faults.split import Split
from sendbox.engine.delivery.faults.stale import Stale
from sendbox.engine.faults.fault import by_name, keys, words
from sendbox.engine.forms import Node, either

if TYPE_CHECKING:
    from sendbox.engine.delivery.faults.fault import WebhookFault

DELIVERIES: Final[dict[str, type[WebhookFault]]] = by_name(
    Drop, Duplicate, Delay, Reorder, Split, Bundle, BadSignature, Stale, Repeat, Overtake, ContentType, Reformat, Answer
)


def definitions() -> tuple[Node, Node]:
    """One fault of deliveries in the language's schema, and what a rule may have: one, or a list of them."""
    one = either(
        "What goes wrong: a word, or a mapping of one key.",
        words(DELIVERIES, "A fault in its usual form.", "a fault that is a word"),
        keys(DELIVERIES, "webhook fault", "A fault with its details.", "one fault such as {delay: 30s}"),
        "a fault: a word such as drop, or a mapping of one key such as {delay: 30s}",
    ).node
    several = {
        "description": "Several faults of one event.",
        "type": "array",
        "minItems": 2,
        "items": {"$ref": "#/$defs/oneWebhookFault"},
        "x-says": "a list of two or more faults",
    }
    return one, {**one, "anyOf": [*one["anyOf"], several], "x-says": f"{one['x-says']}, or a list of them"}
