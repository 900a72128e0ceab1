"""Coverage in the core: journals whose entries were counted by hand, item by item.

Long because each kind of entry has a journal of its own.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sendbox.app import SERVED
from sendbox.control.catalog import catalog
from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.commands.record import RequestRecord
from sendbox.engine.coverage import Sum, Tally, last_restore, merge
from sendbox.engine.delivery.batches import Delivery, Target
from sendbox.engine.durations import Moment, Rate, Span
from sendbox.engine.journal import CODE
from sendbox.engine.remarks import Finding
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume, VerifyLimits
from sendbox.services.coverage.denied import denied
from sendbox.services.messaging.checks import CHECKS
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.outages import Outage
from sendbox.services.messaging.rules.rules import Reply
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import TEMPLATE
from sendbox.services.verify.rules import VerifyRule
from sendbox.services.verify.verify import LimitReached, Verify
from tests.core.asked import asked
from tests.core.clients import connect, form, partner_world, sign_up
from tests.core.faulty import fault, run
from tests.core.managed import manage
from tests.core.observed import collect
from tests.core.worlds import (
    HOOK,
    HOUR,
    PHONE,
    START,
    advance,
    go_back,
    handset,
    journaled,
    make_world,
    path,
    rule,
    send,
    send_one,
    step,
)
from tests.scenarios import compile_rule

MINUTE = 60_000
DAY = 24 * HOUR


def tallied(world: World, *dimensions: str) -> Tally:
    """The items of these dimensions that were tried."""
    tally = collect(world, catalog(SERVED)).tally
    return {name: tally[name] for name in dimensions if name in tally}


def call(
    world: World,
    operation: str,
    body: Any = b"",
    status: int = 200,
    *,
    answer: bytes = b"{}",
    query: bytes = b"",
) -> RequestRecord:
    """A call as the shell journals it."""
    record = asked(operation, body, key=world.id, path="/", query=query, status=status, answer=answer)
    world.request(record)
    return record


# --- attempts


def test_s3_1_a_flow_that_falls_back() -> None:
    """§2.2, §3.1: a rich message not delivered in its minute, an SMS that is, a receipt that is late."""
    late = path("sending", ("sent", 1000), ("delivered", 90_000))
    world = make_world(attempts=(rule(late, key="rich", when=_channel("richmsg")), rule("delivered")))
    send_one(world, steps=[step("richmsg", ttl=MINUTE), step("sms")])
    advance(world, HOUR)
    assert tallied(world, "results", "transitions", "flows", "infos", "refusals") == {
        "results": {
            "richmsg sending": 1, "richmsg sent": 1, "sms sending": 1, "sms sent": 1, "sms delivered": 1,
            "richmsg delivered": 1,
        },
        "transitions": {
            "richmsg accepted -> sending": 1, "richmsg sending -> sent": 1, "sms accepted -> sending": 1,
            "sms sending -> sent": 1, "sms sent -> delivered": 1, "richmsg sent -> delivered": 1,
        },
        "flows": {"fallback ttl": 1, "receipt after the flow moved on": 1},
        "infos": {"Sent": 2, "[0]": 2},
    }  # fmt: skip


def test_s2_2_a_condition_that_is_met() -> None:
    """§2.2: a step whose condition is reached in time; the last step has no condition to meet."""
    world = make_world()
    send(world, PHONE, "420777000101", steps=[step("richmsg", ttl=MINUTE), step("sms")])
    advance(world, HOUR)
    assert tallied(world, "flows", "results") == {
        "flows": {"condition met": 2},
        "results": {"richmsg sending": 2, "richmsg sent": 2, "richmsg delivered": 2},
    }


def test_s7_3_refusals_and_infos() -> None:
    """§7.3: an invalid number, a number without credit, a path with an own text, one with a code alone."""
    ends = (
        rule(path("sending", ("failed", 0, "[131042] Payment method")), key="a", when=_phone("420777000101")),
        rule(path("sending", ("failed", 0, "[368]")), key="b", when=_phone("420777000102")),
        rule(path("sending", ("failed", 0, "Unauthorized error")), key="c", when=_phone("420777000103")),
        rule(path(("rejected", 0)), key="d", when=_phone("420777000104")),
    )  # fmt: skip
    world = make_world(attempts=ends, account=AccountSpec(credit=0))
    Account.of(world).balance = 10**9
    send(world, "no number", *(f"42077700010{n}" for n in range(1, 5)))
    advance(world, 0)
    Account.of(world).balance = 0
    send_one(world, "420777000105")
    advance(world, 0)
    assert tallied(world, "infos", "refusals") == {
        "infos": {"[302]": 1, "[131042]": 1, "code only": 1, "text only": 1, "[2]": 1, "[307]": 1},
        "refusals": {"number": 1, "credit": 1},
    }


def _channel(channel: str) -> Any:
    from sendbox.engine.rules.rule import When

    return When(channel=(channel,))


def _phone(number: str) -> Any:
    from sendbox.engine.rules.rule import When
    from sendbox.engine.texts import Pattern

    return When(phone=Pattern(number, digits=True))


# --- deliveries


class Receiver:
    """Answers each try with the next of its outcomes, the last one for ever."""

    def __init__(self, *outcomes: tuple[int | None, str | None]) -> None:
        self._outcomes = list(outcomes)

    def __call__(self, _delivery: Delivery) -> tuple[int | None, str | None]:
        return self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]


def test_s6_a_receiver_that_recovers() -> None:
    """§6: the first try of `sending` fails, `sent` and `delivered` are taken, then the retry of `sending`."""
    world = make_world()
    send_one(world, callback=HOOK)
    advance(world, HOUR, answer=Receiver((500, None), (200, None)))
    assert tallied(world, "events", "webhooks") == {
        "events": {"sentMessage sending": 1, "sentMessage sent": 1, "sentMessage delivered": 1},
        "webhooks": {"answered 5xx": 1, "retry": 1, "late": 1, "out of order": 1},
    }


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ((404, None), {"answered 4xx": 5, "retry": 4, "given up": 1}),
        ((503, None), {"answered 5xx": 5, "retry": 4, "given up": 1}),
        ((302, "redirect"), {"redirect": 5, "retry": 4, "given up": 1}),
        ((None, "timeout"), {"timeout": 5, "retry": 4, "given up": 1}),
        ((None, "refused"), {"no connection": 5, "retry": 4, "given up": 1}),
        ((204, None), {"answered another 2xx": 1}),
        ((200, None), {}),
    ],
    ids=["4xx", "5xx", "redirect", "timeout", "refused", "204", "200"],
)
def test_s6_a_receiver_that_answers_always_the_same(outcome: Any, expected: dict[str, int]) -> None:
    """§6, A20: five tries in all of a delivery that nobody takes."""
    world = make_world(attempts=(rule("sending"),))
    send_one(world, callback=HOOK)
    advance(world, HOUR, answer=Receiver(outcome))
    assert tallied(world, "webhooks") == ({"webhooks": expected} if expected else {})


def test_s6_a_delivery_that_is_sent_again() -> None:
    """A duplicate is a try after one that was taken; two events for one target, signed, travel together."""
    world = make_world(attempts=(rule("sending"),))
    send(world, PHONE, "420777000101", callback=Target(HOOK, secret="s3cret"))
    advance(world, 0)
    world.outlets.replay(world.outlets.deliveries[0])
    advance(world, 0)
    assert tallied(world, "events", "webhooks") == {
        "events": {"sentMessage sending": 2},
        "webhooks": {"several events in one": 1, "signed": 1, "duplicate": 1},
    }


def test_a_try_that_is_under_way_counts_as_none_of_them() -> None:
    """A try without an outcome does not count as a misfortune; the catalog does not know its name."""
    world = make_world(attempts=(rule("sending"),))
    send_one(world, callback=HOOK)
    world.run(START, 100)
    world.outlets.take()
    tally = collect(world, catalog(SERVED)).tally
    assert tally["webhooks"] == {"under way": 1}
    assert set(catalog(SERVED).named(tally)["webhooks"].values()) == {0}


def test_s6_an_event_that_comes_in_two_batches() -> None:
    """A duplicate is told by its events, whatever carries them; the order is that of each message's own."""
    world = make_world()
    message = send_one(world, callback=HOOK)
    advance(world, MINUTE)
    carried = world.outlets.deliveries[0]
    copy = Delivery(99, "", carried.outlet, tuple(carried.events), world.now)
    copy.state = "delivered"
    world.outlets.deliveries.append(copy)
    world.outlets.replay(copy)
    advance(world, 0)
    assert tallied(world, "webhooks") == {"webhooks": {"duplicate": 1}}
    assert message.result == "delivered"


