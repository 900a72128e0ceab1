"""Whatever is sent, no operation breaks, and none answers what `/openapi.json` does not say.

Schemathesis makes the calls from the document, legal and illegal ones, and holds the answers against it. They go
through the application in this process, each into a world of its own without faults, and are the same on every run: a
few in an ordinary one, many in a deep one.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import httpx
import orjson
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from sendbox import __version__
from sendbox.app import SERVED
from sendbox.engine.blueprint import Blueprint
from sendbox.server.gateway import Emulated
from sendbox.services.http.exchange import BODY_CAP, Exchange, Route
from sendbox.services.http.executor import CallExecutor
from sendbox.services.http.openapi import document
from tests.box import CONTRACT, KEY, ORIGIN, Answer, Box, boxed
from tests.scenarios import load
from tests.tiers import examples

DOCUMENT: Final = document(SERVED.routes, CONTRACT, origin=ORIGIN, version=__version__)
#: The paths of the legacy interface, whose key is among the fields.
LEGACY: Final = {route.path for route in SERVED.routes if route.auth == "form"}
OPERATIONS: Final = {
    each.ok().definition.raw["operationId"]: each.ok()
    for each in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations()
    if isinstance(each, Ok)
}
CHECKS: Final = [status_code_conformance, content_type_conformance, response_schema_conformance]
#: Calls of each operation and mode in an ordinary run: the simplest, and one that is drawn.
EXAMPLES: Final = 2
#: The same in a deep run; messages take longest to make up.
DEEP_EXAMPLES: Final = 100
FEWER: Final = {"sendPriorityMessage": 50, "sendMessages": 50}
#: Their input is the key alone, so that nothing can be illegal.
WITHOUT_INPUT: Final = {"listServices", "listSubKeys", "showKey"}
#: A refused order is answered with 500 by the service itself (A31), so these are not errors inside.
REFUSED_ORDERS: Final = {"Invalid service id", "Insufficient credit", "No available sender for this service"}
WABA: Final = "102030405060708"
SCENARIO: Final = {
    "sendbox": 1,
    "account": {
        "subkeys": [{"name": "shop"}],
        "templates": [{"name": "hello", "language": "en", "components": [{"type": "BODY", "text": "Hello"}]}],
    },
    "partner": {"accounts": [{"waba_id": WABA, "name": "Bakery", "numbers": [{"phone_number": "420900000001"}]}]},
}
SIGNUP: Final = {"partner_callback_url": "http://client.example/onboarding", "phone_number": "manual"}

#: One for all: only its length is looked at.
TOO_LONG: Final = bytes(BODY_CAP + 1)


def _empty() -> Blueprint:
    return load({"sendbox": 1})


def test_every_row_is_tried() -> None:
    """Schemathesis makes calls of each row of each interface."""
    assert {(each.method.upper(), each.path) for each in OPERATIONS.values()} == {
        (route.method, route.path) for route in SERVED.routes
    }


async def names(box: Box, path: str) -> dict[str, Any]:
    """Names of what there is in the world, by the field or parameter that takes them; makes what is missing."""
    found: dict[str, Any] = {"id": (await box.send())[0], "date": "2026-03-01", "apikey": f"{KEY}~shop"}
    if path.startswith("/v1/chatapp/"):
        listed = (await box.post("/v1/chatapp/templates/list", {"waba_id": WABA}, x_api_key=KEY)).json
        signup = (await box.post("/v1/chatapp/signup", SIGNUP, x_api_key=KEY)).json
        found |= {"waba_id": WABA, "template_id": listed["templates"][0]["id"], "token": signup["token"]}
    elif path.startswith("/v1/v"):
        begun = await box.post("/v1/validations", {"phoneNumber": "420777000101"}, x_api_key=KEY)
        found["token"] = begun.json["token"]
    return found


async def called(box: Box, case: Any, *, aimed: bool) -> httpx.Response:
    """The answer to a made-up call under a good key; an `aimed` one names what is in the world."""
    path: str = case.operation.path
    case.headers["x-api-key"] = KEY
    fields = case.body if isinstance(case.body, dict) else {}
    if path in LEGACY:
        for part in (case.query, fields):
            part.update({"apikey": KEY} if "apikey" in part else {})
    elif aimed:
        known = await names(box, path)
        for part in (case.path_parameters, case.query, fields):
            part.update({name: value for name, value in known.items() if name in part})
    request = case.as_transport_kwargs(base_url=ORIGIN)
    request.pop("cookies", None)
    if isinstance(request.get("data"), bytes):
        request["content"] = request.pop("data")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=box.app)) as client:
        return await client.request(**request)


@pytest.mark.sample(3)  # the modes of an operation stand together, so that both are among every third case
@pytest.mark.parametrize("mode", schemathesis.GenerationMode, ids=lambda mode: mode.value)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_s7_no_call_breaks_an_operation(operation: str, mode: schemathesis.GenerationMode) -> None:
    """No server error, and no answer outside its declared statuses, content types and schemas."""
    if mode is schemathesis.GenerationMode.NEGATIVE and operation in WITHOUT_INPUT:
        pytest.skip("it takes no input")

    async def scene(case: Any, *, aimed: bool) -> None:
        async with boxed(SCENARIO) as box:
            await box.open(deliveries="pull")  # whatever address was made up, nothing goes out
            answer = await called(box, case, aimed=aimed)
            refused_order = operation == "orderService" and answer.json().get("message") in REFUSED_ORDERS
            assert answer.status_code < 500 or refused_order, answer.text
            let_in = answer.status_code != 401 and "Invalid apikey or token" not in answer.text
            assert let_in or mode is schemathesis.GenerationMode.NEGATIVE, answer.text
            case.validate_response(answer, checks=CHECKS)

    @settings(
        max_examples=examples(EXAMPLES, FEWER.get(operation, DEEP_EXAMPLES)),
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=OPERATIONS[operation].as_strategy(generation_mode=mode), aimed=st.booleans())
    def calls(case: Any, aimed: bool) -> None:
        asyncio.run(scene(case, aimed=aimed))

    calls()


def declared(route: Route, answer: Answer) -> list[str]:
    """What is wrong with an answer by what the document says of its status."""
    responses = DOCUMENT["paths"][route.path][route.method.lower()]["responses"]
    content = responses[str(answer.status)]["content"]
    ((kind, shape),) = content.items()
    value = orjson.loads(answer.body) if kind == "application/json" else answer.body.decode()
    name: str = shape["schema"]["$ref"]
    component = next(ref for ref in route.responses.values() if ref and name.endswith(ref.rpartition("/")[2]))
    found = [finding.message for finding in CONTRACT.checker(component).findings(value)]
    return found if answer.headers["content-type"].startswith(kind) else [kind, *found]


@pytest.mark.asyncio
@pytest.mark.parametrize("status", [413, 500])
@pytest.mark.parametrize("route", SERVED.routes, ids=lambda route: f"{route.method} {route.path}")
async def test_a75_errors_of_any_operation_are_declared(route: Route, status: int) -> None:
    """Too long a body, and an error inside: each operation's document says how they are answered."""

    def broken(exchange: Exchange) -> Any:
        raise LookupError("out of paper")

    async with boxed() as box:
        begun = await box.post("/v1/validations", {"phoneNumber": "420777000101"}, x_api_key=KEY)
        box.app = Emulated(box.runtime, CallExecutor(CONTRACT, [replace(route, handler=broken)], ()), _empty).handle
        body = orjson.dumps({"token": begun.json["token"]}) if route.auth == "none" else f"apikey={KEY}".encode()
        if status == 413:
            body = TOO_LONG
        path = route.path.replace("{token}", begun.json["token"]) + (f"?apikey={KEY}" if route.method == "GET" else "")
        answer = await box.call(route.method, path, body, {"x-api-key": KEY})
        assert answer.status == status, answer
        assert declared(route, answer) == []
