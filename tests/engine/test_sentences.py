"""Sentences of test plans that an innocent client keeps, and that a guilty one does not."""

from __future__ import annotations

import re
from typing import Any, Final, cast

import orjson
import pytest

from sendbox.engine.commands.record import RequestRecord
from sendbox.engine.expect.expectation import holds
from sendbox.engine.expect.subjects import Occurrence, occurrences_of
from sendbox.engine.world import World
from sendbox.language import LANGUAGE, SUBJECTS
from sendbox.playing import play
from sendbox.scenario.model import ScenarioError
from sendbox.services.partner.partner import Partner
from tests.core.asked import asked

HEAD: Final = """
sendbox: 1
clock: {start: "2026-03-02T09:00:00Z"}
account: {numbers: ["420900000001"], subkeys: [{name: shop, credit: 5}]}
webhooks: [{name: lost, when: {result: sent}, fault: drop}]
api: [{name: down, when: {operation: sendMessage, nth: 1, phone: "420777000140"}, fault: {status: 503}}]
verify: {rules: [{then: {code: "246813"}}]}
"""
SENT: Final = "{at: %s, request: {operation: sendMessage, body: {body: %s, tag: %s, to: [%s]}}}"


def sent(at: str, *phones: str, body: str = "Hello", tag: str = "promotional") -> str:
    """A call that sends."""
    return SENT % (at, body, tag, ", ".join(f'{{phone_number: "{phone}"}}' for phone in phones))


def judged(traffic: list[str], entry: dict[str, Any], *timeline: str) -> dict[str, Any]:
    """What the verdict says of an entry after this traffic."""
    parts = {"traffic": traffic, "timeline": timeline}
    lists = (f"{key}:\n" + "".join(f"  - {item}\n" for item in items) for key, items in parts.items() if items)
    expect = f"expect: [{orjson.dumps(entry).decode()}]"
    verdict = play(f"{HEAD}{''.join(lists)}{expect}\n").verdict
    assert verdict is not None
    (view,) = verdict["expectations"]
    return dict(view)


JANA: Final = "420777000121"
PETR: Final = "420777000122"
OPT_OUT: Final = f'{{at: 1m, phone: {{number: "{JANA}", act: opt_out}}}}'
QUESTION: Final = f'{{at: 1m, inbound: {{channel: sms, from: "{JANA}", to: "420900000001", body: "Open?"}}}}'
NOTHING_MORE: Final = {
    "that": "opt_outs",
    "each": "phone",
    "then": [{"that": "sends", "where": {"tag": "promotional"}, "count": 0}],
}


@pytest.mark.parametrize(("at", "passed"), [("59s", True), ("61s", False)])
def test_a_message_counts_from_when_the_client_sent_it(at: str, *, passed: bool) -> None:
    """One that was under way when the phone opted out is not the fault of the client."""
    assert judged([sent(at, JANA)], NOTHING_MORE, OPT_OUT)["passed"] is passed


@pytest.mark.parametrize(("at", "passed"), [("59s", False), ("61s", True)])
def test_what_was_sent_before_the_question_is_not_its_answer(at: str, *, passed: bool) -> None:
    """Even if it arrives after it."""
    then = [{"that": "sends", "where": {"tag": "answer", "result": "delivered"}, "same": "phone", "within": "1h"}]
    entry = {"that": "inbound", "each": "message", "then": then}
    assert judged([sent(at, JANA, tag="answer")], entry, QUESTION)["passed"] is passed


EVERY: Final = {"that": "requests", "where": {"status": 503}, "then": [{"that": "sends", "same": "phone"}]}


@pytest.mark.parametrize(
    ("each", "again", "passed"),
    [
        ("request", [PETR], True),
        (["request", "phone"], [PETR], False),
        (["request", "phone"], [PETR, "420777000140"], True),
    ],
    ids=str,
)
def test_a_call_to_several_phones_is_followed_for_each(each: Any, again: list[str], *, passed: bool) -> None:
    """With request and phone each phone of the call is judged by itself."""
    calls = [sent("0s", "420777000140", PETR), sent("1m", *again)]
    assert judged(calls, {**EVERY, "each": each})["passed"] is passed


