"""The shape of a scenario: its nodes against the language's JSON Schema, each deviation as a problem with its place.

`jsonschema-rs` decides, which takes microseconds; `jsonschema` is imported only to explain what it refused. A schema
node says in `x-says` what is wanted there, in words; in `x-without` what is wrong with a mapping that has none of the
keys of which it needs one; in `x-refused` which keys people look for in vain, and why; in `x-stand-ins`, where it was
added to the language, something legal for each key that a mapping must have.

After the complaints the deviating parts are cut off, and what is missing gets a stand-in, so that the rules of meaning
can be asked about all the rest and no problem hides another.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import orjson

from sendbox import data
from sendbox.engine.delivery.faults.table import DELIVERIES
from sendbox.engine.faults.row import stand_ins
from sendbox.engine.faults.table import CALLS
from sendbox.scenario.model import Node, Problem, listed, nearest, plain, problem, show

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Error = Any  # a `ValidationError` of jsonschema; its types leave every attribute unset or any
#: Part of the schema to which a whole scenario is held; the others are `rule` and `account`.
SCENARIO: Final = ""

#: So many legal keys are listed even when one of them is near.
_LISTED: Final = 13
#: Words for true and false that other languages know, YAML 1.1 among them.
_TRUTHS: Final = {"on": "true", "yes": "true", "y": "true", "off": "false", "no": "false", "n": "false"}

#: By title of a mapping, something legal for each key that it must have.
_INBOUND: Final = {"channel": "sms", "from": "420777000000", "body": ""}
_BODY: Final = {"type": "BODY"}
_REQUEST: Final = {"operation": "showKey"}
_STAND_INS: Final[dict[str, dict[str, Any]]] = {
    "scenario": {"sendbox": 1},
    "phone": {"number": "*"},
    "rule": {"then": "delivered"},
    "reply": {"body": "-"},
    "verify rule": {"then": {"code": "random"}},
    "webhook rule": {"fault": "drop"},
    "click": {"after": 0},
    "happening": {"at": 0, "inbound": _INBOUND},
    "inbound": _INBOUND,
    "timeline reply": {"phone": "420777000000", "body": "-"},
    "phone act": {"number": "420777000000", "act": "online"},
    "outage": {"for": 1, "channel": "sms"},
    "clock change": {"mode": "manual"},
    "after": {"result": "undelivered"},
    "template": {"name": "-", "language": "en", "components": [_BODY]},
    "component": _BODY,
    "button": {"type": "URL"},
    "subkey": {"name": "-"},
    "queue": {"normal": "1/s"},
    "rate": {"max": 1, "within": 1},
    "price": {"eur": 0, "czk": 0},
    "business account": {"waba_id": "1"},
    "business number": {"phone_number": "420777000000"},
    "library template": {"name": "-", "components": [_BODY]},
    "template change": {"name": "-", "status": "APPROVED"},
    "number change": {"phone_number": "*"},
    "expectation": {"that": "messages"},
    "following thing": {"that": "messages"},
    "traffic": {"at": 0, "request": _REQUEST},
    "traffic request": _REQUEST,
    "traffic control": {"operation": "clock"},
    "content": {"base64": ""},
    "reception": {"ends": [200]},
    "planned draw": {"rule": "-", "subject": "", "purpose": "-", "value": 0},
    "api rule": {"fault": "timeout"},
    **stand_ins(CALLS),
    **stand_ins(DELIVERIES),
}
#: What a mapping is given that must have one of several keys and has none.
_FIRST: Final = {
    "rule": "then",
    "happening": "inbound",
    "outage": "channel",
    "clock change": "mode",
    "after": "result",
    "traffic": "request",
    "traffic request": "operation",
}


@functools.cache
def schema() -> dict[str, Any]:
    """The JSON Schema of the language."""
    loaded: dict[str, Any] = orjson.loads((data.folder("schemas") / "scenario.schema.json").read_bytes())
    return loaded


class Shape:
    """The schema of the language, with what is added to it: parts of the same form, whose mappings are joined with
    those of the schema and whose lists follow them."""

    def __init__(self, *additions: Mapping[str, Any]) -> None:
        self._additions = additions
        self._validators: dict[str, Any] = {}

    @functools.cached_property
    def schema(self) -> dict[str, Any]:
        """The whole of it."""
        return functools.reduce(_joined, self._additions, schema())

    def check(self, node: Node, part: str = SCENARIO) -> list[Problem]:
        """Every deviation from the schema; afterwards `node` has a legal shape, if not its own."""
        value = plain(node)
        if self._validator(part).is_valid(value):
            return []
        explainer = self._explainer(part)
        problems: list[Problem] = []
        first = True
        while errors := list(explainer.iter_errors(value)):
            leaves = [leaf for error in errors for leaf in _leaves(error)]
            if first:
                news = [leaf for leaf in leaves if not _is_said(leaf, node, leaves)]
                problems = [found for leaf in news for found in _explain(leaf, node, leaves)]
                first = False
            for leaf in leaves:
                if leaf.validator == "required" or _decides_nothing(leaf):
                    _fill(node, leaf)
            doomed = sorted({tuple(path) for leaf in leaves for path in _cuts(leaf)}, key=_order, reverse=True)
            if () in doomed:
                node.value = {}
                break
            for path in doomed:
                _cut(node, path)
            value = plain(node)
        if first:
            return [problem(node, "schema", f"{show(value)} is refused by the schema of the language")]
        return problems

    def branches(self, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Parts of the schema with what they refer to in their place, and unions as their branches."""
        found = []
        for part in parts:
            target = part
            while "$ref" in target:
                ref = target["$ref"]
                target = self.schema if ref == "#" else self.schema["$defs"][ref.rpartition("/")[2]]
            unions = [branch for branch in target.get("anyOf", ()) if branch.keys() != {"required"}]
            found += self.branches(unions) if unions else [target]
        return found

    def _part(self, part: str) -> dict[str, Any]:
        whole = self.schema
        if part == SCENARIO:
            return whole
        return {"$schema": whole["$schema"], "$defs": whole["$defs"], "$ref": f"#/$defs/{part}"}

    def _validator(self, part: str) -> Any:
        import jsonschema_rs

        if part not in self._validators:
            self._validators[part] = jsonschema_rs.validator_for(self._part(part))
        return self._validators[part]

    def _explainer(self, part: str) -> Validator:
        from jsonschema import Draft202012Validator

        return Draft202012Validator(self._part(part))


