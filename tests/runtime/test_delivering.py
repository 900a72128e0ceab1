"""Deliveries to receivers on real sockets: every kind of answer, each try at its virtual instant (§6, A20, A22)."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from sendbox.engine.durations import iso
from sendbox.runtime.dispatcher import UNSIGNED
from sendbox.runtime.policy import HttpCall, Outcome, sign
from sendbox.runtime.slot import MOST_FAILURES
from sendbox.server.listener import HttpServer
from tests.box import KEY, START, WORLD, boxed, turns
from tests.receivers import Events, answering, receiving

pytestmark = pytest.mark.asyncio


# --- retries ----------------------------------------------------------------------------------------------------------


async def test_a20_four_errors_then_200() -> None:
    """A receiver that answers 500 four times and then 200 is tried at 0, 30, 90, 210 and 450 s with the same bytes."""
    async with boxed() as box, receiving(answering(500, 500, 500, 500, 200)) as receiver:
        await box.open()
        await box.only_sending()
        await box.send(callback=receiver.url)
        moved = await box.advance("10m")
        assert await box.tries() == [
            [(0, 500, None), (30, 500, None), (90, 500, None), (210, 500, None), (450, 200, None)]
        ]
        assert receiver.calls == [receiver.calls[0]] * 5
        assert len({headers["x-request-id"] for headers in receiver.headers}) == 1
        assert (moved["deliveries"], moved["failed"]) == (1, 0)
        assert (await box.get(f"{WORLD}/deliveries?state=delivered")).json["deliveries"][0]["events"] == [
            {
                "event": "sentMessage",
                "message_id": receiver.calls[0][0]["message_id"],
                "phone": "420777000101",
                "result": "sending",
            }
        ]


async def test_a20_errors_without_end() -> None:
    """After the fifth try a delivery has failed, in the call of `advance` in which that happens."""
    async with boxed() as box, receiving(answering(503)) as receiver:
        await box.open()
        await box.only_sending()
        await box.send(callback=receiver.url)
        assert (await box.advance("7m"))["failed"] == 0
        moved = await box.advance("1m")
        assert (moved["deliveries"], moved["failed"]) == (0, 1)
        assert [at for at, _, _ in (await box.tries())[0]] == [0, 30, 90, 210, 450]
        assert (await box.advance("1d"))["fired"] == 0
        assert len(receiver.calls) == 5
        lines = [line for world, line in box.log if line.startswith("webhook")]
        assert lines == [f"webhook to {receiver.url} 503, try {number}" for number in range(1, 6)]


OUTCOMES = {
    "refused": Outcome(None, "refused"),
    "401": Outcome(401),
    "404": Outcome(404),
    "503": Outcome(503),
    "redirect": Outcome(302, "redirect"),
    "timeout": Outcome(None, "timeout"),
    "tls": Outcome(None, "tls"),
}


async def test_an_advance_warns_at_once_of_tries_that_failed() -> None:
    """One warning for each target and outcome, counted, of this advance alone; none where all is well."""

    async def take(call: HttpCall) -> Outcome:
        return OUTCOMES.get(call.url.rpartition("/")[2], Outcome(200))

    async with boxed() as box:
        await box.open()
        await box.only_sending()
        box.runtime.deliver_to(box.runtime.worlds[KEY], take)
        for outcome in (*OUTCOMES, "fine"):
            await box.send(callback=f"http://127.0.0.1:7549/hooks/{outcome}")
        moved = await box.advance("2m")  # three tries of each
        assert (moved["failed"], [warning["code"] for warning in moved["warnings"]]) == (0, ["webhook-failed"] * 7)
        assert sorted(warning["message"] for warning in moved["warnings"]) == sorted(
            f"3 tries to http://127.0.0.1:7549/hooks/{outcome}: {outcome}{UNSIGNED if outcome == '401' else ''}"
            for outcome in OUTCOMES
        )
        assert {warning["message"][:6] for warning in (await box.advance("2m"))["warnings"]} == {"1 try "}
        assert (await box.advance("0s"))["warnings"] == []


async def test_a_failure_that_a_rule_asks_for_is_no_warning() -> None:
    """The rule answers in the receiver's place, or makes the request illegal."""

    async def take(_: HttpCall) -> Outcome:
        return Outcome(401)

    async with boxed() as box:
        await box.open()
        await box.only_sending()
        box.runtime.deliver_to(box.runtime.worlds[KEY], take)
        for fault in ({"answer": 503}, {"content_type": "text/plain"}):
            await box.post(f"{WORLD}/rules", {"in": "webhooks", "fault": fault, "times": 1})
            await box.send(callback="http://127.0.0.1:7549/hooks")
            assert (await box.advance("0s"))["warnings"] == []
        (warning,) = (await box.advance("30s"))["warnings"]
        assert warning["message"] == f"1 try to http://127.0.0.1:7549/hooks: 401{UNSIGNED}"
        await box.patch(f"{WORLD}/account", {"default_callback_secret": "s3cret"})
        await box.send(callback="http://127.0.0.1:7549/hooks")
        signed = (await box.advance("0s"))["warnings"][-1]
        assert signed["message"] == "1 try to http://127.0.0.1:7549/hooks: 401"


