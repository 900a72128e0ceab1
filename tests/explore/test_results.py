"""The family `results`: attempts go the way that a misfortune says, at its instants, and no other phone's do."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pytest

from sendbox.engine.durations import duration
from sendbox.exploring.census import Census, ObservedAttempt, ObservedMessage
from sendbox.exploring.families.results import KINDS
from sendbox.exploring.misfortune import Misfortune
from tests.explore.rich import BLOCKED, CODE, Client, Ran, Rich, misfortunes, others, together, told_by

if TYPE_CHECKING:
    from sendbox.fixture import Sandbox

BY_NAME = {kind.name: kind for kind in KINDS}
CODES = BY_NAME["code lost"]
LATE_CODES = BY_NAME["code late"]


def rule(misfortune: Misfortune) -> dict[str, Any]:
    """The rule of `attempts` that a misfortune is."""
    (found,) = misfortune.value.parts["attempts"]
    return dict(found)


def tried(ran: Ran, when: dict[str, Any]) -> tuple[ObservedMessage, ObservedAttempt]:
    """The attempt that conditions find."""
    found = [
        (message, attempt)
        for message in ran.census.messages
        if message.phone == when["phone"]
        for number, attempt in enumerate(message.attempts, 1)
        if attempt.nth == when["nth"] and number == when.get("attempt", 1)
    ]
    ((message, attempt),) = found
    return message, attempt


def planned(then: Any, at: int) -> tuple[tuple[str, int], ...]:
    """The results of a way with their instants."""
    entries = [next(iter(each.items())) if isinstance(each, dict) else (each, "0s") for each in then]
    times = accumulate((duration(after) for _, after in entries), initial=at)
    return tuple((result, when) for (result, _), when in zip(entries, list(times)[1:], strict=True))


@pytest.mark.unmeasured
@pytest.mark.sample(4)
@pytest.mark.parametrize("name", [name for name in BY_NAME if not name.startswith("code ")])
def test_an_attempt_goes_its_way(rich: Rich, base: Ran, name: str) -> None:
    """Exactly the results of the misfortune, at its instants, all before the run ends; other phones go on as before."""
    for plan in together(item for item in misfortunes(base.census, "results") if item.spot.kind.name == name):
        ran = rich.run(plan)
        for item in plan:
            goes_its_way(base, ran, item)
        phones = [told_by(item) for item in plan]
        assert others(ran, *phones) == others(base, *phones), list(map(str, plan))


def goes_its_way(base: Ran, ran: Ran, item: Misfortune) -> None:
    """Whether an attempt went the way of a misfortune."""
    when, then = rule(item)["when"], rule(item)["then"]
    before, was = tried(base, when)
    message, attempt = tried(ran, when)
    expected = planned([then] if isinstance(then, str) else then, was.at)
    assert attempt.results == expected != was.results, str(item)
    assert all(at <= ran.census.moves[-1].ended for _, at in attempt.results), str(item)
    place = message.attempts.index(attempt)
    if item.spot.kind.name == "fallback":
        assert len(message.attempts) == place + 2, str(item)
    elif item.spot.kind.name == "late receipt":
        following = message.attempts[place + 1]
        assert following.at == was.at + (was.ttl or 0) < attempt.results[-1][1], str(item)
    elif item.spot.kind.name == "other end":
        assert max(at for _, at in attempt.results) <= before.until, str(item)


@pytest.mark.deep
def test_late_receipts_come_among_and_behind_those_of_the_next_step(rich: Rich, base: Ran) -> None:
    """The first value is behind all of them, the second between."""
    for spot in BY_NAME["late receipt"].spots(BY_NAME["late receipt"], base.census):
        for number, behind in enumerate((True, False)):
            item = Misfortune(spot, number)
            message, attempt = tried(rich.run((item,)), rule(item)["when"])
            following = message.attempts[message.attempts.index(attempt) + 1]
            last, late = following.results[-1][1], attempt.results[-1][1]
            assert following.at < late
            assert (late > last) is behind, str(item)


@pytest.mark.deep
def test_the_sms_of_a_code(rich: Rich, base: Ran) -> None:
    """It comes to the end that the misfortune says; a session that was refused counts, one on its way is left alone."""
    found = [item for item in misfortunes(base.census, "results") if item.spot.kind is CODES]
    asked = {tuple(item.value.parts["verify"]["rules"][0]["when"].values()) for item in found}
    assert asked == {(CODE, 1), (CODE, 2)}
    sessions = [(session.phone, session.ordinal) for session in base.census.sessions]
    assert sessions == [(CODE, 1), (BLOCKED, 1), (CODE, 2), (CODE, 4)]
    for item in found:
        ((when, then),) = [(each["when"], each["then"]) for each in item.value.parts["verify"]["rules"]]
        ran = rich.run((item,))
        assert [
            then["sms"] if (session.phone, session.ordinal) == (when["phone"], when["nth"]) else was.sms
            for session, was in zip(ran.census.sessions, base.census.sessions, strict=True)
        ] == [session.sms for session in ran.census.sessions], str(item)
        assert others(ran, when["phone"]) == others(base, when["phone"]), str(item)


@pytest.mark.unmeasured
def test_the_sms_of_a_code_is_late(rich: Rich) -> None:
    """By each minute of its life, as far as the clock goes, and by a second more than all of them."""

    def do(sandbox: Sandbox) -> None:
        client = Client(sandbox)
        client.send(CODE, body="Hello")
        client.code(CODE)
        sandbox.advance("5m")
        client.code(CODE)
        sandbox.advance("11m")

    usual = rich.run((), do, {"sendbox": 1})
    first, second = LATE_CODES.spots(LATE_CODES, usual.census)
    minutes = [f"comes {minute}m late" for minute in range(1, 10)]
    assert [value.says for value in first.values] == [*minutes, "comes 10m1s late"]
    assert [value.says for value in second.values] == [*minutes, "comes 10m1s late"]
    for spot, place in ((first, 0), (second, 1)):
        ran = rich.run((Misfortune(spot, 2),), do, {"sendbox": 1})
        delivered = [entry["offset"] for entry in ran.entries("validation") if entry["event"] == "code_arrived"]
        expected = [3_000, 303_000]
        expected[place] += 177_000
        assert delivered == expected


def test_a_message_of_which_nothing_more_is_heard_when_no_clock_moves() -> None:
    """There is no time for another end, unless it comes at once."""
    attempt = ObservedAttempt("sms", (("sending", 0),), 0, 1, 60_000, "sent")
    message = ObservedMessage("420777000101", 1, "sendMessage", 0, 0, ("sms", "richmsg"), (attempt,), (), (), 0)
    world = Census(1, (), (), (message,), (), (), ())
    values = [
        (spot.kind.name, value.says) for kind in KINDS for spot in kind.spots(kind, world) for value in spot.values
    ]
    assert values == [("fallback", "is rejected, so that the next step is tried")]


def test_a_late_receipt_of_a_condition_that_cannot_be_met() -> None:
    """An SMS is never seen: its flow goes on, and it is delivered after that."""
    attempt = ObservedAttempt("sms", (("sending", 0), ("sent", 1_000)), 0, 1, 30_000, "seen")
    message = ObservedMessage("420777000101", 1, "sendMessage", 0, 90_000, ("sms", "richmsg"), (attempt,), (), (), 0)
    kind = BY_NAME["late receipt"]
    (spot,) = kind.spots(kind, Census(1, (), (), (message,), (), (), ()))
    way = ["sending", {"sent": "1s"}, {"delivered": "33s"}]
    assert spot.values[0].parts["attempts"][0]["then"] == way
    short = replace(message, until=30_100)
    (spot,) = kind.spots(kind, Census(1, (), (), (short,), (), (), ()))
    assert [value.parts["attempts"][0]["then"][-1] for value in spot.values] == [{"delivered": "29s100ms"}]
