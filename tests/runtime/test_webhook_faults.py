"""Faults of deliveries as a receiver on a real socket meets them, and as the built-in receiver shows them (§6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from sendbox.engine.delivery.faults.requests import WAYS, rewrite
from sendbox.engine.durations import instant
from sendbox.runtime.policy import HttpCall, Outcome, sign
from tests.box import KEY, START, WORLD, Box, boxed
from tests.faulty import faulty, results
from tests.receivers import Receiver, answering, receiving

pytestmark = pytest.mark.asyncio


async def at(box: Box) -> list[tuple[str, list[float], list[Any]]]:
    """State, seconds of the tries, and results of each delivery."""
    return [
        (
            each["state"],
            [(instant(done["at"]) - START) / 1000 for done in each["tries"]],
            [event.get("result", "inbound") for event in each["events"]],
        )
        for each in (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
    ]


def ids(receiver: Receiver) -> list[str]:
    """The X-Request-Id of each call."""
    return [headers["x-request-id"] for headers in receiver.headers]


# --- each fault, over a socket ----------------------------------------------------------------------------------------


async def test_drop_loses_a_batch_for_good() -> None:
    """The receiver never hears of it, the journal and the log say whose rule it was, and it is seen as dropped."""
    async with faulty({"name": "lost", "when": {"result": "sent"}, "fault": "drop"}) as (box, receiver):
        await box.send()
        moved = await box.advance("1h")
        assert results(receiver.calls) == [["sending"], ["delivered"]]
        assert (moved["deliveries"], moved["failed"]) == (3, 0)
        assert [each[:2] for each in await at(box)][1] == ("dropped", [])
        (lost,) = (await box.get(f"{WORLD}/deliveries?state=dropped")).json["deliveries"]
        assert (lost["rule"], lost["fault"]) == ("lost", "drop")
        (entry,) = (await box.get(f"{WORLD}/journal?kind=webhook_fault")).json["entries"]
        assert (entry["rule"], entry["fault"], entry["delivery"]) == ("lost", "drop", lost["id"])
        assert (KEY, '420777000101: sent: drop, by the rule "lost" of webhooks') in box.log
        assert (await box.post(f"{WORLD}/deliveries/{lost['id']}/replay")).json["state"] == "sending"
        await box.advance("0s")
        assert results(receiver.calls)[-1] == ["sent"]


async def test_duplicate_has_the_same_id() -> None:
    """Once more right behind it: the same bytes and the same X-Request-Id."""
    async with faulty({"when": {"result": "delivered"}, "fault": "duplicate"}) as (box, receiver):
        await box.send()
        await box.advance()
        assert results(receiver.calls) == [["sending"], ["sent"], ["delivered"], ["delivered"]]
        assert receiver.calls[2] == receiver.calls[3]
        assert ids(receiver)[2] == ids(receiver)[3]
        assert len(set(ids(receiver))) == 3


async def test_duplicates_with_ids_of_their_own() -> None:
    """As many as the rule says, each so long after the one before, each with its own id; retried by themselves."""
    rule = {"when": {"result": "delivered"}, "fault": {"duplicate": {"id": "new", "times": 2, "after": "5s"}}}
    async with faulty(rule, answers=(200, 200, 500, 200)) as (box, receiver):
        await box.send()
        await box.advance("1h")
        assert (await at(box))[2:] == [
            ("delivered", [3, 33], ["delivered"]),
            ("delivered", [8], ["delivered"]),
            ("delivered", [13], ["delivered"]),
        ]
        assert results(receiver.calls)[2:] == [["delivered"]] * 4
        assert len(set(ids(receiver))) == 5


async def test_delay() -> None:
    """The batch is sent later, with the timestamp of when it happened; until then it waits, and can be released."""
    async with faulty({"when": {"result": "sent"}, "fault": {"delay": "30s"}}) as (box, receiver):
        await box.send()
        await box.advance("10s")
        assert results(receiver.calls) == [["sending"], ["delivered"]]
        assert (await box.clock())["next_due"] == "2026-03-01T09:00:31.000Z"
        assert [each[0] for each in await at(box)] == ["delivered", "waiting", "delivered"]
        await box.advance(until="idle")
        assert (await at(box))[1] == ("delivered", [31], ["sent"])
        assert receiver.calls[2][0]["timestamp"] == START // 1000 + 1
        await box.send("420777000102")
        await box.advance("1s")
        waiting = (await box.get(f"{WORLD}/deliveries?state=waiting")).json["deliveries"][0]["id"]
        for act in ("hold", "release"):
            await box.post(f"{WORLD}/deliveries/{waiting}/{act}")
        await box.advance("2m")
        assert [times for state, times, told in await at(box) if told == ["sent"]] == [[31], [32]]


@pytest.mark.unmeasured
async def test_a_span_of_delay_is_drawn() -> None:
    """Each event has its own time within the span, and the same one again."""
    rule = {"name": "late", "when": {"result": "sending"}, "fault": {"delay": "1s..60s"}}
    seen = []
    for _ in range(2):
        async with faulty(rule) as (box, _):
            for number in ("420777000102", "420777000103"):
                await box.send(number)
            await box.advance("5m")
            seen.append([times for _, times, told in await at(box) if told == ["sending"]])
    assert seen[0] == seen[1]
    assert len({times[0] for times in seen[0]}) == 2
    assert all(1 <= times[0] <= 60 for times in seen[0])


async def test_reorder() -> None:
    """The events of the window come at its end, one by one, never as they happened."""
    async with faulty({"fault": "reorder"}) as (box, receiver):
        await box.send()
        await box.advance("4s")
        assert receiver.calls == []
        await box.advance("1m")
        assert all(len(call) == 1 for call in receiver.calls)
        assert sorted(receiver.results) == ["delivered", "sending", "sent"]
        assert receiver.results != ["sending", "sent", "delivered"]
        assert [times for _, times, _ in await at(box)] == [[5]] * 3


async def test_split() -> None:
    """Events that would have shared a batch come one by one, in their order."""
    rule = {"when": {"result": "sending"}, "fault": "split"}
    async with faulty(rule) as (box, receiver):
        await box.send("420777000101", "420777000102")
        await box.advance()
        assert results(receiver.calls) == [["sending"], ["sending"], ["sent", "sent"], ["delivered", "delivered"]]


async def test_bundle() -> None:
    """The events of the window come at its end in one batch, as many as a batch may hold."""
    async with faulty({"fault": {"bundle": "5s"}}) as (box, receiver):
        await box.send()
        await box.advance()
        assert results(receiver.calls) == [["sending", "sent", "delivered"]]
        await box.send(callback={"url": receiver.url, "batch_size": 2})
        await box.advance()
        assert results(receiver.calls)[1:] == [["sending", "sent"], ["delivered"]]


async def test_bad_signature() -> None:
    """The signature is one of another secret, on every try; nothing else is wrong."""
    rule = {"when": {"result": "sent"}, "fault": "bad_signature"}
    async with faulty(rule, answers=(200, 401, 200), default_callback_secret="s3cret") as (box, receiver):
        await box.send()
        await box.advance()
        good = [
            headers["x-request-signature"] == sign("s3cret", orjson.dumps(call))
            for call, headers in zip(receiver.calls, receiver.headers, strict=True)
        ]
        assert (results(receiver.calls), good) == (
            [["sending"], ["sent"], ["delivered"], ["sent"]],
            [True, False, True, False],
        )
        assert receiver.headers[1]["x-request-signature"] == receiver.headers[3]["x-request-signature"]


async def test_bad_signature_of_what_is_not_signed() -> None:
    """Without a secret there is no header, and the journal says so."""
    async with faulty({"when": {"result": "sent"}, "fault": "bad_signature"}) as (box, receiver):
        await box.send()
        await box.advance()
        assert not any("x-request-signature" in headers for headers in receiver.headers)
        (entry,) = (await box.get(f"{WORLD}/journal?kind=webhook_fault")).json["entries"]
        assert entry["note"].startswith("nothing is signed here")


async def test_stale() -> None:
    """The event before arrives again after the newer one, as an event of its own, with its old timestamp."""
    async with faulty({"when": {"result": "delivered"}, "fault": {"stale": "10s"}}) as (box, receiver):
        await box.send()
        await box.advance()
        assert receiver.results == ["sending", "sent", "delivered", "sent"]
        assert (await at(box))[3] == ("delivered", [13], ["sent"])
        assert receiver.calls[3] == receiver.calls[1]
        assert len(set(ids(receiver))) == 4


async def test_stale_right_behind_it() -> None:
    """Without a time it comes at once; what is the first of its message has nothing before it."""
    async with faulty({"fault": "stale"}) as (box, receiver):
        await box.send()
        await box.advance()
        assert receiver.results == ["sending", "sent", "sending", "delivered", "sent"]


async def test_repeat() -> None:
    """The event before comes again in the batch of the newer one, whose id is its own."""
    rule = {"when": {"result": "delivered"}, "fault": "repeat"}
    async with faulty(rule, answers=(200, 200, 500, 200)) as (box, receiver):
        await box.send()
        await box.advance()
        assert results(receiver.calls) == [["sending"], ["sent"], ["sent", "delivered"], ["sent", "delivered"]]
        assert receiver.calls[2][0] == receiver.calls[1][0]
        first, second, third, again = ids(receiver)
        assert len({first, second, third}) == 3
        assert (again, receiver.bodies[3]) == (third, receiver.bodies[2])


async def test_repeat_of_what_has_no_room() -> None:
    """Where a batch has one event, and before the first of a message, nothing comes with it; the journal says so."""
    async with faulty({"fault": "repeat"}) as (box, receiver):
        await box.send(callback={"url": receiver.url, "batch_size": 1})
        await box.advance()
        assert results(receiver.calls) == [["sending"], ["sent"], ["delivered"]]
        entries = (await box.get(f"{WORLD}/journal?kind=webhook_fault")).json["entries"]
        assert [entry["note"][:27] for entry in entries] == ["a batch has one event here "] * 2


#: How a body shows the way in which it is written; the second value is the beginning of a usual one.
SIGNS: dict[str, Callable[[bytes, bytes], bool]] = {
    "spaces": lambda body, _first: b'": ' in body,
    "escapes": lambda body, _first: rb"caf\u00e9 \/ bar" in body,
    "order": lambda body, first: not body.startswith(first),
}


@pytest.mark.unmeasured
@pytest.mark.parametrize("way", WAYS)
async def test_reformat(way: str) -> None:
    """The same JSON in other bytes, the same on every try, and the signature is one of these bytes."""
    rule = {"when": {"result": "sent"}, "fault": {"reformat": way}}
    async with faulty(rule, answers=(200, 401, 200), default_callback_secret="s3cret") as (box, receiver):
        await box.send(payload={"place": "café / bar", "of": [{"b": 1, "a": 0.1}]})
        await box.advance()
        first = receiver.bodies[0].partition(b":")[0]
        assert [SIGNS[way](body, first) for body in receiver.bodies] == [False, True, False, True]
        assert receiver.calls[1][0]["payload"] == {"place": "café / bar", "of": [{"b": 1, "a": 0.1}]}
        assert receiver.bodies[1] == receiver.bodies[3]
        for body, headers in zip(receiver.bodies, receiver.headers, strict=True):
            assert headers["x-request-signature"] == sign("s3cret", body)


async def test_the_ways_to_write_json() -> None:
    """Spaces, escapes, another order: each is another text of the same value."""
    value = [{"place": "café / bar", "of": [{"b": -1, "a-c": 0.1}]}]
    assert {way: rewrite(orjson.dumps(value), way).decode() for way in WAYS} == {
        "spaces": '[{"place": "café / bar", "of": [{"b": -1, "a-c": 0.1}]}]',
        "escapes": r'[{"place":"caf\u00e9 \/ bar","of":[{"b":-1,"a\u002dc":0.1}]}]',
        "order": '[{"of":[{"a-c":0.1,"b":-1}],"place":"café / bar"}]',
    }


async def test_content_type() -> None:
    """The body stays JSON; what the request says it is is wrong."""
    async with faulty({"when": {"result": "sent"}, "fault": {"content_type": "text/plain"}}) as (box, receiver):
        await box.send(callback={"url": receiver.url, "headers": {"Content-Type": "application/vnd.a+json"}})
        await box.advance()
        assert [headers["content-type"] for headers in receiver.headers] == [
            "application/vnd.a+json",
            "text/plain",
            "application/vnd.a+json",
        ]


async def test_content_type_of_a_get() -> None:
    """There is no body whose type could be wrong, and the journal says so."""
    async with faulty({"fault": {"content_type": "text/plain"}}) as (box, _):
        box.runtime.deliver_to(box.runtime.worlds[KEY], _content)
        await box.send(callback={"url": "http://a.example/", "method": "GET"})
        await box.advance("0s")
        (entry,) = (await box.get(f"{WORLD}/journal?kind=webhook_fault")).json["entries"]
        assert entry["note"].startswith("a GET has no body")


async def _content(_: HttpCall) -> Outcome:
    return Outcome(200)


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("word", "status", "error", "ends"),
    [
        pytest.param(503, 503, None, 33, id="status"),
        pytest.param(302, 302, "redirect", 33, id="redirect"),
        pytest.param("refused", None, "refused", 33, id="refused"),
        pytest.param("closed", None, "closed", 33, id="closed"),
        pytest.param("timeout", None, "timeout", 33, id="timeout"),
    ],
)
async def test_answer(word: Any, status: int | None, error: str | None, ends: int) -> None:
    """A try ends so without reaching the receiver, and the batch is tried again with the same bytes (A20)."""
    rule = {"name": "down", "when": {"result": "delivered"}, "fault": {"answer": word}, "times": 1}
    async with faulty(rule) as (box, receiver):
        await box.send()
        await box.advance("10m")
        assert results(receiver.calls) == [["sending"], ["sent"], ["delivered"]]
        assert (await box.tries())[2] == [(3, status, error), (ends, 200, None)]
        shown = (await box.get(f"{WORLD}/deliveries")).json["deliveries"][2]["tries"]
        assert [each.get("rule") for each in shown] == ["down", None]
        assert any('by the rule "down"' in line for _, line in box.log if line.startswith("webhook"))


async def test_the_receiver_is_down_for_an_hour() -> None:
    """Tries within the time fail, whatever they bring; a retry after it gets through."""
    rule = {"name": "down", "when": {"from": "2s", "until": "4m"}, "fault": {"answer": "refused"}}
    async with faulty(rule) as (box, receiver):
        await box.send()
        await box.advance("1h")
        assert results(receiver.calls) == [["sending"], ["sent"], ["delivered"]]
        assert [at for at, _, _ in (await box.tries())[2]] == [3, 33, 93, 213, 453]
        await box.advance(until="idle")
        assert (await box.tries())[2][-1] == (453, 200, None)


async def test_down_for_good() -> None:
    """A batch whose every try is answered so has failed, and `advance` counts it."""
    async with faulty({"fault": {"answer": 500}}) as (box, receiver):
        await box.only_sending()
        await box.send()
        assert (await box.advance("1h"))["failed"] == 1
        assert receiver.calls == []


async def test_a_faked_timeout_keeps_nobody_waiting() -> None:
    """Other than a receiver that hangs: which batch is next in the line would go by who came first."""
    async with faulty({"fault": {"answer": "timeout"}, "times": 1}) as (box, receiver):
        await box.send()
        await box.advance("10s")
        assert (await box.tries())[:2] == [[(0, None, "timeout")], [(1, 200, None)]]
        assert receiver.results == ["sent", "delivered"]


# --- the order of what travels otherwise ------------------------------------------------------------------------------


async def test_the_events_of_a_phone_keep_their_order() -> None:
    """A fault that is not about the order does not change it, and splits the batches of others no more than needed."""
    then = ["sending", {"sent": 0}, {"delivered": 0}]
    scenario = {
        "sendbox": 1,
        "attempts": [{"then": then}],
        "webhooks": [{"when": {"result": "sent", "phone": "420777000101"}, "fault": "split"}],
    }
    async with boxed() as box, receiving(answering(200)) as receiver:
        await box.open(scenario={**scenario, "account": {"default_callback_url": receiver.url}})
        await box.send("420777000101")
        await box.send("420777000102")
        await box.advance()
        assert [[(event["to"]["phone_number"][-1], event["result"]) for event in call] for call in receiver.calls] == [
            [("1", "sending")],
            [("1", "sent")],
            [("1", "delivered"), ("2", "sending"), ("2", "sent"), ("2", "delivered")],
        ]


# --- the built-in receiver --------------------------------------------------------------------------------------------

BUILTIN: list[tuple[str, Any, list[list[str]]]] = [
    ("drop", "drop", [["sending"], ["delivered"]]),
    ("duplicate", "duplicate", [["sending"], ["sent"], ["sent"], ["delivered"]]),
    ("delay", {"delay": "30s"}, [["sending"], ["delivered"], ["sent"]]),
    ("split", "split", [["sending"], ["sent"], ["delivered"]]),
    ("bundle", {"bundle": "5s"}, [["sending"], ["delivered"], ["sent"]]),
    ("bad_signature", "bad_signature", [["sending"], ["sent"], ["delivered"]]),
    ("stale", "stale", [["sending"], ["sent"], ["sending"], ["delivered"]]),
    ("content_type", {"content_type": "text/plain"}, [["sending"], ["sent"], ["delivered"]]),
    ("answer", {"answer": 503}, [["sending"], ["delivered"]]),
]


@pytest.mark.parametrize(("fault", "expected"), [each[1:] for each in BUILTIN], ids=[each[0] for each in BUILTIN])
@pytest.mark.unmeasured
async def test_the_built_in_receiver_shows_faults(fault: Any, expected: list[list[str]]) -> None:
    """It gets what a receiver would have got, and its deliveries say which rule it was."""
    rule = {"name": "fault", "when": {"result": "sent"}, "fault": fault}
    async with boxed() as box:
        await box.open(scenario={"sendbox": 1, "webhooks": [rule]})
        await box.send()
        await box.advance("2m")
        shown = (await box.get(f"{WORLD}/hook")).json
        assert [[event["result"] for event in each["events"]] for each in shown["deliveries"]] == expected
        assert [event["result"] for event in shown["events"]] == [result for each in expected for result in each]
        assert len((await box.get(f"{WORLD}/journal?kind=webhook_fault")).json["entries"]) == (
            3 if fault == {"answer": 503} else 1
        )


@pytest.mark.parametrize("word", [503, "timeout"])
async def test_the_built_in_receiver_is_tried_again(word: Any) -> None:
    """After what a rule answered in its place; what it got is shown once."""
    async with boxed() as box:
        await box.open(scenario={"sendbox": 1, "webhooks": [{"fault": {"answer": word}, "times": 1}]})
        await box.send()
        await box.advance("1h")
        assert [tries[-1][0] for tries in await box.tries()] == [30, 1, 3]
        assert [event["result"] for event in await box.events()] == ["sent", "delivered", "sending"]


# --- control ----------------------------------------------------------------------------------------------------------


async def test_a_rule_is_put_and_taken_away() -> None:
    """`in: webhooks`: at once, for what leaves from then on, and for tries; `PUT scenario` replaces the others."""
    async with faulty() as (box, receiver):
        rule = {"in": "webhooks", "when": {"result": "sent"}, "fault": "drop"}
        answer = await box.post(f"{WORLD}/rules", rule)
        assert (answer.status, answer.json) == (201, {"id": "w1", "in": "webhooks"})
        await box.send()
        await box.advance()
        assert receiver.results == ["sending", "delivered"]
        assert (await box.delete(f"{WORLD}/rules/w1")).json == {"dropped": "w1"}
        assert (await box.delete(f"{WORLD}/rules/w1")).status == 404
        scenario = {"sendbox": 1, "webhooks": [{"when": {"result": "delivered"}, "fault": "drop"}]}
        assert (await box.put(f"{WORLD}/scenario", scenario)).json["applied"] == ["attempts", "webhooks"]
        await box.send()
        await box.advance()
        assert receiver.results[2:] == ["sending", "sent"]


async def test_a_wrong_rule() -> None:
    """It is refused with every problem, by path."""
    async with faulty() as (box, _):
        wrong = {"in": "webhooks", "when": {"phone": "77", "share": "half"}, "fault": {"drop": True}}
        answer = await box.post(f"{WORLD}/rules", wrong)
        assert (answer.status, answer.json["error"]) == (422, "bad_rule")
        assert {problem["path"] for problem in answer.json["problems"]} == {
            "$.when.phone",
            "$.when.share",
            "$.fault.drop",
        }
