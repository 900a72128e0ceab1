"""From hand-over to end: charge, decision, transitions, moves by hand (§1, §3.1)."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.durations import Span
from sendbox.engine.rules.rule import When
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume, Prices, Timing
from sendbox.services.limits import TEST_NUMBER
from sendbox.services.messaging.channels import (
    CODES,
    DELIVERED,
    FAILED,
    REJECTED,
    STATES,
    UNDELIVERED,
    IllegalTransition,
)
from sendbox.services.messaging.events import info_of
from sendbox.services.messaging.flow import NotHandedOver
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Recipient
from sendbox.services.messaging.records import Message
from sendbox.services.messaging.rules.rules import Click, Path, Reply
from tests.core.worlds import (
    HOUR,
    PHONE,
    advance,
    command,
    journaled,
    make_world,
    moves,
    path,
    results,
    rule,
    send,
    send_one,
    step,
)

CZECH, GERMAN, FREEPHONE = "420777000100", "491701234567", "80012345678"


def reached(message: Message) -> list[tuple[int, str]]:
    """(milliseconds since the start, result) of a message of one step."""
    return [(at, result) for at, _, result in moves(message)]


# --- charge (A61)

PRICES = Prices({("sms", "420"): (2, 50), ("sms", ""): (3, 70), ("richmsg", ""): (5, 90)})


@pytest.mark.parametrize(
    ("number", "flow", "expected"),
    [
        pytest.param(CZECH, step(), (2, 50), id="country and channel"),
        pytest.param(GERMAN, step(), (3, 70), id="any other country"),
        pytest.param(CZECH, step("richmsg"), (5, 90), id="another channel"),
        pytest.param(CZECH, step(body="x" * 161), (4, 100), id="times segments"),
    ],
)
@pytest.mark.parametrize("currency", ["EUR", "CZK"])
def test_a61_the_price_is_by_country_channel_and_segments(
    number: str, flow: Any, expected: tuple[int, int], currency: Any
) -> None:
    """An attempt has its price in both currencies; the account pays in its own, at the hand-over."""
    world = make_world(account=AccountSpec(currency=currency, credit=1_000), assume=Assume(prices=PRICES))
    message = send_one(world, number, steps=[flow])
    assert Account.of(world).balance == 1_000
    advance(world)
    assert message.last is not None
    assert message.last.price == expected
    cost = expected[currency == "CZK"]
    assert (Account.of(world).balance, Account.of(world).spent) == (1_000 - cost, cost)


def test_a61_the_built_in_table_has_a_price_for_every_number() -> None:
    """Without prices of the scenario the built-in ones hold, also for numbers of no country."""
    world = make_world()
    for number in (CZECH, FREEPHONE):
        message = send_one(world, number)
        advance(world)
        assert message.last is not None
        assert min(message.last.price or (0, 0)) > 0


def test_a61_each_step_tried_is_charged_and_nothing_given_back() -> None:
    """Both steps of a flow are paid, though the first one ended badly."""
    world = make_world(assume=Assume(prices=PRICES), attempts=(rule("failed"),))
    message = send_one(world, steps=[step("richmsg"), step()])
    advance(world, HOUR)
    assert results(message)[-1] == (2, "failed")
    assert Account.of(world).spent == 5 + 2


def test_s3_1_a_rejected_message_costs_nothing() -> None:
    """What a rule rejects is never handed over, so it is not charged, whenever it happens."""
    world = make_world(attempts=(rule(path(("rejected", 5_000, "[131042] Payment"))),))
    message = send_one(world)
    advance(world, HOUR)
    assert reached(message) == [(5_000, "rejected")]
    assert message.last is not None
    assert info_of(message.last, REJECTED) == "[131042] Payment"
    assert (message.last.price, message.last.count, Account.of(world).spent) == (None, 0, 0)


def test_s7_3_credit_is_spent_to_the_last_and_never_below() -> None:
    """Of three messages two can be paid; the third is rejected with [307] and costs nothing."""
    world = make_world(account=AccountSpec(credit=5), assume=Assume(prices=PRICES))
    messages = send(world, "420777000101", "420777000102", "420777000103")
    advance(world, HOUR)
    assert [message.result for message in messages] == ["delivered", "delivered", "rejected"]
    assert (Account.of(world).balance, Account.of(world).spent) == (1, 4)


def test_a13_what_a_request_costs_is_known_beforehand() -> None:
    """Whether the account can pay the first steps of all valid recipients, in its own currency."""
    two = command(CZECH, GERMAN, steps=[step(), step("richmsg")])
    two.recipients = [*two.recipients, Recipient("nonsense", False)]
    for currency, cost in [("EUR", 5), ("CZK", 120)]:
        for credit in (cost * 2 - 1, cost * 2):
            account = AccountSpec(currency=currency, credit=credit)  # type: ignore[arg-type]
            world = make_world(account=account, assume=Assume(prices=PRICES))
            assert Messaging.of(world).can_pay([two, two], Account.of(world).keys[world.id]) is (credit == cost * 2)


@pytest.mark.parametrize("setting", ["off", "on"])
def test_a89_the_test_number_costs_nothing(setting: Any) -> None:
    """With `test_number: on` no credit is needed for it; the other numbers of the call need theirs."""
    world = make_world(account=AccountSpec(credit=2), assume=Assume(prices=PRICES, test_number=setting))
    key = Account.of(world).keys[world.id]
    for numbers, payable in [((TEST_NUMBER,) * 2, setting == "on"), ((CZECH, TEST_NUMBER), setting == "on")]:
        assert Messaging.of(world).can_pay([command(*numbers)], key) is payable
    assert not Messaging.of(world).can_pay([command(CZECH, CZECH, TEST_NUMBER)], key)


# --- paths and timing (A63)

SMS = {
    "sending": [(0, "sending")],
    "sent": [(0, "sending"), (1_000, "sent")],
    "delivered": [(0, "sending"), (1_000, "sent"), (3_000, "delivered")],
    "seen": [(0, "sending"), (1_000, "sent"), (3_000, "delivered")],
    "undelivered": [(0, "sending"), (1_000, "sent"), (3_000, "undelivered")],
    "rejected": [(0, "rejected")],
    "failed": [(0, "sending"), (1_000, "failed")],
}
READABLE = SMS | {"seen": [(0, "sending"), (1_000, "sent"), (3_000, "delivered"), (8_000, "seen")]}


@pytest.mark.parametrize("channel", ["sms", "richmsg"])
@pytest.mark.parametrize("goal", SMS)
def test_a63_the_default_path_to_each_result(goal: str, channel: str) -> None:
    """A rule that names a result gets the default path and timing to it; sms, which nobody sees, ends delivered."""
    world = make_world(attempts=(rule(goal),))
    message = send_one(world, steps=[step(channel)])
    advance(world, HOUR)
    assert reached(message) == (SMS if channel == "sms" else READABLE)[goal]
    assert message.last is not None
    assert message.last.plan is None


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param((), id="no rules"),
        pytest.param((rule("failed", when=When(channel=("richmsg",))),), id="none fits"),
        pytest.param((rule(replies=(Reply(Span(0, 0), "Hi"),)),), id="one that leaves the path out"),
    ],
)
def test_what_no_rule_decides_is_delivered(rules: Any) -> None:
    """Nobody's say about the path means the default path to `delivered`."""
    world = make_world(attempts=rules)
    message = send_one(world)
    advance(world, HOUR)
    assert reached(message) == SMS["delivered"]


