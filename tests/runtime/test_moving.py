"""Time by command: `advance` in each of its forms, and its bounds."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import orjson
import pytest

from sendbox.runtime.policy import HttpCall, Outcome
from tests.box import KEY, WORLD, Box, Reading, at, boxed, turns
from tests.receivers import Events, answering, receiving

pytestmark = pytest.mark.asyncio


async def refused(box: Box, **how: Any) -> tuple[int, str, str]:
    """Status, error and message of an `advance` that is not done."""
    answer = await box.post(f"{WORLD}/clock/advance", how)
    return answer.status, answer.json["error"], answer.json["message"]


# --- manual -----------------------------------------------------------------------------------------------------------


async def test_a_manual_clock_stands_still_until_it_is_moved() -> None:
    """A request is answered; what follows is due at the same instant and happens at the next move, `0s` too."""
    async with boxed() as box:
        (message_id,) = await box.send()
        assert await box.results(message_id) == []
        assert (await box.clock()) == {"now": at(0), "mode": "manual", "rate": 1.0, "next_due": at(0), "pending": 1}
        moved = await box.advance("0s")
        assert await box.results(message_id) == ["sending"]
        assert (moved["from"], moved["to"], moved["next_due"], moved["idle"]) == (at(0), at(0), at(1), False)


@pytest.mark.parametrize(
    ("how", "to"),
    [
        pytest.param({"by": "90s"}, 90, id="by"),
        pytest.param({"by": "90000ms"}, 90, id="by-milliseconds"),
        pytest.param({"by": "PT1M30S"}, 90, id="by-iso"),
        pytest.param({"to": "2026-03-01T09:01:30Z"}, 90, id="to"),
        pytest.param({"to": "2026-03-01T10:01:30+01:00"}, 90, id="to-another-offset"),
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
            "from", "to", "fired", "deliveries", "failed", "entries", "truncated", "next_due", "idle", "warnings",
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
        assert (await box.clock())["next_due"] is None
        moved = await box.advance(next=3)
        assert (moved["from"], moved["to"], moved["fired"]) == (at(60), at(60), 0)
        assert receiver.results == ["sending", "sent", "sending"]


async def test_lapses_never_pull_the_clock() -> None:
    """What merely stops being true is journaled when the clock passes it; idle, next and next_due do not see it."""
    async with boxed() as box:
        await box.open()
        await box.post(f"{WORLD}/inbound", {"channel": "chatapp", "from": "420777000101", "body": "Hello"})
        assert (await box.clock())["next_due"] is None
        assert (await box.advance(until="idle"))["to"] == at(0)
        assert (await box.advance("1d"))["entries"][-1]["kind"] == "lapse"


@pytest.mark.parametrize(
    ("how", "status", "error", "message"),
    [
        ({"to": "2026-03-01T08:59:59Z"}, 409, "past", f"{at(-1)} lies before the world's {at(0)}; time only goes"),
        ({"by": "401d"}, 409, "too_far", "401d is more than 400d, the most in one call; go there in steps"),
        ({"to": "2030-01-01T00:00:00Z"}, 409, "too_far", "1401d15h is more than 400d, the most in one call; "),
        ({"by": -5}, 400, "bad_argument", "by: -5 is not a duration"),
        ({"by": "soon"}, 400, "bad_argument", "by: 'soon' is not a duration"),
        ({"to": "tomorrow"}, 400, "bad_argument", "to: 'tomorrow' is not an RFC 3339 instant"),
        ({"to": [1]}, 400, "bad_argument", "to: "),
        ({"next": 0}, 400, "bad_argument", "next: 0 is not legal; legal: 1 and more"),
        ({"next": True}, 400, "bad_argument", "next: true is not legal; legal: 1 and more"),
        ({"next": "1"}, 400, "bad_argument", "next: '1' is not legal; legal: 1 and more"),
        ({"until": "doomsday"}, 400, "bad_argument", 'until: "doomsday" is not known; legal: idle'),
        ({}, 400, "bad_argument", "nothing says how far the clock moves; legal: one of "),
        ({"to": 1_772_355_690}, 400, "bad_argument", "to: 1772355690 is not an RFC 3339 instant; 2026-03-01T09:01:30"),
        ({"by": "1s", "next": 1}, 400, "bad_argument", "2 of by, to, next, until were given; legal: exactly one"),
        ({"bye": "1s"}, 400, "unknown_argument", '"bye" is not an argument of advance; legal: by, to, next, until; '),
    ],
)  # fmt: skip
async def test_what_advance_refuses(how: dict[str, Any], status: int, error: str, message: str) -> None:
    """An illegal move is refused with the reason and what is legal, and nothing has moved."""
    async with boxed() as box:
        await box.open()
        found = await refused(box, **how)
        assert found[:2] == (status, error)
        assert found[2].startswith(message)
        assert (await box.clock())["now"] == at(0)


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
        assert (await box.clock())["now"] == at(3)  # what was within reach has happened


@pytest.mark.parametrize("how", [{"by": "1h"}, {"next": 20}, {"until": "idle"}], ids=["by", "next", "idle"])
async def test_too_many_instants(how: dict[str, Any]) -> None:
    """One call passes so many instants at most; the next call goes on from there."""
    async with boxed(max_instants=5) as box:
        for number in range(12):
            await box.send(datetime=f"2026-03-01T09:0{number // 6 + 2}:{number % 6}0Z")
        status, error, message = await refused(box, **how)
        assert (status, error) == (409, "too_far")
        assert re.match(r"5 instants are the most in one call: 1[01] steps are scheduled, next ", message)
        assert at(131) < (await box.clock())["now"] <= at(140)  # 120, 121, 123, 130, 131 and what comes next


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
        assert (await box.clock())["now"] == at(0)
        assert len(receiver.calls) == 21


@pytest.mark.parametrize("spread", [False, True], ids=["one instant", "many instants"])
async def test_a_chain_of_calls_is_a_loop(spread: bool) -> None:
    """A receiver whose every call causes the webhook of its next: the advance ends, names it, and can be repeated."""
    async with boxed(max_chain=10) as box:
        await box.open()
        await box.post(f"{WORLD}/rules", {"when": {}, "then": "undelivered" if spread else "sending"})

        async def react(events: Events) -> int:
            if events[-1]["result"] == ("undelivered" if spread else "sending"):
                await box.send("420777000102", callback=receiver.url)
            return 200

        async with receiving(react) as receiver:
            await box.send("420777000102", callback=receiver.url)
            for times in (1, 2):
                answer = await box.post(f"{WORLD}/clock/advance", {"until": "idle"})
                here = (await box.clock())["now"]
                assert (answer.status, answer.json["error"], answer.json["at"]) == (409, "loop", here)
                assert answer.json["message"] == (
                    f"test-1 stays at {here}: 11 × sendMessage to 420777000102 from your receiver: more than 10 calls, "
                    "each because of a webhook of the one before (max_chain)"
                )
                assert len((await box.get(f"{WORLD}/messages")).json["messages"]) == 1 + 11 * times
            assert (here == at(0)) is not spread


async def test_too_many_calls_at_one_instant_are_a_loop() -> None:
    """A receiver that polls for what cannot come while it is asked is found before it answers."""
    async with boxed(max_calls=20) as box:
        answered = asyncio.Event()

        async def react(_: Events) -> int:
            while not answered.is_set():
                await box.get("/v1/apikey/me", x_api_key=KEY)
                await asyncio.sleep(0)
            return 200

        async with receiving(react) as receiver:
            await box.send(callback=receiver.url)
            answer = await box.post(f"{WORLD}/clock/advance", {"by": "1m"})
            assert answer.json["message"] == (
                f"test-1 stays at {at(0)}: 21 × showKey from your receiver: "
                "more than 20 calls at one instant (max_calls)"
            )
            answered.set()
            assert (await box.advance("1m"))["to"] == at(60)  # the webhook that was under way is waited for first


async def test_a_loop_over_many_recipients_is_told_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operation with all its calls, and how many recipients it had, as far as they are told apart."""
    for known, said in ((100, "11 recipients"), (5, "5 recipients at least")):
        monkeypatch.setattr("sendbox.runtime.loops._MAX_RECIPIENTS", known)
        async with boxed(max_calls=11) as box:

            async def react(_: Events, box: Box = box) -> int:
                await box.get("/v1/apikey/me", x_api_key=KEY)
                for number in range(11):
                    await box.send(f"4207770002{number:02}")
                return 200

            async with receiving(react) as receiver:
                await box.send(callback=receiver.url)
                answer = await box.post(f"{WORLD}/clock/advance", {"by": "1m"})
            assert f"11 × sendMessage to {said} from your receiver: more than 11 calls" in answer.json["message"]


