"""Expectations for each subject: who is judged, what belongs to whom, what is open; and how long a verdict takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sendbox.engine.commands.record import RequestRecord
from sendbox.engine.digest import finished
from sendbox.engine.expect.verdict import lines, verdict_in_slices
from sendbox.engine.world import World
from sendbox.language import SUBJECTS
from sendbox.playing import play
from sendbox.services.http.numbers import phones_of
from tests.box import WORLD, boxed
from tests.core.observed import occurrences
from tests.core.worlds import advance, make_world, send_one
from tests.scenarios import load

ASKED = """
sendbox: 1
clock: {start: "2026-03-01T09:00:00Z"}
timeline:
  - {at: 1h, inbound: {channel: sms, from: "420777000121", to: "420900000001", body: "Are you open?"}}
  - {at: 2h, inbound: {channel: sms, from: "420777000122", to: "420900000001", body: "And today?"}}
traffic:
  - {at: 0s, request: {operation: showKey}}
"""
ANSWER = """
  - at: %s
    request: {operation: sendMessage, body: {body: Yes, tag: answer, to: [{phone_number: "%s"}]}}
"""
ANSWERED: dict[str, Any] = {
    "that": "inbound",
    "where": {"body": "*?"},
    "then": [{"that": "transitions", "where": {"result": "delivered", "tag": "answer"}, "within": "24h"}],
}


def asked(*answers: tuple[str, str]) -> World:
    """Two customers ask, and these are answered, so long after the start."""
    return play(ASKED + "".join(ANSWER % answer for answer in answers)).world


def judged(world: World, *entries: dict[str, Any], ended: bool = True) -> dict[str, Any]:
    """The verdict on some entries over a world."""
    expected = load({"sendbox": 1, "expect": list(entries)}).expect
    return finished(verdict_in_slices(world, SUBJECTS, expected, ended=ended))


JANA = ("3h", "420777000121")
PETR = ("3h", "420777000122")


@pytest.mark.parametrize(
    ("answers", "failed"),
    [
        ((JANA, PETR), []),
        ((JANA,), ["420777000122"]),
        ((JANA, ("3h", "420777000199")), ["420777000122"]),
        ((JANA, ("27h", "420777000122")), ["420777000122"]),
        ((("30m", "420777000121"), PETR), ["420777000121"]),
        ((), ["420777000121", "420777000122"]),
    ],
    ids=["both", "one of two", "a stranger", "too late", "before it was asked", "no answer"],
)
@pytest.mark.unmeasured
def test_everyone_who_asks_gets_an_answer(answers: tuple[tuple[str, str], ...], failed: list[str]) -> None:
    """One who was not answered is named; without `each` the first is as good as all."""
    world = asked(*answers)
    (view,) = judged(world, {**ANSWERED, "each": "phone"})["expectations"]
    assert [each["subject"]["phone"] for each in view["failed"]] == failed
    assert view["passed"] == (not failed)
    assert view["subjects"] == {"found": 2, "passed": 2 - len(failed), "failed": len(failed), "open": 0}
    assert judged(world, ANSWERED)["passed"] == (len(answers) > 0)


def test_what_a_failed_subject_says() -> None:
    """The first thing of it, with time and entry, and why it failed."""
    (view,) = judged(asked(JANA), {**ANSWERED, "each": "phone"})["expectations"]
    assert view["why"].startswith(
        '1 of 2 phones: 420777000122 wrote "And today?" by sms at 2026-03-01T11:00:00.000Z: no '
    )
    (failed,) = view["failed"]
    assert (failed["first"]["at"], failed["step"], failed["found"]) == ("2026-03-01T11:00:00.000Z", 1, 0)
    assert (view["found"], view["wanted"], view["step"]) == (1, "each of 2 phones", 1)
    assert [near["why_not"] for near in view["nearest"]] == ['phone is "420777000121", wanted "420777000122"']


def test_many_that_fail_are_counted_and_the_first_are_told() -> None:
    """Twenty are named, three are told, one is explained."""
    world = make_world()
    for number in range(30):
        send_one(world, f"4207770001{number:02}")
    (view,) = judged(world, {"that": "clicks", "each": "phone"})["expectations"]
    assert (len(view["failed"]), view["subjects"]["failed"]) == (20, 30)
    assert view["why"].endswith("; and 27 more")


def test_an_expectation_is_open_until_its_deadline() -> None:
    """Neither passed nor failed while something may come; at the end of the world it failed."""
    world = asked(JANA)
    entry = {**ANSWERED, "each": "phone"}
    during = judged(world, entry, ended=False)
    assert (during["passed"], during["state"]) == (False, "open")
    (view,) = during["expectations"]
    assert (view["state"], view["open_until"]) == ("open", "2026-03-02T11:00:00.000Z")
    assert view["subjects"]["open"] == 1
    assert lines(during)[:2] == [
        "verdict: 1 of 1 expectations open",
        f"  open    {view['name']} (open until 2026-03-02T11:00:00.000Z)",
    ]
    assert view["why"] in lines(during)[2]
    after = judged(world, entry)
    assert (after["state"], after["expectations"][0]["open_until"]) == ("failed", None)
    assert "the world ended before that, at 2026-03-01T12:00:03.000Z" in after["expectations"][0]["why"]
    advance(world, 24 * 3_600_000)
    late = judged(world, entry, ended=False)
    assert late["state"] == "failed"
    assert "ended" not in late["expectations"][0]["why"]


@pytest.mark.parametrize(
    ("entry", "state"),
    [
        ({"that": "clicks", "within": "1d"}, "open"),
        ({"that": "clicks"}, "failed"),
        ({"that": "clicks", "within": "1h"}, "failed"),
        ({"that": "clicks", "within": "1d", "count": 0}, "open"),
        ({"that": "clicks", "before": "1d", "count": 0}, "open"),
        ({"that": "clicks", "after": "10h", "before": "1d", "at_most": 3}, "open"),
        ({"that": "clicks", "within": "1h", "count": 0}, "passed"),
        ({"that": "clicks", "count": 0}, "passed"),
        ({"that": "inbound", "within": "1d", "at_least": 1}, "passed"),
        ({"that": "inbound", "within": "1d", "pauses": {"at_least": "1h"}}, "open"),
        ({"that": "inbound", "within": "1d", "at_most": "100%"}, "failed"),  # it could not fail
        ({"that": "inbound", "each": "phone", "within": "1d", "at_most": 2}, "open"),
        ({"that": "clicks", "each": "phone", "within": "1d", "at_most": "50%"}, "open"),
        ({"that": "clicks", "each": "phone", "within": "1h", "at_most": "50%"}, "passed"),
        ({"that": "inbound", "then": [{"that": "clicks", "within": "1d", "count": 0}]}, "open"),
        (
            {
                "that": "inbound",
                "then": [{"that": "clicks", "within": "1d", "count": 0}, {"that": "orders", "within": "1h"}],
            },
            "failed",
        ),
        ({"that": "inbound", "within": "1d", "at_most": 1}, "failed"),
        ({"that": "clicks", "before": "1d", "at_least": "5%"}, "open"),
        (
            {"that": "inbound", "where": {"body": "no"}, "each": "phone", "within": "1d", "then": [{"that": "clicks"}]},
            "open",
        ),
        ({**ANSWERED, "each": "phone", "at_least": "50%"}, "passed"),
        ({**ANSWERED, "each": "phone", "at_least": "51%"}, "open"),
        ({**ANSWERED, "each": "phone", "at_most": "49%"}, "failed"),
        ({**ANSWERED, "each": "phone", "subjects": 3}, "failed"),
    ],
    ids=str,
)
def test_states(entry: dict[str, Any], state: str) -> None:
    """What is too much has failed at once, what is too little only when its time is over."""
    assert judged(asked(JANA), entry, ended=False)["state"] == state


def test_a_request_belongs_to_each_phone_that_it_names() -> None:
    """In its body or its query, once each, in international form; one that cannot be read names none."""
    to = '[{phone_number: "420777000101"}, {phone_number: "777000102"}, {phone_number: "420777000101"}]'
    text = f"""
