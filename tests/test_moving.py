"""Time: the three clocks, `advance` in each of its forms, settling, and the bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sendbox.core.spans import iso
from sendbox.runtime import Conflict
from sendbox.webhooks.policy import HttpCall, Outcome
from tests.box import KEY, START, WORLD, Box, boxed, turns
from tests.receivers import Events, answering, receiving

pytestmark = pytest.mark.asyncio
NS = 1_000_000_000
DAY = 86_400_000


class Reading:
    """A monotonic clock of the test."""

    def __init__(self) -> None:
        self.ns = 5 * NS

    def __call__(self) -> int:
        return self.ns

    def passes(self, seconds: float) -> None:
        self.ns += round(seconds * NS)


async def clock(box: Box) -> dict[str, Any]:
    shown: dict[str, Any] = (await box.get(f"{WORLD}/clock")).json
    return shown


async def refused(box: Box, **how: Any) -> tuple[int, str, str]:
    """Status, error and message of an `advance` that is not done."""
    answer = await box.post(f"{WORLD}/clock/advance", how)
    return answer.status, answer.json["error"], answer.json["message"]


def at(seconds: float) -> str:
    return iso(START + round(seconds * 1000))


# --- manual -----------------------------------------------------------------------------------------------------------


async def test_a_manual_clock_stands_still_until_it_is_moved() -> None:
    """A request is answered; what follows is due at the same instant and happens at the next move, `0s` too."""
    async with boxed() as box:
        (message_id,) = await box.send()
        assert await box.results(message_id) == []
        assert (await clock(box)) == {"now": at(0), "mode": "manual", "rate": 1.0, "next_due": at(0), "pending": 1}
        moved = await box.advance("0s")
        assert await box.results(message_id) == ["sending"]
        assert (moved["from"], moved["to"], moved["next_due"], moved["idle"]) == (at(0), at(0), at(1), False)


@pytest.mark.parametrize(
    ("how", "to"),
    [
        pytest.param({"by": "90s"}, 90, id="by"),
        pytest.param({"by": 90_000}, 90, id="by-milliseconds"),
        pytest.param({"by": "PT1M30S"}, 90, id="by-iso"),
        pytest.param({"to": "2026-03-01T09:01:30Z"}, 90, id="to"),
        pytest.param({"to": "2026-03-01T10:01:30+01:00"}, 90, id="to-another-offset"),
        pytest.param({"to": START + 90_000}, 90, id="to-milliseconds"),
        pytest.param({"next": 1}, 0, id="next-is-the-present"),
        pytest.param({"next": 2}, 1, id="next-2"),
        pytest.param({"next": 9}, 3, id="next-more-than-there-are"),
        pytest.param({"until": "idle"}, 3, id="until-idle"),
    ],
)
@pytest.mark.parametrize("mode", ["manual", "real", "auto"])
async def test_advance_works_in_every_mode(mode: str, how: dict[str, Any], to: float) -> None:
    """Each form of `advance` ends at its instant and answers what happened, whichever way the clock runs."""
    reading = Reading()
    async with boxed(mode=mode, reading=reading, quiet=30.0) as box:
        (message_id,) = await box.send()
        if mode == "real":  # there the first step is not left for the call
            box.runtime.present(box.runtime.worlds[KEY])
            to = {0: 1, 1: 3}.get(int(to), to)
        moved = await box.advance(**how)
        assert (moved["from"], moved["to"]) == (at(0), at(to))
        results = ["sending", "sent", "delivered"][: 3 if to >= 3 else int(to) + 1]
        assert await box.results(message_id) == results
        assert moved["idle"] is (len(results) == 3)
        results = results[mode == "real" :]
        assert (moved["fired"], moved["deliveries"], moved["failed"]) == (len(results), len(results), 0)
        kinds = [entry["kind"] for entry in moved["entries"]]
        assert kinds == ["transition", "delivery", "try"] * len(results)
        assert moved["truncated"] is False


async def test_entries_of_an_advance_are_the_first_two_hundred() -> None:
    """Counts come first, then at most 200 entries, and whether there are more."""
    async with boxed() as box:
        for number in range(30):
            await box.send(f"42077700{number:02}01")
        moved = await box.advance()
        assert list(moved) == [
            "from", "to", "fired", "deliveries", "failed", "entries", "truncated", "next_due", "idle",
        ]  # fmt: skip
        assert (len(moved["entries"]), moved["truncated"]) == (96, False)
        for number in range(70):
            await box.send(f"42077700{number:02}01")
        moved = await box.advance()
        assert (len(moved["entries"]), moved["truncated"]) == (200, True)


async def test_next_settles_what_is_ready_where_nothing_is_scheduled() -> None:
    """A replayed delivery is carried out by `next` too, though it is no step."""
    async with boxed() as box, receiving(answering(200)) as receiver:
        await box.send("420777000105", callback=receiver.url)
        await box.advance()
        delivery = (await box.get(f"{WORLD}/deliveries")).json["deliveries"][0]["id"]
        await box.post(f"{WORLD}/deliveries/{delivery}/replay")
        assert (await clock(box))["next_due"] is None
        moved = await box.advance(next=3)
        assert (moved["from"], moved["to"], moved["fired"]) == (at(60), at(60), 0)
        assert receiver.results == ["sending", "sent", "sending"]


async def test_lapses_never_pull_the_clock() -> None:
    """What merely stops being true is journaled when the clock passes it; idle, next and next_due do not see it."""
    async with boxed() as box:
        await box.open()
        await box.post(f"{WORLD}/inbound", {"channel": "chatapp", "from": "420777000101", "body": "Hello"})
        assert (await clock(box))["next_due"] is None
        assert (await box.advance(until="idle"))["to"] == at(0)
        assert (await box.advance("1d"))["entries"][-1]["kind"] == "lapse"


@pytest.mark.parametrize(
    ("how", "status", "error", "message"),
    [
        ({"to": "2026-03-01T08:59:59Z"}, 409, "past", f"{at(-1)} lies before the world's {at(0)}; time only goes forward"),
        ({"by": "401d"}, 409, "too_far", "401d is more than 400d, the most in one call; go there in steps: "),
        ({"to": "2030-01-01T00:00:00Z"}, 409, "too_far", "1401d15h is more than 400d, the most in one call; go there in"),
        ({"by": -5}, 400, "bad_argument", "by: -5 is not a duration"),
        ({"by": "soon"}, 400, "bad_argument", "by: 'soon' is not a duration"),
        ({"to": "tomorrow"}, 400, "bad_argument", "to: 'tomorrow' is not an RFC 3339 instant"),
        ({"to": [1]}, 400, "bad_argument", "to: "),
        ({"next": 0}, 400, "bad_argument", "next: 0 is no number of instants; legal: 1 and more"),
        ({"next": True}, 400, "bad_argument", "next: True is no number of instants; legal: 1 and more"),
        ({"next": "1"}, 400, "bad_argument", "next: '1' is no number of instants; legal: 1 and more"),
        ({"until": "doomsday"}, 400, "bad_argument", 'until: "doomsday" is not known; legal: "idle"'),
        ({}, 400, "bad_argument", "0 of by, to, next, until were given; legal: exactly one of them"),
        ({"by": "1s", "next": 1}, 400, "bad_argument", "2 of by, to, next, until were given; legal: exactly one of them"),
        ({"bye": "1s"}, 400, "unknown_argument", '"bye" is no argument of advance; legal: by, to, next, until; did you'),
    ],
)  # fmt: skip
async def test_what_advance_refuses(how: dict[str, Any], status: int, error: str, message: str) -> None:
    """An illegal move is refused with the reason and what is legal, and nothing has moved."""
    async with boxed() as box:
        await box.open()
        found = await refused(box, **how)
        assert found[:2] == (status, error)
        assert found[2].startswith(message)
        assert (await clock(box))["now"] == at(0)


# --- bounds -----------------------------------------------------------------------------------------------------------


async def test_too_far_names_what_is_scheduled() -> None:
    """`next` and `until idle` do not go further than one call may, and say what lies there."""
    async with boxed() as box:
        await box.send(datetime="2029-01-01T00:00:00Z")
        expected = (
            "1036d15h is more than 400d, the most in one call; go there in steps: "
            "one step is scheduled, next submission at 2029-01-01T00:00:00.000Z"
        )
        assert await refused(box, next=1) == (409, "too_far", expected)
        await box.send()
        assert await refused(box, until="idle") == (409, "too_far", expected)
        assert (await clock(box))["now"] == at(3)  # what was within reach has happened


@pytest.mark.parametrize("how", [{"by": "1h"}, {"next": 20}, {"until": "idle"}], ids=["by", "next", "idle"])
async def test_too_many_instants(how: dict[str, Any]) -> None:
    """One call passes so many instants at most; the next call goes on from there."""
    async with boxed(max_instants=5) as box:
        for number in range(12):
            await box.send(datetime=f"2026-03-01T09:0{number // 6 + 2}:{number % 6}0Z")
        status, error, message = await refused(box, **how)
        assert (status, error) == (409, "too_far")
        assert message.startswith("5 instants are the most in one call: 10 steps are scheduled, next ")
        assert at(131) < (await clock(box))["now"] <= at(140)  # 120, 121, 123, 130, 131 and what comes next


async def test_a_loop_of_requests_is_found() -> None:
    """A receiver that sends a message for every event keeps one instant busy without end: 409 `loop` says with what."""
    async with boxed(max_rounds=20) as box:
        await box.open()
        await box.post(f"{WORLD}/rules", {"when": {}, "then": "sending"})

        async def react(_: Events) -> int:
            await box.send(callback=receiver.url)
            return 200

        async with receiving(react) as receiver:
            await box.send(callback=receiver.url)
            answer = await box.post(f"{WORLD}/clock/advance", {"by": "1m"})
        assert (answer.status, answer.json["error"], answer.json["at"]) == (409, "loop", at(0))
        assert answer.json["message"] == (f"test-1 stays at {at(0)}: one step is scheduled, next submission at {at(0)}")
        assert (await clock(box))["now"] == at(0)
        assert len(receiver.calls) == 21


async def test_a_loop_without_steps_is_found() -> None:
    """Two deliveries that are replayed for each other never end either, and nothing is scheduled there."""
    async with boxed(max_rounds=20) as box:
        await box.open()
        await box.post(f"{WORLD}/rules", {"when": {}, "then": "sending"})
        hosted = box.runtime.worlds[KEY]
        outlets = hosted.world.outlets

        async def take(call: HttpCall) -> Outcome:
            for delivery in outlets.deliveries:
                if delivery.outlet.target.url != call.url:
                    outlets.replay(delivery)
            return Outcome(200)

        box.runtime.deliver_to(hosted, take)
        await box.send(callback="http://a.example/")
        await box.send(callback="http://b.example/")
        answer = await box.post(f"{WORLD}/clock/advance", {"by": "1m"})
        assert answer.json["message"] == f"test-1 stays at {at(0)}: its receivers make it deliver without end"


async def test_a_receiver_that_answers_every_event_by_phone_is_a_loop() -> None:
    """Replies are events at once, without a step: the rounds are counted all the same."""
    async with boxed(max_rounds=20) as box:
        await box.open()

        async def react(_: Events) -> int:
            await box.post(f"{WORLD}/phones/420777000101/write", {"body": "and another"})
            return 200

        async with receiving(react) as receiver:
            await box.patch(f"{WORLD}/account", {"default_callback_url": receiver.url})
            await box.post(f"{WORLD}/phones/420777000101/write", {"body": "first"})
            assert (await refused(box, by="0s"))[:2] == (409, "loop")


# --- while a world advances -------------------------------------------------------------------------------------------


async def test_while_a_world_advances_its_time_is_not_anybody_elses() -> None:
    """Another advance, reset, restore, checkpoint, clock or scenario change gets 409 `advancing`; looking is free."""
    arrived, release = asyncio.Event(), asyncio.Event()

    async def react(_: Events) -> int:
        arrived.set()
        await release.wait()
        return 200

    async with boxed(patience=10.0) as box, receiving(react) as receiver:
        await box.send(callback=receiver.url)
        await box.put(f"{WORLD}/checkpoints/a")
        advancing = asyncio.create_task(box.advance("1m"))
        await arrived.wait()
        calls: list[Callable[[], Awaitable[Any]]] = [
            lambda: box.post(f"{WORLD}/clock/advance", {"by": "1s"}),
            lambda: box.post(f"{WORLD}/reset"),
            lambda: box.post(f"{WORLD}/checkpoints/a"),
            lambda: box.put(f"{WORLD}/checkpoints/b"),
            lambda: box.put(f"{WORLD}/scenario", {"name": "default"}),
            lambda: box.put(f"{WORLD}/scenario?reset=true", {"name": "default"}),
            lambda: box.patch(f"{WORLD}/clock", {"mode": "real"}),
        ]
        for call in calls:
            answer = await call()
            assert (answer.status, answer.json["error"]) == (409, "advancing"), answer
            assert answer.json["message"] == "test-1 is advancing; wait until that call has answered"
        assert (await clock(box))["now"] == at(0)
        assert (await box.get(f"{WORLD}/messages")).json["messages"][0]["result"] == "sending"
        release.set()
        assert (await advancing)["to"] == at(60)


async def test_closing_a_world_ends_its_advance() -> None:
    """The call of `advance` is told, and the delivery under way is dropped."""
    arrived = asyncio.Event()

    async def react(_: Events) -> int:
        arrived.set()
        await asyncio.Event().wait()
        return 200

    async with boxed(patience=10.0) as box, receiving(react) as receiver:
        await box.send(callback=receiver.url)
        advancing = asyncio.create_task(box.post(f"{WORLD}/clock/advance", {"by": "1m"}))
        await arrived.wait()
        assert (await box.delete(WORLD)).json == {"closed": KEY}
        answer = await advancing
        assert (answer.status, answer.json["error"]) == (409, "closed")
        assert answer.json["message"] == "test-1 was closed while it advanced"


async def test_a_request_that_arrived_is_answered_before_the_world_goes_on() -> None:
    """An advance waits for the body of a request that is on its way, and what it asks is settled in the same call."""
    async with boxed(patience=10.0) as box:
        await box.open()
        body = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await body.wait()
            return {"type": "http.request", "body": b'{"body":"Hi","to":[{"phone_number":"420777000101"}]}'}

        sending = asyncio.create_task(box.call("POST", "/v2/message", headers={"x-api-key": KEY}, receive=receive))
        await turns()
        advancing = asyncio.create_task(box.advance("1m"))
        await turns(20)
        assert not advancing.done()
        body.set()
        (message,) = (await sending).json["accepted"]
        assert (await advancing)["fired"] == 3
        assert await box.results(message["message_id"]) == ["sending", "sent", "delivered"]


async def test_a_request_that_stays_open_is_not_waited_for_without_end() -> None:
    """After the patience the world goes on without it; once it comes, it is served at the instant there is then."""
    async with boxed(patience=0.02) as box:
        await box.open()
        body = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await body.wait()
            return {"type": "http.request", "body": b'{"body":"Hi","to":[{"phone_number":"420777000101"}]}'}

        sending = asyncio.create_task(box.call("POST", "/v2/message", headers={"x-api-key": KEY}, receive=receive))
        await turns()
        assert (await box.advance("1m"))["to"] == at(60)
        assert (KEY, "a request stays open; the world goes on without its answer") in box.log
        body.set()
        assert (await sending).status == 200
        assert box.runtime.worlds[KEY].open == set()
        assert (await box.advance("1m"))["fired"] == 3


async def test_one_step_or_many_give_the_same_digest() -> None:
    """Also where deliveries fail and are retried, it does not matter in how many calls the time passes."""
    digests = set()
    for steps, by in ((1, "10m"), (10, "1m"), (600, "1s")):
        async with boxed() as box, receiving(answering(500, 500, 200, 500, 200)) as receiver:
            await box.send("420777000101", "420777000107", callback=receiver.url)
            for _ in range(steps):
                await box.advance(by)
            digests.add((await box.get(f"{WORLD}/digest")).json["digest"])
    assert len(digests) == 1


async def test_a_slice_ends_when_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a world advances the loop has its turns, and those who wait see what has happened so far."""
    monkeypatch.setattr("sendbox.hosted.SLICE_NS", 0)
    async with boxed() as box:
        for number in range(80):
            await box.send(f"42077700{number:02}01", "invalid")
        hosted = box.runtime.worlds[KEY]
        seen: list[int] = []

        async def watch() -> None:
            while True:
                await hosted.change()
                seen.append(hosted.world.fired)

        watching = asyncio.create_task(watch())
        await turns()
        await box.advance("1m")
        watching.cancel()
        assert len(set(seen)) > 5
        assert sum(1 for _, line in box.log if "302" in line or "invalid" in line) >= 80