@pytest.mark.parametrize("clients", [1, 40])
async def test_clients_of_an_auto_clock_are_no_loop(clients: int) -> None:
    """They call while a slow receiver has a webhook, each for its own recipients; the clock stays until they end."""
    async with boxed(mode="auto", quiet=0.0, max_chain=10, max_calls=20) as box:
        await box.open()
        await box.only_sending()
        hosted = box.runtime.worlds[KEY]
        taken: list[HttpCall] = []
        calling = asyncio.Event()

        async def slow(call: HttpCall) -> Outcome:
            taken.append(call)
            calling.set()
            await turns(20)
            return Outcome(200)

        async def client(number: int) -> None:
            for round in range(15):
                before = len(taken)
                await box.send(f"4207770{number}{round:02}0", callback=f"http://{number}.example/")
                while len(taken) == before and hosted.calls.loop is None:
                    await asyncio.sleep(0)

        box.runtime.deliver_to(hosted, slow)
        await box.send(callback="http://a.example/")
        await calling.wait()
        await asyncio.gather(*map(client, range(10, 10 + clients)))
        while not hosted.world.idle and hosted.calls.loop is None:
            await asyncio.sleep(0)
        assert hosted.calls.loop is None
        assert [line for _, line in box.log if "loop" in line or "from your receiver" in line] == []
        assert sum(len(orjson.loads(call.body)) for call in taken) == 1 + clients * 15


