"""The family `people`: what owners of phones do happens at its instant, with the message that it is about."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.durations import duration
from sendbox.exploring.census import Census, ObservedAttempt, ObservedMessage
from sendbox.exploring.families.people import KINDS
from sendbox.exploring.misfortune import Misfortune, Plan
from tests.explore.rich import Ran, Rich, misfortunes, others, together, told_by

BY_NAME = {kind.name: kind for kind in KINDS}


def about(ran: Ran, item: Misfortune) -> ObservedMessage:
    """The message that a misfortune is about."""
    _, _, phone, ordinal = item.spot.about.split()
    return ran.message(phone, int(ordinal))


def happenings(item: Misfortune) -> list[tuple[int, str, dict[str, Any]]]:
    """What a misfortune has in the timeline: when, which kind, what."""
    return [
        (duration(entry["at"]), kind, entry[kind])
        for entry in item.value.parts["timeline"]
        for kind in entry
        if kind != "at"
    ]


def id_of(ran: Ran, message: ObservedMessage) -> str:
    """The id of a message, by its place among those of its phone."""
    ids = [
        e["message_id"] for e in ran.journal if e["kind"] in ("transition", "refusal") and e["phone"] == message.phone
    ]
    by_hand_over = sorted(
        (each for each in ran.census.messages if each.phone == message.phone),
        key=lambda each: (each.attempts[0].at if each.attempts else 10**9, each.ordinal),
    )
    return str(list(dict.fromkeys(ids))[by_hand_over.index(message)])


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", ["reply", "two replies", "stop"])
def test_a_phone_answers(rich: Rich, base: Ran, name: str) -> None:
    """Each answer comes in, at its instant, as an answer to its message; other phones go on as before."""
    for plan in together(item for item in misfortunes(base.census, "people") if item.spot.kind.name == name):
        ran = rich.run(plan)
        for item in plan:
            message = about(base, item)
            came = [
                (entry["offset"], entry["body"], entry["message_id"])
                for entry in ran.entries("inbound")
                if entry["from"] == message.phone and entry["body"] != "Thanks"
            ]
            answered = [(at, what["body"], id_of(base, message)) for at, _, what in happenings(item)]
            assert came == answered, str(item)
            opted = [entry["offset"] for entry in ran.entries("opt_out") if entry["phone"] == message.phone]
            assert opted == ([came[0][0]] if name == "stop" else []), str(item)
            assert all(at <= message.until for at, *_ in came), str(item)
        unlike(base, ran, plan)


def unlike(base: Ran, ran: Ran, plan: Plan) -> None:
    """Other phones go on as before."""
    phones = [told_by(item) for item in plan]
    assert others(ran, *phones) == others(base, *phones), list(map(str, plan))


def test_who_opted_out_gets_no_more(rich: Rich, base: Ran) -> None:
    """The messages that follow are rejected."""
    kind = BY_NAME["stop"]
    spot = next(iter(kind.spots(kind, base.census)))
    ran = rich.run((Misfortune(spot),))
    first, *later = [each for each in ran.census.messages if each.phone == about(base, Misfortune(spot)).phone]
    assert first.attempts[0].reached("delivered") is not None
    assert {each.attempts[0].results[0][0] for each in later} == {"rejected"}
    assert {entry["why"] for entry in ran.entries("refusal") if entry["phone"] == first.phone} == {"optout"}


def test_answers_come_before_and_after_the_receipt(base: Ran) -> None:
    """Both moments are tried; a message without a receipt is answered after it was sent."""
    kind = BY_NAME["reply"]
    moments = set()
    for spot in kind.spots(kind, base.census):
        for number in range(len(spot.values)):
            item = Misfortune(spot, number)
            attempt = about(base, item).attempts[-1]
            receipt = attempt.reached("delivered")
            ((at, _, _),) = happenings(item)
            moments.add("without" if receipt is None else "after" if at > receipt else "before")
            assert (attempt.reached("sent") or 0) < at
    assert moments == {"without", "after", "before"}


def test_a_link_is_opened(rich: Rich, base: Ran) -> None:
    """Once or twice, at its instant."""
    found = [item for item in misfortunes(base.census, "people") if item.spot.kind is BY_NAME["click"]]
    for item in found:
        ran, clicked = rich.run((item,)), id_of(base, about(base, item))
        clicks = [(entry["offset"], entry["message_id"]) for entry in ran.entries("click")]
        assert clicks == [(at, clicked) for at, _, _ in happenings(item)], str(item)
        unlike(base, ran, (item,))
    assert {len(happenings(item)) for item in found} == {1, 2}


def test_a_phone_is_switched_off_and_comes_back(rich: Rich, base: Ran) -> None:
    """Nothing is confirmed while it is off; then all of it is, in the advance in which it would have been."""
    off_and_on = BY_NAME["switched off"]
    for plan in together(item for item in misfortunes(base.census, "people") if item.spot.kind is off_and_on):
        ran = rich.run(plan)
        for item in plan:
            (off, _, _), (on, _, _) = happenings(item)
            message = about(ran, item)
            acts = [
                (entry["offset"], entry["act"]) for entry in ran.entries("phone") if entry["phone"] == message.phone
            ]
            assert acts == [(off, "offline"), (on, "online")], str(item)
            receipts = [attempt.reached("delivered") for attempt in message.attempts]
            assert on in receipts, str(item)
            assert not any(off <= at < on for at in receipts if at is not None), str(item)
            assert on <= about(base, item).until, str(item)
        unlike(base, ran, plan)


def test_a_phone_answers_only_what_is_newest_on_it() -> None:
    """Not a message that ended badly, nor one behind which another came, nor after the advance."""

    def spots(*messages: ObservedMessage) -> list[str]:
        world = Census(1, (), (), messages, (), (), (), stop_words=("STOP",))
        return [spot.place for kind in KINDS for spot in kind.spots(kind, world)]

    def sent(ordinal: int, *results: tuple[str, int], until: int = 10_000) -> ObservedMessage:
        attempt = ObservedAttempt("sms", results, results[0][1], ordinal)
        return ObservedMessage("420777000101", ordinal, "sendMessage", 0, until, ("sms",), (attempt,), (), (), 1)

    arrived = (("sending", 0), ("sent", 1_000), ("delivered", 3_000))
    assert set(spots(sent(1, *arrived))) == {"the 1st message to 420777000101"}
    assert spots(sent(1, ("sending", 0), ("failed", 1_000))) == []
    assert spots(sent(1, *arrived[:2], ("undelivered", 3_000))) == []
    at_once = (("sending", 0), ("sent", 0), ("delivered", 0))
    assert spots(sent(1, *at_once, until=0)) == []
    second = sent(2, ("sending", 500), ("sent", 1_500), ("delivered", 3_500))
    answered = [place for place in spots(sent(1, *arrived), second) if "1st" in place]
    assert answered == ["the 1st message to 420777000101"], "only switched off"