# --- phones


def test_s6_what_recipients_do() -> None:
    """§6: a reply, an unsolicited message, an opt-out, a phone that is switched off, an event without target."""
    replies = (rule("delivered", replies=(Reply(Span(0, 0), "STOP"),)),)
    world = make_world(attempts=replies, account=AccountSpec(default_callback_url=""))
    send_one(world)
    advance(world, MINUTE)
    Messaging.of(world).phones.write("sms", "420777000109", "420900000001", "Hello")
    Messaging.of(world).phones.go_offline("420777000109")
    Messaging.of(world).phones.go_online("420777000109")
    advance(world, 0)
    assert tallied(world, "phones", "webhooks", "events") == {
        "phones": {"replies": 1, "opts out": 1, "writes": 1, "is offline": 1},
        "webhooks": {"no target": 5},
    }


def test_s2_1_links() -> None:
    """§2.1, §8: a short link that is followed, and its end after seven days."""
    from sendbox.services.messaging.model import Shortening

    world = make_world()
    send_one(world, body="https://acme.example/a", shortening=Shortening())
    advance(world, MINUTE)
    (code,) = Messaging.of(world).links
    Messaging.of(world).open_link(code)
    advance(world, 8 * DAY)
    assert tallied(world, "phones", "limits") == {
        "phones": {"follows a short link": 1},
        "limits": {"short link expired after 7 days": 1},
    }


