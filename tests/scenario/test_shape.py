"""The language's JSON Schema: valid, complete enough for editors, and explained in words everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sendbox.language import LANGUAGE
from sendbox.scenario import shape
from sendbox.scenario.model import Source, plain
from sendbox.scenario.parse import from_object
from sendbox.services.messaging.channels import CHANNELS, FAMILIES, STATES, WAYS
from sendbox.services.messaging.model import ASKED, POSTED
from tests.scenarios import compiled, load

SCHEMA = shape.schema()
DEFINITIONS = SCHEMA["$defs"]


def nodes(schema: Any, path: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every subschema with its path."""
    if not isinstance(schema, dict):
        return
    yield path, schema
    for keyword in ("properties", "$defs"):
        for key, value in schema.get(keyword, {}).items():
            yield from nodes(value, f"{path}/{keyword}/{key}")
    for keyword in ("items", "additionalProperties", "propertyNames"):
        yield from nodes(schema.get(keyword), f"{path}/{keyword}")
    for at, value in enumerate(schema.get("anyOf", ())):
        yield from nodes(value, f"{path}/anyOf/{at}")


ALL = dict(nodes(SCHEMA))


def test_the_schema_is_valid() -> None:
    """The language's schema is itself valid JSON Schema 2020-12."""
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_every_key_is_described() -> None:
    """An editor shows one sentence for each key."""
    silent = []
    for path, schema in ALL.items():
        if "/properties/" in path:
            name = schema.get("$ref", "").rpartition("/")[2]
            description = schema.get("description") or DEFINITIONS[name]["description"]
            silent += [] if description.endswith(".") and "\n" not in description else [path]
    assert silent == []


def test_every_value_has_words() -> None:
    """What can be refused says what is wanted, so that no message speaks of JSON types."""
    values = {path: schema for path, schema in ALL.items() if not {"$ref", "required"} & {*schema} or "type" in schema}
    assert [path for path, schema in values.items() if not schema.get("x-says")] == []


def told(path: str) -> set[str]:
    """The keywords of a subschema, with those of what it refers to."""
    return {word for part in LANGUAGE.shape.branches([ALL[path]]) for word in part} | {*ALL[path]}


def test_every_form_has_an_example() -> None:
    """What must have a certain form shows an editor one that has it; so do the shared kinds of values."""
    silent = []
    for path, schema in ALL.items():
        if path == "#/$defs/environment":  # not one of the words that are offered
            continue
        if "enum" not in schema and ({"pattern", "format"} & {*schema} or path.rpartition("/")[0] == "#/$defs"):
            kinds = {str(part.get("type")) for part in LANGUAGE.shape.branches([schema])}
            if kinds.isdisjoint(("object", "array", "boolean", "number", "integer")):
                silent += [] if {"examples", "enum"} & told(path) else [path]
    assert silent == []


def test_examples_and_defaults_are_legal() -> None:
    """What an editor offers can be left as it stands."""
    illegal = []
    for path, schema in ALL.items():
        values = [*schema.get("examples", ()), *([schema["default"]] if "default" in schema else [])]
        if values:
            validator = Draft202012Validator({"$defs": DEFINITIONS, **schema})
            illegal += [(path, value) for value in values if not validator.is_valid(value)]
    assert illegal == []


SECTIONS = {**{name: DEFINITIONS[name] for name in ("clock", "account", "assume")}, "": SCHEMA}
DEFAULTS = {
    (section, key): schema["default"]
    for section, part in SECTIONS.items()
    for key, schema in part["properties"].items()
    if "default" in schema
}


def test_a_default_is_what_holds_without_it() -> None:
    """To write a default changes nothing."""
    without = compiled(load({"sendbox": 1}, name="x"))
    changing = []
    for (section, key), default in DEFAULTS.items():
        scenario = {section: {key: default}} if section else {key: default}
        if compiled(load({"sendbox": 1, **scenario}, name="x")) != without:
            changing.append((section, key))
    assert changing == []