async def test_calls_that_cause_no_webhook_are_no_loop() -> None:
    """Receivers may ask for each message, and send one more because of it, in any number of instants."""
    async with boxed(max_chain=2, max_calls=3) as box:
        await box.open()

        async def react(events: Events) -> int:
            await box.get("/v1/messages?limit=1", x_api_key=KEY)
            if events[0]["payload"] == {"first": True}:
                await box.send("420777000103")
            return 200

        async with receiving(react) as receiver:
            for minute in range(20):
                await box.send(
                    callback=receiver.url, datetime=f"2026-03-01T09:{minute + 10}:00Z", payload={"first": True}
                )
            assert (await box.advance(until="idle"))["idle"]
            assert len(receiver.calls) == 60


async def test_a_loop_stops_an_auto_clock_until_a_command_moves_it() -> None:
    """The log names the loop once, and the world stands; an advance, or its clock set again, goes on."""
    async with boxed(mode="auto", quiet=0.0, max_chain=10) as box:
        await box.open()
        await box.post(f"{WORLD}/rules", {"when": {}, "then": "sending"})
        hosted = box.runtime.worlds[KEY]

        async def take(call: HttpCall) -> Outcome:
            await box.send("420777000102", callback=call.url)
            return Outcome(200)

        async def stopped(times: int) -> None:
            while sum("11 × sendMessage to 420777000102" in line for _, line in box.log) < times:
                await asyncio.sleep(0)
            await turns(50)
            assert hosted.timer is None
            assert sum("from your receiver" in line for _, line in box.log) == times

        box.runtime.deliver_to(hosted, take)
        await box.send("420777000102", callback="http://a.example/")
        await stopped(1)
        assert (await refused(box, by="0s"))[:2] == (409, "loop")
        await stopped(1)
        await box.patch(f"{WORLD}/clock", {"mode": "auto"})
        await stopped(2)


async def test_deliveries_that_are_replayed_for_each_other_end() -> None:
    """What a receiver sends again sets out at once; one that is under way is not sent again."""
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
        await box.advance("0s")
        await box.send(callback="http://b.example/")
        await box.advance("1m")
        assert [len(tries) for tries in await box.tries()] == [2, 1]


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
            answer = await box.post(f"{WORLD}/clock/advance", {"by": "0s"})
            assert answer.json["message"] == f"test-1 stays at {at(0)}: its receivers cause deliveries without end"
