"""The OpenAPI 3.1 document of everything that is built, made from the rows of the interfaces and the schemas alone.

The schemas move under `#/components/schemas` as they are, with `x-spec` and `x-assumed`, and each description says its
section, so that a reader of generated documentation sees what is specified and what is assumed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from sendbox.contract.schemas import Node, moved, name_of, reachable, rebuilt, split_types, with_cases, with_optional
from sendbox.contract.validators import Contract
from sendbox.engine.answer import JsonObject
from sendbox.services.http.exchange import Route

COMPONENTS: Final = "#/components/schemas/"
LICENSE: Final = {"name": "MIT", "identifier": "MIT"}
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

#: A parameter in a path.
_IN_PATH: Final = re.compile(r"\{(\w+)\}")

Kind = Literal["sentMessage", "incomingReplyMessage", "incomingMessage", "partnerOnboarding"]

_MIXED: Final = "posted to the callback, always as an array, and one array may mix the kinds (§6)"
_ALONE: Final = "posted to the partner_callback_url of the signup, as one object (§6, A24)"


class Webhook(NamedTuple):
    """A kind of event: the schema of a delivery with such events, when and how they are sent, and its section."""

    schema: str
    summary: str
    how: str = _MIXED
    section: str = "§6"


#: The event kinds of §6.
WEBHOOKS: Final[Mapping[str, Webhook]] = {
    "sentMessage": Webhook("webhooks.json#/$defs/SentMessageBatch", "The state of an outgoing message changed"),
    "incomingReplyMessage": Webhook(
        "webhooks.json#/$defs/IncomingReplyMessageBatch", "A recipient replied to a message"
    ),
    "incomingMessage": Webhook("webhooks.json#/$defs/IncomingMessageBatch", "A message came in that is not a reply"),
    "partnerOnboarding": Webhook(
        "webhooks.json#/$defs/Onboarding", "The signup of a partner's client entered a state", _ALONE
    ),
}

#: What a status means, for every interface (§7.1).
STATUSES: Final = {
    200: "The request was accepted; events report what becomes of it.",
    302: "The address leads to another one.",
    400: "The request is illegal, or the key is missing or denied.",
    401: "The key is missing or not valid.",
    402: "The credit is used up.",
    403: "The key may not do this.",
    404: "There is nothing of this name.",
    405: "The method is not legal here.",
    410: "What was there has expired.",
    413: "The body is longer than what is taken here.",
    415: "The body has a content type that is not taken here.",
    429: "Too many requests.",
    500: "An error inside the service.",
    503: "A bound of the sandbox is reached: of worlds, or of memory. The service itself does not answer it.",
}

#: The errors that no handler answers: a body that is too long, an error inside, and a bound of the sandbox. No row need
#: name them.
ANYWHERE: Final = (413, 500, 503)

_SECURITY: Final[dict[str, list[dict[str, list[str]]]]] = {
    "header": [{"x-api-key": []}],
    "header-or-query": [{"x-api-key": []}, {"apikey": []}],
    "header-or-token": [{"x-api-key": []}, {}],
    "form": [],
    "none": [],
}
_SCHEMES: Final = {
    "x-api-key": {
        "type": "apiKey",
        "in": "header",
        "name": "x-api-key",
        "description": "The API key, which every call carries (§5).",
    },
    "apikey": {
        "type": "apiKey",
        "in": "query",
        "name": "apikey",
        "description": "The API key as a query parameter, only where it is listed (§5).",
    },
}


def document(
    routes: Sequence[Route],
    contract: Contract,
    *,
    origin: str,
    version: str,
    webhooks: Mapping[str, Webhook] = WEBHOOKS,
) -> JsonObject:
    """The OpenAPI 3.1 document of `routes` and `webhooks`, served at `origin` by this `version`.

    Only the schemas that are referred to are in it. Raises `ValueError` for a route whose schema is not defined.
    """
    used: dict[str, None] = {}
    paths: dict[str, JsonObject] = {}
    taken: set[str] = set()
    for route in routes:
        operation = _operation(route, contract.definitions, used)
        operation["operationId"] = _unique(route, taken)
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    path_items = {kind: {"post": _webhook(kind, webhook, used)} for kind, webhook in webhooks.items()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sendbox",
            "version": version,
            "license": LICENSE,
            "summary": "A deterministic sandbox of a messaging service",
            "description": "What is built of the service. `x-spec` names the section of its specification that a part "
            "rests on, `x-assumed` the assumption where the specification does not say.",
        },
        "jsonSchemaDialect": DIALECT,
        "servers": [{"url": origin}],
        "tags": [_tag(name, routes) for name in dict.fromkeys(route.interface for route in routes)],
        "paths": paths,
        "webhooks": path_items,
        "components": {
            "schemas": components(contract.definitions, used),
            "securitySchemes": _SCHEMES,
        },
    }


def components(definitions: dict[str, Node], names: Iterable[str]) -> dict[str, Node]:
    """The definitions of these names, and all that they refer to, as components of a document.

    Raises `ValueError` for a name that is not defined.
    """
    schemas: dict[str, Node] = {}
    for name in reachable(definitions, names):
        schemas |= _with_object(name, _component(definitions[name]))
    return schemas


def _with_object(name: str, component: Node) -> dict[str, Node]:
    """A component; the object that it may be besides another type is one of its own, for generators of clients."""
    if not isinstance(component.get("type"), list) or "properties" not in component:
        return {name: component}
    words, own, rest = split_types(component, "object")
    rest.pop("format", None)  # in a union it is a class that some generators do not make
    reference = {"$ref": f"{COMPONENTS}{name}Object"}
    return {
        name: {**words, "anyOf": [rest, reference]},
        f"{name}Object": {"description": component["description"], **own},
    }


def _tag(name: str, routes: Sequence[Route]) -> JsonObject:
    sections = dict.fromkeys(route.section for route in routes if route.interface == name)
    return {"name": name, "description": f"The operations of the interface {name} ({'; '.join(sections)})."}


def _operation(route: Route, definitions: dict[str, Node], used: dict[str, None]) -> JsonObject:
    operation: JsonObject = {
        "operationId": route.operation,
        "summary": route.summary,
        "description": f"{route.summary} ({', '.join([route.section, *route.assumed])}).",
        "tags": [route.interface],
        "x-spec": route.section,
    }
    if route.assumed:
        operation["x-assumed"] = list(route.assumed)
    in_path = [
        {"name": name, "in": "path", "description": f"The {name}.", "required": True, "schema": {"type": "string"}}
        for name in _IN_PATH.findall(route.path)
    ]
    if in_path:
        operation["parameters"] = in_path
    if route.query is not None:
        operation["parameters"] = in_path + _parameters(_definition(route.query, definitions), route.auth, used)
    if route.request is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {route.request_type: {"schema": _reference(route.request, used)}},
        }
    used_schemas = [ref for ref in (route.request, route.query) if ref is not None]
    if any(_definition(ref, definitions).get("deprecated") for ref in used_schemas):
        operation["deprecated"] = True
    operation["responses"] = {
        str(status): _response(status, ref, definitions, used) for status, ref in _answers(route).items()
    }
    operation["security"] = _SECURITY[route.auth]
    return operation


def _answers(route: Route) -> dict[int, str | None]:
    """The statuses of a row with their schemas; errors that any row may answer have the shape of its own (A75)."""
    answers = dict(route.responses or {200: None})
    shape = next((answers[status] for status in (400, 401) if status in answers), None)
    if shape is not None:
        for status in ANYWHERE:
            answers.setdefault(status, shape)
    return answers


def _parameters(query: Node, auth: str, used: dict[str, None]) -> list[JsonObject]:
    """The properties of a query schema as parameters; a key that is a security scheme is not one of them."""
    parameters: list[JsonObject] = []
    for name, node in query["properties"].items():
        if name == "apikey" and auth == "header-or-query":
            continue
        if "$ref" in node:
            used[name_of(node["$ref"])] = None
        parameters.append(
            {
                "name": name,
                "in": "query",
                "description": _described({"x-spec": query["x-spec"], **node})["description"],
                "required": name in query.get("required", ()),
                "schema": _component(node),
            }
        )
    return parameters


def _response(status: int, ref: str | None, definitions: dict[str, Node], used: dict[str, None]) -> JsonObject:
    response: JsonObject = {"description": STATUSES.get(status, "See the section.")}
    if ref is not None:
        plain = _definition(ref, definitions).get("type") == "string"
        response["content"] = {"text/plain" if plain else "application/json": {"schema": _reference(ref, used)}}
    return response


def _webhook(kind: str, webhook: Webhook, used: dict[str, None]) -> JsonObject:
    schema = _reference(webhook.schema, used)
    return {
        "operationId": kind,
        "summary": webhook.summary,
        "description": f"{webhook.summary}; {webhook.how}.",
        "x-spec": webhook.section,
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {
            "200": {"description": "The receiver took the events; with any other answer they may come again."}
        },
        "security": [],
    }


def _definition(ref: str, definitions: dict[str, Node]) -> Node:
    if name_of(ref) not in definitions:
        raise ValueError(f"{ref} is not defined; a route refers to it")
    return definitions[name_of(ref)]


def _reference(ref: str, used: dict[str, None]) -> dict[str, str]:
    name = name_of(ref)
    used[name] = None
    return {"$ref": COMPONENTS + name}


def _component(node: Node) -> Node:
    component: Node = rebuilt(moved(node, COMPONENTS), _portable)
    return component


def _portable(node: Node) -> Node:
    """A part of a component, in the form that generators of clients understand; true needs no type."""
    portable = with_cases(with_optional(_described(node)))
    return {key: value for key, value in portable.items() if key != "type" or not isinstance(node.get("const"), bool)}


def _described(node: Node) -> Node:
    """The node with its section and assumption after its description, if the node itself has them."""
    description = node.get("description")
    sources = [node[key] for key in ("x-spec", "x-assumed") if isinstance(node.get(key), str)]
    if isinstance(description, str) and sources:
        return {**node, "description": f"{description.removesuffix('.')} ({', '.join(sources)})."}
    return node


def _unique(route: Route, taken: set[str]) -> str:
    """A free operation id: the route's own, else with its method, else with the end of its path too."""
    name = route.operation
    for suffix in ("", route.method.title(), route.path.rpartition("/")[2].title()):
        name += "".join(char for char in suffix if char.isalnum())
        if name not in taken:
            taken.add(name)
            return name
    raise ValueError(f"{route.method} {route.path} is in two rows; a method and path may be in one")
