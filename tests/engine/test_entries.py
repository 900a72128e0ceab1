"""Entries of the journal, shown: every kind of them (`services/messaging/views.py`)."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from sendbox.app import SERVED
from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.delivery.faults.ways import Delay
from sendbox.engine.delivery.rules import WebhookRule
from sendbox.engine.durations import Rate, Span
from sendbox.engine.faults.calls import ApiRule, Applied
from sendbox.engine.faults.connections import Disconnect
from sendbox.engine.journal import CODE
from sendbox.engine.remarks import Finding
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec
from sendbox.services.advice import UNKNOWN_FIELD, advise
from sendbox.services.assume import Assume, PromotionalHours, VerifyLimits
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Shortening
from sendbox.services.messaging.outages import Outage
from sendbox.services.partner.partner import Partner
from sendbox.services.verify.verify import LimitReached, Verify
from sendbox.services.windows import Window
from tests.core.asked import asked
from tests.core.managed import manage
from tests.core.observed import delivery_view, entry_view
from tests.core.worlds import HOUR, PHONE, START, advance, make_world, names_of, path, rule, send, send_one, step

CALLBACK = "https://example.com/hook"
OTHER = "420777000101"
SECOND = 1_000


def entries(world: World, *kinds: str) -> list[dict[str, Any]]:
    """The journal's entries of these kinds, shown; `transition` stands for all results."""
    shown = [entry_view(world, number) for number in range(len(world.journal))]
    return [entry for entry in shown if not kinds or entry["kind"] in kinds]


