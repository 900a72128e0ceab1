"""Problems that a schema finds, as findings: one line with the value first, then the rule, then the legal values.

Each keyword has its sentence in `SENTENCES`. The name of a value, its legal values and the section of the specification
come from the schema (`x-noun`, `x-legal`, `x-unit`, `x-spec`, `x-assumed`; see `schemas`). Beside them: the places at
which two JSON values differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec
import orjson

from sendbox.engine.answer import JsonObject
from sendbox.engine.remarks import Finding

#: Longest value that a message quotes, in characters.
QUOTED: Final = 60
#: The greatest number of unknown names of one object that are looked at.
MAX_UNKNOWN_NAMES: Final = 10
#: The assumption that null is not a value for a field (A56).
NULLS: Final = "A56"

_TYPES: Final = {
    "string": "a string",
    "object": "an object",
    "array": "an array",
    "number": "a number",
    "integer": "an integer",
    "boolean": "true or false",
    "null": "null",
}


class Problem(msgspec.Struct):
    """A problem that a validator found: the keyword that failed, the value, the node with the keyword, and both paths.

    The last step of `schema_path` is the keyword.
    """

    keyword: str
    value: Any
    node: Any
    path: list[str | int]
    schema_path: list[str | int]
    above: list[JsonObject] = msgspec.field(default_factory=list)


def explain(problems: Iterable[Problem], value: object, schema: JsonObject) -> list[Finding]:
    """Findings in the order of the value's parts: the whole before its parts, and at one place the most telling first.

    `schema` is the one that found the problems, inlined. Where the type is wrong, that is all there is to say.
    """
    placed = [
        (_position(problem.path, value), _RANKS.get(problem.keyword, len(_RANKS)), problem) for problem in problems
    ]
    placed.sort(key=lambda entry: entry[:2])
    findings: dict[tuple[str, str], Finding] = {}
    mistyped: set[tuple[int, ...]] = set()
    for position, _, problem in placed:
        if position in mistyped:
            continue
        if problem.keyword == "type":
            mistyped.add(position)
        problem.above = _nodes(schema, problem.schema_path)
        for finding in _findings(problem):
            findings.setdefault((finding.path, finding.message), finding)
    return list(findings.values())


def foreign(path: Iterable[str | int], rule: str, message: str) -> Finding:
    """A finding in the words of the deciding validator, without a section: only where nothing else was found."""
    return Finding(json_path(path), rule, " ".join(message.split()), "§2")


def json_path(path: Iterable[str | int]) -> str:
    """A path as JSONPath: `$.flow[1].sms.ttl`, `$['a b']`."""
    text = "$"
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.isidentifier() and len(step) <= QUOTED:
            text += f".{step}"
        else:
            text += f"[{step[:QUOTED]!r}]"
    return text


def show(value: object) -> str:
    """A value as JSON on one line, cut if it is long."""
    if isinstance(value, str):
        if len(value) <= QUOTED:
            return _json(value)
        return f'{_json(value[:QUOTED])[:-1]}…" ({len(value)} characters)'
    if isinstance(value, list | dict) and len(value) > QUOTED:
        return f"{'[…]' if isinstance(value, list) else '{…}'} ({len(value)} entries)"
    text = _json(value)
    return text if len(text) <= QUOTED else f"{text[:QUOTED]}…"


def _json(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # nested too deep, or no JSON at all
        return ascii(value)[: 2 * QUOTED] if not isinstance(value, list | dict) else "{…}"


# Order


#: Keywords from the most telling to the least, for problems at one place.
_ORDER: Final = ("type", "required", "additionalProperties", "enum", "const", "maxItems", "minItems", "maxProperties")
_RANKS: Final = {keyword: rank for rank, keyword in enumerate(_ORDER)}


def _position(path: list[str | int], value: Any) -> tuple[int, ...]:
    """The place of a path in the document, as numbers: entries by index, fields by their order in the text."""
    position = []
    for step in path:
        position.append(step if isinstance(step, int) else list(value).index(step))
        value = value[step]
    return tuple(position)


# Words


def _nodes(schema: JsonObject, path: list[str | int]) -> list[JsonObject]:
    """The nodes from the root of the schema down to the one that holds the keyword; lists are passed through."""
    node: Any = schema
    nodes = [schema]
    for step in path[:-1]:
        node = node[step]
        if isinstance(node, dict):
            nodes.append(node)
    return nodes


def _findings(problem: Problem) -> Iterator[Finding]:
    keyword = problem.keyword
    node = problem.node
    section = next((above["x-spec"] for above in reversed(problem.above) if "x-spec" in above), "§2").partition(",")[0]
    assumed = node.get("x-assumed") if keyword in node.get("x-assumed-for", (keyword,)) else None
    if keyword == "type" and problem.value is None:
        assumed = NULLS
    source = f"{section}, {assumed}" if assumed else section
    for path, sentence in SENTENCES.get(keyword, _other)(problem, node):
        yield Finding(json_path(path), keyword, f"{sentence} ({source})", section, assumed)


Sentences = Iterator[tuple[list[str | int], str]]


def _name(problem: Problem, node: JsonObject) -> str:
    """The name of the value in messages: the schema's noun, its field, or an entry of it."""
    if "x-noun" in node:
        return str(node["x-noun"])
    field_name = next((step for step in reversed(problem.path) if isinstance(step, str)), None)
    if problem.path and isinstance(problem.path[-1], int):
        return f"entry of {field_name}" if field_name else "entry of the array"
    return field_name[:QUOTED] if field_name else "JSON body"