def _joined(whole: Any, addition: Any) -> Any:
    if isinstance(whole, dict):
        return {**whole, **{key: _joined(whole.get(key), item) for key, item in addition.items()}}
    return [*whole, *addition] if isinstance(whole, list) else addition


def property_of(part: dict[str, Any], key: str) -> dict[str, Any] | None:
    """What the schema says about a key of a mapping, None when it says nothing."""
    found = part.get("properties", {}).get(key, part.get("additionalProperties"))
    return found if isinstance(found, dict) else None


# Which errors count


def _leaves(error: Error) -> Iterator[Error]:
    """The errors that say what is wrong: inside a union those of the branch that was meant, which its type tells."""
    if error.validator != "anyOf" or not error.context:
        yield error
        return
    branches: dict[object, list[Error]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)
    meant = [
        inner
        for inner in branches.values()
        if not any(found.validator == "type" and not found.relative_path for found in inner)
    ]
    if len(meant) == 1:
        for found in meant[0]:
            yield from _leaves(found)
    else:
        yield error


def _decides_nothing(error: Error) -> bool:
    return error.validator == "anyOf" and all(found.validator == "required" for found in error.context)


def _cuts(error: Error) -> Iterator[list[Any]]:
    """The paths that must go for an error to be gone."""
    path = list(error.absolute_path)
    if error.validator == "additionalProperties":
        yield from ([*path, key] for key in _surplus(error))
    elif error.validator != "required" and not _decides_nothing(error):
        yield path


def _fill(node: Node, error: Error) -> None:
    """Gives a mapping what it must have and has not."""
    for part in error.absolute_path:
        node.cut = True
        node = _step(node, part)
    node.cut = True
    entries = node.entries()
    wanted = error.validator_value if error.validator == "required" else [_FIRST[error.schema["title"]]]
    for key in wanted:
        if key not in entries:
            legal = error.schema.get("x-stand-ins") or _STAND_INS[error.schema["title"]]
            entries[key] = _stand_in(legal[key], node)


def _stand_in(value: Any, parent: Node) -> Node:
    if isinstance(value, dict):
        value = {key: _stand_in(item, parent) for key, item in value.items()}
    elif isinstance(value, list):
        value = [_stand_in(item, parent) for item in value]
    return Node(value, parent.source, parent.path, parent.line, parent.column, {}, cut=True)


def _order(path: tuple[Any, ...]) -> tuple[tuple[int, str], ...]:
    return tuple((part, "") if isinstance(part, int) else (-1, part) for part in path)


def _cut(node: Node, path: tuple[Any, ...]) -> None:
    """Takes what is at `path` out of the tree, and marks all that is not whole any more. The deepest are cut first."""
    *way, last = path
    node.cut = True
    for part in way:
        node = _step(node, part)
        node.cut = True
    node.value.pop(last)  # type: ignore[union-attr] # a mapping's key or a list's index


def _step(node: Node, part: Any) -> Node:
    return node.value[part]  # type: ignore[index, return-value] # a mapping's key or a list's index


def _at(node: Node, error: Error) -> Node:
    for part in error.absolute_path:
        node = _step(node, part)
    return node