def test_a_thing_before_that_is_about_another_phone_is_followed_all_the_same() -> None:
    """What the thing before belongs to counts where it is not the subject's."""
    then = [{"that": "sends", "same": "none"}, {"that": "transitions", "same": "phone", "count": 0}]
    entry = {"that": "inbound", "each": ["message", "phone"], "then": then}
    view = judged([sent("2m", PETR)], entry, QUESTION)
    assert (view["passed"], view["step"], view["failed"][0]["found"]) == (False, 2, 3)


def test_hours_in_where() -> None:
    """Every night counts, by the time of a kind; a list means any of its items, and not turns it round."""
    calls = [sent("1h", JANA), sent("14h", JANA, body="Night"), sent("38h", JANA, body="Again")]
    night = {"start": "22:00", "end": "06:00"}
    for hours, found in ((night, 2), ([night, {"start": "10:00", "end": "10:01"}], 3), ({"tz": "Asia/Tokyo"}, 3)):
        assert judged(calls, {"that": "sends", "where": {"hours": hours}, "count": found})["passed"]
    assert judged(calls, {"that": "sends", "where": {"not": {"hours": night}}, "count": 1})["passed"]
    view = judged(calls, {"that": "sends", "where": {"body": "Hello", "hours": night}})
    assert view["nearest"][0]["why_not"] == (
        'came at 2026-03-02T10:00:00.000Z, wanted hours {"start":"22:00","end":"06:00"}'
    )


def test_parent_is_the_key_of_the_account() -> None:
    """It is none of its sub-keys."""
    calls = [sent("0s", JANA), sent("1s", JANA, body="Bye").replace("sendMessage", "sendMessage, key: shop")]
    assert judged(calls, {"that": "messages", "where": {"key": "parent", "body": "Hello"}, "count": 1})["passed"]
    assert judged(calls, {"that": "requests", "where": {"key": "parent"}, "count": 1})["passed"]


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("key", "found"), [("shop", 1), ("sh*", 1), ("*~shop", 1), ("sho", 0), ("*hop", 1), ("~shop", 0)]
)
def test_a_sub_key_is_known_by_its_short_name(key: str, found: int) -> None:
    """As in `key` of traffic."""
    calls = [sent("0s", JANA), sent("1s", JANA, body="Bye").replace("sendMessage", "sendMessage, key: shop")]
    assert judged(calls, {"that": "messages", "where": {"key": key}, "count": found})["passed"]
    assert judged(calls, {"that": "requests", "where": {"key": key}, "count": found})["passed"]


@pytest.mark.parametrize(
    ("that", "each", "found"),
    [
        ("messages", ["phone", "body"], 2),
        ("messages", "message", 2),
        ("inbound", "message", 1),
        ("inbound", "phone", 2),
        ("messages", ["phone", "key"], 2),
    ],
    ids=str,
)
@pytest.mark.unmeasured
def test_who_is_judged(that: str, each: Any, found: int) -> None:
    """Who or what things are about is known by all kinds; what they say is known by the kind that is counted."""
    calls = [sent("0s", JANA), sent("1s", PETR)]
    view = judged(calls, {"that": that, "each": each, "at_least": 0}, QUESTION)
    assert view["subjects"]["found"] == found


@pytest.mark.unmeasured
def test_a_share_names_what_does_not_hold() -> None:
    """Of too few the first that do not count, of too many the first that do; with each the share that is wanted."""
    calls = [sent("0s", JANA), sent("1s", PETR)]
    few = judged(calls, {"that": "sends", "where": {"phone": JANA}, "at_least": "95%"})
    assert [each["why_not"] for each in few["nearest"]] == [f'phone is "{PETR}", wanted "{JANA}"']
    many = judged(calls, {"that": "sends", "where": {"phone": JANA}, "at_most": "5%"})
    assert [each["why_not"] for each in many["nearest"]] == ["it counts, and is one of too many: wanted at most 5%"]
    each = judged(calls, {"that": "sends", "where": {"body": "x"}, "each": "phone", "at_least": "95%"})
    assert each["why"].endswith("(at least 95% of them must hold)")


def test_webhooks_that_the_scenario_drops_are_not_counted() -> None:
    """The client cannot acknowledge what is never sent."""
    entry = {"that": "deliveries", "where": {"state": "delivered", "tries": 1}, "at_least": "100%"}
    assert not judged([sent("0s", JANA)], entry)["passed"]
    assert judged([sent("0s", JANA)], {**entry, "among": {"not": {"state": "dropped"}}})["passed"]


