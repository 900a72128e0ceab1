"""The shape of a scenario: its nodes are checked against the JSON Schema of the language, each deviation is a problem.

`jsonschema-rs` decides, which takes microseconds; `jsonschema` is imported only to explain what it refused. A node of
the schema has in `x-says` what is wanted there, in words; in `x-without` what is wrong with a mapping that has none of
the keys of which it needs one; in `x-refused` keys that people expect and that do not exist, with the reason; in
`x-only` the key of a mapping around it that decides which of its keys are legal (`legal` of a `Shape` says which). A
text with `x-form` is read by a parser, which says more than the `pattern` that editors have for it. Where `x-checked`
stands, editors have words that a table of the code has too: there the definition that it names is checked.

Long because each way to deviate has a sentence of its own.

After the problems are noted, the wrong parts are removed, and missing keys get a small legal value, so that the
rules of meaning can check everything else and no problem hides another.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import jsonschema_rs
import orjson

from sendbox import data
from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.bounds import within
from sendbox.engine.durations import dated, instant, without_unit
from sendbox.scenario.model import PROBLEMS, SIZE, Node, Problem, article, listed, nearest, plain, problem, show
from sendbox.scenario.slips import BLANK

if TYPE_CHECKING:
    import jsonschema_rs
    from jsonschema.protocols import Validator

Error = Any  # a `ValidationError` of jsonschema; its types leave every attribute unset or any
#: The part of the schema for a whole scenario; other parts are definitions, such as `rule` and `account`.
SCENARIO: Final = ""
#: The rule of a number where a length of time is wanted, which has a unit.
UNIT: Final = "unit"

#: How many legal keys are listed even when one of them is similar.
_LISTED: Final = 13
#: An abbreviation has so many letters at least.
_SHORT: Final = 3
#: Words for true and false in other languages, YAML 1.1 among them.
_TRUTHS: Final = {"on": "true", "yes": "true", "y": "true", "off": "false", "no": "false", "n": "false"}
#: Usual other words for keys, which count where the key is legal.
_USUAL: Final = {"when": "where", "then": "result", "chance": "share", "probability": "share", "percent": "share"}


@functools.cache
def schema() -> JsonObject:
    """The JSON Schema of the language."""
    loaded: JsonObject = orjson.loads((data.folder("schemas") / "scenario.schema.json").read_bytes())
    return loaded


class Shape:
    """The schema of the language and additions of the same form: their mappings are joined with those of the schema,
    their lists follow those of the schema."""

    def __init__(self, *additions: JsonMapping, legal: Mapping[str, Collection[str]] = MappingProxyType({})) -> None:
        self._additions = additions
        #: the legal keys of a mapping with `x-only`, by the word that decides
        self._legal = legal
        self._validators: dict[str, jsonschema_rs.Validator] = {}

    @functools.cached_property
    def _checked(self) -> JsonObject:
        """The schema without the patterns and words of what a parser reads."""
        checked: JsonObject = _without_patterns(self.schema)
        return checked

    @functools.cached_property
    def schema(self) -> JsonObject:
        """The whole schema."""
        return functools.reduce(_joined, self._additions, schema())

    def check(self, node: Node, definition: str = SCENARIO) -> list[Problem]:
        """Every deviation from the schema; afterwards `node` has a legal shape, where necessary a changed one."""
        value = plain(node)
        if _may_have_whole_fractions(value):
            self._write_whole(node, definition)
            value = plain(node)
        if self._validator(definition).is_valid(value):
            return []
        explainer = self._explainer(definition)
        problems: list[Problem] = []
        first = True
        while errors := list(islice(explainer.iter_errors(value), PROBLEMS + 1)):
            leaves = [leaf for error in errors for leaf in _leaves(error)]
            if first:
                news = [leaf for leaf in leaves if not _is_covered(leaf, node, leaves)]
                complaints = (complaint for leaf in news for complaint in self._explained(leaf, node, leaves))
                problems = list(islice(complaints, PROBLEMS + 1))
                first = False
                if max(len(problems), len(errors)) > PROBLEMS:
                    text = f"the scenario has more than {PROBLEMS} problems; the first of them are shown"
                    node.value = {}
                    return [*problems[:PROBLEMS], problem(node, SIZE, text)]
            for leaf in leaves:
                if leaf.validator == "required" or _decides_nothing(leaf):
                    self._fill(node, leaf)
            doomed = sorted({tuple(path) for leaf in leaves for path in _removals(leaf)}, key=_order, reverse=True)
            if () in doomed:
                node.value = {}
                break
            for path in doomed:
                _remove(node, path)
            value = plain(node)
        if first:
            return [problem(node, "schema", f"{show(value)} is refused by the schema of the language")]
        return problems

    def _write_whole(self, root: Node, definition: str) -> None:
        """Makes whole numbers of fractions that are whole, such as 1.0, where nothing else is taken."""
        part = self.schema["$defs"][definition] if definition else self.schema
        for node, schemas in self.leaves(root, [part]):
            if isinstance(node.value, float) and node.value.is_integer() and within(node.value):
                types = {kind for branch in self.branches(schemas) for kind in types_of(branch)}
                if "integer" in types and "number" not in types:
                    node.value = int(node.value)

    def leaves(self, node: Node, schemas: list[JsonObject]) -> Iterator[tuple[Node, list[JsonObject]]]:
        """Every value in a tree that is no mapping and no list, with the parts of the schema for it."""
        value = node.value
        if isinstance(value, dict):
            branches = self.branches(schemas)
            for key, item in value.items():
                yield from self.leaves(item, [inner for branch in branches if (inner := property_of(branch, key))])
        elif isinstance(value, list):
            items = [branch["items"] for branch in self.branches(schemas) if "items" in branch]
            for item in value:
                yield from self.leaves(item, items)
        else:
            yield node, schemas

    def _explained(self, error: Error, root: Node, errors: list[Error]) -> list[Problem]:
        """The problems of an error, with fewer legal keys if another key limits them."""
        if error.validator == "additionalProperties":
            properties = self._properties(error.schema, root, list(error.absolute_path))
            node, schema_node = _at(root, error), {**error.schema, "properties": properties}
            return [_unknown(node, key, schema_node) for key in _surplus(error)[: PROBLEMS + 1]]
        return _explain(error, root, errors)

    def _properties(self, schema_node: JsonObject, root: Node, path: Sequence[object]) -> JsonObject:
        """The legal keys of the mapping at a path, by name: fewer where a key of a mapping around it decides."""
        properties: JsonObject = schema_node.get("properties", {})
        if "x-only" not in schema_node:
            return properties
        words = (_along(root, path[:end]).get(schema_node["x-only"]) for end in range(len(path)))
        around = [word for word in words if word is not None]
        legal = self._legal.get(str(around[-1].value)) if around else None
        return properties if legal is None else {key: item for key, item in properties.items() if key in legal}

    def at(self, path: Iterable[str | int]) -> list[JsonObject]:
        """The parts of the schema for what stands at a path of a scenario; none if nothing may."""
        parts = [self.schema]
        for step in path:
            around = self.branches(parts)
            if isinstance(step, int):
                parts = [branch["items"] for branch in around if "items" in branch]
            else:
                parts = [inner for branch in around if (inner := property_of(branch, step)) is not None]
        return self.branches(parts)

    def keys(self, root: Node, path: Sequence[str | int]) -> list[JsonObject]:
        """The keys that are legal in the mapping at a path, `{key, means, says, required, example}`.

        `root` is the scenario as far as it is written; `example` is left out where the schema has none.
        """
        rows: dict[str, JsonObject] = {}
        for branch in self.at(path):
            for key, item in self._properties(branch, root, path).items():
                row: JsonObject = {
                    "key": key,
                    "means": self._keyword_text(item, "description"),
                    "says": self._keyword_text(item, "x-says"),
                }
                row["required"] = key in branch.get("required", ())
                examples = [example for inner in self.branches([item]) for example in inner.get("examples", ())]
                rows.setdefault(key, row | ({"example": examples[0]} if examples else {}))
        return list(rows.values())

    def _keyword_text(self, schema_node: JsonObject, word: str) -> str:
        """The text that a part of the schema has under a word, else that of the part that it refers to."""
        return str(schema_node[word] if word in schema_node else self._target(schema_node)[word])

    def _target(self, schema_node: JsonObject) -> JsonObject:
        """The part of the schema at the end of the references of a part, which is the part itself if it has none."""
        while "$ref" in schema_node:
            ref = schema_node["$ref"]
            schema_node = self.schema if ref == "#" else self.schema["$defs"][ref.rpartition("/")[2]]
        return schema_node

    def branches(self, schema_nodes: list[JsonObject]) -> list[JsonObject]:
        """Parts of the schema with their references resolved, and unions as their branches."""
        resolved = []
        for schema_node in schema_nodes:
            target = self._target(schema_node)
            unions = [branch for branch in target.get("anyOf", ()) if branch.keys() != {"required"}]
            resolved += self.branches(unions) if unions else [target]
        return resolved

    def least(self, schema_node: JsonObject) -> object:
        """A small legal value for a part of the schema: the first word, the first example, or an empty value."""
        first = self.branches([schema_node])[0]
        for words in ("enum", "examples"):
            if words in first:
                return first[words][0]
        match first["type"]:
            case "object":
                return {key: self.least(first["properties"][key]) for key in required_keys(first)}
            case "array":
                return [self.least(first["items"])] * first.get("minItems", 0)
            case "boolean":
                return False
            case "string":
                return "-" * first.get("minLength", 0)
        return first.get("minimum", 0)

    def _fill(self, node: Node, error: Error) -> None:
        """Gives a mapping the keys that it must have, or of which it must have one, as the error says."""
        for step in error.absolute_path:
            node.incomplete = True
            node = _step(node, step)
        node.incomplete = True
        entries = node.entries()
        for key in error.validator_value if error.validator == "required" else required_keys(error.schema):
            if key not in entries:
                entries[key] = _stand_in(self.least(error.schema["properties"][key]), node)

    def _part(self, definition: str) -> JsonObject:
        nodes = self._checked
        if definition == SCENARIO:
            return nodes
        return {"$schema": nodes["$schema"], "$defs": nodes["$defs"], "$ref": f"#/$defs/{definition}"}

    def _validator(self, definition: str) -> jsonschema_rs.Validator:
        if definition not in self._validators:
            self._validators[definition] = jsonschema_rs.validator_for(self._part(definition))
        return self._validators[definition]

    def _explainer(self, definition: str) -> Validator:
        from jsonschema import Draft202012Validator

        return Draft202012Validator(self._part(definition))


def _joined(base: object, addition: Any) -> Any:
    if isinstance(base, dict):
        return {**base, **{key: _joined(base.get(key), item) for key, item in addition.items()}}
    return [*base, *addition] if isinstance(base, list) else addition


def _without_patterns(node: object) -> Any:
    if isinstance(node, dict) and "x-checked" in node:
        return {"$ref": f"#/$defs/{node['x-checked']}"}
    if isinstance(node, dict):
        return {key: _without_patterns(item) for key, item in node.items() if key != "pattern" or "x-form" not in node}
    return list(map(_without_patterns, node)) if isinstance(node, list) else node


def required_keys(schema_node: JsonObject) -> list[str]:
    """The keys that a mapping must have, and the first of those of which it must have one."""
    choices = [branch["required"] for branch in schema_node.get("anyOf", ()) if branch.keys() == {"required"}]
    needed = [*schema_node.get("required", ()), *(choices[0] if choices else ())]
    return needed or list(schema_node.get("properties", ()))[: schema_node.get("minProperties", 0)]


def types_of(schema_node: JsonObject) -> list[str]:
    """The types that a part of the schema takes."""
    types = schema_node.get("type", ())
    return [types] if isinstance(types, str) else list(types)


def _may_have_whole_fractions(value: object) -> bool:
    """True if a value may hold a fraction that is a whole number; its text says so sooner than each part of it."""
    try:
        return b".0" in orjson.dumps(value)
    except TypeError:  # half of a character
        return True


def property_of(schema_node: JsonObject, key: str) -> JsonObject | None:
    """The schema of a key of a mapping, None if there is none."""
    described = schema_node.get("properties", {}).get(key, schema_node.get("additionalProperties"))
    return described if isinstance(described, dict) else None


# Which errors count


def _leaves(error: Error) -> Iterator[Error]:
    """The errors that say what is wrong: inside a union those of the intended branch, which the type shows."""
    if error.validator != "anyOf" or not error.context:
        yield error
        return
    branches: dict[object, list[Error]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)
    meant = [
        inner
        for inner in branches.values()
        if not any(leaf.validator == "type" and not leaf.relative_path for leaf in inner)
    ]
    if len(meant) == 1:
        for leaf in meant[0]:
            yield from _leaves(leaf)
    else:
        yield error


def _decides_nothing(error: Error) -> bool:
    return error.validator == "anyOf" and all(inner.validator == "required" for inner in error.context)


def _removals(error: Error) -> Iterator[list[str | int]]:
    """The paths that must be removed so that an error disappears."""
    path = list(error.absolute_path)
    if error.validator == "additionalProperties":
        yield from ([*path, key] for key in _surplus(error))
    elif error.validator != "required" and not _decides_nothing(error):
        yield path


def _stand_in(value: Any, parent: Node) -> Node:
    if isinstance(value, dict):
        value = {key: _stand_in(item, parent) for key, item in value.items()}
    elif isinstance(value, list):
        value = [_stand_in(item, parent) for item in value]
    return Node(value, parent.source, parent.path, parent.line, parent.column, {}, incomplete=True)


def _order(path: tuple[str | int, ...]) -> tuple[tuple[int, str], ...]:
    return tuple((step, "") if isinstance(step, int) else (-1, step) for step in path)


def _remove(node: Node, path: tuple[Any, ...]) -> None:
    """Removes the value at `path` from the tree, and marks all nodes around it as incomplete. The deepest go first."""
    *parents, last = path
    node.incomplete = True
    for step in parents:
        node = _step(node, step)
        node.incomplete = True
    node.value.pop(last)  # type: ignore[union-attr] # a mapping's key or a list's index


def _step(node: Node, step: Any) -> Node:
    return node.value[step]  # type: ignore[index, return-value] # a mapping's key or a list's index


def _at(node: Node, error: Error) -> Node:
    return _along(node, error.absolute_path)


def _along(node: Node, path: Iterable[object]) -> Node:
    for step in path:
        node = _step(node, step)
    return node


def _surplus(error: Error) -> list[str]:
    legal = error.schema.get("properties", {})
    return [key for key in error.instance if key not in legal]


# What they say


def _is_covered(error: Error, root: Node, errors: list[Error]) -> bool:
    """True if another problem covers the same place: it cannot be read, or the legal words are listed."""
    return _at(root, error).incomplete or (
        error.validator == "type"
        and any(other.validator == "enum" and other.absolute_path == error.absolute_path for other in errors)
    )


def _explain(error: Error, root: Node, errors: list[Error]) -> list[Problem]:
    node = _at(root, error)
    rule = str(error.validator)
    if rule in ("required", "anyOf"):
        # a misspelt key is reported already; that the key is missing adds nothing
        surplus_keys = [
            key
            for other in errors
            if other.validator == "additionalProperties" and other.absolute_path == error.absolute_path
            for key in _surplus(other)
        ]
        if rule == "required":
            return _missing(node, error, surplus_keys)
        if surplus_keys and _decides_nothing(error):
            return []
    if rule == "maximum" and not error.validator_value:  # only lengths of time may be numbers if these are 0
        if _instant(error) and dated(error.instance) is not None:  # whoever meant a date did not mean milliseconds
            return [problem(node, "instant", without_unit(error.instance, dates=True))]
        return [problem(node, UNIT, without_unit(error.instance))]
    message = _WORDING.get(rule, _illegal_value)(error)
    key = error.instance if "propertyNames" in error.schema_path else None
    return [problem(node, rule, message, key=key, nearest=_near(rule, error))]


def _instant(error: Error) -> bool:
    """True if the schema expects an instant."""
    return str(error.schema["x-says"]).startswith("an instant")


def _near(rule: str, error: Error) -> str | None:
    if rule == "enum":
        legal = [word for word in error.validator_value if isinstance(word, str)]
        short = error.instance if isinstance(error.instance, str) and len(error.instance) >= _SHORT else None
        begun = [word for word in legal if short is not None and word.startswith(short.lower())]
        return nearest(error.instance, legal) or (begun[0] if len(begun) == 1 else None)
    if rule == "type" and error.validator_value == "boolean":
        return _TRUTHS.get(str(error.instance).lower())
    return None


def _unknown(node: Node, key: str, schema_node: JsonObject) -> Problem:
    if key in schema_node.get("x-refused", ()):
        return problem(node, "refused", f"{show(key)} {schema_node['x-refused'][key]}", key=key)
    legal, title = schema_node["properties"], schema_node["title"]
    word, colon, value = key.partition(":")
    if colon and value and word in legal:
        return problem(node, "unknown-key", f"{show(key)} is not a key; {BLANK}: {word}: {value}", key=key)
    near = _meant(key, legal, node)
    owner = title if node.path.endswith(f".{title}") else article(title)
    message = f"{show(key)} is not a key of {owner}"
    if near is None or len(legal) <= _LISTED:
        message = f"{message}; legal: {listed(legal)}"
    if near is None and (home := _home(key, legal)):
        message = f"{message}; it belongs in {home}"
    elif near is None and title.endswith("rule") and (lists := _rule_lists().get(key)):
        message = f"{message}; it is a key of rules in {' and '.join(lists)}"
    return problem(node, "unknown-key", message, key=key, nearest=near)


@functools.cache
def _rule_lists() -> dict[str, list[str]]:
    """The lists of rules by the keys that are legal in their rules."""
    lists: dict[str, list[str]] = {}
    for name, node in schema()["properties"].items():
        item = _target(_target(node).get("items", {}))
        for key in item.get("properties", ()) if item.get("title", "").endswith("rule") else ():
            lists.setdefault(key, []).append(name)
    return lists


def _home(key: str, legal: JsonMapping) -> str:
    """The key beside which an unknown one stands, and in whose mapping, or an entry of whose list, it is legal."""
    for name, node in legal.items():
        inner = _target(node)
        if key in inner.get("properties", ()):
            return name
        if key in _target(inner.get("items", {})).get("properties", ()):
            return f"an entry of {name}"
    return ""


def _target(node: JsonObject) -> JsonObject:
    """A node of the schema, or that to which it refers."""
    while "$ref" in node:
        node = schema()["$defs"][node["$ref"].rpartition("/")[2]]
    return node


def _meant(key: str, legal: Iterable[str], node: Node | None = None) -> str | None:
    """The legal key that was probably meant, and is not there already.

    A key that is legal elsewhere is not misspelt: only its plural or singular is near.
    """
    free = [other for other in legal if node is None or node.get(other) is None]
    if (usual := _USUAL.get(key)) in free:
        return usual
    near = nearest(key, free)
    if near is not None and key in _keys() and not (near.startswith(key) or key.startswith(near)):
        return None
    return near


@functools.cache
def _keys() -> frozenset[str]:
    """Every key of the language."""

    def below(node: object) -> Iterator[str]:
        if isinstance(node, dict):
            yield from node.get("properties", ())
        for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            yield from below(inner)

    return frozenset(below(schema()))


def _missing(node: Node, error: Error, surplus_keys: list[str]) -> list[Problem]:
    needed_keys = error.validator_value
    meant = {_meant(key, needed_keys) for key in surplus_keys}
    missing = [key for key in needed_keys if key not in error.instance and key not in meant]
    if not missing:
        return []
    if missing == ["sendbox"]:
        message = f'{show(error.instance)} does not say which language it is in; begin it with "sendbox: 1"'
    else:
        keys = " and ".join(f'"{key}"' for key in missing)
        message = f"{show(error.instance)} has no {keys}, which every {error.schema['title']} needs"
    return [problem(node, "required", message)]


def _illegal_value(error: Error) -> str:
    return f"{show(error.instance)} is not {error.schema['x-says']}"


def _wrong_type(error: Error) -> str:
    value, message = error.instance, _illegal_value(error)
    if value is None:
        return f"{message}; give it a value, or leave the key out"
    if _instant(error) and isinstance(value, int) and not isinstance(value, bool):
        try:
            instant(value)
        except ValueError as number:
            return str(number)
    takes_text = "string" in error.schema.get("type", ()) or any(map(_wants_any_text, error.context))
    if takes_text and isinstance(value, bool | int | float):
        return f'{message}; write it in quotes: "{show(value)}"'
    if error.schema.get("type") == "array":
        return f"{message}; a list has square brackets, or a dash before each item"
    return message


def _wants_any_text(error: Error) -> bool:
    """True if a branch of a union expects a text with any words."""
    return (
        error.validator == "type"
        and error.validator_value == "string"
        and str(error.schema["x-says"]).startswith("a text")
    )


def _not_a_word(error: Error) -> str:
    legal = listed(word if isinstance(word, str) else show(word) for word in error.validator_value)
    return f"{_illegal_value(error)}; legal: {legal}"


def _outside(words: str) -> Callable[[Error], str]:
    return lambda error: (
        f"{show(error.instance)} {words} {show(error.validator_value)}; wanted: {error.schema['x-says']}"
    )


def _too_many(noun: str) -> Callable[[Error], str]:
    return lambda error: (
        f"{show(error.instance)} has {len(error.instance)} {noun}, at most {error.validator_value} are legal"
    )


def _undecided(error: Error) -> str:
    if _decides_nothing(error):
        return f"{show(error.instance)} {error.schema['x-without']}"
    return _wrong_type(error)


_WORDING: Final[dict[str, Callable[[Error], str]]] = {
    "type": _wrong_type,
    "enum": _not_a_word,
    "minimum": _outside("is below the minimum of"),
    "exclusiveMinimum": _outside("is not above"),
    "maximum": _outside("is above the maximum of"),
    "maxLength": _too_many("characters"),
    "maxItems": _too_many("entries"),
    "uniqueItems": lambda error: f"{show(error.instance)} names something twice",
    "anyOf": _undecided,
}