# --- sessions, partners, management


def test_s3_2_sessions() -> None:
    """§3.2, §8: one verified, one whose attempts are used up, one that expires, one too many; the SMS is nobody's."""
    limits = VerifyLimits(Rate(100, MINUTE), Rate(1, HOUR))
    world = make_world(verify=(VerifyRule("known", code="123456"),), assume=Assume(verify_limits=limits))
    sessions = [
        Verify.of(world).create(f"42077700010{n}", {}, Account.of(world).keys[world.id], b"%d" % n, "")
        for n in range(3)
    ]
    with pytest.raises(LimitReached):
        Verify.of(world).create("420777000100", {}, Account.of(world).keys[world.id], b"", "")
    advance(world, MINUTE)
    assert Verify.of(world).submit(sessions[0], "123456") == "verified"
    for _ in range(6):
        Verify.of(world).submit(sessions[1], "000000")
    advance(world, HOUR)
    assert tallied(world, "states", "limits", "results") == {
        "states": {
            "validation pending": 3, "validation code_sent": 3, "validation verified": 1, "validation failed": 1,
            "validation expired": 1,
        },
        "limits": {
            "Verify sessions of a number": 1, "6 Verify attempts": 1, "Verify session expired after 10 minutes": 1,
        },
    }  # fmt: skip


