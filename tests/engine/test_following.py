"""What follows a thing came after it: over all pairs of kinds of things, read from the table of subjects."""

from __future__ import annotations

import functools
from itertools import product
from typing import Any, Final

import pytest

from sendbox.engine.expect.row import Row
from sendbox.engine.expect.subjects import Occurrence
from sendbox.engine.world import World
from sendbox.language import SUBJECTS
from sendbox.playing import play
from tests.core.observed import occurrences, verdict
from tests.scenarios import load

#: Calls that end at once, with what each needs of its scenario.
CALLS: Final = {
    "a message without credit": (
        "account: {credit: {eur: 0}}",
        'sendMessage, body: {body: Hi, to: [{phone_number: "%s"}]}',
    ),
    "a message to several": (
        "account: {credit: {eur: 0}}",
        'sendMessage, body: {body: Hi, to: [{phone_number: "%s"}, {phone_number: "420777000199"}]}',
    ),
    "a simple message": (
        "attempts: [{then: [{rejected: {after: 0s}}]}]",
        'sendSimpleMessageByQuery, query: {number: "%s", message: Hi}',
    ),
    "a validation": ("account: {credit: {eur: 0}}", 'createValidation, body: {phoneNumber: "%s"}'),
    "an order": (
        "extends: default",
        "orderService, body: {service_id: sender_sms_420_alnum, period: month, subject: Acme}",
    ),
    "a call with a fault": (
        "api: [{when: {operation: sendMessage}, fault: {status: 503}}]",
        'sendMessage, body: {body: Hi, to: [{phone_number: "%s"}]}',
    ),
}
PHONE: Final = "420777000101"
OTHER: Final = "420777000102"
#: The kinds that stand for what the client did: a row of them says that calls make them.
DEEDS: Final = [that for that, row in SUBJECTS.items() if "request" in row.kinds]


@functools.cache
def played(call: str, *made: tuple[str, str]) -> World:
    """The world in which a call is made, so long after the start and about these phones."""
    scenario, request = CALLS[call]
    lines = [f"  - {{at: {at}, request: {{operation: {request.replace('%s', phone)}}}}}" for at, phone in made]
    return play("\n".join(["sendbox: 1", scenario, "traffic:", *lines, ""])).world


def things(world: World, that: str) -> list[Occurrence]:
    return [thing for thing in occurrences(world, that) if thing is not None]


def kinds(world: World) -> list[str]:
    """The kinds of which the world has a thing."""
    return [that for that in SUBJECTS if things(world, that)]


def holds(world: World, first: dict[str, Any], then: dict[str, Any]) -> bool:
    """Whether the one thing is followed by the other."""
    return bool(verdict(world, load({"sendbox": 1, "expect": [{**first, "then": [then]}]}).expect)["passed"])


def came_with_its_call(world: World, that: str) -> bool:
    """Return whether all things of a kind were there when the call was journaled, or stand for the call."""
    (call,) = (thing.entry for thing in things(world, "requests"))
    assert call is not None
    return that in DEEDS or all(thing.entry is not None and thing.entry <= call for thing in things(world, that))


def test_deeds() -> None:
    """Calls, messages and sessions are what the client did."""
    assert {"requests", "sends", "messages", "attempts", "codes"} == {*DEEDS}


@pytest.mark.unmeasured
@pytest.mark.parametrize("call", CALLS)
def test_a_thing_alone_is_never_its_own_follower(call: str) -> None:
    """One call, made once: nothing that it is, or brought about while it was handled, follows anything of it."""
    world = played(call, ("1m", PHONE))
    found = kinds(world)
    assert len(found) > 1
    followed = [
        (first, then)
        for first, then in product(found, found)
        if first != then and came_with_its_call(world, then)
        if holds(world, {"that": first}, {"that": then, "same": "none", "within": "0s"})
    ]
    assert not followed


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.unmeasured
def test_no_two_things_follow_each_other(call: str) -> None:
    """Of any two things one at most follows the other, and none follows itself."""
    world = played(call, ("1m", PHONE), ("1m", OTHER), ("2m", PHONE))
    every = [(that, thing) for that in SUBJECTS for thing in things(world, that)]

    def follows(before: tuple[str, Occurrence], after: tuple[str, Occurrence]) -> bool:
        row = Row()
        row.things = [after[1]]
        for _ in row.sort():
            pass
        return bool(row.follow(before[1], alike=before[0] == after[0], after=None, until=None))

    both = [(one, two) for one, two in product(every, every) if follows(one, two) and follows(two, one)]
    assert not both


@pytest.mark.unmeasured
@pytest.mark.parametrize("call", CALLS)
def test_a_thing_that_comes_again_follows(call: str) -> None:
    """The same call a minute later: each kind of thing follows each."""
    world = played(call, ("1m", PHONE), ("2m", PHONE))
    found = kinds(world)
    missed = [
        (first, then)
        for first, then in product(found, found)
        if not holds(world, {"that": first}, {"that": then, "same": "none", "after": "1m", "within": "1m"})
    ]
    assert not missed