sendbox: 1
traffic:
  - {{at: 0s, request: {{operation: sendMessage, body: {{body: Hi, to: {to}}}}}}}
  - at: 1s
    request: {{operation: sendSimpleMessageByQuery, query: {{number: "420777000104", message: Hi}}}}
  - {{at: 2s, request: {{call: POST /v2/message, content: '{{}}', type: application/json}}, expect: {{status: 400}}}}
  - {{at: 3s, request: {{call: POST /v2/message, content: '{{', type: application/json}}, expect: {{status: 400}}}}
"""
    world = play(text).world
    found = [phones_of(world, each.record) for each in occurrences(world, "requests") if each is not None]
    assert found == [("420777000101", "420777000102"), ("420777000104",), (), ()]
    for phone, passed in (("420777000102", True), ("420777000104", True), ("420777000105", False)):
        entry = {"that": "requests", "where": {"phone": phone}}
        assert judged(world, entry)["passed"] is passed
    once: dict[str, Any] = {"that": "requests", "each": "phone", "count": 1}
    assert judged(world, once)["expectations"][0]["subjects"]["found"] == 3


def test_what_follows_a_request_may_be_about_any_phone_that_it_names() -> None:
    """It is counted once, even if it is about two of them."""
    to = '[{phone_number: "420777000107"}, {phone_number: "420777000108"}]'
    text = f"""
