"""A scenario in front of another: its rules are asked first, all else holds only where the other says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from sendbox.control.export.scenario import source_of
from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.blueprint import Blueprint
from sendbox.exploring.misfortune import LISTS
from sendbox.scenario.environment import escape_texts
from sendbox.scenario.language import Language
from sendbox.scenario.model import ScenarioError, errors
from sendbox.scenario.read import Scenarios, read
from sendbox.scenario.write import standalone

#: The keys that stand in front, and those of them that stand within another key.
_RULES: Final = (*LISTS, "timeline", "plan")
_WITHIN: Final = {"verify": ("rules",), "partner": ("template_review", "signup")}
#: What the scenario behind always decides, or what is about a run of its own.
_LEFT_OUT: Final = (
    "sendbox",
    "name",
    "seed",
    "clock",
    "found",
    "traffic",
    "receiver",
    "expect",
    "counterexamples",
    "include",
    "extends",
)
#: Keys whose rules need nothing else of a scenario.
_ALONE: Final = frozenset({"sendbox", *LISTS})
#: The scenario that stands behind everything, never in front.
_BEHIND: Final = frozenset({"default"})


def front(language: Language, scenario: Scenarios, env: Mapping[str, str]) -> JsonObject:
    """A scenario, by name, path, text or object, as it stands in front: without the default scenario.

    Raises `ScenarioError` with every problem.
    """
    language.load(scenario, env=env)
    node, problems, _ = read(scenario, language.shape, env=env, without=_BEHIND)
    if node is None or (wrong := errors(problems)):
        raise ScenarioError(wrong if node is not None else problems)
    return standalone(node)


def in_front(language: Language, blueprint: Blueprint, fronts: Sequence[JsonMapping]) -> Blueprint:
    """A blueprint with these scenarios in front of it, the first of them foremost."""
    parts = [part for scenario in fronts for part in (scenario, *scenario.get("include", ()))]
    halves = [_split_scenario(part) for part in parts]
    rules = [{"sendbox": 1, **first} for first, _ in halves if first]
    settings = [{"sendbox": 1, **second} for _, second in halves if second]
    if not rules and not settings:
        return blueprint
    source = {"sendbox": 1, "name": blueprint.name, "include": [*rules, source_of(blueprint), *settings]}
    if not settings and all(rule.keys() <= _ALONE for rule in rules):
        return _quickly(language, blueprint, rules, source)
    return language.load(escape_texts(source))


def _quickly(language: Language, blueprint: Blueprint, rules: Sequence[JsonMapping], source: JsonObject) -> Blueprint:
    """The same where only lists of rules stand in front, without compiling all that is behind them again."""

    def rules_of(key: str) -> tuple[object, ...]:
        before = [
            language.compile_rule(key, rule, assume=blueprint.assume)
            for scenario in rules
            for rule in scenario.get(key, ())
        ]
        return (*before, *blueprint.of(key))

    compiled = {**blueprint.compiled, "attempts": rules_of("attempts")}
    return replace(blueprint, compiled=compiled, api=rules_of("api"), webhooks=rules_of("webhooks"), source=source)


def _split_scenario(part: JsonMapping) -> tuple[JsonObject, JsonObject]:
    """The two parts of a scenario: the part that stands in front, and the part that stands behind."""
    first: JsonObject = {}
    second: JsonObject = {}
    for key, value in part.items():
        if key in _RULES:
            first[key] = value
        elif key in _WITHIN and isinstance(value, Mapping):
            inner = {name: item for name, item in value.items() if name in _WITHIN[key]}
            outer = {name: item for name, item in value.items() if name not in inner}
            first |= {key: inner} if inner else {}
            second |= {key: outer} if outer else {}
        elif key not in _LEFT_OUT:
            second[key] = value
    return first, second
