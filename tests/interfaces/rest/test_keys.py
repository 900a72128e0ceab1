"""`/apikey/…` over HTTP (§2.5, §4.4, §5.6; A19, A32, A33)."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import orjson
import pytest

from sendbox.services.account.account import Account
from tests.box import KEY, WORLD, Box, boxed
from tests.interfaces.rest.calls import OWN, get, moved, post, subkey

pytestmark = pytest.mark.asyncio
DENIED = {"Message": "User is not authorized to access this resource with an explicit deny"}
TOP_ONLY = "Only a top-level apikey can create new apikeys"
NOT_ITS_OWN = "Target apikey does not belong to this parent"
NOTHING = "Missing 'scope' or 'disable' in request data"


async def me(box: Box, key: str = KEY) -> dict[str, Any]:
    """How a key sees itself."""
    found: dict[str, Any] = (await get(box, "/apikey/me", key)).json["me"]
    return found


async def balance(box: Box, key: str) -> float:
    """The credit of a sub-key."""
    keys = (await box.get(f"{WORLD}/account")).json["subkeys"]
    return next(float(each["credit"]) for each in keys if each["key"] == key)


async def test_a33_settings_of_a_key_and_clearing_them() -> None:
    """Each may be left out, but not all; an empty one clears."""
    async with boxed() as box:
        settings = {"default_callback_url": "http://client.example/a", "note": "main"}
        assert (await post(box, "/apikey/update", **settings, default_sender="Acme")).json == {"success": True}
        for body in ({}, {"nte": "x"}):
            answer = await post(box, "/apikey/update", **body)
            missing = "Missing 'default_callback_url' or 'note' in request data"
            assert (answer.status, answer.json) == (400, {"message": missing})
        for name, value in (*settings.items(), ("default_callback_secret", "s3cret"), ("default_sender", "Shop")):
            assert (await post(box, "/apikey/update", **{name: value})).status == 200
        shown = await me(box)
        assert {name: shown[name] for name in settings} == settings
        cleared = dict.fromkeys((*settings, "default_sender", "default_callback_secret"), "")
        assert (await post(box, "/apikey/update", **cleared)).status == 200
        shown = await me(box)
        assert {name: shown[name] for name in settings} == dict.fromkeys(settings, "")
        top = Account.of(box.runtime.worlds[KEY].world).top
        assert (top.default_sender, top.default_callback_secret) == (None, None)


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
    """What it was made with, in the types of the service; its own balance begins empty."""
    async with boxed() as box:
        body = {**OWN, "currency": "czk", "note": "shop", "scope": "rest-api", "share_senders": True}
        made = (await post(box, "/apikey/add", **body)).json
        key = made["apikey"]
        assert key.startswith("test-1~")
        assert await me(box, key) == {
            "note": "shop",
            "default_callback_url": "",
            "account": "prepaid",
            "scope": "rest-api",
            "share_senders": "1",
            "is_blocked": 0,
            "senders": [],
            "vat": "0",
            "currency": "czk",
            "tz": "UTC",
        }
        assert (await me(box))["share_senders"] == "0"
        assert (await get(box, "/apikey/list")).json == {"success": True, "list": [key]}
        assert (await get(box, "/apikey/list", key)).json == {"success": True, "list": []}
        (shown,) = (await box.get(f"{WORLD}/account")).json["subkeys"]
        assert shown == {
            "key": key,
            "note": "shop",
            "scope": "rest-api",
            "disabled": False,
            "shared": False,
            "subid": made["billing_id"],
            "currency": "CZK",
            "credit": 0,
            "default_callback_url": None,
        }


async def test_a32_senders_of_the_account() -> None:
    """Each with its channel; a number is a sender of sms, and a connected number has a name."""
    account = {"senders": {"sms": ["Shop"], "richmsg": ["Acme"]}, "numbers": ["420900000001"]}
    connected = {"waba_id": "1", "numbers": [{"phone_number_id": "109876543210987", "phone_number": "420900000009"}]}
    scenario = {"sendbox": 1, "account": account, "partner": {"accounts": [connected]}}
    async with boxed(scenario) as box:
        found = (await me(box))["senders"]
        assert [(each["flow"], each["value"]) for each in found] == [
            ("chatapp", "109876543210987"), ("richmsg", "Acme"), ("sms", "420900000001"), ("sms", "Shop"),
        ]  # fmt: skip


async def test_a32_a_key_of_a_user_is_made_once() -> None:
    """Where there is a sub-key for the user, the answer has it; another user gets another one."""
    async with boxed() as box:
        first = (await post(box, "/apikey/add", **OWN, app_userid="u1")).json
        assert (await post(box, "/apikey/add", **OWN, app_userid="u1", note="x")).json == first
        assert (await post(box, "/apikey/add", **OWN, app_userid="u2")).json["apikey"] != first["apikey"]
        assert (await post(box, "/apikey/add", **OWN)).json["apikey"] != first["apikey"]
        assert len((await get(box, "/apikey/list")).json["list"]) == 3


async def test_a32_billing_id_names_the_billing() -> None:
    """Ours: the sub-account has the name that is given, once; a shared key has none."""
    async with boxed() as box:
        made = (await post(box, "/apikey/add", **OWN, billing_id="shop")).json
        assert made["billing_id"] == "shop"
        assert (await post(box, "/blacklist", to="420777000101", subid="shop")).status == 200
        for taken in ("shop", "default"):
            answer = await post(box, "/apikey/add", **OWN, billing_id=taken)
            assert (answer.status, answer.json) == (400, {"message": f"billing_id '{taken}' is taken"})
        assert (await post(box, "/apikey/add", shared=True, billing_id="shop")).json["billing_id"] is None


REQUIRED = "Missing required fields in request data"


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        pytest.param(OWN, 200, None, id="own"),
        pytest.param({**OWN, "shared": False, "currency": "CZK"}, 200, None, id="own-in-another-currency"),
        pytest.param({"shared": True}, 200, None, id="shared"),
        pytest.param({"shared": True, "currency": "eur"}, 200, None, id="shared-in-the-parents-currency"),
        pytest.param(
            {"shared": True, "currency": "CZK"},
            400,
            "Shared apikey must have the currency of its parent: EUR",
            id="shared-in-another-currency",
        ),
        pytest.param({}, 400, REQUIRED, id="nothing"),
        pytest.param({**OWN, "currency": ""}, 400, None, id="empty-currency"),
        pytest.param({**OWN, "billing_name": ""}, 400, REQUIRED, id="empty-name"),
        pytest.param({"currency": "EUR", "billing_name": "Acme"}, 400, REQUIRED, id="no-email"),
        pytest.param({**OWN, "currency": "USD"}, 400, None, id="no-such-currency"),
        pytest.param({**OWN, "shared": "yes"}, 400, None, id="shared-is-a-boolean"),
        pytest.param({**OWN, "share_senders": 1}, 400, None, id="share_senders-is-a-boolean"),
        pytest.param({**OWN, "scope": "all"}, 400, "Invalid scope value", id="no-such-scope"),
        pytest.param({**OWN, "default_callback_url": "x"}, 400, None, id="no-address"),
    ],
)
async def test_s2_5_the_currency_rule(body: dict[str, Any], status: int, text: str | None) -> None:
    """§2.5: a shared balance has the currency of the parent; one of its own says which, and who pays (A32)."""
    async with boxed() as box:
        answer = await post(box, "/apikey/add", **body)
        assert answer.status == status, answer
        assert text is None or answer.json == {"message": text}
        if status == 200:
            assert (answer.json["billing_id"] is None) is bool(body.get("shared"))


async def test_a32_nineteen_and_not_twenty() -> None:
    """The nineteenth is made, the twentieth is 403; a sub-key makes none at all."""
    async with boxed() as box:
        for number in range(19):
            key = await subkey(box, note=str(number))
        answer = await post(box, "/apikey/add", **OWN)
        assert (answer.status, answer.json) == (403, {"message": "Child apikey limit reached (19)"})
        answer = await post(box, "/apikey/add", key, **OWN)
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
        assert (await box.get(f"{WORLD}/account")).json["subkeys"][0]["disabled"] is True
        await post(box, "/apikey/change", apikey=key, disable=0, scope="api")
        shown = await me(box, key)
        assert (shown["is_blocked"], shown["scope"]) == (0, "api")


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        pytest.param({}, 400, "Missing 'apikey' in request data", id="no-key"),
        pytest.param({"apikey": "test-1~a"}, 400, NOTHING, id="no-change"),
        pytest.param({"apikey": "test-1~nobody", "disable": 1}, 403, NOT_ITS_OWN, id="unknown"),
        pytest.param({"apikey": "test-2", "disable": 1}, 403, NOT_ITS_OWN, id="another-worlds"),
        pytest.param({"apikey": KEY, "disable": 1}, 403, "Parent apikey cannot change itself", id="itself"),
        pytest.param({"apikey": "test-1~a", "scope": "all"}, 400, "Invalid scope value", id="no-such-scope"),
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
        for name in ("test-1~a", KEY):
            answer = await post(box, "/apikey/change", "test-1~a", apikey=name, disable=1)
            assert (answer.status, answer.json) == (403, {"message": NOT_ITS_OWN})


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
        assert await balance(box, "test-1~a") == 0
        assert (await box.get(f"{WORLD}/account")).json["credit"] == 9.964


async def test_control_tops_a_subkey_up() -> None:
    """`PATCH account` sets the credit of a sub-key, by the end of its key."""
    async with boxed() as box:
        key = await subkey(box)
        change = {"subkeys": [{"name": key.partition("~")[2], "credit": 5}]}
        assert (await box.patch(f"{WORLD}/account", change)).status == 200
        assert await balance(box, key) == 5


async def test_a21_a_secret_signs_what_goes_to_the_default_callback() -> None:
    """A21: lower-case hex HMAC-SHA256 of the raw body, once the key has a secret."""
    async with boxed() as box:
        await box.open(KEY, deliveries="pull")
        await post(box, "/apikey/update", default_callback_secret="s3cret")
        await box.send()
        calls = await moved(box)
        expected = [hmac.new(b"s3cret", body, hashlib.sha256).hexdigest() for _, _, body in calls]
        assert [headers["x-request-signature"] for _, headers, _ in calls] == expected != []
