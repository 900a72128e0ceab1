"""Clocks that run by themselves: `real` and `auto`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sendbox.engine.timeline import Goal
from sendbox.runtime.policy import HttpCall, Outcome
from sendbox.runtime.slot import Conflict
from tests.box import KEY, START, WORLD, Box, Reading, at, boxed, turns
from tests.receivers import Events, answering, receiving

pytestmark = pytest.mark.asyncio


async def refused(box: Box, **how: Any) -> tuple[int, str, str]:
    """Status, error and message of an `advance` that is not done."""
    answer = await box.post(f"{WORLD}/clock/advance", how)
    return answer.status, answer.json["error"], answer.json["message"]


# --- real -------------------------------------------------------------------------------------------------------------


async def test_real_time_passes_at_its_rate() -> None:
    """A real clock is an offset and a rate over the monotonic clock; a manual one stands."""
    reading = Reading()
    async with boxed(mode="real", reading=reading) as box:
        await box.open(clock={"rate": 60})
        reading.passes(1)
        assert (await box.clock())["now"] == at(60)
        assert (await box.patch(f"{WORLD}/clock", {"rate": 0.5})).json["rate"] == 0.5
        reading.passes(2)
        assert (await box.clock())["now"] == at(61)
        assert (await box.patch(f"{WORLD}/clock", {"mode": "manual", "rate": 1})).json["mode"] == "manual"
        reading.passes(100)
        assert (await box.clock())["now"] == at(61)


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
        assert (await box.clock())["now"] == at(3602)


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


async def test_a_receiver_calls_back_while_a_real_clock_is_advanced() -> None:
    """It is served at the instant that the advance has reached, whatever the machine's clock says."""
    reading = Reading()

    async def react(events: Events) -> int:
        reading.passes(100)
        if events[0]["result"] == "delivered":
            sent.extend(await box.send("420777000105"))
        return 200

    sent: list[str] = []
    async with boxed(mode="real", reading=reading) as box, receiving(react) as receiver:
        await box.send(callback=receiver.url)
        await box.advance("10s")
        (message_id,) = sent
        assert (await box.get(f"{WORLD}/messages/{message_id}")).json["accepted_at"] == at(3)
        assert (await box.clock())["now"] == at(10)


