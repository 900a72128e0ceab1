"""The OpenAPI document is valid, and says what the rows and the schemas say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs
import orjson
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from sendbox.contract import schemas
from sendbox.contract.validators import Contract
from sendbox.services.http import openapi
from sendbox.services.http.openapi import WEBHOOKS, Kind, document
from sendbox.services.messaging.http.legacy import ROUTES as LEGACY
from sendbox.services.messaging.http.sending.routes import ROUTES as SENDING
from sendbox.services.messaging.http.sending.simple import ROUTES as SIMPLE
from sendbox.services.verify.http import ROUTES as VERIFY
from tests.contract.samples import incoming, sent_message

CONTRACT = Contract()
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Made:
    """A made-up row."""

    method: str
    path: str
    operation: str
    summary: str = "Do it"
    section: str = "§4.1"
    auth: str = "header"
    request: str | None = None
    request_type: str = "application/json"
    query: str | None = None
    responses: Mapping[int, str | None] = field(default_factory=dict)
    interface: str = "sending"
    assumed: tuple[str, ...] = ()


ROWS = (
    Made(
        "POST", "/v2/message", "sendMessage", request="sending.json#/$defs/Message", assumed=("A56", "A57"),
        responses={200: "sending.json#/$defs/MessageResponse", 400: "sending.json#/$defs/Error", 299: None},
    ),
    Made("GET", "/v2/simple", "simple", query="sending.json#/$defs/SimpleQuery", auth="header-or-query"),
    Made("POST", "/v2/simple", "simple", request="sending.json#/$defs/SimpleForm", request_type=FORM),
    Made("POST", "/v2/other", "simple", auth="none"),
    Made("POST", "/v3/other-one", "simple", auth="none"),
    Made(
        "GET", "/Send", "send", query="legacy.json#/$defs/SendForm", auth="form", interface="legacy",
        responses={200: "legacy.json#/$defs/SendResult"},
    ),
)  # fmt: skip


def make(*rows: Any) -> dict[str, Any]:
    return document(rows, CONTRACT, origin="http://127.0.0.1:7357", version="0.1.0")


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        yield from (value for key, value in node.items() if key == "$ref" and isinstance(value, str))
        yield from node.get("discriminator", {}).get("mapping", {}).values() if "discriminator" in node else ()
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


@pytest.mark.parametrize(
    "rows", [ROWS, (), SENDING, (*SENDING, *SIMPLE, *LEGACY)], ids=["made up", "none", "sending", "all"]
)
def test_the_document_is_valid(rows: tuple[Any, ...]) -> None:
    """`openapi-spec-validator` finds nothing, every reference leads somewhere, and it is plain JSON."""
    whole = make(*rows)
    assert list(OpenAPIV31SpecValidator(whole).iter_errors()) == []
    schemas = {f"#/components/schemas/{name}" for name in whole["components"]["schemas"]}
    assert set(references(whole)) == schemas
    assert orjson.loads(orjson.dumps(whole)) == whole


def test_a_row_becomes_an_operation() -> None:
    """Summary, section, assumptions, security, request and answers are those of the row."""
    operation = make(*ROWS)["paths"]["/v2/message"]["post"]
    assert operation["operationId"] == "sendMessage"
    assert operation["description"] == "Do it (§4.1, A56, A57)."
    assert (operation["x-spec"], operation["x-assumed"]) == ("§4.1", ["A56", "A57"])
    assert operation["security"] == [{"x-api-key": []}]
    assert operation["requestBody"]["content"] == {
        "application/json": {"schema": {"$ref": "#/components/schemas/Message"}}
    }
    assert list(operation["responses"]) == ["200", "400", "299", "413", "500", "503"]
    assert "content" not in operation["responses"]["299"]


def test_s5_2_the_key_as_query_is_a_scheme_of_its_own() -> None:
    """§5: either credential lets in, and the key is not listed among the parameters again."""
    operation = make(*ROWS)["paths"]["/v2/simple"]["get"]
    assert operation["security"] == [{"x-api-key": []}, {"apikey": []}]
    names = {parameter["name"]: parameter for parameter in operation["parameters"]}
    assert "apikey" not in names
    assert names["sender"]["schema"]["$ref"] == "#/components/schemas/Sender"
    assert names["phone_number"]["description"] == "Phone number of the recipient (§4.1)."
    assert not names["phone_number"]["required"]


def test_the_legacy_interface_is_deprecated_plain_text() -> None:
    """§4.1: fields as query parameters, required where the form requires them; plain text comes back."""
    operation = make(*ROWS)["paths"]["/Send"]["get"]
    assert operation["deprecated"] is True
    assert operation["security"] == []
    assert {parameter["name"]: parameter["required"] for parameter in operation["parameters"]} == {
        "apikey": True, "number": True, "message": True, "sender": False, "gateway": False, "type": False,
        "time": False, "expiration": False, "customid": False, "callback": False,
    }  # fmt: skip
    assert list(operation["responses"]["200"]["content"]) == ["text/plain"]


def test_operation_ids_are_unique() -> None:
    """Rows that share an operation get ids of their own; one method and path in two rows is a mistake."""
    whole = make(*ROWS)
    ids = [operation["operationId"] for path in whole["paths"].values() for operation in path.values()]
    assert ids == ["sendMessage", "simple", "simplePost", "simplePostOther", "simplePostOtherOne", "send"]
    with pytest.raises(ValueError, match="GET /a is in two rows"):
        make(*[Made("GET", "/a", "a")] * 4)


def test_what_has_several_types_means_in_the_document_what_it_means_in_its_row() -> None:
    """Generators of clients get it as cases, or as one of two components; the same values are legal."""
    definitions = CONTRACT.definitions
    names = [name for name, node in definitions.items() if isinstance(node.get("type"), list)]
    values = ["", "text", "https://a.example/", 7, 1.5, True, None, [], ["text"], {}, {"url": "https://a.example/"}]
    values += [{"text": {"name": "value"}}, {"payload": "text"}, {"name": 7}, {"first": "a", "second": "b"}]
    components = {"schemas": openapi.components(definitions, names)}
    assert {"Callback", "TemplateVariable", "TemplateHeader", "TemplateButton"} <= {*names}
    for name in names:
        row = jsonschema_rs.Draft202012Validator(schemas.inlined(definitions, name))
        component = jsonschema_rs.Draft202012Validator(components["schemas"][name] | {"components": components})
        assert [row.is_valid(value) for value in values] == [component.is_valid(value) for value in values], name


def test_a_row_with_an_unknown_schema_is_refused() -> None:
    """A document never has a dangling reference."""
    with pytest.raises(ValueError, match="Nothing is not defined; a route refers to it"):
        make(Made("GET", "/a", "a", responses={200: "sending.json#/$defs/Nothing"}))


def test_sources_are_kept_and_said() -> None:
    """`x-spec` and `x-assumed` travel along, and stand behind the descriptions."""
    schemas = make(*ROWS)["components"]["schemas"]
    assert schemas["Callback"]["x-assumed"] == "A01"
    assert schemas["CallbackObject"]["properties"]["batch_size"]["description"] == "Most events in one delivery (A01)."
    assert schemas["FlowStep"]["description"].endswith("(§2.2).")
    assert "Uri" in schemas
    assert "SendForm" not in schemas


def test_s6_webhooks_are_arrays_of_their_kind() -> None:
    """§6: each kind is a webhook whose body is an array of such events and no other; a signup's is an object (A24)."""
    whole = make()
    assert list(whole["webhooks"]) == ["sentMessage", "incomingReplyMessage", "incomingMessage", "partnerOnboarding"]
    samples: dict[Kind, dict[str, Any]] = {
        "sentMessage": sent_message("sms"),
        "incomingReplyMessage": incoming(reply=True),
        "incomingMessage": incoming(reply=False),
    }
    onboarding = CONTRACT.checker(WEBHOOKS["partnerOnboarding"][0])
    assert onboarding.is_valid({"partner_client_id": None, "status": "created"})
    assert not onboarding.is_valid([{"partner_client_id": None, "status": "created"}])
    for kind in samples:
        content = whole["webhooks"][kind]["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        assert content == WEBHOOKS[kind][0].replace("webhooks.json#/$defs/", "#/components/schemas/")
        checker = CONTRACT.checker(WEBHOOKS[kind][0])
        assert {name for name, event in samples.items() if checker.is_valid([event])} == {kind}


def test_the_discriminator_leads_to_components() -> None:
    """The mapping of `gateway` to schemas moves with the schemas."""
    mapping = make()["components"]["schemas"]["SentMessage"]["discriminator"]["mapping"]
    assert mapping["chatapp_text"] == "#/components/schemas/SentMessageChatappText"


def test_parts_of_a_path_are_parameters() -> None:
    """A name in braces in a path is a required parameter; a row that takes no key says so."""
    whole = document(VERIFY, Contract(), origin="http://127.0.0.1:7357", version="1")
    OpenAPIV31SpecValidator(whole).validate()
    schema = {"type": "string"}
    expected = {"name": "token", "in": "path", "description": "The token.", "required": True, "schema": schema}
    paths = whole["paths"]
    assert paths["/v1/validations/{token}"]["patch"]["parameters"] == [expected]
    assert paths["/v1/validations/{token}/verify"]["post"]["parameters"] == [expected]
    assert "parameters" not in paths["/v1/validations"]["post"]
    assert paths["/v1/verify-proof"]["post"]["security"] == []