def _legal(node: JsonObject) -> str:
    """The legal values of a node, in words: its own words, its values, or its types."""
    if "x-legal" in node:
        return str(node["x-legal"])
    if "enum" in node:
        return ", ".join(map(str, node["enum"]))
    if "const" in node:
        return show(node["const"])
    types = node.get("type", "any value")
    return " or ".join(_TYPES.get(name, name) for name in ([types] if isinstance(types, str) else types))


def _close(word: str, words: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The word that is most similar to `word`, ignoring case; None if no word is similar."""
    from difflib import get_close_matches

    if len(word) > QUOTED:
        return None
    folded = {legal.lower(): legal for legal in words if len(legal) <= QUOTED}
    matches = get_close_matches(word.lower(), folded, 1, cutoff)
    return folded[matches[0]] if matches else None


def _hint(word: object, words: Iterable[str]) -> str:
    close = _close(word, words) if isinstance(word, str) else None
    return f'; did you mean "{close}"?' if close is not None else ""


def _span(low: int | None, high: int | None) -> str:
    if low is None:
        return f"at most {high}"
    if high is None:
        return f"{low} or more"
    return str(low) if low == high else f"{low} to {high}"


# A sentence for each keyword


def _type(problem: Problem, node: JsonObject) -> Sentences:
    leave = ""
    if problem.value is None and _is_optional(problem):
        leave = ", or leave it out"
    yield problem.path, f"{show(problem.value)} is not a legal {_name(problem, node)}; legal: {_legal(node)}{leave}"


def _is_optional(problem: Problem) -> bool:
    """True if the value is a field that may be left out."""
    if len(problem.schema_path) < 3 or problem.schema_path[-3] != "properties":
        return False
    return problem.schema_path[-2] not in problem.above[-3].get("required", ())


def _enum(problem: Problem, node: JsonObject) -> Sentences:
    words = [word for word in node["enum"] if isinstance(word, str)]
    text = f"{show(problem.value)} is not a legal {_name(problem, node)}; legal: {', '.join(map(str, node['enum']))}"
    yield problem.path, text + _hint(problem.value, words)


def _value(problem: Problem, node: JsonObject) -> Sentences:
    legal = node.get("x-legal") or (show(node["const"]) if "const" in node else f"text in the form {node['pattern']}")
    yield problem.path, f"{show(problem.value)} is not a legal {_name(problem, node)}; legal: {legal}"


def _number(problem: Problem, node: JsonObject) -> Sentences:
    bound = problem.keyword
    side = "below" if bound == "minimum" else "above"
    unit = f" {node['x-unit']}" if "x-unit" in node else ""
    yield problem.path, f"{show(problem.value)} is {side} the {bound} {_name(problem, node)} of {node[bound]}{unit}"


def _length(problem: Problem, node: JsonObject) -> Sentences:
    text, low, high = problem.value, node.get("minLength"), node.get("maxLength")
    count = "" if len(text) > QUOTED else f" ({len(text)} characters)"
    rule = "longer than the maximum" if problem.keyword == "maxLength" else "shorter than the minimum"
    bound = high if problem.keyword == "maxLength" else low
    name = _name(problem, node)
    yield problem.path, f"{show(text)}{count} is {rule} {name} of {bound} characters; legal: {_span(low, high)}"


def _items(problem: Problem, node: JsonObject) -> Sentences:
    low, high, name = node.get("minItems"), node.get("maxItems"), _name(problem, node)
    if problem.keyword == "maxItems":
        text = f"{len(problem.value)} entries are more than the maximum of {high} in {name}"
    else:
        text = f"{show(problem.value)} has fewer entries than the minimum of {low} in {name}"
    yield problem.path, f"{text}; legal: {_span(low, high)}"


def _keys(problem: Problem, node: JsonObject) -> Sentences:
    low, high, name = node.get("minProperties"), node.get("maxProperties"), _name(problem, node)
    if low == high == 1:
        legal = (
            f"exactly one of {', '.join(_always(node['properties']))}"
            if "properties" in node
            else "one name and its value"
        )
    else:
        legal = f"{_span(low, high)} keys"
    keys = list(problem.value)
    names = ", ".join(key[:QUOTED] for key in keys[:5]) + (", …" if len(keys) > 5 else "")
    subject = f"{len(keys)} keys ({names}) are" if keys else "{} is"
    yield problem.path, f"{subject} not a legal {name}; legal: {legal}"


def _required(problem: Problem, node: JsonObject) -> Sentences:
    fields = node.get("properties", {})
    unknown = [name for name in problem.value if name not in fields][:MAX_UNKNOWN_NAMES]
    for name in node["required"]:
        if name not in problem.value:
            close = _close(name, unknown, 0.5)
            hint = f"; you sent {show(close)}; the field is {name}" if close else ""
            yield [*problem.path, name], f"{name} is missing; required: {_legal(fields.get(name, {}))}{hint}"


def _additional(problem: Problem, node: JsonObject) -> Sentences:
    fields = node.get("properties", {})
    name = node.get("x-noun") or f"field of {_name(problem, node)}"
    for key in [key for key in problem.value if key not in fields][:MAX_UNKNOWN_NAMES]:
        yield (
            problem.path,
            f"{show(key)} is not a legal {name}; legal: {', '.join(_always(fields))}{_hint(key, fields)}",
        )


def _always(fields: JsonObject) -> Iterator[str]:
    """The names that are legal whatever the settings are."""
    return (name for name, node in fields.items() if "x-switch" not in node)


def _other(problem: Problem, node: JsonObject) -> Sentences:
    yield problem.path, f"{show(problem.value)} is not legal here"


SENTENCES: Final[dict[str, Callable[[Problem, JsonObject], Sentences]]] = {
    "type": _type,
    "enum": _enum,
    "const": _value,
    "pattern": _value,
    "minimum": _number,
    "maximum": _number,
    "minLength": _length,
    "maxLength": _length,
    "minItems": _items,
    "maxItems": _items,
    "minProperties": _keys,
    "maxProperties": _keys,
    "required": _required,
    "additionalProperties": _additional,
}


#: Stands for a field that one of the two does not have.
MISSING: Final = object()

#: The steps to a place.
Path = tuple[str | int, ...]
#: The entries of two arrays that are compared with each other, each pair with its place in the first.
Pairs = Callable[[list[Any], list[Any]], Iterable[tuple[int, Any, Any]]]


def by_place(a: list[Any], b: list[Any]) -> Iterator[tuple[int, Any, Any]]:
    """The entries of two arrays that stand at the same place, with it."""
    return ((index, left, right) for index, (left, right) in enumerate(zip(a, b, strict=False)))


def differing(a: object, b: object, path: Path = (), pair: Pairs = by_place) -> Iterator[tuple[Path, Any, Any]]:
    """Each place that differs, with both values; of arrays first the entries that `pair` yields, then other lengths."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys((*a, *b)):
            yield from differing(a.get(key, MISSING), b.get(key, MISSING), (*path, key), pair)
    elif isinstance(a, list) and isinstance(b, list):
        for index, left, right in pair(a, b):
            yield from differing(left, right, (*path, index), pair)
        if len(a) != len(b):
            yield path, a, b
    elif type(a) is not type(b) or a != b:
        yield path, a, b