def test_a63_timing_can_be_set() -> None:
    """The times of the default path are settings, that of `sending` too."""
    timing = Timing(sending=10, sent=20, delivered=30, seen=40)
    world = make_world(assume=Assume(timing=timing), attempts=(rule("seen"),))
    message = send_one(world, steps=[step("richmsg")])
    advance(world, HOUR)
    assert reached(message) == [(10, "sending"), (30, "sent"), (60, "delivered"), (100, "seen")]


def test_entries_of_a_path_count_from_the_one_before() -> None:
    """A path is walked entry by entry, with its own infos."""
    way = path("sending", ("sent", 2_000), ("undelivered", 30_000, "[1] Absent"))
    world = make_world(attempts=(rule(way),))
    message = send_one(world)
    advance(world, HOUR)
    assert reached(message) == [(0, "sending"), (2_000, "sent"), (32_000, "undelivered")]
    assert message.last is not None
    assert [info_of(message.last, code) for code in (UNDELIVERED, FAILED)] == ["[1] Absent", "[3] Failed"]


def test_an_empty_path_leaves_a_message_accepted() -> None:
    """A path without entries is handed over and nothing more is heard of it."""
    world = make_world(attempts=(rule(Path()),))
    message = send_one(world)
    advance(world, HOUR)
    assert (message.result, Account.of(world).spent > 0, world.idle) == ("accepted", True, True)


