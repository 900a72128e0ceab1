"""The scenario language as its JSON Schema has it: every mapping with its keys, and which keys an example uses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

import yaml

from sendbox import data
from sendbox.app import SERVED
from sendbox.control.operation import Operation
from sendbox.engine import durations
from sendbox.engine.expect.expectation import INSTANT
from sendbox.engine.faults.table import CALLS, DELIVERIES, F, definition_of_calls, definitions_of_deliveries
from sendbox.engine.forms import either, reference, sequence
from sendbox.language import SUBJECTS
from sendbox.scenario.environment import MARK
from sendbox.scenario.keys.expect import NONE, NOT
from sendbox.scenario.keys.faults import API_RULES, webhook_rules
from sendbox.scenario.shape import schema
from sendbox.services.messaging.channels import CHANNELS, FAMILIES, STATES
from sendbox.services.messaging.language.rules import ATTEMPT_RULES
from sendbox.services.messaging.language.vocabulary import MESSAGING
from sendbox.services.messaging.subjects import EVENTS as OF_MESSAGES
from sendbox.services.numbers import notation
from sendbox.services.operations import CALLS as OPERATIONS
from sendbox.services.operations import EMULATED, SENDING
from sendbox.services.partner.language import REVIEW_RULES, SIGNUP_RULES
from sendbox.services.partner.subjects import EVENTS as OF_PARTNERS
from sendbox.services.setting import definition
from sendbox.services.settings import PROFILES, SETTINGS
from sendbox.services.verify.language import VERIFY_RULES
from tests.documentation.markdown import code, table
from tests.documentation.words import DEFINITIONS, legal_values, with_words

#: Mappings of one or two keys, or of results, and those that a table of another name shows: the text around their
#: example says what a table would.
UNLISTED: Final = frozenset(
    (
        *"bulk click content coverage credit digest entry frequency limits mix moment pauses price prices".split(),
        *("proof", "queue", "rate", "repeat", "timing"),
        *("verify then", "traffic expect", "clock change"),
        *("api fault", "webhook fault", "following thing"),
    )
)
#: So many legal words are listed in a table; a text lists more.
MOST: Final = 12
#: Forms of texts, by the word that a node of the schema has in `x-form`.
FORMS: Final = durations.FORMS | notation.FORMS
#: The forms of all lists of rules.
RULES: Final = (ATTEMPT_RULES, VERIFY_RULES, REVIEW_RULES, SIGNUP_RULES, API_RULES, webhook_rules(MESSAGING.posted))
LANGUAGE: Final = data.folder("schemas") / "scenario.schema.json"


def with_tables(text: str) -> str:
    """The schema with everything written anew that stands in tables: faults, settings, subjects, operations."""
    schema = json.loads(text)
    parts = schema["$defs"]
    parts.update(apiFault=definition_of_calls(), assume=definition(SETTINGS, PROFILES))
    parts.update(DEFINITIONS)
    for rules in RULES:
        parts.update(rules.definitions)
    parts["oneWebhookFault"], parts["webhookFault"] = definitions_of_deliveries()
    parts["thing"]["enum"] = list(SUBJECTS)
    words = {
        "result": STATES[1:],
        "webhookEvent": (*OF_MESSAGES, *OF_PARTNERS),
        "channel": dict.fromkeys((*CHANNELS, *FAMILIES)),
        "family": FAMILIES,
    }
    for name, legal in words.items():
        parts[name]["enum"] = list(legal)
    parts["where"]["properties"] = _conditions(parts)
    one, several = parts["belongs"]["anyOf"]
    names = dict.fromkeys(("phone", *(name for row in SUBJECTS.values() for name in row.about), "body", NONE))
    one = {"description": one["description"], "examples": list(names), "x-says": one["x-says"]}
    parts["belonging"] = {**one, "type": "string", "minLength": 1}
    belonging = (*names, *dict.fromkeys(name for row in SUBJECTS.values() for name in row.names))
    one = with_words(one, belonging, **{"x-checked": "belonging", "examples": one["examples"]})
    parts["belongs"]["anyOf"] = [one, {**several, "items": {**one, "description": several["items"]["description"]}}]
    request = parts["trafficRequest"]["properties"]
    request["operation"] = with_words(request["operation"], OPERATIONS, **{"x-checked": "anyOperation"})
    for name, operations in (("operation", SENDING), ("called", EMULATED)):
        parts[name] = with_words(parts[name], operations, **{"x-checked": "operationId"})
    operation = parts["trafficControl"]["properties"]["operation"]
    operation["enum"] = _controlled()
    operation["x-arguments"] = {name: _arguments(SERVED.by_name[name]) for name in _controlled()}
    for node in _nodes(schema):
        if "x-form" in node:
            node["pattern"] = _pattern(node["x-form"])
            node["patternErrorMessage"] = f"Wanted: {node['x-says']}."  # which editors show in place of the pattern
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _pattern(form: str) -> str:
    """The texts of a form, as an editor checks them; one with a value of the environment can be anything."""
    return f"^(?:{FORMS[form]})$(?!\n)|{re.escape(MARK)}"


def _controlled() -> list[str]:
    """The operations of control that traffic may have: those that change a world or look at it."""
    but = ("outbox", "record", "export", "compare")  # deliveries that are handed over, files, and another world
    rows = [row for row in SERVED.operations if row.worldly and row.name not in but]
    return [*(row.name for row in rows if row.act or row.method == "GET"), "advance"]


#: Types of arguments in words (`scenario/keys/traffic.py`); any other is a value.
_WORDS: Final[dict[Any, str]] = {str: "a text", dict[str, Any]: "a mapping", NoneType: "null"}


def _arguments(row: Operation) -> dict[str, str]:
    """The arguments of an operation, each with what it may be; a `*` says that it must be given."""
    return {name: _form(field.type) + "*" * field.required for name, field in row.takes.items()}


def _form(kind: Any) -> str:
    """What a value of a type may be."""
    if get_origin(kind) is Annotated:
        return _form(get_args(kind)[0])
    parts = get_args(kind) if get_origin(kind) in (UnionType, Union) else (kind,)
    return " or ".join(_WORDS[part] for part in parts) if _WORDS.keys() >= {*parts} else "a value"


def _conditions(parts: dict[str, Any]) -> dict[str, Any]:
    """Each field of the subjects of `expect`, with what it says of each of them.

    A definition of its own in `parts` has the values of a field with words; another form than `wanted` is kept.
    """
    nodes = parts["where"]["properties"]
    fields: dict[str, dict[str, list[str]]] = {}
    for name, subject in SUBJECTS.items():
        for field, row in subject.fields.items():
            fields.setdefault(field, {}).setdefault(row.says, []).append(name)
    written = {}
    for field, said in fields.items():
        sentence = "; ".join(
            says if len(said) == 1 else f"of {', '.join(subjects)}: {says}" for says, subjects in said.items()
        )
        description = f"{sentence[0].upper()}{sentence[1:]}."
        legal = legal_values([row.fields[field] for row in SUBJECTS.values() if field in row.fields])
        if legal is None:
            written[field] = {**nodes.get(field, {"$ref": "#/$defs/wanted"}), "description": description}
            continue
        name = f"where{field.title()}"
        parts[name], one = legal, reference(name)
        several = sequence("Several of them; any will do.", one, "a list of values", minItems=1)
        node = either(description, one, several, "a value or a list of values").node
        written[field] = {**node, "x-checked": "wanted"}
    for subject in SUBJECTS.values():
        for word, says in subject.words.items():
            written[word] = {"$ref": "#/$defs/where", "description": f"{says[0].upper()}{says[1:]}."}
    return {**written, INSTANT: nodes[INSTANT], NOT: nodes[NOT]}


def listed() -> list[str]:
    """The mappings of which a document has a table of its own; those of faults stand with their faults."""
    elsewhere = {*UNLISTED, "assume", *of_faults(CALLS), *of_faults(DELIVERIES)}
    return [title for title in mappings() if title not in elsewhere]


def mappings() -> dict[str, dict[str, Any]]:
    """Every mapping of the language with keys of its own, by title."""
    return {node["title"]: node for node in _nodes(schema()) if "title" in node and node.get("properties")}


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for inner in node.values():
            yield from _nodes(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _nodes(inner)


def _resolved(node: dict[str, Any]) -> dict[str, Any]:
    """A node with what it refers to; its own description wins."""
    if "$ref" not in node:
        return node
    target: dict[str, Any] = schema()
    for step in node["$ref"].split("/")[1:]:  # "#" is the whole
        target = target[step]
    return {**_resolved(target), **{key: value for key, value in node.items() if key != "$ref"}}


def of_faults(table: Mapping[str, type[F]]) -> Iterator[str]:
    """The mappings that stand behind the words of faults, by title."""
    for fault in table.values():
        nodes = _nodes(fault.value.node) if fault.value is not None else ()
        yield from (node["title"] for node in nodes if node.get("properties"))


def keys(title: str) -> str:
    """The table of a mapping's keys."""
    mapping = mappings()[title]
    required = mapping.get("required", ())
    rows = []
    for key, node in mapping["properties"].items():
        node = _resolved(node)
        name = code(key) + (" (required)" if key in required else "")
        rows.append((name, _wanted(node), node["description"]))
    return table(("key", "value", "meaning"), rows)