def test_settings_have_a_default() -> None:
    """Each setting of `assume` names its default, but where there is none or the world has it from elsewhere."""
    without = {key for key in DEFINITIONS["assume"]["properties"] if ("assume", key) not in DEFAULTS}
    assert without == {"profile", "country", "queue", "prices", "promotional_window", "allowed", "identical"}


def test_closed_sets_are_listed() -> None:
    """No description or wording names a choice of words that the schema does not list as such."""
    for path, schema in ALL.items():
        if schema.get("type") == "string" and "enum" not in schema:
            assert not schema["x-says"].startswith(("a choice", "a word for", "a state", "a result", "a mode")), path


def test_every_mapping_is_closed_or_says_why() -> None:
    """Unknown keys are refused everywhere but in parts of templates and in mappings whose keys are the user's."""
    mappings = {path: schema for path, schema in ALL.items() if schema.get("type") == "object"}
    open_ones = {path for path, schema in mappings.items() if schema.get("additionalProperties") is not False}
    assert {path.rpartition("/")[2] for path in open_ones} == {
        "button", "component", "example", "limited_time_offer", "items", "json", "payload", *FAMILIES,
        "query", "form", "params", "arguments",
        "headers", "body",
    }  # fmt: skip
    assert all("title" in schema for path, schema in mappings.items() if path not in open_ones)


def test_what_a_mapping_must_have_has_a_stand_in() -> None:
    """Checks of meaning go on where a key is missing, because something legal stands in for it."""
    language = shape.Shape()
    for schema in ALL.values():
        for key in schema.get("required", ()):
            if "title" in schema:
                part = schema["properties"][key]
                node, problems = from_object(language.least(part), Source("x"))
                assert not problems
                validator = Draft202012Validator({"$defs": DEFINITIONS, **part})
                assert validator.is_valid(plain(node))


def test_the_words_are_those_of_the_core() -> None:
    """Channels, results and conditions of the schema are the ones that the core has."""
    assert DEFINITIONS["result"]["enum"] == list(WAYS) == list(STATES[1:])
    assert DEFINITIONS["channel"]["enum"] == [*CHANNELS, "chatapp"]
    limits = {"not", "nth", "every", "per", "share", "from", "until", "hours"}
    assert set(DEFINITIONS["when"]["properties"]) == {*ASKED, "after", "country", "operator", *limits}
    posted = {"event", "result", "gateway", "phone", "country", "operator", *(row.name for row in POSTED)}
    assert set(DEFINITIONS["webhookWhen"]["properties"]) == posted | limits


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        pytest.param([], {"sendbox": 1, "seed": -(2**63)}, id="the-lowest-seed"),
        pytest.param(
            ["$.seed: 1e+30 is above the maximum of 9223372036854775807; wanted: a seed: a whole number or text"],
            {"sendbox": 1, "seed": 1e30},
            id="beyond-64-bits",
        ),
        pytest.param(
            ["$.assume.webhook_retry: [" + '"1s",' * 11 + '"1s… has 101 entries, at most 100 are legal'],
            {"sendbox": 1, "assume": {"webhook_retry": ["1s"] * 101}},
            id="too-many",
        ),
    ],
)
def test_values_that_are_hard_to_carry(expected: list[str], value: dict[str, Any]) -> None:
    """Numbers beyond what JSON libraries take, and very long lists, are refused in words, never by an exception."""
    node, problems = from_object(value, Source("x"))
    assert not problems
    assert [str(problem).partition("; legal")[0] for problem in LANGUAGE.shape.check(node)] == expected


def test_a_refusal_that_cannot_be_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the validator refuses what the explainer takes, the refusal still stands, in general words."""
    monkeypatch.setattr(LANGUAGE.shape, "_validator", lambda part: SimpleNamespace(is_valid=lambda value: False))
    node, _ = from_object({"sendbox": 1}, Source("x"))
    assert list(map(str, LANGUAGE.shape.check(node))) == ['$: {"sendbox":1} is refused by the schema of the language']
