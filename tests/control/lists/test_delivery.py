"""One delivery whole: what was sent, how it is checked, what happens next, what may be done."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from sendbox.engine.delivery.batches import MAX_ANSWER_BYTES, MAX_ANSWERS, ReceiverAnswer, Try
from sendbox.runtime.policy import HttpCall, Outcome
from sendbox.server.listener import HttpServer
from tests.box import KEY, ORIGIN, START, WORLD, Box, boxed
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
        assert (await box.post(f"{WORLD}/deliveries/{shown['id']}/release")).json["state"] == "sending"
        await box.advance("0s")
        released = await whole(box)
        assert [(this_try["at"], this_try["status"]) for this_try in released["tries"]] == [(shown["at"], 500)] * 2
        assert (released["state"], released["next_try"] > due) == ("waiting", True)
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


async def test_what_the_receiver_answered_is_shown() -> None:
    """The status, the headers and the body of each try, the beginning of a long one, with the secret headers masked."""
    long = b"x" * (MAX_ANSWER_BYTES + 1)
    bodies = [b'{"error": "no such order"}', long]

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        body = bodies.pop(0)
        headers = [(b"content-type", b"application/json"), (b"set-cookie", b"session=123456789")]
        await send({"type": "http.response.start", "status": 500, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    server = HttpServer(app)
    async with boxed() as box:
        url = f"http://127.0.0.1:{await server.start()}/hook"
        try:
            await box.open()
            await box.only_sending()
            await box.send(PHONE, callback={"url": url})
            await box.advance("40s")
            answers = [this_try["answer"] for this_try in (await whole(box))["tries"]]
        finally:
            await server.stop()
    assert [(answer["status"], answer["body"], answer["whole"]) for answer in answers] == [
        (500, '{"error": "no such order"}', True),
        (500, "x" * MAX_ANSWER_BYTES, False),
    ]
    headers = dict(answers[0]["headers"])
    assert (headers["content-type"], headers["set-cookie"]) == ("application/json", "sess…")


async def test_answers_are_kept_of_the_newest_tries() -> None:
    """A world keeps a number of answers; they go with their deliveries, and nothing that happens depends on them."""
    async with boxed() as box:
        await box.open()
        answers = box.runtime.worlds[KEY].world.outlets.answers
        answer = ReceiverAnswer.of(200, [(b"a" * MAX_ANSWER_BYTES, b"b")], b"")
        assert (answer.headers, answer.whole) == ((), False)
        tries = [Try(at) for at in range(MAX_ANSWERS + 1)]
        for this_try in tries:
            answers.add(this_try, answer)
        assert [answers.get(this_try) for this_try in tries] == [None, *[answer] * MAX_ANSWERS]


async def test_a_replay_is_sent_at_once() -> None:
    """Without a move of the clock, before what waits for the same receiver; what fails then is tried again later."""
    async with boxed() as box, receiving(answering(200, 500, 200)) as receiver:
        await box.open()
        await box.only_sending()
        await box.send(PHONE, callback={"url": receiver.url})
        await box.advance("0s")
        first = await whole(box)
        moves = len((await box.get(f"{WORLD}/journal?kind=try")).json["entries"])
        assert (await box.post(f"{WORLD}/deliveries/{first['id']}/replay")).json["state"] == "sending"
        assert len((await box.get(f"{WORLD}/journal?kind=try")).json["entries"]) == moves + 1
        hosted = box.runtime.worlds[KEY]
        await hosted.until(lambda: not hosted.world.outlets.in_flight)
        assert len(receiver.calls) == 2
        replayed = await whole(box)
        assert replayed["state"] == "waiting"
        assert (await box.clock())["next_due"] == replayed["next_try"]
        await box.advance("1h")
        assert (await whole(box))["state"] == "delivered"


async def test_webhooks_are_held_before_their_first_try() -> None:
    """All, those about a phone, or those to an address; released together in an order of one's own, one by one."""
    other = "420777100112"
    async with boxed() as box, receiving(answering(200)) as receiver:
        await box.open()
        await box.only_sending()
        held = (await box.post(f"{WORLD}/holds", {"phone": "+420 777 100 111"})).json
        assert held == {"holds": [{"phone": PHONE, "target": None}], "held": []}
        assert (await box.post(f"{WORLD}/holds", {"phone": PHONE})).json == held
        await box.post(f"{WORLD}/holds", {"target": "hook"})
        for to, callback in ((PHONE, receiver.url), (other, receiver.url), (PHONE, receiver.url), (other, "hook")):
            url = callback if callback != "hook" else f"{ORIGIN}{WORLD}/hook"
            await box.send(to, callback={"url": url})
            await box.advance("0s")
        shown = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        assert [each["state"] for each in shown] == ["held", "delivered", "held", "held"]
        held = (await box.get(f"{WORLD}/holds")).json
        assert held["held"] == [shown[0]["id"], shown[2]["id"], shown[3]["id"]]
        assert (await box.delete(f"{WORLD}/holds")).json == {**held, "holds": []}
        refused = await box.post(f"{WORLD}/holds/release", {"deliveries": [shown[0]["id"], shown[1]["id"]]})
        assert (refused.status, refused.json["error"]) == (409, "wrong_state")
        order = [shown[2]["id"], shown[0]["id"]]
        assert (await box.post(f"{WORLD}/holds/release", {"deliveries": order})).json["held"] == [shown[3]["id"]]
        hosted = box.runtime.worlds[KEY]
        await hosted.until(lambda: not hosted.world.outlets.in_flight)
        assert [headers["x-request-id"] for headers in receiver.headers] == [shown[1]["id"], *order]
        assert (await box.post(f"{WORLD}/holds/release")).json["held"] == []
        assert {each["state"] for each in (await box.get(f"{WORLD}/deliveries")).json["deliveries"]} == {"delivered"}
        for body in ({"phone": "x"}, {"phone": "4207*"}):
            refused = await box.post(f"{WORLD}/holds", body)
            assert (refused.status, refused.json["error"]) == (400, "bad_argument")