def test_s8_the_limit_of_the_account() -> None:
    """§8, A53: the account's limit is told apart from the number's."""
    world = make_world(assume=Assume(verify_limits=VerifyLimits(Rate(1, MINUTE), None)))
    Verify.of(world).create(PHONE, {}, Account.of(world).keys[world.id], b"", "")
    with pytest.raises(LimitReached):
        Verify.of(world).create(PHONE, {}, Account.of(world).keys[world.id], b"", "")
    assert tallied(world, "limits") == {"limits": {"Verify sessions of the account": 1}}


def test_s4_3_partners() -> None:
    """§4.3, A24: a signup that completes and one that expires, a template that is reviewed, what could not be."""
    world = partner_world()
    account, number = connect(world)
    sign_up(world, client="other")
    Partner.of(world).templates.create(account, form())
    advance(world, 2 * HOUR)
    Partner.of(world).move_number(number, "FLAGGED", None)
    world.journal.add(world.now, CODE["template"], {"name": "hello", "refused": "cannot be"})
    world.journal.add(world.now, CODE["number"], {"name": "1", "refused": "cannot be"})
    assert tallied(world, "states", "events", "limits") == {
        "states": {
            "signup created": 2, "signup opened": 1, "signup number_verified": 1, "signup completed": 1,
            "number CONNECTED": 1, "template PENDING": 1, "template APPROVED": 1, "signup expired": 1,
            "number FLAGGED": 1,
        },
        "events": {
            "partnerOnboarding created": 2, "partnerOnboarding opened": 1, "partnerOnboarding number_verified": 1,
            "partnerOnboarding completed": 1, "partnerOnboarding expired": 1,
        },
        "limits": {"signup token expired after 1 hour": 2},
    }  # fmt: skip
    assert "DELETED" in TEMPLATE


def test_s4_4_management() -> None:
    """§4.2, §4.4: a sub-key, an order, a bulk file of a good line and a bad one, an address that nobody used."""
    world = make_world()
    manage(world)
    assert tallied(world, "states", "limits") == {
        "states": {"key added": 1, "order active": 1, "bulk stored": 1, "bulk line skipped": 1, "bulk done": 1},
        "limits": {"upload address expired after 60 s": 1},
    }


def test_s2_2_a_conversation_that_closes() -> None:
    """A66: what opened by a message from the phone is closed a day later."""
    world = make_world()
    Messaging.of(world).phones.write("chatapp", PHONE, "109876543210987", "Hello")
    advance(world, 2 * DAY)
    assert tallied(world, "limits", "events") == {
        "limits": {"conversation closed after 24 hours": 1},
        "events": {"incomingMessage chatapp": 1},
    }


# --- calls


@pytest.mark.parametrize(
    ("operation", "status", "answer", "expected"),
    [
        ("sendMessage", 200, b"{}", None),
        ("sendMessage", 400, b"{}", "sending 400"),
        ("sendMessage", 500, b"{}", "sending 500"),
        ("sendMessage", 0, b"", None),
        ("sendSimpleMessage", 415, b"{}", "sending 415"),
        ("listMessages", 403, b"{}", "rest 403"),
        ("listTemplates", 200, b'{"success":false,"message":"x"}', "partner success false"),
        ("listTemplates", 200, b'{"success":true}', None),
        ("listTemplates", 401, b"{}", "partner 401"),
        ("createValidation", 429, b'{"error":"PHONE_RATE_LIMIT"}', "verify PHONE_RATE_LIMIT"),
        ("createValidation", 500, b"<html>", "verify 500"),
        ("legacySend", 400, b"ERROR|201", "legacy 201"),
        ("legacySend", 400, b"ERROR", "legacy 400"),
        ("unknown", 404, b"{}", "unknown path"),
        ("unknown", 405, b"{}", "wrong method"),
        ("unknown", 413, b"{}", None),
    ],
)
def test_s7_errors(operation: str, status: int, answer: bytes, expected: str | None) -> None:
    """§7: an error answer counts by its interface, and by its own code where it has one."""
    world = make_world()
    call(world, operation, status=status, answer=answer)
    assert tallied(world, "errors") == ({} if expected is None else {"errors": {expected: 1}})