def test_s3_1_seen_applies_to_readable_channels_only() -> None:
    """A path with `seen` ends before it on sms; the journal names what was left out."""
    way = path("sending", "sent", "delivered", ("seen", 5_000))
    world = make_world(attempts=(rule(way),))
    sms, rich = send_one(world), send_one(world, steps=[step("richmsg")])
    advance(world, HOUR)
    assert (sms.result, rich.result) == ("delivered", "seen")
    ((at, (attempt, wanted)),) = journaled(world, "illegal")
    assert (at, attempt, wanted) == (5_000, sms.last, "seen")
    assert sms.last is not None
    assert sms.last.plan is None


def test_a25_what_is_not_legal_is_left_out_with_all_after_it() -> None:
    """`delivered` cannot follow `sending`: the path ends there, and `undelivered` after it does not come either."""
    world = make_world(attempts=(rule(path("sending", "delivered", "sent")),))
    message = send_one(world)
    advance(world, HOUR)
    assert reached(message) == [(0, "sending")]


def test_a25_an_illegal_path_happens_where_its_rule_says_so() -> None:
    """With `illegal: true` the table is bypassed, and the journal says where."""
    way = path("delivered", ("sent", 1_000), ("delivered", 1_000))
    world = make_world(attempts=(rule(way, illegal=True),))
    message = send_one(world)
    advance(world, HOUR)
    assert reached(message) == [(0, "delivered"), (1_000, "sent"), (2_000, "delivered")]
    assert [(at, what[1]) for at, what in journaled(world, "illegal")] == [(0, "delivered"), (1_000, "sent")]


def test_recipients_of_a_request_go_in_their_order() -> None:
    """At one instant, the recipients of a request come one after another, and requests in order of acceptance."""
    world = make_world()
    messages = [*send(world, "420777000101", "420777000102"), send_one(world, "420777000103")]
    advance(world, HOUR)
    for result in ("sending", "sent", "delivered"):
        assert [attempt.message for _, attempt in journaled(world, result)] == messages


def test_the_journal_marks_what_depended_on_arrival() -> None:
    """Every transition of a decision that went by arrival is marked order-sensitive, and no other."""
    world = make_world(attempts=(rule("sent", times=1), rule("sending", key="rest")))
    first = send_one(world)
    second = send_one(world, steps=[step("richmsg")])
    advance(world, HOUR)
    marked = [world.journal.subject[entry] for entry in sorted(world.journal.order_sensitive)]
    assert marked == [first.last, second.last, first.last]
    clean = make_world(attempts=(rule("sent"),))
    send_one(clean)
    advance(clean, HOUR)
    assert clean.journal.order_sensitive == set()


# --- replies and clicks are planned from `delivered`