sendbox: 1
extends: default
traffic:
  - {{at: 0s, request: {{operation: sendMessage, body: {{body: Hi, to: {to}}}}}}}
  - {{at: 1m, request: {{operation: sendMessage, body: {{body: Hi again, to: {to}}}}}}}
"""
    world = play(text).world
    first: dict[str, Any] = {"that": "requests", "where": {"body": "*Hi*"}}
    for that, where, count in (("inbound", {}, 2), ("requests", {}, 1), ("messages", {"body": "Hi"}, 2)):
        step: dict[str, Any] = {"that": that, "where": where, "same": "phone", "count": count, "within": "30m"}
        assert judged(world, {**first, "then": [step]})["passed"], that


@pytest.mark.parametrize("name", ["conversation-window", "onboarding", "replies-and-clicks", "code-asked-again"])
def test_what_things_belong_to(name: str) -> None:
    """Every name of every thing can be read, and names that two kinds share mean the same things in both."""
    world = play(name).world
    belong: dict[str, dict[str, set[Any]]] = {}
    for that, row in SUBJECTS.items():
        for thing in occurrences(world, that):
            if thing is None:
                continue
            for about in row.about:
                values = {value for (value,) in row.belonging([about])(world, thing.record)}
                assert all(isinstance(value, str | bytes | RequestRecord) for value in values)
                belong.setdefault(about, {}).setdefault(that, set()).update(values)
    for those in belong.values():
        whole = those.get("messages") or those.get("codes") or those.get("deliveries") or set()
        part = those.get("attempts") or those.get("validations") or those.get("events") or set()
        assert part <= whole


def test_messages_belong_to_their_request() -> None:
    """The request of which the client got the id; one without a good answer is a subject of its own."""
    text = """
sendbox: 1
api:
  - {when: {operation: sendMessage, call: 2}, fault: garbage}
  - {when: {operation: sendMessage, call: 3}, fault: bad_json}
traffic:
  - {at: 0s, request: {operation: sendMessage, body: {body: A, to: [{phone_number: "420777000101"}]}}}
  - {at: 1s, request: {operation: sendMessage, body: {body: B, to: [{phone_number: "420777000101"}]}}}
  - {at: 2s, request: {operation: sendMessage, body: {body: C, to: [{phone_number: "420777000101"}]}}}
  - {at: 3s, request: {operation: createValidation, body: {phoneNumber: "420777000101"}}}
"""
    world = play(text).world
    entry = {"that": "requests", "each": "request", "then": [{"that": "messages", "count": 1}]}
    (view,) = judged(world, entry)["expectations"]
    assert view["subjects"] == {"found": 4, "passed": 1, "failed": 3, "open": 0}
    assert [each["subject"] for each in view["failed"]] == [{"request": None}] * 3


RETRIES = """
sendbox: 1
api: [{when: {operation: sendMessage}, times: %d, fault: {status: 503}}]
traffic:
"""
RETRY = """
  - at: %s
    request: {operation: sendMessage, body: {body: Hi, to: [{phone_number: "420777000101"}]}}
    expect: {status: %d}
