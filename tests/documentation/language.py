"""The scenario language as its JSON Schema has it: every mapping with its keys, and which keys an example uses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from types import NoneType
from typing import Any, Final

import yaml

from sendbox import data
from sendbox.app import SERVED
from sendbox.control.operation import Operation
from sendbox.engine import durations
from sendbox.engine.delivery.faults import table as deliveries
from sendbox.engine.delivery.faults.table import DELIVERIES
from sendbox.engine.expect.conditions import INSTANT
from sendbox.engine.faults import table as calls
from sendbox.engine.faults.fault import F
from sendbox.engine.faults.table import CALLS
from sendbox.language import SUBJECTS
from sendbox.scenario.environment import MARK
from sendbox.scenario.keys.expect import NONE, NOT
from sendbox.scenario.shape import schema
from sendbox.services.assume import PROFILES, SETTINGS
from sendbox.services.messaging.model import ASKED, POSTED, MessageField
from sendbox.services.numbers import written
from sendbox.services.operations import CALLS as OPERATIONS
from sendbox.services.operations import EMULATED
from sendbox.services.setting import definition
from tests.documentation.markdown import code, table

#: Mappings of one or two keys, or of results, and those that a table of another name shows: the text around their
#: example says what a table would.
UNLISTED: Final = frozenset(
    (
        *"bulk click content coverage credit crowd digest entry limits mix moment pauses price prices proof".split(),
        *("queue", "rate", "repeat", "timing"),
        *("verify then", "traffic expect", "clock change"),
        *("api fault", "webhook fault", "following thing"),
    )
)
#: So many legal words are listed in a table; a text lists more.
MOST: Final = 12
#: Forms of texts, by the word that a node of the schema has in `x-form`.
FORMS: Final = durations.FORMS | written.FORMS
LANGUAGE: Final = data.folder("schemas") / "scenario.schema.json"


def with_tables(text: str) -> str:
    """The schema with everything written anew that stands in tables: faults, settings, subjects, operations."""
    schema = json.loads(text)
    parts = schema["$defs"]
    parts.update(apiFault=calls.definition(), assume=definition(SETTINGS, PROFILES))
    parts["oneWebhookFault"], parts["webhookFault"] = deliveries.definitions()
    parts["thing"]["enum"] = list(SUBJECTS)
    parts["where"]["properties"] = _conditions(parts["where"]["properties"])
    for name, place, rows in (("when", "after", ASKED.values()), ("webhookWhen", "not", POSTED)):
        parts[name]["properties"] = _asked(parts[name]["properties"], place, rows)
    one, several = parts["belongs"]["anyOf"]
    names = dict.fromkeys(("phone", *(name for row in SUBJECTS.values() for name in row.about), "body", NONE))
    one["examples"] = several["items"]["examples"] = list(names)
    parts["called"]["examples"] = list(EMULATED)
    parts["trafficRequest"]["properties"]["operation"]["examples"] = list(OPERATIONS)
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


#: What kinds of arguments are, in words (`scenario/keys/traffic.py`).
_WORDS: Final[dict[type, str]] = {str: "a text", int: "a number", dict: "a mapping", NoneType: "null"}


def _arguments(row: Operation) -> dict[str, str]:
    """The arguments of an operation, each with what it may be; a `*` says that it must be given."""
    return {
        name: (" or ".join(_WORDS[kind] for kind in argument.kinds) or "a value") + "*" * argument.required
        for name, argument in row.takes.items()
    }


def _conditions(nodes: Mapping[str, Any]) -> dict[str, Any]:
    """Each field of the subjects of `expect`, with its words in each of them; `nodes` has forms other than `wanted`."""
    fields: dict[str, dict[str, list[str]]] = {}
    for name, subject in SUBJECTS.items():
        for field, row in subject.fields.items():
            fields.setdefault(field, {}).setdefault(row.says, []).append(name)
    written = {}
    for field, said in fields.items():
        sentence = "; ".join(
            says if len(said) == 1 else f"of {', '.join(subjects)}: {says}" for says, subjects in said.items()
        )
        node = nodes.get(field, {"$ref": "#/$defs/wanted"})
        written[field] = {**node, "description": f"{sentence[0].upper()}{sentence[1:]}."}
    for subject in SUBJECTS.values():
        for word, says in subject.words.items():
            written[word] = {"$ref": "#/$defs/where", "description": f"{says[0].upper()}{says[1:]}."}
    return {**written, INSTANT: nodes[INSTANT], NOT: nodes[NOT]}


def _asked(nodes: Mapping[str, Any], place: str, rows: Iterable[MessageField]) -> dict[str, Any]:
    """The conditions of a list of rules: those that are written by hand, and the other rows before a place."""
    texts = {
        row.name: {"$ref": "#/$defs/patterns", "description": f"{row.says[0].upper()}{row.says[1:]}."}
        for row in rows
        if row.name not in nodes
    }
    names = list(nodes)
    at = names.index(place)
    return {name: nodes.get(name) or texts[name] for name in (*names[:at], *texts, *names[at:])}


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
        rows.append((code(name), _wanted(node), shown, node["description"], setting.assumption))
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