# --- real -------------------------------------------------------------------------------------------------------------


async def test_real_time_passes_at_its_rate() -> None:
    """A real clock is an offset and a rate over the monotonic clock; a rate of 0 holds it."""
    reading = Reading()
    async with boxed(mode="real", reading=reading) as box:
        await box.open(clock={"rate": 60})
        reading.passes(1)
        assert (await clock(box))["now"] == at(60)
        assert (await box.patch(f"{WORLD}/clock", {"rate": 0.5})).json["rate"] == 0.5
        reading.passes(2)
        assert (await clock(box))["now"] == at(61)
        await box.patch(f"{WORLD}/clock", {"rate": 0})
        reading.passes(100)
        assert (await clock(box))["now"] == at(61)
        assert (await box.patch(f"{WORLD}/clock", {"mode": "manual", "rate": 1})).json["mode"] == "manual"
        reading.passes(100)
        assert (await clock(box))["now"] == at(61)


async def test_in_real_time_what_fell_due_has_happened_when_somebody_looks() -> None:
    """A look, a request or a click brings the world to the present first."""
    reading = Reading()
    async with boxed(mode="real", reading=reading) as box:
        (message_id,) = await box.send()
        reading.passes(2.5)
        assert await box.results(message_id) == ["sending", "sent"]
        reading.passes(1)
        assert await box.results(message_id) == ["sending", "sent", "delivered"]
        shown = (await box.get(f"{WORLD}/messages/{message_id}")).json["timeline"]
        assert [entry["at"] for entry in shown] == [at(0), at(1), at(3)]