@pytest.mark.unmeasured
@pytest.mark.parametrize(("key", "failed"), [("shop", 1), ("sh*", 1), ("sho", 0), ("~shop", 0), ("*", 2)])
def test_rules_know_a_sub_key_by_its_short_name(key: str, failed: int) -> None:
    """In `when` of messages and of calls."""
    calls = [sent("0s", JANA), sent("1s", JANA, body="Bye").replace("sendMessage", "sendMessage, key: shop")]
    for rules, entry in (
        (f'attempts: [{{when: {{key: "{key}"}}, then: failed}}]', {"that": "messages", "where": {"result": "failed"}}),
        (f'api: [{{when: {{key: "{key}"}}, fault: {{status: 500}}}}]', {"that": "requests", "where": {"status": 500}}),
    ):
        text = (
            f"sendbox: 1\naccount: {{subkeys: [{{name: shop, credit: 5}}]}}\ntraffic: [{', '.join(calls)}]\n{rules}\n"
        )
        verdict = play(f"{text}expect: [{orjson.dumps({**entry, 'count': failed}).decode()}]\n").verdict
        assert verdict is not None
        assert verdict["passed"]


@pytest.mark.parametrize(
    ("entry", "rules"),
    [
        ({"that": "sends", "each": "message", "then": [{"that": "sends", "count": 0}]}, ["never-follows"]),
        ({"that": "sends", "each": "message", "then": [{"that": "sends", "same": "phone", "count": 0}]}, []),
        ({"that": "sends", "each": "message", "at_most": 1}, ["never-fails"]),
        ({"that": "sends", "before": "2026-03-01T09:00:00Z", "count": 0}, ["before-start"]),
        ({"that": "sends", "where": {"tag": "a", "not": {"tag": ["a", "b"]}}, "count": 0}, ["never-asked"]),
        ({**EVERY, "each": "request", "subjects": "0.."}, []),
    ],
    ids=str,
)
@pytest.mark.unmeasured
def test_what_cannot_fail_proves_nothing(entry: dict[str, Any], rules: list[str]) -> None:
    """The verdict says it, and a test that expects fails."""
    view = judged([sent("0s", JANA)], entry)
    assert view["passed"] == (not rules)
    assert [never["rule"] for never in view["never"]] == rules


#: A call whose body has escapes.
BODY: Final = (
    r'{"body": "Bon za 50 K\u010d", "to": [{"phone_number": "420777000121"}, {"phone_number": "420777000122"}], '
    r'"tag": "vip", "flow": [{"sms": {"ttl": 5}}]}'
)


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ({"body": "*Kč*"}, 0),
        ({"text": "*Kč*"}, 1),
        ({"text": "K"}, 0),
        ({"json": {"body": "*Kč"}}, 1),
        ({"json": {"to.phone_number": PETR}}, 1),
        ({"json": {"to.1.phone_number": PETR}}, 1),
        ({"json": {"to.0.phone_number": PETR}}, 0),
        ({"json": {"to.2.phone_number": "*"}}, 0),
        ({"json": {"flow.sms.ttl": [4, 5]}}, 1),
        ({"json": {"flow.sms.ttl": "5"}}, 0),
        ({"json": {"tag": "vip", "nothing": None}}, 1),
        ({"json": {"tag.more": "vip"}}, 0),
        ({"json": {"tag.more": None, "nothing.more": None, "to.5.phone_number": None}}, 1),
    ],
    ids=str,
)
def test_calls_are_known_by_what_their_bodies_say(where: dict[str, Any], count: int) -> None:
    """However they are written: `text` is any text of the body, `json` a path; a list has what one of its items has."""
    assert meets(asked(body=BODY.encode()), where) is (count == 1)


def test_forms_are_known_by_their_fields() -> None:
    """A form has a list of values for each field; what is neither JSON nor a form is one text."""
    form = asked("sendSms", b"text=K%C4%8D+50&number=1&number=2&empty=")
    assert meets(form, {"text": "Kč 50"})
    assert meets(form, {"json": {"number": "2", "empty": ""}})
    assert not meets(form, {"json": {"number": "3"}})
    assert meets(asked(body=b"\xff no form"), {"text": "* no form"})
    assert not meets(asked(body=b""), {"json": {"number": "*"}})
    deep = asked(body=b"[" * 1000 + b'"Hello"' + b"]" * 1000)
    assert meets(deep, {"text": "Hello"})
    assert not meets(deep, {"json": {"name": "Hello"}})


