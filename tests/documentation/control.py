"""The reference of control: what `/_sandbox/openapi.json` says of each operation, in pages by tag."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from textwrap import dedent
from types import FunctionType
from typing import Any, Final

from sendbox.app import SERVED
from sendbox.control.openapi import document, inlined
from sendbox.control.operation import THEN, Operation
from sendbox.control.routes import PREFIX
from sendbox.control.stream import STREAMED
from sendbox.engine.answer import COMPONENTS, JsonObject
from sendbox.runtime.teams import SCOPES, Scope, Token, denial
from tests.documentation.markdown import code, table

#: All operations, with those that only HTTP carries.
OPERATIONS: Final = (*SERVED.operations, *STREAMED)
#: The pages in the order in which they are read, and in which their examples run: one for each tag.
_PAGES: Final = (
    "worlds account checkpoints scenarios time playing messaging verify partner records requests deliveries holds "
    "pending export report stream compare coverage leaning exploring refused access"
).split()
TAGS: Final = tuple(sorted({row.tag for row in OPERATIONS}, key=_PAGES.index))


@cache
def contract() -> JsonObject:
    """The document of control."""
    return document(SERVED, prefix=PREFIX, origin="", version="")


def index() -> str:
    """The operations in the order of their pages, each with a link to its place."""
    rows = [
        (f"[{tag}]({tag}.md)", code(f"{row.method} {row.path}"), f"[{row.name}]({tag}.md#{row.name})")
        for tag in TAGS
        for row in OPERATIONS
        if row.tag == tag
    ]
    return table(("page", f"under `{PREFIX}`", "operation"), rows)


def roles() -> str:
    """Who may call what: the operations by their scope, and by whether they change something, for each role."""
    holders = [Token("", "admin"), Token("", "team", "test-"), Token("", "read", "test-"), Token("", "read")]
    rows = []
    for scope, changes in sorted({(row.scope, row.changes) for row in OPERATIONS}, key=_order):
        listed = [row for row in OPERATIONS if (row.scope, row.changes) == (scope, changes)]
        names = ", ".join(f"[{row.name}](control/{row.tag}.md#{row.name})" for row in listed)
        may = ["-" if denial(holder, scope, changes=changes) else "yes" for holder in holders]
        about = f"all {len(listed)} under `/worlds/{{id}}`" if scope == "world" else names
        rows.append((SCOPES[scope], "changes" if changes else "reads", *may, about))
    return table(("about", "", "admin", "team", "read, with a prefix", "read", "operations"), rows)


def _order(row: tuple[Scope, bool]) -> tuple[int, bool]:
    return [*SCOPES].index(row[0]), row[1]


def reference(tag: str) -> str:
    """The operations of a tag, each with its arguments, its answer and its errors."""
    return "\n\n".join(part for row in OPERATIONS if row.tag == tag for part in _operation(row))


def answers() -> str:
    """The classes of answers, each with its fields."""
    return "\n\n".join(part for name in sorted(_classes()) for part in _answer(name, _classes()[name]))


def _operation(row: Operation) -> Iterator[str]:
    node = _node(row)
    summary, more = _texts(node)
    yield f"### {row.name}"
    yield f"{code(f'{row.method} {PREFIX}{row.path}')}: {summary}"
    yield from more
    if rows := list(_arguments(node)):
        yield table(("argument", "in", "type", "legal", "default", "is"), rows)
    good = {status: answer for status, answer in node["responses"].items() if status.startswith("2")}
    forms = dict.fromkeys(
        _form(media, content) for answer in good.values() for media, content in answer["content"].items()
    )
    errors = ", ".join(f"{status} {code(word)}" for status, word in sorted(errors_of(row)))
    yield table(("answer", "errors"), [(f"{' or '.join(good)}: {', '.join(forms)}", errors or "-")])


def _node(row: Operation) -> JsonObject:
    node: JsonObject = contract()["paths"][PREFIX + row.path][row.method.lower()]
    return node


def _texts(node: JsonObject) -> tuple[str, list[str]]:
    """The summary of a description, and its other paragraphs, each on one line."""
    summary, *more = (" ".join(part.split()) for part in node["description"].split("\n\n"))
    return summary, more


def _arguments(node: JsonObject) -> Iterator[tuple[str, ...]]:
    """The rows of arguments. An id in the path explains itself, and `then` is explained once for all."""
    for parameter in node.get("parameters", ()):
        if parameter["in"] != "path" and parameter["name"] != THEN:
            schema = {"description": parameter.get("description", "-"), **parameter["schema"]}
            yield _argument(parameter["name"], parameter["in"], schema, parameter["required"])
    content = node.get("requestBody", {}).get("content", {})
    for body in (media["schema"] for media in content.values()):
        required = body.get("required", ())
        if "properties" not in body:
            yield "-", "body", kind(body), "-", "-", body.get("description", "-")
        for name, schema in body.get("properties", {}).items():
            yield _argument(name, "body", schema, name in required)


def _argument(name: str, where: str, schema: Mapping[str, Any], required: bool) -> tuple[str, ...]:
    schema = inlined(schema)
    defaults = [part["default"] for part in (schema, *schema.get("allOf", ())) if part.get("default", "") != ""]
    default = "required" if required else code(_word(defaults[0])) if defaults else "-"
    return code(name), where, kind(schema), _legal(schema), default, schema.get("description", "-")


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def kind(schema: Any) -> str:
    """The type of a schema in words; the name of a class leads to its fields."""
    if not isinstance(schema, Mapping) or not schema:
        return "any"
    schema = inlined(schema)
    if name := schema.get("$ref", "").removeprefix(COMPONENTS):
        return f"[{name}](answers.md#{name.lower()})" if name in _classes() else name
    if "if" in schema:  # the last case comes first
        return f"{kind(schema['else'])} or {kind(schema['then'])}"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(kind, schema["anyOf"])))
    types = schema.get("type", "any")
    return " or ".join(_named(name, schema) for name in ([types] if isinstance(types, str) else types))


def _named(name: str, schema: Mapping[str, Any]) -> str:
    further = schema.get("additionalProperties")
    if name == "array":
        return f"list of {kind(schema.get('items'))}"
    if name == "object" and isinstance(further, Mapping) and "properties" not in schema:
        return f"object of {kind(further)}"
    return "instant" if schema.get("format") == "date-time" and name == "string" else name


def _legal(schema: Mapping[str, Any]) -> str:
    """The legal values of a schema, `-` where its type says all."""
    if "const" in schema:
        return code(_word(schema["const"]))
    if "not" in schema:
        return code(_word(not schema["not"]["const"]))
    if schema.get("pattern", "").startswith("^("):  # words, where an enum of a like name has others too
        return ", ".join(map(code, schema["pattern"][2:-2].split("|")))
    if "enum" in schema:
        return ", ".join(code(_word(word)) for word in schema["enum"])
    if "properties" in schema:
        return ", ".join(f"{code(name)} {kind(node)}" for name, node in schema["properties"].items())
    if "examples" in schema:
        return f"such as {code(schema['examples'][0])}"
    if "minimum" in schema:
        return f"{schema['minimum']} to {schema['maximum']}" if "maximum" in schema else f"from {schema['minimum']}"
    return f"at most {schema['maxLength']} characters" if "maxLength" in schema else "-"


def _form(media: str, content: JsonObject) -> str:
    if media == "application/json":
        return kind(content["schema"])
    events = ", ".join(f"{code(name)} {kind(schema)}" for name, schema in content.get("x-events", {}).items())
    return f"{code(media)} with the events {events}" if events else code(media)


@cache
def _classes() -> Mapping[str, JsonObject]:
    """The classes of answers by name, without the events of webhooks, which the contract of the service describes."""
    schemas: Mapping[str, JsonObject] = contract()["components"]["schemas"]
    names = list(schemas)
    events = names[names.index("Error") + 1 : names.index("WebhookEvent") + 1]
    return {name: schema for name, schema in schemas.items() if name not in events}


def _answer(name: str, schema: JsonObject) -> Iterator[str]:
    yield f"## {name}"
    if text := " ".join(schema.get("description", "").split()):
        yield text
    if "anyOf" in schema:
        yield f"One of {', '.join(map(kind, schema['anyOf']))}."
        return
    required = schema.get("required", ())
    rows = [
        (code(field), kind(node), _legal(node), "yes" if field in required else "no")
        for field, node in schema["properties"].items()
    ]
    if further := schema.get("additionalProperties"):
        rows.append(("others", kind(further), "-", "no"))
    yield table(("field", "type", "legal", "always"), rows)


# --- errors


#: Packages with the functions that an operation calls to do its work.
_WORK: Final = (".control", ".playing", ".exploring", ".coverage")


def errors_of(row: Operation) -> set[tuple[int, str]]:
    """The errors (status, word) of an operation: those that its functions raise, and those that its text names."""
    seen: set[object] = set()
    text = inspect.getdoc(row.function) or ""
    named = {(int(status), word) for status, word in re.findall(r"\b([45]\d\d) `(\w+)`", text)}
    functions = (row.function, *([getattr(row.prepare, "func", row.prepare)] if row.prepare else []))
    return named.union(*(_raised(function, seen) for function in functions))


def _raised(function: Callable[..., Any], seen: set[object]) -> Iterator[tuple[int, str]]:
    """The errors that a function raises itself, or by the functions that it calls and that are not `seen` yet."""
    if function in seen or function.__module__ == Operation.__module__:
        return
    seen.add(function)
    for node in ast.walk(ast.parse(dedent(inspect.getsource(function)))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            values = [part.value for part in node.args[:2] if isinstance(part, ast.Constant)]
            if node.func.id in ("ControlError", "Conflict") and len(values) == 2:
                yield int(str(values[0])), str(values[1])
            elif node.func.id == "unreadable":
                yield 422, str(values[-1]) if values else "bad_scenario"
        called = function.__globals__.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(called, FunctionType) and any(part in called.__module__ for part in _WORK):
            yield from _raised(called, seen)
