"""Fields of requests: their paths, the assumption each rests on, and a small request for each."""

from __future__ import annotations

from typing import Any

from sendbox.contract.fields import paths_of, request_with, smallest

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
    requests = [(path, request_with(path, "Unheard", SCHEMA)) for path in paths_of(SCHEMA)]
    assert requests == [
        ("$.id", {"id": "Example"}),
        ("$.old", {"id": "Example", "old": {}}),
        ("$.all", {"id": "Example", "all": {}}),
        ("$.all.a", {"id": "Example", "all": {"a": "Example"}}),
        ("$.more", {"id": "Example", "more": {"n": 1}}),
        ("$.more.n", {"id": "Example", "more": {"n": 1}}),
        ("$.more.kind", {"id": "Example", "more": {"n": 1, "kind": "one"}}),
        ("$.more.none", {"id": "Example", "more": {"n": 1, "none": "Example"}}),
        ("$.list", {"id": "Example", "list": [{}]}),
        ("$.list[].b", {"id": "Example", "list": [{"b": True}]}),
        ("$.any", {"id": "Example", "any": ["Example"]}),
    ]
    assumed = {path: assumed for path, assumed in paths_of(SCHEMA).items() if assumed is not None}
    assert assumed == dict.fromkeys(("$.more", "$.more.n", "$.more.kind", "$.more.none"), "A01")


def test_the_smallest_request() -> None:
    """The smallest value that a schema accepts; rules beyond it have requests of their own, each a copy."""
    assert smallest("Unheard", SCHEMA) == {"id": "Example"}
    message = smallest("Message", SCHEMA)
    message["to"].clear()
    assert smallest("Message", SCHEMA) == {"body": "Hello", "to": [{"phone_number": "420777000101"}]}
