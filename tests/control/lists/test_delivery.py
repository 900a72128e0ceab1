"""One delivery whole: what was sent, how it is checked, what happens next, what may be done."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from typing import Any

import pytest

from tests.box import ORIGIN, WORLD, Box, boxed
from tests.receivers import answering, receiving

pytestmark = pytest.mark.asyncio
PHONE = "420777100111"
SIGNED = {"sendbox": 1, "extends": "default", "account": {"default_callback_secret": "s3cret"}}


async def whole(box: Box, at: int = 0) -> Any:
    delivery = (await box.get(f"{WORLD}/deliveries")).json["deliveries"][at]
    answer = await box.get(f"{WORLD}/deliveries/{delivery['id']}")
    assert answer.status == 200, answer
    assert {name: value for name, value in answer.json.items() if name in delivery and name != "tries"} == {
        name: value for name, value in delivery.items() if name != "tries"
    }
    return answer.json


async def test_what_the_built_in_receiver_got() -> None:
    """Its address, its headers and the JSON; unsigned, and it can be replayed."""
    async with boxed() as box:
        (message_id,) = await box.send(PHONE)
        await box.advance("1m")
        shown = await whole(box)
        assert (shown["request"]["method"], shown["request"]["url"]) == ("POST", f"{ORIGIN}{WORLD}/hook")
        headers = dict(shown["request"]["headers"])
        assert (headers["X-Request-Id"], headers["Content-Type"]) == (shown["id"], "application/json")
        assert json.loads(shown["request"]["body"])[0]["message_id"] == message_id
        assert (shown["signature"], shown["next_try"], shown["acts"]) == (None, None, ["replay"])
        assert [(this_try["status"], this_try["took"]) for this_try in shown["tries"]] == [(200, "0s")]


async def test_a_receiver_can_check_the_signature() -> None:
    """With the header, the value and the body that are shown."""
    async with boxed(SIGNED) as box:
        await box.send(PHONE)
        await box.advance("1m")
        shown = await whole(box)
        signature = shown["signature"]
        made = hmac.new(b"s3cret", shown["request"]["body"].encode(), hashlib.sha256).hexdigest()
        assert (signature["header"], signature["value"], signature["right"]) == ("X-Request-Signature", made, True)
        assert ("HMAC-SHA256" in signature["algorithm"], signature["signed"]) == (True, "the body, byte for byte")


async def test_a_rule_spoils_the_signature() -> None:
    """That is said."""
    rule = {"in": "webhooks", "when": {"result": "sent"}, "fault": "bad_signature"}
    async with boxed(SIGNED) as box:
        await box.open()
        answer = await box.post(f"{WORLD}/rules", rule)
        assert answer.status == 201, answer
        await box.send(PHONE)
        await box.advance("1m")
        assert [(await whole(box, at))["signature"]["right"] for at in range(2)] == [True, False]


async def test_what_waits_says_until_when_and_what_may_be_done() -> None:
    """A failed try is made again; one that is held waits for its release."""
    async with boxed() as box, receiving(answering(500)) as receiver:
        await box.open()
        await box.only_sending()
        await box.send(PHONE, callback={"url": receiver.url})
        await box.advance("0s")
        shown = await whole(box)
        assert (shown["state"], shown["request"]["url"], shown["acts"]) == ("waiting", receiver.url, ["hold"])
        assert shown["tries"][0]["status"] == 500
        due = shown["next_try"]
        assert due > shown["at"]
        await box.post(f"{WORLD}/deliveries/{shown['id']}/hold")
        held = await whole(box)
        assert (held["acts"], held["next_try"]) == (["release"], None)
        await box.post(f"{WORLD}/deliveries/{shown['id']}/release")
        released = await whole(box)
        assert released["state"] == "waiting"
        assert released["next_try"] == (await box.clock())["now"]
        answer = await box.get(f"{WORLD}/deliveries/none")
        assert (answer.status, answer.json["error"]) == (404, "no_such_delivery")


async def test_what_a_rule_keeps_back_says_when_it_leaves() -> None:
    """A delayed delivery has no try yet."""
    rule = {"in": "webhooks", "when": {}, "fault": {"delay": "30s"}}
    async with boxed() as box:
        await box.open()
        await box.only_sending()
        answer = await box.post(f"{WORLD}/rules", rule)
        assert answer.status == 201, answer
        await box.send(PHONE)
        await box.advance("0s")
        shown = await whole(box)
        assert (shown["tries"], shown["next_try"]) == ([], "2026-03-01T09:00:30.000Z")


async def test_a_delivery_that_is_with_a_client_may_be_held() -> None:
    """One under way has no status and took no time yet."""
    async with boxed() as box:
        await box.open(deliveries="pull")
        await box.only_sending()
        await box.send(PHONE)
        advance = asyncio.create_task(box.advance("0s"))
        (carried,) = (await box.post(f"{WORLD}/outbox?wait=1m")).json["calls"]
        shown = await whole(box)
        assert (shown["id"], shown["state"], shown["acts"]) == (carried["id"], "sending", ["hold"])
        assert [(this_try["status"], this_try["took"]) for this_try in shown["tries"]] == [(None, None)]
        assert shown["request"]["body"].encode() == base64.b64decode(carried["body"])
        assert shown["request"]["headers"] == carried["headers"]
        await box.post(f"{WORLD}/outbox/{carried['id']}", {"status": 200})
        await advance