def test_s4_operations_and_fields() -> None:
    """§4: fields count once for each accepted call that has them, whether in JSON, a form or a query."""
    world = make_world()
    message = {"to": [{"phone_number": "1"}, {"phone_number": "2"}], "flow": [{"sms": {"ttl": 1}}, {"sms": {"ttl": 2}}]}
    call(world, "sendMessage", message)
    call(world, "sendMessage", {"to": "one"}, 400)
    call(world, "sendMessage", b"no JSON", 400)
    call(world, "sendMessages", [{"callback": {"headers": {"X": "1"}}}, {"unheard": 1, "": 1, "[]": 1}, "none"])
    call(world, "createValidation", {"phoneNumber": ["1"]})
    call(world, "sendSimpleMessage", b"number=1&unheard=2")
    call(world, "getMessage", query=b"id=1")
    call(world, "showKey")
    assert tallied(world, "operations", "fields") == {
        "operations": {
            "sendMessage accepted": 1, "sendMessage refused": 2, "sendMessages accepted": 1,
            "sendSimpleMessage accepted": 1, "getMessage accepted": 1, "showKey accepted": 1,
            "createValidation accepted": 1,
        },
        "fields": {
            "sendMessage $.to": 1, "sendMessage $.to[].phone_number": 1, "sendMessage $.flow": 1,
            "sendMessage $.flow[].sms": 1, "sendMessage $.flow[].sms.ttl": 1, "sendMessages $[].callback": 1,
            "sendMessages $[].callback.headers": 1, "sendSimpleMessage $.number": 1, "getMessage $.id": 1,
            "createValidation $.phoneNumber": 1,
        },
    }  # fmt: skip


def test_s8_findings_that_are_limits() -> None:
    """§8: a picture that is too large, a code that has not six digits, too many edits; other findings are no limits."""
    world = make_world()
    call(world, "createTemplate").findings = [Finding("$.x", "size", "6 MB", "§8"), Finding("$.y", "type", "y", "§2")]
    call(world, "verifyCode", status=400).findings = [Finding("$.code", "pattern", "12345", "§4.5")]
    call(world, "sendMessage", {"sender": "TwelveChars1"}, 400)
    call(world, "editTemplate").findings = [Finding("$.template_id", "edit-limit", "twice", "§4.3", "A42")]
    assert tallied(world, "limits") == {
        "limits": {
            "media over its size": 1, "Verify code not of 6 digits": 1, "sender of 11 characters": 1,
            "edits of an approved template": 1,
        },
    }  # fmt: skip


def test_faults_count_by_their_word() -> None:
    """A fault is a word, or an object with one key; of several each counts."""
    world = make_world()
    for source in ("drop", ["split", {"delay": "30s"}]):
        rule = compile_rule("webhooks", {"fault": source})
        world.journal.add(world.now, CODE["webhook_fault"], SimpleNamespace(rule=rule))
    for definition in ({"delay": "2s"}, "garbage"):
        rule = compile_rule("api", {"fault": definition})
        world.journal.add(world.now, CODE["fault"], SimpleNamespace(rule=rule))
    assert collect(world, catalog(SERVED)).tally == {
        "webhook faults": {"drop": 1, "split": 1, "delay": 1},
        "api faults": {"delay": 1, "garbage": 1},
    }
    assert collect(world, catalog(SERVED), 4).tally == {}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"channels": ("sms",), "in_flight": "failed"}, ["of a channel", "in_flight failed", "new wait"]),
        (
            {"phones": (Pattern("420*"),), "share": 0.5},
            ["of phones", "of a share", "in_flight wait", "new wait"],
        ),
        ({"countries": frozenset({"CZ"}), "new": "rejected"}, ["of a country", "in_flight wait", "new rejected"]),
        (
            {"channels": ("sms",), "countries": frozenset({"CZ"}), "network": 2},
            ["of a channel", "of an operator", "in_flight wait", "new wait"],
        ),
    ],
    ids=["channel", "phones", "country", "operator"],
)
def test_outages_count_when_they_begin(fields: dict[str, Any], expected: list[str]) -> None:
    """By what is out, and by what becomes of messages; that they end is nothing new."""
    entry = TimelineEntry(MINUTE, True, "outage", {}, means=Outage(MINUTE, **fields))
    world = make_world(timeline=(entry,))
    advance(world, 3 * MINUTE)
    assert len(journaled(world, "outage")) == 2
    assert tallied(world, "outages") == {"outages": dict.fromkeys(expected, 1)}