async def test_real_time_goes_on_from_where_an_advance_left_it() -> None:
    """After an advance time passes from its end; what the advance took of real time is not added."""
    reading = Reading()
    async with boxed(mode="real", reading=reading) as box:
        await box.open()
        reading.passes(1)
        assert (await box.advance("1h"))["from"] == at(1)
        reading.passes(1)
        assert (await clock(box))["now"] == at(3602)


async def test_in_real_time_events_come_by_themselves() -> None:
    """Nobody has to ask: timers fire what falls due, and deliveries go out while time passes."""
    async with boxed(mode="real") as box, receiving(answering(200)) as receiver:
        await box.open(clock={"rate": 1000})
        await box.send(callback=receiver.url)
        found = (await box.get(f"{WORLD}/messages?result=delivered&wait=30s")).json["messages"]
        assert [message["result"] for message in found] == ["delivered"]
        while len(receiver.calls) < 3:
            await asyncio.sleep(0)
        assert receiver.results == ["sending", "sent", "delivered"]


async def test_in_real_time_an_advance_waits_for_what_is_under_way() -> None:
    """A delivery that was begun by itself has its answer before the advance goes on."""
    arrived, release = asyncio.Event(), asyncio.Event()

    async def react(_: Events) -> int:
        arrived.set()
        await release.wait()
        return 200

    reading = Reading()
    async with boxed(mode="real", reading=reading, patience=10.0) as box, receiving(react) as receiver:
        await box.send("420777000105", callback=receiver.url)
        await arrived.wait()
        advancing = asyncio.create_task(box.advance("1s"))
        await turns(20)
        assert not advancing.done()
        release.set()
        assert (await advancing)["to"] == at(1)
        deliveries = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
        assert [delivery["state"] for delivery in deliveries] == ["delivered", "delivered"]