async def test_a_long_wait_in_real_time_is_caught_up_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much fell due, the loop has its turns in between."""
    monkeypatch.setattr("sendbox.runtime.slot.SLICE_NS", 0)
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
        assert (await box.clock())["now"] == at(3)
        assert box.runtime.worlds[KEY].timer is None


ONE_SECOND = {"status": {"code": 429, "headers": {"Retry-After": 1}}}


def refusing(fault: Any, **when: Any) -> dict[str, Any]:
    """A scenario whose calls of sendMessage are refused."""
    return {"sendbox": 1, "api": [{"when": {"operation": "sendMessage", **when}, "fault": fault}]}


async def test_an_auto_clock_goes_to_the_end_of_retry_after() -> None:
    """A client that waits as long as it is told is not refused again, though nothing else is due."""
    async with boxed(mode="auto", quiet=0.0) as box:
        await box.open(scenario=refusing(ONE_SECOND, until="1s"))
        hosted = box.runtime.worlds[KEY]
        assert (await box.post("/v2/message", MESSAGE, x_api_key=KEY)).status == 429
        for _ in range(200):
            if hosted.world.now > START:
                break
            await turns()
        assert hosted.world.now == START + 1_000
        assert (await box.post("/v2/message", MESSAGE, x_api_key=KEY)).status == 200


MESSAGE = {"body": "Hello", "to": [{"phone_number": "420777000101"}]}
AWAITED = {
    "seconds": (ONE_SECOND, 1, at(1)),
    "many calls of one instant": (ONE_SECOND, 3, at(1)),
    "a whole answer": ({"answer": {"status": 503, "headers": {"retry-after": "90"}}}, 1, at(90)),
    "a rate": ({"rate_limit": {"max": 1, "within": "1500ms"}}, 2, at(2)),
    "at once": ({"status": {"code": 429, "headers": {"Retry-After": 0}}}, 1, None),
    "no number": ({"status": {"code": 429, "headers": {"Retry-After": "soon"}}}, 1, None),
    "more digits than an instant has": ({"status": {"code": 429, "headers": {"Retry-After": 9 * 10**17}}}, 1, None),
    "behind the end of time": ({"status": {"code": 429, "headers": {"Retry-After": 999_999_999_999}}}, 1, None),
    "no header": ({"status": 429}, 1, None),
}


@pytest.mark.parametrize(("fault", "calls", "due"), AWAITED.values(), ids=AWAITED)
async def test_the_end_of_retry_after_is_a_step(fault: Any, calls: int, due: str | None) -> None:
    """Of every answer that has it; one step for all calls of an instant, in words among what is still to come."""
    async with boxed() as box:
        await box.open(scenario=refusing(fault))
        for _ in range(calls):
            await box.post("/v2/message", MESSAGE, x_api_key=KEY)
        steps = (await box.get(f"{WORLD}/pending")).json["steps"]
        awaited = [step["at"] for step in steps if step["what"] == "the time in Retry-After is over"]
        assert awaited == ([] if due is None else [due])


async def test_the_end_of_retry_after_does_nothing() -> None:
    """The clock goes there until idle; journal and digest have nothing of it."""
    digests = []
    for fault in (ONE_SECOND, {"status": 429}):
        async with boxed() as box:
            await box.open(scenario={"sendbox": 1, "api": [{"name": "busy", "fault": fault}]})
            await box.post("/v2/message", MESSAGE, x_api_key=KEY)
            await box.advance(until="idle")
            await box.advance(to=at(1))
            digests.append((await box.get(f"{WORLD}/digest")).json)
            kinds = [entry["kind"] for entry in (await box.get(f"{WORLD}/journal")).json["entries"]]
            assert kinds == ["opened", "request", "fault"]
    assert digests[0] == digests[1]


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


async def test_an_auto_clock_that_cannot_go_on_says_so_once() -> None:
    """What is out of its reach it does not try again: it stands still, until something comes before, or it is moved."""
    async with boxed(mode="auto", quiet=0.0) as box:
        (later,) = await box.send(datetime="2029-01-01T00:00:00Z")
        hosted, said = box.runtime.worlds[KEY], "1036d15h is more than 400d, the most in one call"
        while not any(said in line for _, line in box.log):
            await asyncio.sleep(0)
        await turns(50)
        assert hosted.timer is None
        assert hosted.auto is None or hosted.auto.done()
        assert (await box.clock())["now"] == at(0)
        (sooner,) = await box.send()
        while "delivered" not in await box.results(sooner):
            await turns()
        await turns(50)
        assert [line.partition(";")[0] for _, line in box.log if "400d" in line] == [said]
        await box.advance("399d")
        await box.advance("399d")
        while "delivered" not in await box.results(later):
            await turns()


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
            await box.runtime.advance(box.runtime.worlds[KEY], Goal("by", 10_000))
        assert (raised.value.error, raised.value.detail) == ("too_far", {})
        assert str(raised.value) == raised.value.message


# --- changed by the scenario ------------------------------------------------------------------------------------------


def changing(at: str, **clock: Any) -> dict[str, Any]:
    """A scenario whose clock changes."""
    return {"sendbox": 1, "timeline": [{"at": at, "clock": clock}]}


async def settled(box: Box, seconds: float) -> dict[str, Any]:
    """The clock once it shows an instant, or after a hundred looks: it stands while the steps of another settle."""
    clock = await box.clock()
    for _ in range(100):
        if clock["now"] == at(seconds):
            break
        clock = await box.clock()
    return clock


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        pytest.param([5], 5, id="before"),
        pytest.param([15], 310, id="late"),
        pytest.param([9, 2, 4], 310, id="by and by"),
    ],
)
async def test_a_scenario_changes_the_rate_at_its_instant(seconds: list[float], expected: float) -> None:
    """However late the machine looks, time passes at the old rate up to the instant and at the new one after it."""
    reading = Reading()
    async with boxed(mode="real", reading=reading) as box:
        await box.open(scenario=changing("10s", rate=60))
        for each in seconds:
            reading.passes(each)
            await box.clock()
        assert (await settled(box, expected))["now"] == at(expected)


async def test_a_scenario_slows_time_down() -> None:
    """A world that was fast does not run on past the instant."""
    reading = Reading()
    async with boxed(mode="real", reading=reading) as box:
        await box.open(scenario=changing("10m", rate=1), clock={"rate": 60})
        reading.passes(100)
        assert (await settled(box, 690))["now"] == at(690)


async def test_a_scenario_stops_the_clock() -> None:
    """It stands at the very instant, whatever has passed since; a reset lets it run again."""
    reading = Reading()
    async with boxed(mode="real", reading=reading) as box:
        await box.open(scenario=changing("10s", mode="manual"))
        reading.passes(100)
        shown = await settled(box, 10)
        assert (shown["now"], shown["mode"]) == (at(10), "manual")
        assert (await box.advance("5s"))["to"] == at(15)
        assert (await box.post(f"{WORLD}/reset")).json["clock"]["mode"] == "real"


async def test_a_scenario_sets_the_clock_going() -> None:
    """The advance that comes upon it goes on to its end; from there on time passes."""
    reading = Reading()
    async with boxed(mode="manual", reading=reading) as box:
        await box.open(scenario=changing("10s", mode="real", rate=2))
        assert (await box.advance("1m"))["to"] == at(60)
        reading.passes(5)
        shown = await settled(box, 70)
        assert (shown["now"], shown["mode"], shown["rate"]) == (at(70), "real", 2)


async def test_a_scenario_sets_an_auto_clock_going() -> None:
    """From then on the world goes to each next step by itself."""
    reading = Reading()
    async with boxed(mode="real", reading=reading) as box:
        await box.open(scenario=changing("10s", mode="auto"))
        reading.passes(10)
        (message_id,) = await box.send()
        found = (await box.get(f"{WORLD}/messages?result=delivered&wait=30s")).json["messages"]
        assert [message["message_id"] for message in found] == [message_id]