"""
RETRIED: dict[str, Any] = {
    "that": "requests",
    "where": {"status": 503},
    "each": "request",
    "then": [{"that": "requests", "same": "content", "at_most": 3, "pauses": {"at_least": ["1s", "2s", "4s"]}}],
}


@pytest.mark.parametrize(
    ("at", "failed"),
    [
        (["0s", "1s", "3s", "7s"], 0),
        (["0s", "1s", "3s", "6s"], 1),
        (["0s", "1s", "2s"], 1),
        (["0s", "999ms"], 1),
        (["0s", "1s", "3s", "7s", "11s"], 1),
        (["0s"], 0),
    ],
    ids=str,
)
def test_retries(at: list[str], failed: int) -> None:
    """Each call that was refused is followed by at most three of its content, each after a longer pause."""
    text = RETRIES % len(at) + "".join(RETRY % (instant, 503) for instant in at)
    (view,) = judged(play(text).world, RETRIED)["expectations"]
    assert view["subjects"]["failed"] == failed


def test_how_long_the_last_try_took() -> None:
    """No time where it was answered at once; nothing while it is under way, or was not tried."""
    world = make_world()
    send_one(world, callback="http://127.0.0.1:9/hook")
    world.run(world.now, 100)
    took = SUBJECTS["deliveries"].fields["took"].of
    (delivery,) = world.outlets.take()
    assert took(world, delivery) is None
    world.clock.now += 1_200
    world.outcome(delivery, 200, None)
    assert took(world, delivery) == 1_200
    for wanted, number in (("<=1s", 0), (">1s", 1), ("1200ms", 1), ("1s..2s", 1), ("2s..", 0)):
        assert judged(world, {"that": "deliveries", "where": {"took": wanted}, "count": number})["passed"], wanted


@pytest.mark.asyncio
async def test_the_end_is_said_over_control() -> None:
    """A caller says that the world has ended."""
    async with boxed("{sendbox: 1, extends: default, expect: [{that: clicks, within: 1h}]}") as box:
        await box.send()
        assert (await box.get(f"{WORLD}/verdict")).json["state"] == "open"
        ended = (await box.get(f"{WORLD}/verdict?ended=true")).json
        assert ended["state"] == "failed"
        assert lines(ended)[-1].endswith("next at 2026-03-01T09:00:00.000Z: was the clock moved far enough?")


@pytest.mark.unmeasured
def test_a_verdict_is_linear() -> None:
    """Twice as many subjects take about twice as many steps, not four times."""

    def steps(count: int) -> int:
        world = make_world()
        for number in range(count):
            send_one(world, f"42077{number:07}")
        advance(world, 10_000)
        expected = load(
            {
                "sendbox": 1,
                "expect": [
                    {"that": "messages", "each": "phone", "then": [{"that": "transitions", "at_least": 0}]},
                    {
                        "that": "messages",
                        "each": "message",
                        "then": [{"that": "messages", "same": "none", "at_least": 0}],
                    },
                    {"that": "transitions", "each": ["phone", "body"], "at_most": {"count": 3, "within": "1s"}},
                ],
            }
        ).expect
        touched = Counted()
        work = verdict_in_slices(world, touched.subjects(), expected)
        pauses = sum(1 for _ in work)
        return pauses + touched.reads

    assert steps(400) < 2.2 * steps(200)


class Counted:
    """Counts how often a field is read."""

    def __init__(self) -> None:
        self.reads = 0

    def subjects(self) -> dict[str, Any]:
        """The rows, whose reads are counted."""
        return {
            name: row._replace(
                fields={key: field._replace(of=self._counted(field.of)) for key, field in row.fields.items()},
                about={key: self._counted(of) for key, of in row.about.items()},
            )
            for name, row in SUBJECTS.items()
        }

    def _counted(self, of: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def read(world: World, what: Any) -> Any:
            self.reads += 1
            return of(world, what)

        return read


CODES = """
sendbox: 1
extends: default
traffic:
  - {at: 0s, name: made, request: {operation: createValidation, body: {phoneNumber: "420777000101"}}}
  - at: 1m
    request: {operation: verifyCode, params: {token: $made.token}, body: {code: "000000"}}
    expect: {status: 400}
  - {at: 2m, request: {operation: createValidation, body: {phoneNumber: "420777000102"}}}
  - at: 3m
    request: {operation: verifyCode, params: {token: none}, body: {code: "000000"}}
    expect: {status: 404}
"""


@pytest.mark.parametrize(
    ("entry", "passed"),
    [
        ({"that": "requests", "where": {"operation": "verifyCode", "phone": "420777000101"}, "count": 1}, True),
        ({"that": "requests", "where": {"operation": "verifyCode", "phone": "420777000102"}, "count": 0}, True),
        ({"that": "requests", "where": {"operation": "verifyCode"}, "each": "phone", "at_least": 1}, False),
        (
            {
                "that": "requests",
                "where": {"operation": "createValidation", "phone": "420777000101"},
                "then": [{"that": "requests", "where": {"operation": "verifyCode"}, "same": "phone", "count": 1}],
            },
            True,
        ),
        (
            {
                "that": "codes",
                "where": {"phone": "420777000102"},
                "then": [{"that": "requests", "where": {"operation": "verifyCode"}, "same": "phone", "count": 0}],
            },
            True,
        ),
    ],
    ids=str,
)
@pytest.mark.unmeasured
def test_a_call_about_a_code_belongs_to_the_phone_that_has_it(entry: dict[str, Any], passed: bool) -> None:
    """A call with the token of a session is about the phone of the session, one with another token about none."""
    assert judged(play(CODES).world, entry)["passed"] is passed


@pytest.mark.parametrize("share", [{"at_most": "1%"}, {"at_least": "99%"}, {"at_most": "50%"}], ids=str)
@pytest.mark.unmeasured
def test_a_share_of_nothing_fails(share: dict[str, str]) -> None:
    """Whichever share is asked: of nothing it says nothing; the text says that nothing was among it."""
    entry = {"that": "messages", "among": {"tag": "vip"}, "where": {"result": "undelivered"}, **share}
    (view,) = judged(play(CODES).world, entry)["expectations"]
    ((bound, part),) = share.items()
    wanted = f"{bound.replace('_', ' ')} {part}"
    assert (view["state"], view["found"]) == ("failed", 0)
    assert view["why"] == f'nothing was among it: no messages with tag "vip", wanted {wanted} of them'
    (soon,) = judged(play(CODES).world, {**entry, "within": "1d"}, ended=False)["expectations"]
    assert soon["state"] == "open"