async def test_a_long_wait_in_real_time_is_caught_up_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much fell due, the loop has its turns in between."""
    monkeypatch.setattr("sendbox.hosted.SLICE_NS", 0)
    reading = Reading()
    async with boxed(mode="real", reading=reading) as box:
        for number in range(100):
            await box.send(f"42077700{number:02}01")
        reading.passes(60)
        hosted = box.runtime.worlds[KEY]
        box.runtime.present(hosted)
        assert hosted.world.fired < 300
        while hosted.world.fired < 300:
            await asyncio.sleep(0)
        assert (await box.get(f"{WORLD}/clock")).json["pending"] == 0


async def test_a_webhook_never_overtakes_the_answer_of_its_request() -> None:
    """Also in real time, the answer goes out first."""
    order: list[str] = []

    async def take(call: HttpCall) -> Outcome:
        order.append("webhook")
        return Outcome(200)

    async with boxed(mode="real") as box:
        await box.open(clock={"rate": 1000})
        box.runtime.deliver_to(box.runtime.worlds[KEY], take)
        await box.send()
        order.append("answer")
        while len(order) < 4:
            await asyncio.sleep(0)
        assert order == ["answer", "webhook", "webhook", "webhook"]


# --- auto -------------------------------------------------------------------------------------------------------------


async def test_an_auto_clock_goes_on_whenever_nothing_is_open() -> None:
    """Step by step until nothing is scheduled; there it stands, at the instant of the last step."""
    async with boxed(mode="auto", quiet=0.0) as box:
        (message_id,) = await box.send()
        await box.get(f"{WORLD}/messages?result=delivered&wait=30s")
        assert await box.results(message_id) == ["sending", "sent", "delivered"]
        assert (await clock(box))["now"] == at(3)
        assert box.runtime.worlds[KEY].timer is None


async def test_an_auto_clock_waits_for_requests_and_for_control() -> None:
    """While a request or a call of control is open, nothing moves; a long poll that only waits does not count."""
    async with boxed(mode="auto", quiet=0.0) as box:
        await box.send()
        hosted = box.runtime.worlds[KEY]
        hosted.controls += 1
        await turns(20)
        assert hosted.world.now == START
        hosted.controls -= 1
        token = hosted.request_began()
        await turns(20)
        assert hosted.world.now == START
        hosted.request_ended(token)
        await box.get(f"{WORLD}/messages?result=delivered&wait=30s")
        assert hosted.world.now == START + 3_000


async def test_an_advance_by_hand_waits_for_the_step_an_auto_clock_is_taking() -> None:
    """The tester is never told `advancing` because of a clock that runs by itself."""
    arrived, release = asyncio.Event(), asyncio.Event()

    async def take(_: HttpCall) -> Outcome:
        arrived.set()
        await release.wait()
        return Outcome(200)

    async with boxed(mode="auto", quiet=0.0, patience=10.0) as box:
        await box.open()
        box.runtime.deliver_to(box.runtime.worlds[KEY], take)
        await box.send("420777000105")
        await arrived.wait()
        advancing = asyncio.create_task(box.advance("1m"))
        await turns(20)
        assert not advancing.done()
        release.set()
        assert (await advancing)["to"] == at(60)


async def test_an_auto_step_that_hangs_is_not_waited_for_without_end() -> None:
    """After the patience the tester learns that the world is advancing."""

    async def take(_: HttpCall) -> Outcome:
        await asyncio.Event().wait()
        return Outcome(200)

    async with boxed(mode="auto", quiet=0.0, patience=0.02) as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        box.runtime.deliver_to(hosted, take)
        await box.send()
        while not hosted.advancing:
            await asyncio.sleep(0)
        assert (await refused(box, by="1s"))[:2] == (409, "advancing")


async def test_an_auto_clock_that_cannot_go_on_says_so_in_the_log() -> None:
    """A bound that an automatic step meets is no call's error, but a line."""
    async with boxed(mode="auto", quiet=0.0) as box:
        await box.send(datetime="2029-01-01T00:00:00Z")
        while not any("is more than 400d" in line for _, line in box.log):
            await asyncio.sleep(0)
        assert (await clock(box))["now"] == at(0)


async def test_an_auto_clock_leaves_an_advance_by_hand_alone() -> None:
    """A timer that comes up during an advance does nothing; it is wound again afterwards."""
    async with boxed(mode="auto", quiet=0.0) as box:
        await box.open()
        hosted = box.runtime.worlds[KEY]
        hosted.advancing = True
        box.runtime.mover._auto(hosted)
        hosted.advancing = False
        assert hosted.auto is None
        await box.send()
        await box.get(f"{WORLD}/messages?result=delivered&wait=30s")


async def test_conflicts_carry_their_words() -> None:
    """In process, a conflict is an exception with a stable word, a line and details."""
    async with boxed(max_instants=0) as box:
        await box.send()
        with pytest.raises(Conflict) as raised:
            await box.runtime.advance(box.runtime.worlds[KEY], by=10_000)
        assert (raised.value.error, raised.value.detail) == ("too_far", {})
        assert str(raised.value) == raised.value.message
