"""The contract of control: what schemas are made of types, and that all of it is described."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Annotated, Any, Final, Literal

import pytest
from msgspec import UNSET, UnsetType

from sendbox.app import SERVED
from sendbox.contract.validators import Contract
from sendbox.control.arguments import Duration, Moment, Written, convert
from sendbox.control.openapi import Schemas
from sendbox.control.operation import ControlError
from sendbox.engine.answer import COMPONENTS, Answer, Instant, enum, reference
from sendbox.services.http import openapi
from sendbox.services.http.openapi import WEBHOOKS
from tests import answers


class Leaf(Answer):
    """A leaf."""

    colour: Annotated[str, enum(("red", "green"))]
    grown: int | None = None
    fell: int | UnsetType | None = UNSET


class Branch(Leaf):
    leaves: list[Leaf]
    parent: Branch | None
    named: dict[str, float]
    anything: Any
    at: Instant
    word: Literal["y", "x"]
    elsewhere: Annotated[dict[str, Any], reference("Forest")]
    either: Annotated[Any, reference("LeafOrOpen", Leaf, Open)]


class Open(Answer):
    """More may be there."""

    EXTRA_FIELDS_TYPE = bool


def _another() -> type[Answer]:
    class Leaf(Answer):
        x: int

    return Leaf


def test_a_class_is_a_component() -> None:
    """It has the fields of the classes that it extends; those that may be left out are not required, and never null."""
    schemas = Schemas()
    assert schemas.schema(Branch) == {"$ref": f"{COMPONENTS}Branch"}
    branch, leaf = schemas.components["Branch"], schemas.components["Leaf"]
    assert leaf["description"] == "A leaf."
    assert leaf["required"] == ["colour"]
    assert sorted(branch["required"]) == sorted({*Branch.__struct_fields__} - {"grown", "fell"})
    assert leaf["properties"] == {
        "colour": {"type": "string", "enum": ["red", "green"]},
        "grown": {"type": "integer"},
        "fell": {"type": ["integer", "null"]},
    }
    assert {name: part for name, part in branch["properties"].items() if name not in leaf["properties"]} == {
        "leaves": {"type": "array", "items": {"$ref": f"{COMPONENTS}Leaf"}},
        "parent": {"anyOf": [{"$ref": f"{COMPONENTS}Branch"}, {"type": "null"}]},
        "named": {"type": "object", "additionalProperties": {"type": "number"}},
        "anything": {},
        "at": {"type": "string", "format": "date-time"},
        "word": {"enum": ["y", "x"], "type": "string"},
        "elsewhere": {"$ref": f"{COMPONENTS}Forest"},
        "either": {"$ref": f"{COMPONENTS}LeafOrOpen"},
    }
    assert schemas.components["LeafOrOpen"] == {"anyOf": [{"$ref": f"{COMPONENTS}Leaf"}, {"$ref": f"{COMPONENTS}Open"}]}
    assert branch["additionalProperties"] is False
    assert "description" not in branch
    assert schemas.schema(dict) == {"type": "object", "additionalProperties": True}
    assert schemas.schema(Any | None) == {}


def test_services_may_add_fields() -> None:
    """What is open for them says of which type they are."""
    schemas = Schemas()
    schemas.schema(Open)
    assert schemas.components["Open"]["additionalProperties"] == {"type": "boolean"}


def test_two_classes_of_one_name_are_an_error() -> None:
    """A component would describe the answer of another operation."""
    other, schemas = _another(), Schemas()
    schemas.schema(Leaf)
    with pytest.raises(TypeError, match=r"^Leaf is the name of two classes of answers"):
        schemas.schema(other)


def test_what_json_does_not_have_is_refused() -> None:
    """A mistake in a type is named."""
    with pytest.raises(TypeError, match=r"complex.* is not a type of JSON"):
        Schemas().schema(complex)


def test_no_array_or_map_has_forms() -> None:
    """Generators of clients make no class of a part of a field: an answer that has forms is one named component."""
    found = [
        f"{name}.{field}"
        for name, schema in answers.contract()["components"]["schemas"].items()
        for field, part in schema.get("properties", {}).items()
        if sum(either.get("type") in ("array", "object") for either in part.get("anyOf", ())) > 1
    ]
    assert found == []


def test_operations_have_the_tag_of_their_service() -> None:
    """So that generators make a class of each; and nothing needs a key."""
    document = answers.contract()
    tags = {tag for path in document["paths"].values() for row in path.values() for tag in row["tags"]}
    assert tags >= {"account", "messaging", "partner", "verify", "worlds", "time", "requests", "playing"}
    assert document["security"] == [{}, {"token": []}]


def test_every_answer_has_a_schema() -> None:
    """Nothing but the schema of scenarios is any object."""
    any_object = [name for name, row in SERVED.by_name.items() if row.answers is dict]
    assert any_object == ["schema"]


#: The schemas that are open on purpose, by component: any JSON that a client or a scenario wrote, fields that depend on
#: the kind of an entry or that a service adds, and values of the place that is compared. All have a description.
OPEN: Final = {
    "Error": ("",),
    "ShortEvent": ("",),
    "RequestEntry": ("/fault",),
    "AdviceEntry": ("/about",),
    "FaultEntry": ("/fault",),
    "OtherEntry": ("",),
    "Code": ("/payload",),
    "Assumptions": ("/settings",),
    "Assumption": ("/profiles/*",),
    "OtherValue": ("/value",),
    "FirstDifference": ("/was", "/would"),
    "CanonicalEntry": ("",),
    "DifferentField": ("/here", "/there"),
    "Report": ("/settings",),
    "ShortRequest": ("/fault",),
    "RecordedCommand": ("",),
    "TemplateView": ("/components/*",),
    "Pending": ("/*/*",),
    "Step": ("",),
    "Checked": ("/values/*", "/examples/*"),
    "Problem": ("/value",),
    "LegalKey": ("/example",),
    "AccountView": ("/templates/*",),
    "Message": ("/payload",),
    "ExploredWorld": ("/scenario",),
    "Text": ("/content",),
    "Known": ("/content", "/raw"),
    "HeaderShown": ("",),
    "ButtonShown": ("/value",),
    "ToldMessage": ("/payload",),
    "ToldAttempt": ("/content", "/raw"),
    "StoryEntry": ("",),
    "OutageView": ("/outage",),
}


def _open(schema: dict[str, Any], place: str = "", *, said: bool = False) -> Iterator[tuple[str, bool]]:
    """The places in a schema where anything is legal, and whether they say what is there."""
    if not schema.keys() - {"description"} or schema.get("additionalProperties") in (True, {}):
        yield place, said or "description" in schema
    for name, part in schema.get("properties", {}).items():
        yield from _open(part, f"{place}/{name}")
    for part in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(part, dict) and part:
            yield from _open(part, f"{place}/*")
    for part in (part for word in ("anyOf", "oneOf", "allOf") for part in schema.get(word, ())):
        if "default" not in part:
            yield from _open(part, place, said="description" in schema)
    if "if" in schema:  # the cases of a value of several types
        yield from _open(schema["then"], place, said="description" in schema)
        yield from _open(schema["else"], place, said="description" in schema)


def test_answers_are_closed() -> None:
    """What is open is named here with its reason, and says what is there; so a new one is added by hand."""
    found = {name: list(_open(schema)) for name, schema in answers.contract()["components"]["schemas"].items()}
    assert {name: tuple(place for place, _ in places) for name, places in found.items() if places} == OPEN
    assert [name for name, places in found.items() if not all(described for _, described in places)] == []


@pytest.mark.unmeasured
def test_events_of_webhooks_are_typed() -> None:
    """They are those of the contract of the service, so that a generator reads this one alone."""
    schemas = answers.contract()["components"]["schemas"]
    event = {"$ref": f"{COMPONENTS}WebhookEvent"}
    assert schemas["Hook"]["properties"]["events"]["items"] == event
    assert schemas["SentEvent"]["properties"]["event"] == event
    kinds = [part["$ref"].removeprefix(COMPONENTS) for part in schemas["WebhookEvent"]["anyOf"]]
    assert kinds == ["SentMessage", "IncomingReplyMessage", "IncomingMessage", "Onboarding"]
    service = openapi.document((), Contract(*SERVED.schemas), origin="http://sandbox", version="1", webhooks=WEBHOOKS)
    for name, schema in service["components"]["schemas"].items():
        assert schema.get("type") == "array" or schemas[name] == schema
    without = answers.contract(replace(SERVED, webhooks={}))["components"]["schemas"]["WebhookEvent"]
    assert without["type"] == "object"


def bare(schema: Any) -> Any:
    """A schema without the description that it must have."""
    assert schema["description"]
    return {name: part for name, part in schema.items() if name != "description"}


def test_arguments_are_typed() -> None:
    """Numbers, booleans, words and what holds unless they are given, described; nothing is null in a query."""
    paths = answers.contract()["paths"]
    parameters = {each["name"]: each for each in paths["/_sandbox/worlds/{id}/messages"]["get"]["parameters"]}
    assert (parameters["limit"]["in"], parameters["limit"]["required"]) == ("query", False)
    assert bare(parameters["limit"]["schema"]) == {"type": "integer", "minimum": 1}
    assert bare(parameters["order"]["schema"]) == {"type": "string", "enum": ["oldest", "newest"], "default": "oldest"}
    assert bare(parameters["phone"]["schema"]) == {"type": "string"}
    assert parameters["then"]["schema"] == {"type": "string"}
    story = {
        each["name"]: each for each in paths["/_sandbox/worlds/{id}/messages/{message_id}/story"]["get"]["parameters"]
    }
    assert bare(story["explain"]["schema"]) == {"type": "boolean", "default": True}
    body = paths["/_sandbox/worlds"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert bare(body["properties"]["deliveries"]) == {
        "type": "string",
        "enum": ["push", "pull"],
        "allOf": [{"default": "push"}],
    }
    assert body["properties"]["clock"]["properties"]["mode"]["enum"] == ["manual", "real", "auto"]
    text = paths["/_sandbox/coverage"]["get"]["responses"]["200"]["content"]
    assert list(text) == ["application/json", "text/plain", "text/html"]
    report = paths["/_sandbox/worlds/{id}/report"]["get"]
    lines = next(each for each in report["parameters"] if each["name"] == "lines")
    assert bare(lines["schema"]) == {"type": "integer", "minimum": 1, "maximum": 5_000, "default": 500}
    assert list(report["responses"]["200"]["content"]) == ["application/json", "text/html", "text/plain"]


@pytest.mark.parametrize("value", ["1m", "500ms", 0, 500, 1.5, "2026-03-01T09:00:00Z", 1_772_355_600_000, True])
@pytest.mark.parametrize("kind", [Duration, Moment])
def test_times_have_the_schema_of_what_is_taken(kind: type[Written], value: object) -> None:
    """A number has no unit, so 0 alone is a duration, and none an instant; texts are read beyond their schema."""
    fits = answers.validator(kind.SCHEMA).is_valid(value)
    try:
        number = convert(value, kind)
    except ValueError:
        assert not fits or isinstance(value, str)
    else:
        assert (fits, type(number)) == (True, int)


def test_errors_have_a_schema() -> None:
    """Of the sandbox too: too many worlds are a 503."""
    error = {"application/json": {"schema": {"$ref": f"{COMPONENTS}Error"}}}
    for path in answers.contract()["paths"].values():
        for operation in path.values():
            assert [operation["responses"][status]["content"] for status in ("4XX", "5XX")] == [error, error]


def test_a_wrong_answer_would_be_found() -> None:
    """The check of answers in tests is one."""
    wrong = answers.validator({"$ref": f"{COMPONENTS}Clock"})
    assert wrong.is_valid({"now": "x", "mode": "manual", "rate": 1, "next_due": None, "pending": 0})
    assert not wrong.is_valid({"now": "x", "mode": "wild", "rate": 1, "next_due": None, "pending": 0})
    assert not wrong.is_valid({"now": "x", "mode": "manual", "rate": 1, "next_due": None, "pending": 0, "more": 1})


#: Words of the language that the sandbox is written in: a client of control may be written in any.
_PYTHON: Final = re.compile(
    r"\b(None|True|False|NoneType|dict|tuple|kwargs|isinstance|list index|\w+Error|[Rr]aises)\b|<class|\(or None\)"
)
_WRONG: Final = (None, True, False, 1.5, -1, "x", [None], {"a": None, "b": True}, {"a": [False]})


def _texts(node: object) -> Iterator[str]:
    """The descriptions in a document, at any depth."""
    if isinstance(node, dict):
        yield from (node[name] for name in ("description", "summary") if isinstance(node.get(name), str))
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _texts(inner)


def test_no_description_has_words_of_python() -> None:
    """The clients of control are written in many languages."""
    assert [text for text in _texts(answers.contract()) if _PYTHON.search(text)] == []


def test_no_refusal_has_words_of_python() -> None:
    """A wrong value of any argument of any operation is quoted as the JSON that it was."""
    refusals = []
    for row in SERVED.operations:
        for name, value in product(row.takes, _WRONG):
            try:
                row.convert({name: value})
            except ControlError as error:
                refusals.append(error.message)
    assert "during: true is not legal; legal: text or null" in refusals
    assert 'code: {"a": null, "b": true} is not legal; legal: text' in refusals
    assert [text for text in refusals if _PYTHON.search(text)] == []