def bare(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry without its number, instant and kind."""
    return {name: value for name, value in entry.items() if name not in ("n", "at", "kind")}


def last(world: World, kind: str) -> dict[str, Any]:
    """What the newest entry of a kind shows."""
    return bare(entries(world, kind)[-1])


# --- entries, one test a kind


def test_an_entry_begins_with_number_instant_and_kind() -> None:
    """Every kind is rendered, and every entry is JSON that begins the same."""
    world = eventful()
    shown = entries(world)
    kinds = {kind.name for kind in SERVED.kinds.by_code.values()}
    assert set(names_of(world.journal)) == kinds - {"accepted"}
    assert [list(entry)[:3] for entry in shown] == [["n", "at", "kind"]] * len(shown)
    assert [entry["n"] for entry in shown] == list(range(len(shown)))
    assert all(orjson.dumps(entry) for entry in shown)


def fault() -> Applied:
    """A fault of the HTTP interfaces that applied to a call."""
    found = ApiRule(key="r", when=When(), fault=Disconnect(), name="flaky")
    return Applied(found, "getMessage", "test-w", "", 0, 0, order_sensitive=False)


def test_a_fault_says_what_and_by_which_rule() -> None:
    """The call, the fault as a scenario writes it, the rule, and whether the call had its effect."""
    world = make_world()
    world.journal.add(START, CODE["fault"], fault())
    assert last(world, "fault") == {
        "operation": "getMessage",
        "key": "test-w",
        "phone": None,
        "fault": {"disconnect": "before"},
        "rule": "flaky",
        "processed": False,
        "message": 'fault disconnect before on getMessage by the api rule "flaky"; the call had no effect',
    }


def eventful() -> World:
    """A world in which everything happened that the journal has a kind for."""
    world = make_world(
        account=AccountSpec(blacklist=frozenset({"420777000999"}), default_callback_url=CALLBACK),
        attempts=(
            rule("seen", key="seen", when=When(channel=("richmsg",))),
            rule("undelivered", key="undelivered", when=When(phone=Pattern(OTHER))),
            rule("failed", key="failed", when=When(tag=Pattern("failing"))),
            rule(path("sending", "seen"), key="illegal", when=When(tag=Pattern("illegal"))),
        ),
        timeline=(
            TimelineEntry(SECOND, True, "inbound", {"channel": "chatapp", "from": OTHER, "to": "1", "body": "Hello"}),
            TimelineEntry(SECOND, True, "outage", {"country": 262}, means=Outage(HOUR, countries=frozenset({"DE"}))),
        ),
        webhooks=(WebhookRule(key="late", when=When(phone=Pattern(OTHER)), fault=Delay(Span(1, 1))),),
        assume=Assume(
            promotional_window=PromotionalHours(Window(None, 10 * 60, 20 * 60)),
            verify_limits=VerifyLimits(Rate(1, HOUR), None),
        ),
    )
    world.journal.add(START, CODE["opened"], {"scenario": "empty"})
    world.request(asked(key=world.id))
    world.advise(advise(UNKNOWN_FIELD, '"x" is not a field', "$.x"), "about")
    send(world)
    send(world, "420777000999", tags=("a",))
    Verify.of(world).create(OTHER, {}, Account.of(world).keys[world.id], b"{}", "")
    with pytest.raises(LimitReached):
        Verify.of(world).create(OTHER, {}, Account.of(world).keys[world.id], b"{}", "")
    send(world, steps=[step("richmsg")], tags=("a",))
    send(world, OTHER, steps=[step(condition="delivered"), step("richmsg")], tags=("a",))
    send(world, tags=("failing",))
    send(world, tags=("illegal",))
    Account.of(world).blacklist.clear()
    linked = send_one(
        world,
        "420777000555",
        tags=("a",),
        body="https://acme.example",
        shortening=Shortening(),
        callback="https://other.example",
    )
    send(world, "420777000999", tags=("a",))
    Account.of(world).blacklist["420777000999"] = 0
    advance(world, HOUR)
    Messaging.of(world).phones.click(linked)
    Messaging.of(world).phones.reply(linked, "STOP")
    Messaging.of(world).phones.go_offline(PHONE)
    Account.of(world).keys[world.id].default_callback_url = ""
    Messaging.of(world).phones.write("sms", "420777000556", None, "Hello")
    world.journal_act("clock", {"mode": "manual"})
    world.journal.add(world.now, CODE["fault"], fault())
    world.journal.add(world.now, CODE["reset"], {"epoch": 1})
    world.journal.add(world.now, CODE["restored"], {"name": "a", "epoch": 2})
    signup = Partner.of(world).sign_up("manual", None, {}, CALLBACK, Account.of(world).keys[world.id], b"{}")
    Partner.of(world).complete(signup, OTHER)
    template = {"name": "t", "language": "en", "category": "UTILITY", "components": [{"type": "BODY", "text": "Hi"}]}
    assert signup.account is not None
    Partner.of(world).templates.create(signup.account, template)
    advance(world, 8 * 24 * HOUR)
    manage(world)
    return world


def test_a_transition_names_its_attempt() -> None:
    """Message, phone, channel, attempt from 1, result, and the `result_info` that the event carries."""
    world = make_world()
    message = send_one(world)
    advance(world, 3 * SECOND)
    first, _, third = entries(world, "transition")
    where = {"message_id": message.id, "phone": PHONE, "channel": "sms", "attempt": 1}
    assert first["at"] == "2026-03-01T09:00:00.000Z"
    assert bare(first) == {**where, "result": "sending", "info": None}
    assert bare(third) == {**where, "result": "delivered", "info": "[0] Delivered"}


def test_a_refusal_says_why() -> None:
    """The word, and a line for people that begins with the number."""
    world = make_world(account=AccountSpec(credit=0))
    message = send_one(world)
    advance(world)
    (refusal,) = entries(world, "refusal")
    assert refusal["order_sensitive"] is True
    assert last(world, "refusal") == {
        "message_id": message.id,
        "phone": PHONE,
        "channel": "sms",
        "attempt": 1,
        "why": "credit",
        "message": f"{PHONE}: sms rejected, the account's credit does not cover the price (§3.1)",
        "order_sensitive": True,
    }


def test_a_fallback_and_an_impossible_result_name_attempt_and_word() -> None:
    """Why the flow moved on from which attempt; which result could not be."""
    world = make_world(attempts=(rule(path("sending", "seen")),))
    message = send_one(world, steps=[step(ttl=30 * SECOND), step()])
    advance(world, HOUR)
    where = {"message_id": message.id, "phone": PHONE, "channel": "sms"}
    assert last(world, "fallback") == {**where, "attempt": 1, "why": "ttl"}
    assert last(world, "illegal") == {**where, "attempt": 2, "wanted": "seen"}


def test_a_postponed_message_says_until_when() -> None:
    """Which message waits, and for which instant."""
    world = make_world(assume=Assume(promotional_window=PromotionalHours(Window(None, 10 * 60, 20 * 60))))
    message = send_one(world)
    advance(world)
    assert last(world, "postponed") == {"message_id": message.id, "phone": PHONE, "until": "2026-03-01T10:00:00.000Z"}


def test_a_delivery_and_its_tries() -> None:
    """What travels where, and each try with its outcome, under the delivery's id."""
    world = make_world()
    message = send_one(world, callback=CALLBACK)
    advance(world, answer=lambda _: (503, None))
    name = world.outlets.id_of(world.outlets.deliveries[0])
    event = {"event": "sentMessage", "message_id": message.id, "phone": PHONE, "result": "sending"}
    assert last(world, "delivery") == {"delivery": name, "target": CALLBACK, "events": [event]}
    assert last(world, "try") == {"delivery": name, "target": CALLBACK, "number": 1, "status": 503, "error": None}
    assert delivery_view(world, world.outlets.deliveries[0]) == {
        "id": name,
        "target": CALLBACK,
        "method": "POST",
        "at": "2026-03-01T09:00:00.000Z",
        "state": "waiting",
        "events": [event],
        "tries": [{"at": "2026-03-01T09:00:00.000Z", "status": 503, "error": None}],
    }


def test_the_built_in_receiver_is_called_hook() -> None:
    """Its address is nobody's business."""
    world = make_world()
    send(world)
    advance(world)
    assert last(world, "delivery")["target"] == "hook"


def test_what_a_phone_writes() -> None:
    """Channel, from, to, body, and the message that it answers; lost without a target."""
    world = make_world(account=AccountSpec(default_callback_url=""))
    message = send_one(world, steps=[step(sender="Acme")])
    advance(world, HOUR)
    assert last(world, "no_target") == {"message_id": message.id, "phone": PHONE, "channel": "sms", "attempt": 1}
    Messaging.of(world).phones.reply(message, "YES")
    written = {"channel": "sms", "from": PHONE, "to": "Acme", "body": "YES", "message_id": message.id}
    assert last(world, "inbound") == written
    assert last(world, "no_target") == written
    Messaging.of(world).phones.write("sms", OTHER, None, "Hello")
    assert last(world, "inbound")["message_id"] is None


def test_what_the_owner_of_a_phone_does() -> None:
    """Acts, opting out with and without a message, clicks."""
    world = make_world()
    message = send_one(world, body="see https://acme.example now", shortening=Shortening())
    advance(world, HOUR)
    Messaging.of(world).phones.go_offline(PHONE)
    assert last(world, "phone") == {"phone": PHONE, "act": "offline"}
    Messaging.of(world).phones.opt_out(OTHER)
    assert last(world, "opt_out") == {"phone": OTHER, "message_id": None}
    Messaging.of(world).phones.reply(message, "stop")
    assert last(world, "opt_out") == {"phone": PHONE, "message_id": message.id}
    link = Messaging.of(world).phones.click(message)
    assert last(world, "click") == {"url": link.url, "message_id": message.id, "phone": PHONE}


def test_what_lapses() -> None:
    """A link by its address, a conversation by its phone, at the instant at which it ended."""
    world = make_world()
    message = send_one(world, body="https://acme.example", shortening=Shortening())
    advance(world)
    Messaging.of(world).phones.write("chatapp", OTHER, None, "Hello")
    advance(world, 9 * 24 * HOUR)
    conversation, link = entries(world, "lapse")
    assert (conversation["at"], bare(conversation)) == (
        "2026-03-02T09:00:00.000Z",
        {"what": "conversation", "phone": OTHER},
    )
    assert (link["at"], bare(link)) == (
        "2026-03-08T09:00:00.000Z",
        {"what": "link", "url": message.reactions.links[0][0].url},
    )


def test_what_the_scenario_brings() -> None:
    """An entry of `timeline` is shown as it is written."""
    written = {"channel": "sms", "from": OTHER, "to": "420900000001", "body": "Hello"}
    world = make_world(timeline=(TimelineEntry(0, True, "inbound", written),))
    advance(world)
    assert last(world, "timeline") == {"entry": {"kind": "inbound", **written}}


def test_a_request_with_its_remarks() -> None:
    """What came, what was answered, and what was remarked; bytes that are no text are shown as such."""
    world = make_world()
    record = asked(body=b"{\xff}", key=world.id, status=400, answer=b'{"Message":"bad"}')
    record.findings = [Finding("$", "json", "the body is no JSON", "§4")]
    record.kept_advice = [advise(UNKNOWN_FIELD, '"x" is not a field', "$.x")]
    world.request(record)
    assert last(world, "request") == {
        "operation": "sendMessage",
        "method": "POST",
        "path": "/v2/message",
        "key": world.id,
        "status": 400,
        "body": "{\ufffd}",
        "answer": '{"Message":"bad"}',
        "findings": [record.findings[0].as_json()],
        "advice": [record.advice[0].as_json()],
    }


def test_advice_says_what_it_is_about() -> None:
    """Advice that belongs to no request."""
    world = make_world()
    advice = advise(UNKNOWN_FIELD, '"x" is not a field', "$.x")
    world.advise(advice, PHONE)
    assert last(world, "advice") == {"advice": advice.as_json(), "about": PHONE}


@pytest.mark.parametrize("kind", ["opened", "reset", "restored", "control"])
def test_what_a_tester_does_is_shown_as_it_is(kind: str) -> None:
    """Details beside number, instant and kind, which no detail can hide."""
    world = make_world()
    world.journal.add(START, CODE[kind], {"what": "clock", "kind": "x", "at": 0, "n": 9})
    assert entries(world) == [{"n": 0, "at": "2026-03-01T09:00:00.000Z", "kind": kind, "what": "clock"}]
