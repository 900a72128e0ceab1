"""Fields of requests: their paths, the assumption each rests on, and a small request for each."""

from __future__ import annotations

from typing import Any

from sendbox.contract.fields import Field, fields_of, smallest

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string"},
        "old": {"type": "object", "deprecated": True, "properties": {"x": {"type": "string"}}},
        "all": {"type": "object", "x-assumed": "A02", "x-assumed-for": ["required"], "properties": {"a": {}}},
        "more": {
            "type": "object",
            "x-assumed": "A01",
            "required": ["n"],
            "properties": {"n": {"type": "integer"}, "kind": {"enum": ["one", "two"]}, "none": {"type": "null"}},
        },
        "list": {"type": "array", "items": {"type": ["string", "object"], "properties": {"b": {"type": "boolean"}}}},
        "any": {"type": "array"},
    },
}


def test_paths_and_requests() -> None:
    """Objects are walked and arrays are, an old name is not; what a field lies in is put around it."""
    assert fields_of("Unheard", SCHEMA) == [
        Field("$.id", {"id": "Example"}),
        Field("$.old", {"id": "Example", "old": {}}),
        Field("$.all", {"id": "Example", "all": {}}),
        Field("$.all.a", {"id": "Example", "all": {"a": "Example"}}),
        Field("$.more", {"id": "Example", "more": {"n": 1}}, "A01"),
        Field("$.more.n", {"id": "Example", "more": {"n": 1}}, "A01"),
        Field("$.more.kind", {"id": "Example", "more": {"n": 1, "kind": "one"}}, "A01"),
        Field("$.more.none", {"id": "Example", "more": {"n": 1, "none": "Example"}}, "A01"),
        Field("$.list", {"id": "Example", "list": [{}]}),
        Field("$.list[].b", {"id": "Example", "list": [{"b": True}]}),
        Field("$.any", {"id": "Example", "any": ["Example"]}),
    ]


def test_the_smallest_request() -> None:
    """The smallest value that a schema accepts; rules beyond it have requests of their own, each a copy."""
    assert smallest("Unheard", SCHEMA) == {"id": "Example"}
    message = smallest("Message", SCHEMA)
    message["to"].clear()
    assert smallest("Message", SCHEMA) == {"body": "Hello", "to": [{"phone_number": "420777000101"}]}