async def test_warnings_of_an_advance_are_bounded() -> None:
    """Tries to further targets are counted together."""

    async def take(_: HttpCall) -> Outcome:
        return Outcome(500)

    async with boxed() as box:
        await box.open()
        await box.only_sending()
        box.runtime.deliver_to(box.runtime.worlds[KEY], take)
        for number in range(MOST_FAILURES + 2):
            await box.send(callback=f"http://127.0.0.1:7549/{number}")
        *listed, last = (await box.advance("30s"))["warnings"]
        assert {warning["message"].partition(" ")[0] for warning in listed} == {"2"}
        assert (len(listed), last["message"]) == (MOST_FAILURES, "4 tries to further targets failed")


async def test_a20_a_redirect_is_a_failure() -> None:
    """A redirect is not followed: status and reason are noted, and the batch is tried again."""
    async with boxed() as box, receiving(answering(302, 302, 200)) as receiver:
        await box.open()
        await box.only_sending()
        await box.send(callback=receiver.url)
        await box.advance("10m")
        assert await box.tries() == [[(0, 302, "redirect"), (30, 302, "redirect"), (90, 200, None)]]
        assert len(receiver.calls) == 3


async def test_nobody_listens() -> None:
    """A refused connection is a failure like any other."""
    async with receiving(answering(200)) as gone:
        pass
    async with boxed() as box:
        await box.open()
        await box.only_sending()
        await box.send(callback=gone.url)
        moved = await box.advance("1m")
        assert await box.tries() == [[(0, None, "refused"), (30, None, "refused")]]
        assert [warning["message"] for warning in moved["warnings"]] == [f"2 tries to {gone.url}: refused"]


async def test_a_receiver_that_hangs_takes_five_seconds_of_the_world() -> None:
    """A try without an answer fails after the real patience and keeps its target busy for 5 s of world time."""
    hung: list[Events] = []

    async def hang(events: Events) -> int:
        hung.append(events)
        await asyncio.Event().wait()
        return 200

    async with boxed(patience=0.02) as box, receiving(hang) as receiver:
        await box.open()
        await box.send(callback=receiver.url)  # events at 0, 1 and 3 s
        moved = await box.advance("10m")
        late = "timeout"
        assert await box.tries() == [
            [(0, None, late), (30, None, late), (90, None, late), (210, None, late), (450, None, late)],
            [(5, None, late), (35, None, late), (95, None, late), (215, None, late), (455, None, late)],
            [(10, None, late), (40, None, late), (100, None, late), (220, None, late), (460, None, late)],
        ]
        assert moved["failed"] == 3


async def test_a01_timeout_ms_of_a_callback() -> None:
    """A callback's own `timeout_ms` is what a try without an answer takes."""

    async def hang(_: Events) -> int:
        await asyncio.Event().wait()
        return 200

    async with boxed(patience=0.02) as box, receiving(hang) as receiver:
        await box.open()
        await box.send(callback={"url": receiver.url, "timeout_ms": 2000})
        await box.advance("10s")
        assert [each[0] for each in await box.tries()] == [
            (0, None, "timeout"),
            (2, None, "timeout"),
            (4, None, "timeout"),
        ]


async def test_a01_patience_is_never_longer_than_timeout_ms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the callback's `timeout_ms` is shorter than the patience, it is what is waited in reality."""
    box_patience: list[float] = []

    async with boxed(patience=30.0) as box:

        async def send(call: HttpCall, timeout: float) -> Outcome:
            box_patience.append(timeout)
            return Outcome(200)

        monkeypatch.setattr(box.runtime.senders.of(box.runtime.settings.callbacks), "send", send)
        await box.send(callback={"url": "http://a.example/", "timeout_ms": 2000})
        await box.send("420777000102", callback="http://b.example/")
        await box.advance("0s")
        assert box_patience == [2.0, 30.0]


async def test_a20_an_answer_other_than_200_is_taken_with_advice() -> None:
    """204 counts as delivered, and is remarked on."""
    async with boxed() as box, receiving(answering(204)) as receiver:
        await box.open()
        await box.only_sending()
        await box.send(callback=receiver.url)
        await box.advance()
        assert await box.tries() == [[(0, 204, None)]]
        (remark,) = (await box.get(f"{WORLD}/advice")).json["advice"]
        assert (remark["code"], remark["section"], remark["assumed"]) == ("answer-not-200", "§6", "A20")
        assert isinstance(remark["entry"], int)