def test_a_rule_plans_replies_and_a_click_from_delivered() -> None:
    """Replies and the click of a rule come so long after `delivered`, however it came about."""
    talkative = rule(
        replies=(Reply(Span(5_000, 5_000), "YES"), Reply(Span(9_000, 9_000), "NO")), click=(Click(Span(7_000, 7_000)),)
    )
    world = make_world(attempts=(talkative, rule("sent", key="path", when=When(nth=2))))
    by_rule, by_hand = send_one(world), send_one(world)
    advance(world, 4_000)
    Messaging.of(world).simulator.move_by_hand(by_hand, "delivered", None)
    advance(world, HOUR)
    heard = [(at, what.message, what.body) for at, what in journaled(world, "inbound")]
    assert heard == [
        (8_000, by_rule, "YES"),
        (9_000, by_hand, "YES"),
        (12_000, by_rule, "NO"),
        (13_000, by_hand, "NO"),
    ]


# --- by hand


def test_by_hand_the_current_attempt_moves_and_its_plan_is_dropped() -> None:
    """The rest of the plan does not happen; the info given is the event's."""
    world = make_world()
    message = send_one(world)
    advance(world, 1_000)
    Messaging.of(world).simulator.move_by_hand(message, "undelivered", "[1] By hand")
    advance(world, HOUR)
    assert reached(message) == [(0, "sending"), (1_000, "sent"), (1_000, "undelivered")]
    assert message.last is not None
    assert info_of(message.last, UNDELIVERED) == "[1] By hand"


@pytest.mark.parametrize("wanted", [*STATES, "nonsense"])
@pytest.mark.parametrize(
    ("channel", "state", "legal"),
    [
        pytest.param("sms", "sending", ("sent", "failed"), id="sms, sending"),
        pytest.param("sms", "sent", ("delivered", "undelivered", "failed"), id="sms, sent"),
        pytest.param("sms", "delivered", (), id="sms, delivered"),
        pytest.param("richmsg", "delivered", ("seen",), id="richmsg, delivered"),
        pytest.param("richmsg", "sent", ("delivered", "seen", "undelivered", "failed"), id="richmsg, sent"),
        pytest.param("sms", "rejected", (), id="rejected"),
    ],
)
def test_a25_by_hand_only_what_is_legal(channel: str, state: str, legal: tuple[str, ...], wanted: str) -> None:
    """What the table allows happens; anything else raises, names what is legal, and changes nothing."""
    world = make_world(attempts=(rule(state),))
    message = send_one(world, steps=[step(channel)])
    advance(world, HOUR)
    if wanted in legal:
        Messaging.of(world).simulator.move_by_hand(message, wanted, None)
        assert message.last is not None
        assert message.last.state == CODES[wanted]
        return
    before = reached(message)
    with pytest.raises(IllegalTransition) as raised:
        Messaging.of(world).simulator.move_by_hand(message, wanted, None)
    assert raised.value.legal == legal
    assert reached(message) == before


def test_by_hand_nothing_moves_before_the_hand_over() -> None:
    """A message that waits has no attempt: nothing is legal, and the error says what to do."""
    world = make_world()
    message = send_one(world)
    with pytest.raises(NotHandedOver) as raised:
        Messaging.of(world).simulator.move_by_hand(message, "sending", None)
    assert raised.value.legal == ()
    assert str(raised.value) == (
        f'"{message.id}" was not handed over yet, it has no result to move; move the clock first (§3.1)'
    )
    advance(world, HOUR)
    assert message.last is not None
    assert message.last.state == DELIVERED


def test_by_hand_a_bad_end_moves_the_flow_on() -> None:
    """A bad end by hand is one like any other: the next step begins when the clock is next moved (A04)."""
    world = make_world(attempts=(rule("sending"),))
    message = send_one(world, steps=[step("richmsg"), step()])
    advance(world)
    Messaging.of(world).simulator.move_by_hand(message, "failed", None)
    assert results(message) == [(1, "sending"), (1, "failed")]
    advance(world)
    assert results(message)[-1] == (2, "sending")


def test_phones_and_prices_are_of_the_number_sent_to() -> None:
    """The operator of an attempt handed over is one of the phone's country."""
    world = make_world()
    message = send_one(world, PHONE)
    advance(world)
    assert message.last is not None
    assert message.last.mnc in (1, 2, 3)