def meets(record: RequestRecord, where: dict[str, Any]) -> bool:
    """True if a call meets these conditions."""
    (entry,) = LANGUAGE.load({"sendbox": 1, "expect": [{"that": "requests", "where": where}]}).expect
    return holds(entry.where, SUBJECTS["requests"].readings(cast("World", None), Occurrence(0, 0, record)))


@pytest.mark.parametrize(("at", "passed"), [("89s", False), ("90s", True)])
def test_the_next_must_not_come_too_soon(at: str, *, passed: bool) -> None:
    """`not_before` is a least distance: what comes sooner is not left out, it fails."""
    then = [{"that": "sends", "same": "phone", "not_before": "90s"}]
    entry = {"that": "sends", "where": {"body": "Hello"}, "each": "phone", "then": then}
    calls = [sent("0s", JANA), sent(at, JANA, body="Again"), sent("5m", JANA, body="Again")]
    view = judged(calls, entry)
    assert view["passed"] is passed
    if not passed:
        assert "came 1m29s after it, wanted not before 1m30s" in view["failed"][0]["why"]
        why = "it counts, and came too soon: wanted at least 1 and not before 1m30s"
        assert view["nearest"][0]["why_not"] == why
    assert not judged(calls[:1], entry)["passed"]


OUTAGE: Final = "{at: 1h, outage: {channel: sms, for: 30m}}"


@pytest.mark.parametrize(("at", "passed"), [("1h29m", False), ("1h39m", True), ("1h41m", False)])
def test_what_the_timeline_does_comes_before_or_after(at: str, *, passed: bool) -> None:
    """Within ten minutes after the end of the outage, and not while it lasts."""
    entry = {
        "that": "happenings",
        "where": {"kind": "outage", "state": "ended", "channel": "sms"},
        "then": [{"that": "sends", "same": "none", "within": "10m"}],
    }
    assert judged([sent(at, JANA)], entry, OUTAGE)["passed"] is passed
    assert judged([], {"that": "happenings", "where": {"kind": "outage"}, "count": 2}, OUTAGE)["found"] == 2


def test_what_the_timeline_names_is_known() -> None:
    """The phone that an entry names, under each of its names."""
    spaced = QUESTION.replace(JANA, "+420 777 000 121")
    outage = OUTAGE.replace("channel: sms", 'phone: "4207770001*"')
    for entry, number in ((OPT_OUT, 1), (QUESTION, 1), (spaced, 1), (OUTAGE, 0), (outage, 0)):
        view = judged([], {"that": "happenings", "where": {"phone": JANA}, "at_least": 0}, entry)
        assert view["found"] == number
        each = judged([sent("0s", JANA)], {"that": "sends", "each": "phone"}, entry)
        assert each["subjects"]["found"] == 1


def test_who_had_opted_out_before_the_world_began_has_opted_out() -> None:
    """The numbers of `account.optout` are opt-outs at its start."""
    optout = HEAD.replace("account: {", f'account: {{optout: ["{JANA}"], ')
    text = f"{optout}traffic:\n  - {sent('1m', JANA)}\nexpect: [{orjson.dumps(NOTHING_MORE).decode()}]\n"
    verdict = play(text).verdict
    assert verdict is not None
    (view,) = verdict["expectations"]
    assert (view["passed"], view["subjects"]["found"]) == (False, 1)


ASKS: Final = '{at: %s, request: {operation: getMessage, query: {id: "%s"}}}'
LOST: Final = {
    "that": "deliveries",
    "where": {"state": "dropped"},
    "each": "delivery",
    "then": [{"that": "requests", "where": {"operation": "getMessage"}, "same": "message", "within": "2h"}],
}