async def test_a21_signed_with_the_secret_of_the_key() -> None:
    """With a secret on the key, the signature can be computed again from the bytes received."""
    async with boxed() as box, receiving(answering(200)) as receiver:
        await box.open()
        await box.patch(f"{WORLD}/account", {"default_callback_url": receiver.url, "default_callback_secret": "s3"})
        await box.send()
        await box.advance("0s")
        (events,) = receiver.calls
        assert receiver.headers[0]["x-request-signature"] == sign("s3", orjson.dumps(events))


# --- what a receiver may do -------------------------------------------------------------------------------------------


async def test_a_receiver_calls_the_api_back_over_http() -> None:
    """It is served at the instant the clock shows, and what it sent is settled in the same advance."""
    async with boxed() as box:
        server = HttpServer(box.app)
        origin = f"http://127.0.0.1:{await server.start()}"
        answered: list[Any] = []

        async def react(events: Events) -> int:
            import aiohttp

            if events[0]["result"] == "delivered" and not answered:
                async with aiohttp.ClientSession() as http:
                    message = {"body": "Thanks", "to": [{"phone_number": "420777000106"}], "callback": receiver.url}
                    async with http.post(f"{origin}/v2/message", json=message, headers={"x-api-key": KEY}) as answer:
                        answered.append(await answer.json())
            return 200

        async with receiving(react) as receiver:
            await box.send("420777000101", callback=receiver.url)
            moved = await box.advance("10s")
            await server.stop()
        (sent,) = answered
        shown = (await box.get(f"{WORLD}/messages/{sent['accepted'][0]['message_id']}")).json
        assert shown["accepted_at"] == iso(START + 3_000)
        assert shown["result"] == "delivered"
        assert receiver.results == ["sending", "sent", "delivered"] * 2
        assert (moved["to"], moved["idle"]) == (iso(START + 10_000), True)


async def test_targets_are_side_by_side() -> None:
    """One target's answer may wait for another's call: they are under way at the same time."""
    both = asyncio.Event()
    arrived: list[str] = []

    async def react(events: Events) -> int:
        arrived.append(events[0]["to"]["phone_number"])
        if len(arrived) == 2:
            both.set()
        await both.wait()
        return 200

    async with boxed(patience=10.0) as box, receiving(react) as one, receiving(react) as other:
        await box.open()
        await box.only_sending()
        await box.send("420777000101", callback=one.url)
        await box.send("420777000102", callback=other.url)
        assert (await box.advance("0s"))["failed"] == 0
        assert sorted(arrived) == ["420777000101", "420777000102"]


async def test_a22_batches_of_one_target_go_one_after_another_and_in_order() -> None:
    """A target is never called twice at once, and gets its batches in the order in which they were made."""
    under_way = most = 0

    async def react(_: Events) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await turns(3)
        under_way -= 1
        return 200

    async with boxed() as box, receiving(react) as receiver:
        await box.open()
        await box.only_sending()
        callback = {"url": receiver.url, "batch_size": 2}
        ids = [(await box.send(f"42077700{number:02}01", callback=callback))[0] for number in range(9)]
        await box.advance("0s")
        assert most == 1
        assert [len(events) for events in receiver.calls] == [2, 2, 2, 2, 1]
        assert [event["message_id"] for events in receiver.calls for event in events] == ids


async def test_many_targets_at_one_instant() -> None:
    """Thousands of targets due together are launched in slices, and each gets its own."""
    seen: set[str] = set()

    async def take(call: HttpCall) -> Outcome:
        seen.add(call.url)
        return Outcome(200)

    async with boxed() as box:
        await box.open()
        await box.only_sending()
        box.runtime.deliver_to(box.runtime.worlds[KEY], take)
        for number in range(600):
            await box.send(f"42077{number:05}01", callback=f"http://a.example/{number}")
        assert (await box.advance("0s"))["deliveries"] == 600
        assert len(seen) == 600


async def test_a22_a_long_queue_for_one_target_is_no_loop() -> None:
    """Bounds are about what never ends: more batches than rounds are allowed are delivered all the same."""
    async with boxed(max_rounds=5) as box, receiving(answering(200)) as receiver:
        await box.open()
        await box.only_sending()
        for number in range(40):
            await box.send(f"42077700{number:02}01", callback={"url": receiver.url, "batch_size": 1})
        await box.advance("0s")
        assert len(receiver.calls) == 40