def test_an_event_counts_when_it_is_posted() -> None:
    """Not while a rule answers in the receiver's place; once, however often a rule sends it."""
    down = run(fault("answer", by=503))
    assert tallied(down, "events", "webhooks") == {
        "webhooks": {"answered 5xx": 15, "retry": 12, "given up": 3},
    }
    late = run(fault("answer", by=503, ends=Moment(1, relative=True)), fault("duplicate", result=("sent",)))
    assert tallied(late, "events", "webhooks") == {
        "events": {"sentMessage sending": 1, "sentMessage sent": 1, "sentMessage delivered": 1},
        "webhooks": {"answered 5xx": 1, "retry": 1, "late": 1, "out of order": 1, "duplicate": 1},
    }
    lost = run(fault("drop", result=("delivered",)))
    assert tallied(lost, "events") == {"events": {"sentMessage sending": 1, "sentMessage sent": 1}}


# --- sums


def test_tallies_add_up() -> None:
    """A merged tally is the sum, whichever side lacks a dimension or a name."""
    assert merge({"a": {"x": 1}}, {"a": {"x": 2, "y": 1}, "b": {"z": 3}}) == {"a": {"x": 3, "y": 1}, "b": {"z": 3}}
    world = make_world()
    call(world, "sendMessages", [])
    both = Sum()
    both.add(collect(world, catalog(SERVED)))
    both.add(collect(world, catalog(SERVED)))
    assert both.tally["operations"] == {"sendMessages accepted": 2}
    assert both.leaned == {"A09": 2, "A10": 2}


def test_a_restored_world_counts_on() -> None:
    """Only what follows the restore counts; what came before it is remembered."""
    world = make_world()
    assert last_restore(world) == 0
    send_one(world)
    advance(world, 1000)
    go_back(world)
    advance(world, MINUTE)
    tally = collect(world, catalog(SERVED), last_restore(world)).tally
    assert tally["transitions"] == {"sms sent -> delivered": 1}
    assert tally["results"] == {"sms delivered": 1}


def test_in_slices_it_is_the_same() -> None:
    """A long journal is read with pauses, and counted as one."""
    world = make_world(phones=(handset(channels=frozenset({"sms"})),))
    send(world, *(f"4207770001{n:02}" for n in range(40)))
    advance(world, MINUTE)
    assert len(world.journal) > 120
    assert tallied(world, "results") == {"results": {"sms sending": 40, "sms sent": 40, "sms delivered": 40}}


@pytest.mark.parametrize(
    ("path", "key", "expected"),
    [
        ("/v2/message", "no", "sending denied key"),
        ("/v1/validations", None, "verify MISSING_API_KEY"),
        ("/v1/validations/x/verify", "no", "verify INVALID_API_KEY"),
        ("/v1/credit/services", None, "rest denied key"),
        ("/Send", "no", "legacy denied key"),
        ("/upload/", None, None),
    ],
)
def test_s5_keys_that_open_no_world(path: str, key: str | None, expected: str | None) -> None:
    """§5: no journal tells of them, so they are counted by path."""
    assert denied(path, key) == expected


def test_every_reason_of_a_refusal_is_an_item() -> None:
    named = catalog(SERVED).named(Tally())
    assert set(named["refusals"]) == {check.word for check in CHECKS}