def _surplus(error: Error) -> list[str]:
    legal = error.schema.get("properties", {})
    return [key for key in error.instance if key not in legal]


# What they say


def _is_said(error: Error, root: Node, errors: list[Error]) -> bool:
    """Whether something else is said about the same place: that it cannot be read, or which words are legal."""
    return _at(root, error).cut or (
        error.validator == "type"
        and any(other.validator == "enum" and other.absolute_path == error.absolute_path for other in errors)
    )


def _explain(error: Error, root: Node, errors: list[Error]) -> list[Problem]:
    node = _at(root, error)
    rule = str(error.validator)
    if rule == "additionalProperties":
        return [_unknown(node, key, error.schema) for key in _surplus(error)]
    if rule in ("required", "anyOf"):
        # a key that is misspelt or not built yet is named already; that it is missing then says nothing new
        beside = [
            key
            for other in errors
            if other.validator == "additionalProperties" and other.absolute_path == error.absolute_path
            for key in _surplus(other)
        ]
        if rule == "required":
            return _missing(node, error, beside)
        if beside and _decides_nothing(error):
            return []
    message = _WORDING.get(rule, _not_what_is_wanted)(error)
    key = error.instance if "propertyNames" in error.schema_path else None
    return [problem(node, rule, message, key=key, nearest=_near(rule, error))]


def _near(rule: str, error: Error) -> str | None:
    if rule == "enum":
        return nearest(error.instance, [word for word in error.validator_value if isinstance(word, str)])
    if rule == "type" and error.validator_value == "boolean":
        return _TRUTHS.get(str(error.instance).lower())
    return None


def _unknown(node: Node, key: str, part: dict[str, Any]) -> Problem:
    if key in part.get("x-refused", ()):
        return problem(node, "refused", f"{show(key)} {part['x-refused'][key]}", key=key)
    legal, title = part["properties"], part["title"]
    near = nearest(key, legal)
    owner = title if node.path.endswith(f".{title}") else _article(title)
    message = f"{show(key)} is not a key of {owner}"
    if near is None or len(legal) <= _LISTED:
        message = f"{message}; legal: {listed(legal)}"
    return problem(node, "unknown-key", message, key=key, nearest=near)


def _missing(node: Node, error: Error, beside: list[str]) -> list[Problem]:
    wanted = error.validator_value
    meant = {nearest(key, wanted) for key in beside}
    missing = [key for key in wanted if key not in error.instance and key not in meant]
    if not missing:
        return []
    if missing == ["sendbox"]:
        message = f'{show(error.instance)} does not say which language it is in; begin it with "sendbox: 1"'
    else:
        keys = " and ".join(f'"{key}"' for key in missing)
        message = f"{show(error.instance)} has no {keys}, which every {error.schema['title']} needs"
    return [problem(node, "required", message)]


def _not_what_is_wanted(error: Error) -> str:
    return f"{show(error.instance)} is not {error.schema['x-says']}"


def _wrong_type(error: Error) -> str:
    value, message = error.instance, _not_what_is_wanted(error)
    if value is None:
        return f"{message}; give it a value, or leave the key out"
    text_wanted = "string" in error.schema.get("type", ())
    if text_wanted and isinstance(value, bool | int | float):
        return f'{message}; write it in quotes: "{show(value)}"'
    if error.schema.get("type") == "array":
        return f"{message}; a list has square brackets, or a dash before each item"
    return message


def _not_a_word(error: Error) -> str:
    legal = listed(word if isinstance(word, str) else show(word) for word in error.validator_value)
    return f"{_not_what_is_wanted(error)}; legal: {legal}"


def _outside(error: Error) -> str:
    words = {
        "minimum": "is below the minimum of",
        "exclusiveMinimum": "is not above",
        "maximum": "is above the maximum of",
    }[str(error.validator)]
    return f"{show(error.instance)} {words} {show(error.validator_value)}; wanted: {error.schema['x-says']}"


def _too_long(error: Error) -> str:
    return f"{show(error.instance)} has {len(error.instance)} characters, at most {error.validator_value} are legal"


def _too_many(error: Error) -> str:
    return f"{show(error.instance)} has {len(error.instance)} entries, at most {error.validator_value} are legal"


def _repeated(error: Error) -> str:
    return f"{show(error.instance)} names something twice"


def _undecided(error: Error) -> str:
    if _decides_nothing(error):
        return f"{show(error.instance)} {error.schema['x-without']}"
    return _wrong_type(error)


_WORDING: Final[dict[str, Callable[[Error], str]]] = {
    "type": _wrong_type,
    "enum": _not_a_word,
    "minimum": _outside,
    "exclusiveMinimum": _outside,
    "maximum": _outside,
    "maxLength": _too_long,
    "maxItems": _too_many,
    "uniqueItems": _repeated,
    "anyOf": _undecided,
}


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
