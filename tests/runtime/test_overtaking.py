"""Webhooks that overtake the answer of their own request, at receivers on real sockets and elsewhere (§6)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest

from sendbox.runtime.slot import HostedWorld, Slice
from sendbox.server.listener import HttpServer
from tests.box import KEY, WORLD, Box, boxed, turns
from tests.faulty import faulty, results
from tests.receivers import Events, receiving

pytestmark = pytest.mark.asyncio


OVERTAKE = {"when": {"result": ["sending", "rejected"]}, "fault": "overtake"}


@pytest.mark.unmeasured
@pytest.mark.parametrize("mode", ["manual", "real", "auto"])
async def test_overtake(mode: Any) -> None:
    """The receiver has had the webhook, and has answered, before the answer of the request goes out."""
    happened: list[str] = []

    async def react(events: Events) -> int:
        await turns()
        happened.append(events[0]["result"])
        return 200

    async with boxed(mode=mode) as box, receiving(react) as receiver:
        await box.open(scenario={"sendbox": 1, "clock": {"mode": mode}, "webhooks": [OVERTAKE]})
        await box.send(callback=receiver.url)
        happened.append("answer")
        await box.advance("1m")
        assert happened[:2] == ["sending", "answer"]
        assert happened[2:] == ["sent", "delivered"]
        (entry,) = (await box.get(f"{WORLD}/journal?kind=webhook_fault")).json["entries"]
        assert entry["fault"] == "overtake"


async def test_overtake_over_a_socket_on_both_sides() -> None:
    """A client on a socket gets its answer after its receiver, on another one, has answered."""
    happened: list[str] = []

    async def react(events: Events) -> int:
        happened.append(events[0]["result"])
        return 200

    async with boxed() as box, receiving(react) as receiver:
        server = HttpServer(box.app)
        port = await server.start()
        try:
            await box.open(scenario={"sendbox": 1, "webhooks": [OVERTAKE]})
            body = orjson.dumps({"body": "Hi", "to": [{"phone_number": "420777000101"}], "callback": receiver.url})
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = f"POST /v2/message HTTP/1.1\r\nHost: a\r\nx-api-key: {KEY}\r\nContent-Length: {len(body)}\r\n"
            writer.write(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")
            happened.append("answer")
            writer.close()
        finally:
            await server.stop()
    assert happened == ["sending", "answer"]


async def test_overtake_of_a_refused_hand_over() -> None:
    """`rejected` comes at the instant of the request, and overtakes its answer too."""
    async with faulty(OVERTAKE, credit={"eur": 0}) as (box, receiver):
        await box.send()
        assert results(receiver.calls) == [["rejected"]]


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        pytest.param(OVERTAKE, {"datetime": "2026-03-01T10:00:00Z"}, id="sent later"),
        pytest.param({**OVERTAKE, "when": {"result": "delivered"}}, {}, id="comes later"),
        pytest.param({**OVERTAKE, "when": {"phone": "421*"}}, {}, id="another phone"),
        pytest.param({**OVERTAKE, "when": {"from": "1h"}}, {}, id="another time"),
    ],
)
async def test_what_cannot_overtake_goes_the_usual_way(rule: Any, message: Any) -> None:
    """Only what happens at the instant of the request can be there before its answer; the rule meets nothing else."""
    async with faulty(rule) as (box, receiver):
        await box.send(**message)
        assert receiver.calls == []
        await box.advance("2h")
        assert receiver.results == ["sending", "sent", "delivered"]
        assert (await box.get(f"{WORLD}/journal?kind=webhook_fault")).json["entries"] == []


async def test_overtake_of_the_built_in_receiver() -> None:
    """It has the event when the answer comes, though the clock was not moved."""
    async with boxed() as box:
        await box.open(scenario={"sendbox": 1, "webhooks": [OVERTAKE]})
        await box.send()
        assert [event["result"] for event in await box.events()] == ["sending"]


async def test_an_overtaking_batch_is_retried_in_its_line() -> None:
    """One that failed is tried again like any other."""
    async with faulty(OVERTAKE, answers=(500, 200)) as (box, _):
        await box.send()
        await box.advance()
        assert (await box.tries())[0] == [(0, 500, None), (30, 200, None)]


async def test_two_requests_at_once_are_both_overtaken() -> None:
    """Each answer waits for its own webhook, whoever sends it."""
    told: list[str] = []
    release = asyncio.Event()

    async def react(events: Events) -> int:
        await release.wait()
        told.extend(event["to"]["phone_number"] for event in events)
        return 200

    async with boxed() as box, receiving(react) as receiver:
        await box.open(scenario={"sendbox": 1, "webhooks": [OVERTAKE]})
        numbers = ["420777000101", "420777000102"]
        sending = [asyncio.create_task(box.send(number, callback=receiver.url)) for number in numbers]
        await turns(50)
        assert not any(task.done() for task in sending)
        release.set()
        await asyncio.gather(*sending)
        assert sorted(told) == numbers


async def test_a_receiver_that_is_never_reached_does_not_hold_the_answer_for_ever() -> None:
    """In a world whose deliveries are pulled, where nobody fetches, the answer comes after the patience."""
    async with boxed(patience=0.02) as box:
        await box.open(scenario={"sendbox": 1, "webhooks": [OVERTAKE]}, deliveries="pull")
        await box.send(callback="http://a.example/")
        assert await box.tries() == [[(0, None, "not_fetched")]]


async def test_overtake_through_the_outbox() -> None:
    """Who fetches deliveries has the webhook before whoever sent has an answer."""
    async with boxed() as box:
        await box.open(scenario={"sendbox": 1, "webhooks": [OVERTAKE]}, deliveries="pull")
        sending = asyncio.create_task(box.send(callback="http://a.example/"))
        (call,) = (await box.post(f"{WORLD}/outbox?wait=5s")).json["calls"]
        assert not sending.done()
        await box.post(f"{WORLD}/outbox/{call['id']}", {"status": 200})
        await sending
        assert await box.tries() == [[(0, 200, None)]]


Act = Callable[[Box, HostedWorld], Awaitable[Any]]


async def _reset(box: Box, hosted: HostedWorld) -> None:
    box.runtime.reset(hosted)


async def _close(box: Box, hosted: HostedWorld) -> None:
    box.runtime.close(hosted)


@pytest.mark.parametrize("act", [_reset, _close])
async def test_a_world_that_ends_meanwhile(act: Act) -> None:
    """A reset, or the end of the world, lets the answer go."""
    arrived, never = asyncio.Event(), asyncio.Event()

    async def react(_: Events) -> int:
        arrived.set()
        await never.wait()
        return 200

    async with boxed() as box, receiving(react) as receiver:
        await box.open(scenario={"sendbox": 1, "webhooks": [OVERTAKE]})
        sending = asyncio.create_task(box.send(callback=receiver.url))
        await arrived.wait()
        await act(box, box.runtime.worlds[KEY])
        await sending


async def test_a_request_of_a_receiver_is_overtaken_too() -> None:
    """What a receiver sends while it is delivered to is answered after its own webhook, and nothing hangs."""
    happened: list[str] = []

    async with boxed() as box:

        async def react(events: Events) -> int:
            happened.append(events[0]["to"]["phone_number"] + events[0]["result"])
            if events[0]["to"]["phone_number"].endswith("1") and events[0]["result"] == "delivered":
                await box.send("420777000102", callback=receiver.url)
                happened.append("answer")
            return 200

        async with receiving(react) as receiver:
            await box.open(scenario={"sendbox": 1, "webhooks": [OVERTAKE]})
            await box.send(callback=receiver.url)
            await box.advance("1m")
    first = "420777000101"
    assert happened[:5] == [f"{first}sending", f"{first}sent", f"{first}delivered", "420777000102sending", "answer"]


async def test_a_world_that_ends_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was about to overtake an answer is dropped with its epoch."""
    async with faulty(OVERTAKE) as (box, receiver):

        async def pause(_: Slice) -> None:
            box.runtime.reset(box.runtime.worlds[KEY])

        monkeypatch.setattr(Slice, "pause", pause)
        await box.send()
        assert receiver.calls == []


async def test_an_instant_without_end_does_not_hold_the_answer_for_ever() -> None:
    """At most so many rounds are made before an answer; the rest waits for the clock."""
    async with boxed(max_rounds=0) as box:
        await box.open(scenario={"sendbox": 1, "webhooks": [OVERTAKE]})
        await box.send()
        assert await box.events() == []
