"""Fields of requests: every property path of a schema, and a small legal request that has it.

A path is `$.flow[].sms.ttl`: properties with dots between, `[]` for the items of an array. Paths below an old
name of a field are listed under its new name only; paths below a field that is refused unless a setting says otherwise
are not listed. The requests are for people who want to try a field, so the values are such as work in the default
scenario; a word in capitals stands for what the world gives out. A service adds samples of values that only it knows.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from sendbox.contract.schemas import Node
from sendbox.engine.answer import JsonMapping, JsonObject

_LINK: Final = "https://client.example/picture.png"
#: What stands in a request where a field of this name, or of this end of a path, is needed.
SAMPLES: Final[JsonObject] = {
    "template_name": "otp",
    "language": "en",
    "sender": "Acme",
    "default_sender": "Acme",
    "to": [{"phone_number": "420777000101"}],
    "to[].phone_number": "420777000101",
    "phone_number": "420777000101",
    "number": "420777000101",
    "phoneNumber": "420777000101",
    "message": "Hello",
    "body": "Hello",
    "apikey": "test-demo",
    "subid": "default",
    "token": "TOKEN",
    "cursor": "CURSOR",
    "service_id": "sender_sms_420_number",
    "callback": "https://client.example/hooks",
    "callback.headers": {"X-Token": "abc"},
    "callback.batch_size": 10,
    "callback.timeout_ms": 2000,
    "batch_size": 10,
    "timeout_ms": 2000,
    "tag": "transactional",
    "messageTag": "transactional",
    "payload": {"order": "17"},
    "datetime": "2030-03-01T09:00:00Z",
    "time": "2030-03-01T09:00:00Z",
    "expiration": "2030-03-01T10:00:00Z",
    "timestamp": "2026-03-01T09:00:00.000Z",
    "expires_at": 1900000000,
    "expires": 1900000000,
    "domain": "go.acme.example",
    "get_name": "m",
    "days": ["monday"],
    "delivery_time.start": "08:00",
    "delivery_time.end": "20:00",
    "tz": "Europe/Prague",
    "ttl": 0.5,
    "url": "https://client.example/hooks",
    "link": _LINK,
    "latitude": "50.08",
    "longitude": "14.43",
    "params": ["1234"],
    "params_header": [_LINK],
    "parameters_body": ["1234"],
    "parameters_header": [_LINK],
    "params_buttons": [None],
    "parameters_buttons": [None],
    "params_header[].text": {"name": "Jana"},
    "params_buttons[].flow": None,
    "mpm": {"shoes-1": [{"title": "Shoes", "product_items": [{"product_retailer_id": "shoes-2"}]}]},
    "params_lto": [1900000000000],
    "date": "2026-03-01",
    "filetype": "jsonl",
    "currency": "EUR",
    "default_callback_url": "https://client.example/hooks",
    "partner_callback_url": "https://client.example/onboarding",
    "partner_finish_url": "https://client.example/done",
    "code": "123456",
    "phone_number_id": "109876543210987",
    "category": "UTILITY",
    "components": [{"type": "BODY", "text": "Hello"}],
    "base64_image": "data:image/png;base64,iVBORw0KGgo=",
    "body_text": [["Jana"]],
    "components[].type": "BODY",
    "components[].format": "IMAGE",
    "buttons[].type": "QUICK_REPLY",
    "start": 1772323200,
    "end": 1772409600,
    "phone_numbers": ["420900000001"],
    "country_codes": ["CZ"],
    "template_ids": ["1234567890123456"],
    "library_template_button_inputs": [{"type": "URL"}],
}  # fmt: skip
#: A Message wants a text, whether its schema says so or not (§2.1).
MESSAGE: Final = {"body": "Hello", "to": [{"phone_number": "420777000101"}]}
#: Requests that rules beyond their schema make longer.
BASES: Final[JsonObject] = {
    "Message": MESSAGE,
    "Messages": [MESSAGE],
    "SimpleQuery": {"phone_number": "420777000101", "message": "Hello"},
    "SimpleForm": {"phone_number": "420777000101", "message": "Hello"},
    "ApiSendForm": {"apikey": "test-demo", "to": "420777000101", "message": "Hello"},
    "SubKeyChange": {"apikey": "SUBKEY"},
    "ListRequest": {"to": "420777000101"},
    "SubKeyRequest": {"shared": True},
    "RegistrationRequest": {"token": "TOKEN", "waba_id": "12345", "code": "CODE", "country": "CZ"},
}

_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
_NONE: Final[JsonMapping] = MappingProxyType({})


def paths_of(schema: Node) -> dict[str, str | None]:
    """The paths of the fields of an inlined schema, in its order, with the assumptions that they rest on."""
    return dict(_paths(schema, "$", None))


def request_with(path: str, name: str, schema: Node, samples: Mapping[str, object] = _NONE) -> object:
    """A small legal request of an inlined schema that has a field; `samples` go before those of the table."""
    make = _Maker({**SAMPLES, **samples})
    return make.having(BASES.get(name), schema, "$", path.replace("[]", ".[]").split(".")[1:])


def smallest(name: str, schema: Node, samples: Mapping[str, object] = _NONE) -> Any:
    """A legal request of an inlined schema with no more in it than it needs."""
    return copy.deepcopy(BASES[name]) if name in BASES else _Maker({**SAMPLES, **samples}).value("$", schema)


def _paths(node: Node, path: str, assumed: str | None) -> list[tuple[str, str | None]]:
    paths: list[tuple[str, str | None]] = []
    for name, child in node.get("properties", {}).items():
        rests = None if "x-assumed-for" in child else child.get("x-assumed")
        below = rests or assumed
        paths.append((f"{path}.{name}", below))
        if not child.get("deprecated") and "x-switch" not in child:
            paths += _paths(child, f"{path}.{name}", below)
    items = node.get("items")
    if isinstance(items, dict):
        paths += _paths(items, f"{path}[]", assumed)
    return paths


class _Maker:
    """Makes legal values out of samples and schemas."""

    def __init__(self, samples: JsonMapping) -> None:
        self._samples = samples

    def _sample(self, path: str) -> tuple[bool, object]:
        """The sample for the longest end of a path that has one."""
        parts = path.split(".")
        for first in range(len(parts)):
            end = ".".join(parts[first:])
            if end in self._samples:
                return True, copy.deepcopy(self._samples[end])
        return False, None

    def value(self, path: str, node: Node) -> object:
        """A legal value of a node: from the samples, else the smallest value that its keywords allow."""
        sampled, value = self._sample(path)
        kind = node.get("type", "string")
        kinds = kind if isinstance(kind, list) else [kind]
        if sampled and any(isinstance(value, _TYPES[name]) for name in kinds) and value in node.get("enum", [value]):
            return value
        if node.get("enum"):
            return node["enum"][0]
        if "object" in kinds:
            return self._object(path, node)
        if "array" in kinds:
            return [self.value(f"{path}[]", node.get("items") or {})]
        return {"boolean": True, "integer": 1, "number": 1}.get(kinds[0], "Example")

    def having(self, value: object, node: Node, path: str, parts: Sequence[str]) -> object:
        """The value (None if there is none yet) with the field put into it that lies `parts` below it."""
        if not parts:
            return self.value(path, node) if value is None else value
        if parts[0] == "[]":
            first = value[0] if isinstance(value, list) and value else None
            return [self.having(first, node["items"], f"{path}[]", parts[1:])]
        name = parts[0]
        if value is None:
            value = self.value(path, node)
        whole = dict(value) if isinstance(value, dict) else self._object(path, node)
        whole[name] = self.having(whole.get(name), node["properties"][name], f"{path}.{name}", parts[1:])
        return whole

    def _object(self, path: str, node: Node) -> JsonObject:
        return {name: self.value(f"{path}.{name}", node["properties"][name]) for name in node.get("required", ())}