def _wanted(node: dict[str, Any]) -> str:
    if "enum" in node and node.get("type") == "string" and len(node["enum"]) <= MOST:
        return ", ".join(map(code, node["enum"]))
    return str(node["x-says"])


def settings() -> str:
    """The table of `assume:`."""
    rows = []
    for name, setting in SETTINGS.items():
        node = _resolved(setting.definition())
        shown = setting.unset or code(_written(node["default"]))
        rows.append((code(name), _wanted(node), shown, node["description"], ", ".join(setting.assumptions)))
    return table(("setting", "value", "default", "meaning", "assumption"), rows)


def _written(value: object) -> str:
    """A value as a scenario has it, on one line."""
    return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1_000).partition("\n")[0]


def used(value: Any, node: dict[str, Any] | None = None) -> Iterator[tuple[str, str]]:
    """(mapping, key) of every key that a scenario uses."""
    node = _resolved(schema() if node is None else node)
    if "anyOf" in node and "properties" not in node:
        kind = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else None
        for branch in map(_resolved, node["anyOf"]):
            if branch.get("type") == kind:
                yield from used(value, branch)
    elif isinstance(value, list):
        for item in value:
            yield from used(item, node["items"])
    elif isinstance(value, dict):
        properties = node.get("properties", {})
        for key, inner in value.items():
            if key in properties:
                yield node["title"], key
                yield from used(inner, properties[key])
            elif isinstance(node.get("additionalProperties"), dict):
                yield from used(inner, node["additionalProperties"])
