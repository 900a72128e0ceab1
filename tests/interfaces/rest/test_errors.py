"""Errors of the management interface: status, text, shape; and who may do what (§5, §7.2; A19, A26)."""

from __future__ import annotations

from typing import Any, Final

import pytest

from sendbox.app import SERVED
from sendbox.services.http.exchange import Route
from tests.box import KEY, ORIGIN, boxed
from tests.interfaces.rest.calls import get, journal, post, subkey

pytestmark = pytest.mark.asyncio
#: A legal body of every call that changes a setting, and of the one that does not.
CHANGES: Final[dict[str, dict[str, Any]]] = {
    "/blacklist": {"to": "420777000101"},
    "/optout": {"to": "420777000101"},
    "/credit/order": {"service_id": "sender_sms_420_alnum", "period": "month", "subject": "Acme"},
    "/push/device": {"id": "d", "token": "t"},
    "/apikey/update": {"note": "n"},
    "/apikey/add": {"shared": True},
    "/apikey/change": {"apikey": "k", "disable": 1},
}
LISTS: Final = ("/v1/blacklist", "/v1/optout")
ROUTES: Final = [route for route in SERVED.routes if route.interface == "rest"]
NO_DATE: Final = "Missing 'date' or 'xapikey' in request data"
WITHOUT_KEY: Final = {"/v1/messages": NO_DATE, "/v1/message": "Missing 'id' in request data"}


def with_success(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The body of an error, to which the lists add that there was no success."""
    return {"success": False, **body} if path in LISTS else body


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
async def test_a26_keys(route: Route) -> None:
    """401 for a key that is not known; without any key too, except where the call is told what is missing."""
    async with boxed() as box:
        for key in ("prod", "test-1~never-made", ""):
            answer = await box.call(route.method, route.path, b"{}", {"x-api-key": key})
            assert (answer.status, answer.json) == (401, with_success(route.path, {"message": "Unauthorized"}))
            assert answer.headers["sendbox-journal"] == f"{ORIGIN}/_sandbox/refused"
        answer = await box.call(route.method, route.path, b"{}")
        text = WITHOUT_KEY.get(route.path)
        expected = (401, "Unauthorized") if text is None else (400, text)
        assert (answer.status, answer.json) == (expected[0], with_success(route.path, {"message": expected[1]}))


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
async def test_a75_the_wrong_method_is_405_in_the_interfaces_shape(route: Route) -> None:
    """Another method names the legal one."""
    async with boxed() as box:
        answer = await box.call("DELETE", route.path, b"", {"x-api-key": KEY})
        assert (answer.status, answer.headers["allow"]) == (405, route.method)
        assert set(answer.json) == set(with_success(route.path, {"message": ""}))


@pytest.mark.parametrize("route", [route for route in ROUTES if route.method == "POST"], ids=lambda route: route.path)
@pytest.mark.parametrize(
    ("body", "begins"),
    [
        pytest.param(b"", "an empty body is not JSON", id="empty"),
        pytest.param(b"{", "the end at line 1", id="half"),
        pytest.param(b"[]", "[] is not a legal JSON body", id="array"),
        pytest.param(b'"to"', '"to" is not a legal JSON body', id="string"),
    ],
)
@pytest.mark.sample(2)
async def test_a75_what_is_no_object_is_400(route: Route, body: bytes, begins: str) -> None:
    """Malformed JSON, and JSON that is no object, are refused in the interface's shape."""
    async with boxed() as box:
        answer = await box.call("POST", route.path, body, {"x-api-key": KEY, "content-type": "application/json"})
        assert answer.status == 400
        assert answer.json["message"].startswith(begins)


@pytest.mark.parametrize(("path", "body"), CHANGES.items(), ids=CHANGES)
async def test_a19_a_key_of_scope_api_changes_no_settings(path: str, body: dict[str, Any]) -> None:
    """403 with the scope's name; the journal says why."""
    async with boxed() as box:
        key = await subkey(box, scope="api")
        answer = await post(box, path, key, **body)
        text = "Apikey scope 'api' is not allowed to change settings"
        assert (answer.status, answer.json["message"]) == (403, text)
        (finding,) = (await journal(box, "request"))[-1]["findings"]
        assert (finding["rule"], finding["assumed"]) == ("scope", "A19")


async def test_a19_a_key_of_scope_api_sends_and_looks() -> None:
    """It may send, upload, and read what became of its messages."""
    async with boxed() as box:
        key = await subkey(box, scope="api", shared=True)
        await box.send(key=key)
        assert (await post(box, "/messaging/url", key, bulk_id="b", filetype="gz")).status == 200
        for path, query in (("/messages", {"date": "2026-03-01"}), ("/message", {"id": "x"}), ("/apikey/me", {})):
            assert (await get(box, path, key, **query)).status == 200


@pytest.mark.parametrize(("path", "body"), CHANGES.items(), ids=CHANGES)
async def test_a19_a_key_of_scope_rest_api_changes_settings(path: str, body: dict[str, Any]) -> None:
    """It is not refused for its scope; sub-keys are the business of the top key."""
    async with boxed() as box:
        key = await subkey(box, scope="rest-api", shared=True)
        answer = await post(box, path, key, **body)
        only_top = path in ("/apikey/add", "/apikey/change")
        assert answer.status == (403 if only_top else 200)
        assert "scope" not in answer.json.get("message", "")


async def test_a57_unknown_fields_are_advice() -> None:
    """An unknown field or parameter has no effect, and the nearest legal one is named."""
    async with boxed() as box:
        assert (await post(box, "/push/device", id="d", token="t", tokn="x")).status == 200
        assert (await get(box, "/messages", date="2026-03-01", phone="1")).status == 200
        advice = (await box.get(f"/_sandbox/worlds/{KEY}/advice")).json["advice"]
        assert [(each["code"], each["path"]) for each in advice] == [
            ("unknown-field", "$.tokn"), ("unknown-field", "$.phone"),
        ]  # fmt: skip


async def test_a56_null_is_refused_or_absent() -> None:
    """Null for an optional field is a 400 that names it; with `nulls: absent` it counts as left out."""
    for nulls, status in (("refuse", 400), ("absent", 200)):
        async with boxed({"sendbox": 1, "assume": {"nulls": nulls}}) as box:
            answer = await post(box, "/apikey/update", note=None, default_sender="Acme")
            assert answer.status == status


async def test_queries_that_cannot_be_read() -> None:
    """What is not UTF-8 is refused; of a parameter given twice the last one counts."""
    async with boxed() as box:
        answer = await box.get("/v1/messages?date=%ff", x_api_key=KEY)
        assert answer.status == 400
        assert "is not UTF-8" in answer.json["message"]
        assert (await box.get("/v1/messages?date=x&date=2026-03-01", x_api_key=KEY)).status == 200
