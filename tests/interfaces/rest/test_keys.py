"""`/apikey/…` over HTTP (§2.5, §4.4, §5.6; A19, A32, A33)."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import orjson
import pytest

from tests.box import KEY, WORLD, Box, boxed
from tests.interfaces.rest.calls import get, moved, post, subkey

pytestmark = pytest.mark.asyncio
DENIED = {"Message": "User is not authorized to access this resource with an explicit deny"}
TOP_ONLY = "Only a top apikey may manage child apikeys"


async def me(box: Box, key: str = KEY) -> dict[str, Any]:
    """How a key sees itself."""
    found: dict[str, Any] = (await get(box, "/apikey/me", key)).json["me"]
    return found


async def test_a33_settings_of_a_key_and_clearing_them() -> None:
    """Each may be left out; an empty one clears."""
    async with boxed() as box:
        settings = {"default_callback_url": "http://client.example/a", "note": "main", "default_sender": "Acme"}
        assert (await post(box, "/apikey/update", **settings)).json == {"success": True}
        assert (await post(box, "/apikey/update")).json == {"success": True}
        shown = await me(box)
        assert {name: shown[name] for name in settings} == settings
        assert (await post(box, "/apikey/update", **dict.fromkeys(settings, ""))).status == 200
        shown = await me(box)
        assert {name: shown[name] for name in settings} == dict.fromkeys(settings, "")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"default_callback_url": "client.example"}, id="no-scheme"),
        pytest.param({"default_callback_url": "ftp://client.example"}, id="another-scheme"),
        pytest.param({"default_callback_url": 7}, id="a-number"),
        pytest.param({"default_sender": "TwelveLetter"}, id="sender-of-12"),
        pytest.param({"note": []}, id="note"),
    ],
)
async def test_a33_what_is_no_setting(body: dict[str, Any]) -> None:
    """400, and nothing is changed."""
    async with boxed() as box:
        answer = await post(box, "/apikey/update", **{"note": "x", **body})
        assert answer.status == 400
        assert (await me(box))["note"] == ""


async def test_s6_the_default_callback_is_used_where_a_message_has_none() -> None:
    """§6: the callback of a message wins over the default; a sender by default shows on the phone (A33)."""
    async with boxed() as box:
        await box.open(KEY, deliveries="pull")
        await post(box, "/apikey/update", default_callback_url="http://127.0.0.1:9/a", default_sender="Acme")
        await box.send()
        await box.send("420777000201", callback="http://127.0.0.1:9/b")
        calls = await moved(box)
        assert [url for url, _, _ in calls] == ["http://127.0.0.1:9/a", "http://127.0.0.1:9/b"]
        assert [orjson.loads(body)[0]["sms"]["sender"] for _, _, body in calls] == ["Acme"] * 2


async def test_a32_a_subkey() -> None:
    """What it was made with; its own balance begins empty, and `account` is no key."""
    async with boxed() as box:
        made = (await post(box, "/apikey/add", currency="czk", note="shop", scope="rest-api")).json
        key = made["apikey"]
        assert key.startswith("test-1~")
        shown = await me(box, key)
        assert shown["account"] == (await me(box))["account"] != KEY
        assert {name: shown[name] for name in shown if name not in ("account", "senders")} == {
            "note": "shop",
            "default_callback_url": "",
            "default_sender": "",
            "scope": "rest-api",
            "is_blocked": False,
            "currency": "CZK",
            "credit": "0.00",
            "shared": False,
            "billing_id": made["billing_id"],
        }
        (listed,) = (await get(box, "/apikey/list")).json["list"]
        assert (listed["apikey"], listed["billing_id"], listed["note"]) == (key, made["billing_id"], "shop")
        assert (await get(box, "/apikey/list", key)).json == {"success": True, "list": []}


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        pytest.param({"currency": "EUR"}, 200, None, id="own"),
        pytest.param({"shared": False, "currency": "CZK"}, 200, None, id="own-in-another-currency"),
        pytest.param({"shared": True}, 200, None, id="shared"),
        pytest.param({"shared": True, "currency": "eur"}, 200, None, id="shared-in-the-parents-currency"),
        pytest.param(
            {"shared": True, "currency": "CZK"},
            400,
            "Shared apikey must have the currency of its parent: EUR",
            id="shared-in-another-currency",
        ),
        pytest.param({}, 400, "Missing 'currency' in request data", id="no-currency"),
        pytest.param({"shared": False}, 400, "Missing 'currency' in request data", id="own-without-currency"),
        pytest.param({"currency": "USD"}, 400, None, id="no-such-currency"),
        pytest.param({"shared": "yes", "currency": "EUR"}, 400, None, id="shared-is-a-boolean"),
        pytest.param({"currency": "EUR", "scope": "all"}, 400, None, id="no-such-scope"),
        pytest.param({"currency": "EUR", "default_callback_url": "x"}, 400, None, id="no-address"),
    ],
)
async def test_s2_5_the_currency_rule(body: dict[str, Any], status: int, text: str | None) -> None:
    """§2.5: a shared balance has the currency of the parent; one of its own says which."""
    async with boxed() as box:
        answer = await post(box, "/apikey/add", **body)
        assert answer.status == status, answer
        assert text is None or answer.json == {"message": text}
        if status == 200:
            assert (answer.json["billing_id"] == "default") is bool(body.get("shared"))


async def test_a32_nineteen_and_not_twenty() -> None:
    """The nineteenth is made, the twentieth is 403; a sub-key makes none at all."""
    async with boxed() as box:
        for number in range(19):
            key = await subkey(box, note=str(number))
        answer = await post(box, "/apikey/add", currency="EUR")
        assert (answer.status, answer.json) == (403, {"message": "Child apikey limit reached (19)"})
        answer = await post(box, "/apikey/add", key, currency="EUR")
        assert (answer.status, answer.json) == (403, {"message": TOP_ONLY})
        assert len((await get(box, "/apikey/list")).json["list"]) == 19


async def test_a32_a_disabled_key_is_denied_everywhere_until_it_is_enabled() -> None:
    """§5.6: the sending interface denies it with its own text, the management interface with 401."""
    async with boxed() as box:
        key = await subkey(box, shared=True)
        assert (await post(box, "/apikey/change", apikey=key, disable=1)).json == {"success": True}
        message = {"body": "Hello", "to": [{"phone_number": "420777000101"}]}
        answer = await box.post("/v2/message", message, x_api_key=key)
        assert (answer.status, answer.json) == (400, DENIED)
        assert (await get(box, "/apikey/me", key)).status == 401
        refused = (await box.get("/_sandbox/refused")).json["refused"][-1]
        assert (refused["key"], refused["why"]) == (key, "this sub-key is disabled")
        assert (await get(box, "/apikey/list")).json["list"][0]["is_blocked"] is True
        await post(box, "/apikey/change", apikey=key, disable=0, scope="api")
        shown = await me(box, key)
        assert (shown["is_blocked"], shown["scope"]) == (False, "api")


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        pytest.param({}, 400, "Missing 'apikey' in request data", id="no-key"),
        pytest.param({"apikey": "test-1~nobody"}, 403, "Apikey is not a child of this apikey", id="unknown"),
        pytest.param({"apikey": "test-2"}, 403, "Apikey is not a child of this apikey", id="another-worlds"),
        pytest.param({"apikey": KEY, "disable": 1}, 403, "Apikey is not a child of this apikey", id="itself"),
        pytest.param({"apikey": "test-1~a", "disable": 2}, 400, None, id="disable-is-0-or-1"),
        pytest.param({"apikey": "test-1~a", "disable": True}, 400, None, id="disable-is-a-number"),
    ],
)
async def test_a32_only_own_children_are_changed(body: dict[str, Any], status: int, text: str | None) -> None:
    """Nobody changes what is another's, nor itself."""
    async with boxed({"sendbox": 1, "account": {"subkeys": [{"name": "a"}]}}) as box:
        answer = await post(box, "/apikey/change", **body)
        assert answer.status == status
        assert text is None or answer.json == {"message": text}
        answer = await post(box, "/apikey/change", "test-1~a", apikey="test-1~a")
        assert (answer.status, answer.json) == (403, {"message": TOP_ONLY})


