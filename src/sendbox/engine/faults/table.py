"""All faults, by their word: of calls, and of deliveries. The order is that of the schema and the documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from sendbox.engine.delivery.faults import requests, ways
from sendbox.engine.delivery.faults.fault import WebhookFault
from sendbox.engine.faults import answers, connections
from sendbox.engine.faults.fault import ApiFault, Fault
from sendbox.engine.forms import Node, Value, ValueNode, ValueReader, either, mapping, word

F = TypeVar("F", bound=Fault)


def by_name(*faults: type[F]) -> dict[str, type[F]]:
    """A table of faults."""
    return {fault.kind: fault for fault in faults}


CALLS: Final[dict[str, type[ApiFault]]] = by_name(
    answers.Status,
    answers.Answer,
    connections.Delay,
    connections.Disconnect,
    connections.Reset,
    connections.Garbage,
    answers.BadJson,
    connections.Trickle,
    connections.Timeout,
    answers.RateLimit,
    connections.BeforeAnswer,
    connections.BeforeRead,
    answers.Twice,
)
DELIVERIES: Final[dict[str, type[WebhookFault]]] = by_name(
    ways.Drop,
    ways.Duplicate,
    ways.Delay,
    ways.Reorder,
    ways.Split,
    ways.Bundle,
    requests.BadSignature,
    ways.Stale,
    ways.Repeat,
    ways.Overtake,
    requests.ContentType,
    requests.Reformat,
    requests.Answer,
)


def read(table: Mapping[str, type[F]], source: ValueNode, reader: ValueReader) -> F:
    """A fault of a scenario: a word, or a mapping of one key."""
    if not isinstance(source.value, dict):
        fault = table[str(source.value)]
        return fault.of(fault.usual)
    ((kind, detail),) = source.entries().items()
    fault = table[kind]
    assert fault.value is not None
    return fault.of(fault.value.read(detail, reader))


def words(table: Mapping[str, type[F]], description: str, says: str) -> Value:
    """The faults of a table that are a word, in the language's schema."""
    return word(description, (kind for kind, fault in table.items() if fault.bare), says)


def keys(table: Mapping[str, type[F]], title: str, description: str, says: str) -> Value:
    """The faults of a table that have something behind their word, as a mapping of one key."""
    values = {kind: fault.value for kind, fault in table.items() if fault.value is not None}
    return mapping(title, description, values, says, minProperties=1, maxProperties=1)


def definition_of_calls() -> Node:
    """The faults of calls in the language's schema."""
    *others, last = (kind for kind, fault in CALLS.items() if fault.value is not None)
    legal = f"{', '.join(others)} or {last}"
    says = "a fault such as disconnect or {status: 500}"
    return either(
        "What goes wrong: a word, or one key with its value.",
        words(CALLS, "A fault that needs no value.", says),
        keys(
            CALLS,
            "api fault",
            "A fault with its value.",
            f"a fault with one key, such as {{status: 500}}; it has {legal}",
        ),
        says,
    ).node


def definitions_of_deliveries() -> tuple[Node, Node]:
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