async def test_each_of_those_with_one_id_is_released() -> None:
    """The oldest that is held first; an id that is named more often than there are webhooks is named in vain."""
    scenario = {"sendbox": 1, "extends": "default", "webhooks": [{"when": {}, "fault": {"duplicate": {"times": 3}}}]}
    async with boxed(scenario) as box:
        await box.open()
        await box.only_sending()
        await box.post(f"{WORLD}/holds", {})
        await box.send(PHONE)
        await box.advance("0s")
        held = (await box.get(f"{WORLD}/holds")).json["held"]
        assert held == held[:1] * 4
        assert (await box.post(f"{WORLD}/holds/release", {"deliveries": held[:1]})).json["held"] == held[1:]
        assert (await box.post(f"{WORLD}/holds/release", {"deliveries": held[:1]})).json["held"] == held[2:]
        refused = await box.post(f"{WORLD}/holds/release", {"deliveries": held[1:]})
        assert (refused.status, refused.json["error"]) == (409, "wrong_state")
        assert (await box.post(f"{WORLD}/holds/release", {"deliveries": held[2:]})).json["held"] == []
        await box.send("420777000101")
        await box.advance("0s")
        held = (await box.get(f"{WORLD}/holds")).json["held"]
        assert (await box.post(f"{WORLD}/holds/release", {"deliveries": held + held[:1]})).json["held"] == []


async def test_what_is_released_may_be_held_again() -> None:
    """While it waits for the one before it; a restored world sends it with the clock."""
    async with boxed() as box:
        await box.open(deliveries="pull")
        await box.only_sending()
        await box.post(f"{WORLD}/holds", {})
        for _ in range(3):
            await box.send(PHONE)
            await box.advance("0s")
        held = (await box.get(f"{WORLD}/holds")).json["held"]
        await box.put(f"{WORLD}/checkpoints/held")
        await box.post(f"{WORLD}/holds/release", {})
        states = [each["state"] for each in (await box.get(f"{WORLD}/deliveries")).json["deliveries"]]
        assert states == ["sending", "waiting", "waiting"]
        assert (await box.post(f"{WORLD}/deliveries/{held[1]}/hold")).json["state"] == "held"
        await box.put(f"{WORLD}/checkpoints/released")
        await box.post(f"{WORLD}/checkpoints/released", {})
        shown = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        assert [each["state"] for each in shown] == ["waiting", "held", "waiting"]
        await box.post(f"{WORLD}/checkpoints/held", {})
        assert (await box.get(f"{WORLD}/holds")).json["held"] == held
        await box.delete(f"{WORLD}/outbox")
        await box.post(f"{WORLD}/holds/release", {})
        shown = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        assert {each["state"] for each in shown} == {"delivered"}


async def test_time_does_not_pass_before_what_was_released_has_its_answer() -> None:
    """It waits until a receiver without an answer is free again, and leaves then, before anything later happens."""
    scenario = {"sendbox": 1, "extends": "default", "assume": {"webhook_retry": []}}
    async with boxed(scenario) as box:
        await box.open()
        await box.only_sending()
        await box.post(f"{WORLD}/holds", {})
        for number in ("420777100112", PHONE, "420777100113"):
            await box.send(number, callback={"url": "http://a.example/"})
            await box.advance("0s")
        first, silent, last = (await box.post(f"{WORLD}/holds/release", {"deliveries": []})).json["held"]
        hosted = box.runtime.worlds[KEY]
        came: list[tuple[str, int]] = []

        async def take(call: HttpCall) -> Outcome:
            came.append((dict(call.headers)["X-Request-Id"], hosted.world.now - START))
            return Outcome(None, "timeout") if len(came) == 1 else Outcome(200)

        box.runtime.deliver_to(hosted, take)
        await box.post(f"{WORLD}/holds/release", {"deliveries": [silent, last, first]})
        await box.advance("1m")
        assert came == [(silent, 0), (last, 5_000), (first, 5_000)]
        assert [each[0][1:] for each in await box.tries()] == [(200, None), (None, "timeout"), (200, None)]
        last_entry = len((await box.get(f"{WORLD}/journal")).json["entries"]) - 1
        past = (await box.get(f"{WORLD}/deliveries?then={last_entry}")).json["deliveries"]
        assert [each["id"] for each in past] == [first, silent, last]
        assert past[1]["tries"][0]["error"] == "timeout"