@pytest.mark.unmeasured
@pytest.mark.parametrize("call", [call for call, (_, request) in CALLS.items() if "%s" in request])
def test_the_order_within_an_instant_is_that_of_the_calls(call: str) -> None:
    """Two calls of one instant: what the client did with the second follows the first, and not the other way."""
    world = played(call, ("1m", PHONE), ("1m", OTHER))
    deeds = [that for that in DEEDS if things(world, that) and "phone" in SUBJECTS[that].fields]
    for first, then in product(deeds, deeds):
        one, two = ({"that": first, "where": {"phone": phone}} for phone in (PHONE, OTHER))
        after = {"that": then, "same": "none", "within": "0s"}
        at_once = first in ("messages", "attempts")  # complete only with their transitions, which come after both calls
        assert holds(world, one, {**after, "where": {"phone": OTHER}}) != (at_once and first != then), (first, then)
        assert not holds(world, two, {**after, "where": {"phone": PHONE}}), (first, then)


AGAIN: Final = """
  - at: %s
    request: {operation: sendPriorityMessage, body: {body: Hi, tag: alert, to: [{phone_number: "%s"}]}}
"""
SENTENCES: Final = "sendbox: 1\naccount: {credit: {eur: 0}}\ntraffic:" + AGAIN % ("1m", "420777000101")
RETRIED: Final[dict[str, Any]] = {
    "that": "attempts",
    "where": {"refused": "credit"},
    "each": "phone",
    "then": [{"that": "sends", "where": {"tag": "alert"}}],
}
QUIET: Final[dict[str, Any]] = {
    "that": "transitions",
    "where": {"result": "rejected"},
    "then": [{"that": "sends", "where": {"tag": "alert"}, "same": "phone", "count": 0}],
}


@pytest.mark.parametrize(
    ("text", "retried", "quiet"),
    [
        (SENTENCES, False, True),
        (SENTENCES + AGAIN % ("5m", "420777000101"), True, False),
        (SENTENCES + AGAIN % ("5m", "420777000102"), False, True),
    ],
    ids=["once", "again", "to another phone"],
)
@pytest.mark.unmeasured
def test_retried_after_a_refusal_and_nothing_after_a_refusal(text: str, retried: bool, quiet: bool) -> None:
    """A call that is not repeated is no retry, and breaks no *no more after the first refusal*."""
    world = play(text).world
    for entry, passed in ((RETRIED, retried), (QUIET, quiet)):
        assert verdict(world, load({"sendbox": 1, "expect": [entry]}).expect)["passed"] is passed


def test_what_speaks_against_a_thing_of_the_same_call() -> None:
    """The verdict says that it came with the thing before."""
    (view,) = verdict(play(SENTENCES).world, load({"sendbox": 1, "expect": [RETRIED]}).expect)["expectations"]
    assert [near["why_not"] for near in view["nearest"]] == ["came with it, at the same instant, wanted after"]


LATER: Final = SENTENCES + AGAIN % ("5m", "420777000101")


@pytest.mark.parametrize(
    ("times", "passed"),
    [
        ({"after": "4m"}, True),
        ({"after": "4m1ms"}, False),
        ({"before": "4m"}, True),
        ({"before": "3m59s"}, False),
        ({"after": "1m30s", "within": "4m"}, True),
        ({"after": "2026-03-02T09:05:00Z"}, True),
        ({"after": "2026-03-02T09:05:01Z"}, False),
        ({"before": "2026-03-02T09:05:00Z"}, True),
        ({"before": "2026-03-02T09:04:59Z"}, False),
    ],
    ids=str,
)
@pytest.mark.unmeasured
def test_times_in_then(times: dict[str, str], passed: bool) -> None:
    """Durations count from the thing before, of after and before as of within; an instant has its date."""
    world = play(LATER.replace("sendbox: 1", 'sendbox: 1\nclock: {start: "2026-03-02T09:00:00Z"}', 1)).world
    then = {"that": "sends", "where": {"tag": "alert"}, "same": "phone", **times}
    assert holds(world, {"that": "attempts", "where": {"refused": "credit"}}, then) is passed


def test_how_a_time_in_then_is_missed() -> None:
    """The text says how long after the thing before it came, and how long it had to be."""
    (first,) = RETRIED["then"]
    entry = {**RETRIED, "then": [{**first, "after": "5m", "within": "6m"}]}
    (view,) = verdict(play(LATER).world, load({"sendbox": 1, "expect": [entry]}).expect)["expectations"]
    assert 'no sends with tag "alert" within 6m not before 5m' in view["why"]
    assert "came 4m after it, wanted not before 5m" in [near["why_not"] for near in view["nearest"]]


def test_the_things_of_a_row_are_forgotten_with_pauses() -> None:
    """To free all things of a long row at once would hold the loop that judges."""
    row = Row()
    row.things = things(played("a message to several", ("1s", PHONE)), "messages") * 500
    assert len([*row.clear()]) > 1
    assert not row.things
