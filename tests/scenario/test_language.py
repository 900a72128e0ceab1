"""The language and its vocabularies: what a service brings is taken at its word, by a language of its own."""

from __future__ import annotations

from typing import Any, Final

import pytest

from sendbox.engine.rules.rule import Rule
from sendbox.interfaces import PARTS
from sendbox.language import LANGUAGE, language
from sendbox.scenario.keys.timeline import Happening
from sendbox.scenario.language import SETTINGS
from sendbox.scenario.lint.linter import Linter
from sendbox.scenario.model import Node, ScenarioError, show
from sendbox.scenario.values import Reader, items, text_of
from sendbox.scenario.vocabulary import Key, RuleList, Rules, Vocabulary
from tests.scenarios import load


class Rain(Rule, frozen=True):
    """A rule of the toy service."""


def compile_rain(node: Node, reader: Reader) -> Rain:
    city = str(node.entries()["city"].value)
    if city == "Nowhere":
        reader.add_problem(node, "city", f"{show(city)} is no city")
    return Rain(city, place=node.place)


def compile_storm(_node: Node, what: dict[str, Any], reader: Reader) -> int:
    what["phone"] = reader.number(_node.entries()["phone"])
    return len(str(what["phone"]))


def doubt_storm(node: Node, linter: Linter) -> None:
    if node.get("name") is None:
        linter.warn(node, "storm", "a storm without a name is soon forgotten")


def rained(node: Node, _reader: Reader, current: Any) -> dict[str, Any]:
    return {"rain": [*current["rain"], text_of(node.get("city"))]}


CITY: Final = {"type": "string", "x-says": "a city"}
TOY: Final = Vocabulary(
    keys=(
        Key(
            "weather",
            lambda node, reader: tuple(compile_rain(item, reader) for item in items(node)),
            rules=Rules("weather", compile_rain),
            patch=rained,
            lists=(RuleList(("weather",), ("city",), when=""),),
            times=("lasts",),
        ),
    ),
    happenings=(Happening("storm", compile_storm, doubt_storm),),
    schema={
        "properties": {
            "weather": {"type": "array", "items": {"$ref": "#/$defs/weather"}, "x-says": "a list of rules of rain"}
        },
        "$defs": {
            "weather": {
                "title": "rain",
                "type": "object",
                "additionalProperties": False,
                "required": ["city"],
                "properties": {"city": CITY, "lasts": {"$ref": "#/$defs/duration"}},
                "x-says": "a rule of rain",
            },
            "happening": {
                "anyOf": [{"required": ["storm"]}],
                "properties": {
                    "storm": {
                        "title": "storm",
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["phone"],
                        "properties": {"phone": {"$ref": "#/$defs/number"}, "name": CITY},
                        "x-says": "a storm",
                    }
                },
            },
        },
    },
)
WEATHERED: Final = language(TOY)
SCENARIO: Final = """sendbox: 1
extends: default
weather: [{city: Brno, lasts: 1h}]
timeline:
  - {at: 1s, storm: {phone: "777 000 101", name: Sabine}}
  - {at: 2s, clock: {mode: manual}}
"""


def test_another_service_brings_a_key_and_a_happening() -> None:
    """What it brings is compiled, beside all that was there before; the schema takes it."""
    blueprint = WEATHERED.load(SCENARIO, name="a.yaml")
    assert blueprint.of("weather") == (Rain("Brno", place="a.yaml:3"),)
    assert [(entry.kind, entry.means) for entry in blueprint.timeline] == [("storm", 12), ("clock", None)]
    assert blueprint.timeline[0].what == {"phone": "420777000101", "name": "Sabine"}
    assert [rule.key for rule in blueprint.of("attempts")] == [rule.key for rule in load("default").of("attempts")]
    assert WEATHERED.check(SCENARIO) == []


def test_the_language_without_it_knows_nothing_of_it() -> None:
    """A key that no service of a language brought is refused by its schema; each has a library of its own."""
    with pytest.raises(ScenarioError) as error:
        LANGUAGE.load(SCENARIO, name="a.yaml")
    assert [problem.value for problem in error.value.problems] == ["weather", "storm"]
    assert WEATHERED.load("default") is WEATHERED.load("default")
    assert WEATHERED.load("default") is not load("default")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "weather: [{town: Brno}]",
            ['{"town":"Brno"} has no "city"', '"town" is not a key of a rain; legal: city, lasts'],
        ),
        ("weather: [{city: Nowhere}]", ['"Nowhere" is no city']),
        ("weather: [{city: Brno}, {city: Brno}]", ['warning: {"city":"Brno"} never decides']),
        ("weather: [{city: Brno, lasts: 500d}]", ['warning: "500d" is longer than a world can wait']),
        ("timeline: [{at: 1s, storm: {phone: '777000101'}}]", ["warning: a storm without a name is soon forgotten"]),
        ("timeline: [{at: 1s, storm: {name: Sabine}}]", ['{"name":"Sabine"} has no "phone", which every storm needs']),
    ],
)
def test_its_problems_and_doubts(text: str, expected: list[str]) -> None:
    """They are found and worded like all others."""
    found = [str(problem).partition(": ")[2] for problem in WEATHERED.check(f"sendbox: 1\n{text}")]
    assert len(found) == len(expected)
    assert all(line.startswith(begins) for line, begins in zip(found, expected, strict=True)), found


def test_control_takes_its_rules_and_changes() -> None:
    """A rule and a change are held to the definition that the vocabulary names."""
    assert WEATHERED.compile_rule("weather", {"city": "Brno"}) == Rain("Brno")
    current = {"rain": ["Brno"]}
    assert WEATHERED.compile_patch("weather", {"city": "Praha"}, current=current) == {"rain": ["Brno", "Praha"]}
    with pytest.raises(ScenarioError, match='"Nowhere" is no city'):
        WEATHERED.compile_rule("weather", {"city": "Nowhere"})


def test_each_kind_of_happening_is_done() -> None:
    """What the language knows of the timeline is what the parts of a world do, and its clock."""
    assert set(LANGUAGE.happenings) == {kind for part in PARTS for kind in part.TIMELINE_HANDLERS} | {"clock"}


def test_every_key_of_the_schema_is_somebodys() -> None:
    """A key is one that a service brought, or a general one; no key is brought that the schema does not have."""
    assert set(LANGUAGE.brought) == {"account", "phones", "attempts", "partner", "verify"}
    assert set(LANGUAGE.shape.schema["properties"]) == SETTINGS | set(LANGUAGE.keys)