@pytest.mark.parametrize(
    ("ids", "passed"),
    [
        (["$offer.accepted.0.message_id", "$offer.accepted.1.message_id"], True),
        (["$offer.accepted.0.message_id"], False),
        (["$offer.accepted.0.message_id", "unknown"], False),
    ],
    ids=str,
)
def test_a_call_belongs_to_the_message_that_it_asks_for(ids: list[str], *, passed: bool) -> None:
    """For each lost webhook, and each message of it, the client asks about that message; an unknown id is nobody's."""
    offer = sent("0s", JANA, PETR).replace("{at: 0s,", "{at: 0s, name: offer,")
    asks = [ASKS % (f"{60 + number}m", name) for number, name in enumerate(ids)]
    view = judged([offer, *asks], {**LOST, "each": ["delivery", "message"]})
    assert (view["passed"], view["subjects"]["found"]) == (passed, 2)
    assert judged([offer, *asks], LOST)["passed"]  # one webhook tells of both
    assert not judged([offer], LOST)["passed"]
    each = judged([offer, *asks], {"that": "events", "each": "message", "where": {"result": "sent"}})
    assert each["subjects"]["found"] == 2


def test_a_call_belongs_to_the_session_and_the_template_that_it_names() -> None:
    """The session by the token in its path, a template by its name and language."""
    login = "{at: 0s, name: login, request: {operation: createValidation, body: {phoneNumber: '420777000121'}}}"
    tries = [
        f"{{at: {at}s, request: {{operation: verifyCode, params: {{token: {token}}}, body: {{code: '{code}'}}}}}}"
        for at, token, code in ((1, "$login.token", "000000"), (2, "$login.token", "246813"), (3, "none", "1"))
    ]
    entry = {"that": "validations", "where": {"event": "created"}, "each": "session"}
    then = [{"that": "requests", "where": {"operation": "verifyCode"}, "count": 2}]
    assert judged([login, *tries], {**entry, "then": then})["passed"]
    named = SUBJECTS["requests"].names["template"]
    world = cast("World", None)
    body = {"waba_id": "1", "template": {"name": "otp", "language": "cs"}}
    assert named(world, asked("createTemplate", body)) == "otp/cs"
    assert named(world, asked("createTemplate", {"template": "otp"})) is None
    assert named(world, asked("createTemplate", b"{")) is None
    assert named(world, asked("sendMessage", body)) is None


@pytest.mark.parametrize(
    ("bodies", "why"),
    [
        (["first", "second", "second", "third"], None),
        (["first", "other"], None),
        (["other"], None),
        (
            ["second", "first"],
            'sends with body "second" came at 2026-03-02T09:00:00.000Z, before any sends with body "first"',
        ),
        (
            ["first", "third"],
            'sends with body "third" came at 2026-03-02T09:01:00.000Z, before any sends with body "second"',
        ),
    ],
    ids=str,
)
def test_things_come_in_order(bodies: list[str], why: str | None) -> None:
    """For every phone the first before the second; nothing says that they come."""
    entry = {"that": "sends", "in_order": [{"body": "first"}, {"body": "second"}, {"body": "third"}]}
    calls = [sent(f"{minute}m", JANA, body=body) for minute, body in enumerate(bodies)]
    view = judged(calls, entry)
    assert (view["passed"], view["why"], view["wanted"]) == (why is None, why, "in order")
    each = judged([*calls, sent("1h", PETR, body="third")], {**entry, "each": "phone"})
    assert (each["passed"], each["subjects"]["failed"]) == (False, 1 if why is None else 2)
    assert judged(calls, {**entry, "at_least": len(bodies)})["passed"] is (why is None)


def test_conditions_in_order_are_checked() -> None:
    """As others: a field that a kind does not have, a number that is never met, and fewer than two."""
    for order, problem in (
        ([{"body": "x"}, {"result": "sent"}], '"result" is not a field of requests'),
        ([{"body": "x"}], "is not a list of mappings of conditions, at least two"),
    ):
        with pytest.raises(ScenarioError, match=problem):
            LANGUAGE.load({"sendbox": 1, "expect": [{"that": "requests", "in_order": order}]})
    never_met: list[dict[str, Any]] = [{"status": 700}, {"body": "x"}]
    (entry,) = LANGUAGE.load({"sendbox": 1, "expect": [{"that": "requests", "in_order": never_met}]}).expect
    assert [never.message for never in entry.never] == ["700 is never met: status is 0 or 100..599"]