async def test_s6_a_subkeys_messages_use_its_callback_and_its_balance() -> None:
    """§2.5, §6: its own default callback, else its parent's; its credit runs out while its parent's does not."""
    scenario = {
        "sendbox": 1,
        "account": {
            "credit": {"eur": 10},
            "subkeys": [
                {"name": "a", "credit": 0.036, "default_callback_url": "http://127.0.0.1:9/sub"},
                {"name": "b", "credit": 10},
            ],
        },
    }
    async with boxed(scenario) as box:
        await box.open(KEY, deliveries="pull")
        await post(box, "/apikey/update", default_callback_url="http://127.0.0.1:9/parent")
        senders = ("test-1~a", "test-1~a", "test-1~b", KEY)
        sent = [(await box.send(f"4207770001{number:02}", key=key))[0] for number, key in enumerate(senders)]
        urls = [url for url, _, _ in await moved(box)]
        assert sorted(urls) == ["http://127.0.0.1:9/parent", "http://127.0.0.1:9/sub"]
        shown = [(await get(box, "/message", id=each)).json["message"] for each in sent]
        assert [each["status_code"] for each in shown] == [None, "307", None, None]
        assert [(await me(box, key))["credit"] for key in ("test-1~a", KEY)] == ["0.00", "9.964"]


async def test_control_tops_a_subkey_up() -> None:
    """`PATCH account` sets the credit of a sub-key, by the end of its key."""
    async with boxed() as box:
        key = await subkey(box)
        change = {"subkeys": [{"name": key.partition("~")[2], "credit": 5}]}
        assert (await box.patch(f"{WORLD}/account", change)).status == 200
        assert (await me(box, key))["credit"] == "5.00"


async def test_a21_a_secret_signs_what_goes_to_the_default_callback() -> None:
    """A21: lower-case hex HMAC-SHA256 of the raw body, once the key has a secret."""
    async with boxed() as box:
        await box.open(KEY, deliveries="pull")
        await post(box, "/apikey/update", default_callback_secret="s3cret")
        await box.send()
        calls = await moved(box)
        expected = [hmac.new(b"s3cret", body, hashlib.sha256).hexdigest() for _, _, body in calls]
        assert [headers["x-request-signature"] for _, headers, _ in calls] == expected != []