def test_a_call_belongs_to_the_signup_that_it_names() -> None:
    """By its client, its business account, or its number; other calls, and those that cannot be read, to none."""
    world = play("onboarding").world
    (signup,) = Partner.of(world).signups.values()
    named = SUBJECTS["requests"].names["signup"]
    assert signup.account is not None
    for fields in ({"client_id": signup.client_id}, {"partner_client_id": signup.client_id}):
        assert named(world, asked("listPartnerAccounts", fields)) == (signup.id,)
    assert named(world, asked("listPartnerNumbers", {"waba_id": signup.account.id})) == (signup.id,)
    assert named(world, asked("checkPartnerNumber", {"phone_number": signup.phone_number})) == (signup.id,)
    for operation, body in (
        ("checkPartnerNumber", {"phone_number": "420777000199"}),
        ("sendMessage", {"waba_id": signup.account.id}),
        ("unknown", {"waba_id": signup.account.id}),
        ("listPartnerNumbers", b"["),
        ("listPartnerNumbers", []),
    ):
        assert named(world, asked(operation, body)) == ()
    belongs = SUBJECTS["signups"].belonging(["signup"])
    changes = [change for change in occurrences_of(world, SUBJECTS["signups"]) if change is not None]
    assert {key for change in changes for key in belongs(world, change.record)} == {(signup.id,)}


TEMPLATE: Final = (
    "{at: %s, request: {operation: sendMessage, body: {to: [{phone_number: '420777000121'}], flow: [{chatapp_template: "
    "{template_name: otp, language: en, params: ['%s'], sender: '109876543210987'}}, {sms: {body: Hello}}]}}}"
)


@pytest.mark.parametrize("that", ["attempts", "messages", "sends"])
def test_parameters_of_a_template_are_shown(that: str) -> None:
    """A condition meets any of its texts; a step without a template has none."""
    calls = [TEMPLATE % ("0s", "246813"), sent("1s", PETR)]
    for params, count in (("246813", 1), ("*68*", 1), ("111", 0)):
        assert judged(calls, {"that": that, "where": {"params": params}, "count": count})["passed"]


@pytest.mark.parametrize(
    ("ignoring", "passed"),
    [
        (None, False),
        ("tag", True),
        (["tag", "nothing.at.all"], True),
        (["to.phone_number", "body"], False),
        ("to.0.tag", False),
    ],
    ids=str,
)
def test_what_may_differ_in_the_same_content(ignoring: Any, *, passed: bool) -> None:
    """A retry with another tag is the same call if `ignoring` says so."""
    calls = [sent("0s", "420777000140", tag="first"), sent("10s", "420777000140", tag="second")]
    then = {"that": "requests", "same": "content"} | ({} if ignoring is None else {"ignoring": ignoring})
    entry = {"that": "requests", "where": {"status": 503}, "each": "request", "then": [then]}
    assert judged(calls, entry)["passed"] is passed


@pytest.mark.parametrize(("each", "count"), [("content", 2), (["content", "status"], 2)], ids=str)
def test_calls_are_told_apart_without_what_may_differ(each: Any, count: int) -> None:
    """Also for `each`; a list on the way is gone through, a number means one of its items."""
    calls = [sent("0s", JANA, "420777000131"), sent("1s", JANA, "420777000132"), sent("2s", PETR, PETR)]
    entry = {"that": "requests", "each": each, "ignoring": "to.1", "at_most": 2}
    assert judged(calls, entry)["subjects"]["found"] == count
    assert judged(calls, {**entry, "ignoring": ["to.phone_number"]})["subjects"]["found"] == 1
    assert judged(calls, {**entry, "ignoring": ["to.9", "body.deep"]})["subjects"]["found"] == 3


def test_a_body_that_is_too_deep_is_compared_as_it_came() -> None:
    """Though something in it may differ."""
    content = SUBJECTS["requests"].belonging(["content"], (("x",),))
    deep = asked(body=b"[" * 1000 + b"]" * 1000)
    assert content(cast("World", None), deep) == SUBJECTS["requests"].belonging(["content"])(cast("World", None), deep)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"that": "requests", "ignoring": "tag"}, '"ignoring" says what may differ in the content, and neither'),
        ({"that": "requests", "each": "content", "ignoring": "a..b"}, '"a..b" is not a dotted path such as'),
    ],
)
def test_what_may_differ_is_checked(entry: dict[str, Any], message: str) -> None:
    """It stands where content is compared, and is a path."""
    with pytest.raises(ScenarioError, match=re.escape(message)):
        LANGUAGE.load({"sendbox": 1, "expect": [entry]})
