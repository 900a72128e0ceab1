"""Validation sessions in a world: their SMS, codes, limits and proofs (§3.2, §4.5, §8; A47 to A54, A72 to A74).

Long because it holds every guarantee of the sessions, by section.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sendbox.engine.commands.record import RequestRecord
from sendbox.engine.durations import Rate, iso
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.keys import Key
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume, Prices, PromotionalHours, Proof, VerifyLimits
from sendbox.services.limits import TEST_NUMBER
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.rules.conditions import Payload
from sendbox.services.messaging.rules.rules import Rule
from sendbox.services.messaging.views import message_view, phone_view
from sendbox.services.verify.rules import RANDOM, VerifyRule
from sendbox.services.verify.session import Session, code_view
from sendbox.services.verify.verify import LimitReached, Verify
from sendbox.services.windows import Window
from tests.core.asked import asked
from tests.core.observed import digest, entry_view
from tests.core.worlds import (
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
    step,
)
from tests.tiers import DEEP, examples

OTHER = "420777000102"
MINUTE = 60_000
CODED = (VerifyRule("known", code="123456"),)
SECRET = AccountSpec(verification_secret="s3cret")


def begin(world: World, phone: str = PHONE, **payload: Any) -> Session:
    """Begins a session."""
    return Verify.of(world).create(
        phone, payload, Account.of(world).keys[world.id], b'{"phoneNumber":"%s"}' % phone.encode(), ""
    )


def begun(world: World, phone: str = PHONE) -> str | None:
    """Begins a session; the limit that refused it, None when none did."""
    try:
        begin(world, phone)
    except LimitReached as reached:
        return reached.scope
    return None


@pytest.mark.parametrize("setting", ["off", "on"])
def test_a89_no_code_is_right_for_the_test_number(setting: Any) -> None:
    """With `test_number: on` its session stays pending, because its code is not sent; a code is a wrong one."""
    world = make_world(verify=CODED, assume=Assume(test_number=setting))
    session = begin(world, TEST_NUMBER)
    advance(world, MINUTE)
    outcome = Verify.of(world).submit(session, session.code)
    after = (outcome, session.state_at(world.now), session.attempts)
    assert after == (("wrong", "pending", 1) if setting == "on" else ("verified", "verified", 0))


def events(world: World) -> list[tuple[int, str, str]]:
    """(milliseconds since the start, event, state after it) of every session's entries."""
    return [(at, event, state) for at, (_, event, state) in journaled(world, "validation")]


# --- the SMS


def test_s4_5_a_code_goes_out_as_an_sms() -> None:
    """§4.5, A73: the code travels to the phone, from `Verify`, is charged, and has neither webhook nor callback."""
    world = make_world(verify=CODED)
    session = begin(world, brand="Acme")
    credit = Account.of(world).balance
    assert (session.state_at(world.now), Messaging.of(world).phones.inbox(PHONE)) == ("pending", [])
    advance(world, MINUTE)
    (arrived,) = phone_view(world, PHONE)["conversation"]
    assert (arrived["from"], arrived["body"]) == ("Verify", "Your verification code is 123456")
    assert Account.of(world).balance < credit
    assert world.outlets.deliveries == []
    assert journaled(world, "no_target") == []
    assert session.state_at(world.now) == "code_sent"
    assert events(world) == [(0, "created", "pending"), (3_000, "code_arrived", "code_sent")]
    view = message_view(world, Messaging.of(world).by_id[session.message.id])
    assert (view["operation"], view["payload"], view["tags"]) == (
        "createValidation",
        {"brand": "Acme"},
        ["transactional"],
    )


@pytest.mark.parametrize(
    ("world", "why"),
    [
        (make_world(account=AccountSpec(credit=0)), "credit"),
        (make_world(account=AccountSpec(blacklist=frozenset({PHONE}))), "blacklist"),
        (make_world(phones=(handset(channels=frozenset({"richmsg"})),)), "channel"),
    ],
    ids=["credit", "blacklist", "no-sms"],
)
def test_s3_2_a_refused_sms_leaves_the_session_pending(world: World, why: str) -> None:
    """§3.2, A73: the SMS is rejected, no webhook is sent, the session stays pending, and its code still counts."""
    session = begin(world)
    advance(world, MINUTE)
    assert session.message.result == "rejected"
    assert [word for _, (_, word) in journaled(world, "refusal")] == [why]
    assert session.state_at(world.now) == "pending"
    assert world.outlets.deliveries == []
    assert Verify.of(world).submit(session, session.code) == "verified"


def test_an_sms_that_is_not_for_the_opted_out_is_sent_all_the_same() -> None:
    """A73: opt-out, promotional hours and the normal queue are not asked, and `Verify` needs no registration."""
    world = make_world(
        account=AccountSpec(optout=frozenset({PHONE}), senders={}),
        assume=Assume(
            sms_sender="strict", promotional_window=PromotionalHours(Window(None, 0, 1)), queue=Rate(1, HOUR)
        ),
    )
    send(world, OTHER, tags=("a",))
    session = begin(world)
    advance(world, MINUTE)
    assert session.message.result == "delivered"


def test_a_client_may_not_borrow_the_sender() -> None:
    """A59: a message of the client's own from `Verify` needs its registration."""
    world = make_world(account=AccountSpec(senders={}), assume=Assume(sms_sender="strict"))
    (message,) = send(world, steps=[step(sender="Verify")])
    advance(world, MINUTE)
    assert message.result == "rejected"


@pytest.mark.parametrize("where", ["webhook", "response"])
def test_s7_3_a_number_of_seven_digits_is_not_a_phone(where: Any) -> None:
    """§4.5 takes seven digits, §7.3 does not: the session begins, its SMS is rejected with [302]."""
    world = make_world(assume=Assume(invalid_number=where))
    session = begin(world, "1234567")
    advance(world, MINUTE)
    assert session.message.result == "rejected"
    assert message_view(world, Messaging.of(world).by_id[session.message.id])["attempts"][0]["refused"] == "number"


def test_a_number_is_taken_as_it_is() -> None:
    """§4.5: the country code is included, so nothing is added to nine digits."""
    world = make_world()
    assert begin(world, "777000123").message.phone == "777000123"


@pytest.mark.parametrize(
    ("verify", "attempts", "front", "expected"),
    [
        ((), (), None, ("delivered", [])),
        ((), (rule("failed", key="f", when=When(operation=("createValidation",))),), None, ("failed", ["f"])),
        ((), (rule("failed", key="f", when=When(operation=("sendMessage",))),), None, ("delivered", [])),
        ((VerifyRule("v", sms="undelivered"),), (rule("failed", key="f"),), None, ("undelivered", ["v"])),
        ((VerifyRule("v", sms="sent"),), (rule("failed", key="f"),), rule("rejected", key="r"), ("rejected", ["r"])),
        (
            (VerifyRule("v", When(phone=Pattern(OTHER)), sms="sent"),),
            (rule("failed", key="f"),),
            None,
            ("failed", ["f"]),
        ),
    ],
    ids=["no-rule", "attempts", "another-operation", "verify-wins", "the-testers-own-wins", "another-phone"],
)
def test_the_sms_can_be_steered(
    verify: tuple[VerifyRule, ...], attempts: tuple[Rule, ...], front: Rule | None, expected: tuple[str, list[str]]
) -> None:
    """A73: by rules of attempts that ask its operation, by `verify:`, and by a rule that control put in front."""
    world = make_world(verify=verify, attempts=attempts)
    if front is not None:
        Messaging.of(world).attempts.put_rule(front)
    session = begin(world)
    advance(world, MINUTE)
    (attempt,) = message_view(world, Messaging.of(world).by_id[session.message.id])["attempts"]
    assert (session.message.result, attempt["rules"]) == expected


def test_a_rule_may_ask_the_payload() -> None:
    """The texts that a client adds are what `payload` of a rule looks at."""
    when = When(payload=Payload(((("brand",), "Acme"),)))
    world = make_world(attempts=(rule("failed", when=when),))
    acme, other = begin(world, brand="Acme"), begin(world, brand="Other")
    advance(world, MINUTE)
    assert [acme.message.result, other.message.result] == ["failed", "delivered"]


@pytest.mark.parametrize(
    ("at", "act", "expected"),
    [
        (2 * MINUTE, "right", "verified"),
        (2 * MINUTE, "wrong", "failed"),
        (12 * MINUTE, None, "expired"),
    ],
)
def test_an_sms_that_comes_after_the_end_changes_nothing(at: int, act: str | None, expected: str) -> None:
    """§3.2: a session that ended before its SMS arrived stays what it is."""
    late = rule(path("sending", ("sent", 1_000), ("delivered", 11 * MINUTE)))
    world = make_world(attempts=(late,), verify=CODED)
    session = begin(world)
    advance(world, MINUTE)
    for _ in range(6 if act else 0):
        Verify.of(world).submit(session, "123456" if act == "right" else "000000")
    advance(world, at + 12 * MINUTE)
    assert session.message.result == "delivered"
    assert session.state_at(world.now) == session.recorded == expected


# --- codes


def test_s3_2_six_wrong_codes_end_a_session_for_good() -> None:
    """§3.2, §8, A72: 5 to 0 attempts are left, then nothing is taken any more, the right code neither."""
    world = make_world(verify=CODED)
    session = begin(world)
    advance(world, MINUTE)
    left = []
    for _ in range(6):
        assert Verify.of(world).submit(session, "000000") == "wrong"
        left.append(session.remaining)
    assert left == [5, 4, 3, 2, 1, 0]
    assert [Verify.of(world).submit(session, code) for code in ("000000", "123456")] == ["exhausted", "exhausted"]
    assert session.attempts == 6
    advance(world, HOUR)
    assert Verify.of(world).submit(session, "123456") == "exhausted"
    assert events(world)[-2:] == [(MINUTE, "code_wrong", "code_sent"), (MINUTE, "attempts_used_up", "failed")]
    assert journaled(world, "lapse") == []


@pytest.mark.parametrize(("wrong", "expected"), [(5, "verified"), (6, "exhausted")])
def test_s8_the_sixth_attempt_may_be_the_right_one(wrong: int, expected: str) -> None:
    """§8: six attempts, and the right code counts at the sixth."""
    world = make_world(verify=CODED)
    session = begin(world)
    for _ in range(wrong):
        Verify.of(world).submit(session, "000000")
    assert Verify.of(world).submit(session, "123456") == expected


@pytest.mark.parametrize(("ms", "expected"), [(599_999, "verified"), (600_000, "expired"), (600_001, "expired")])
def test_s8_a_code_is_valid_for_ten_minutes(ms: int, expected: str) -> None:
    """§3.2, §8, A72: the last millisecond counts, and from 600 s on the session is expired."""
    world = make_world(verify=CODED)
    session = begin(world)
    advance(world, ms)
    assert Verify.of(world).submit(session, "123456") == expected
    assert session.attempts == 0


def test_expiry_is_a_lapse() -> None:
    """It is journaled when the clock passes it, and never pulls the clock."""
    world = make_world()
    session = begin(world)
    advance(world, MINUTE)
    assert world.timeline.next_due() is None
    advance(world, HOUR)
    ((at, lapse),) = journaled(world, "lapse")
    assert (at, lapse) == (600_000, ("code", session))
    view = entry_view(world, len(world.journal) - 1)
    assert (view["what"], view["phone"], view["token"]) == ("code", PHONE, session.token)


def test_verified_again_is_verified() -> None:
    """A72: the right code is the same 200 for ever, a wrong one is wrong and uses nothing."""
    world = make_world(verify=CODED)
    session = begin(world)
    assert Verify.of(world).submit(session, "123456") == "verified"
    advance(world, HOUR)
    assert Verify.of(world).submit(session, "123456") == "verified"
    assert Verify.of(world).submit(session, "000000") == "wrong"
    assert (session.verified_at, session.remaining) == (START, 6)
    assert [event for _, event, _ in events(world)] == ["created", "code_confirmed"]


def test_sessions_of_a_number_are_independent() -> None:
    """A72: each has its own code, attempts and end."""
    world = make_world()
    first, second = begin(world), begin(world)
    assert first.code != second.code
    assert first.token != second.token
    for _ in range(6):
        Verify.of(world).submit(first, "x")
    assert Verify.of(world).submit(second, second.code) == "verified"
    assert first.state_at(world.now) == "failed"
    assert list(Verify.of(world).sessions_of(PHONE)) == [first, second]
    assert Verify.of(world).sessions_of(OTHER) == ()


def test_a_session_belongs_to_its_key() -> None:
    """Whoever did not begin it does not find it."""
    world = make_world()
    session = begin(world)
    assert Verify.of(world).find(session.token, Account.of(world).keys[world.id]) is session
    assert Verify.of(world).find(session.token, Key("test-w~other")) is None
    assert Verify.of(world).find("0" * 64, Account.of(world).keys[world.id]) is None


def test_a_token_carries_the_tag_of_its_world() -> None:
    """64 hex digits (A47), of which the first 16 lead to the world; no two worlds share one."""
    one, other = make_world("test-a"), make_world("test-b")
    tokens = [begin(world).token for world in (one, one, other)]
    assert [len(bytes.fromhex(token)) for token in tokens] == [32, 32, 32]
    assert [token[:16] for token in tokens] == [one.tag, one.tag, other.tag]
    assert len(set(tokens)) == 3


def test_what_a_tester_sees_of_a_code() -> None:
    """Everything about a session, its code first of all."""
    world = make_world(verify=(VerifyRule("known", code="123456", name="known"),))
    session = begin(world, brand="Acme")
    Verify.of(world).submit(session, "000000")
    Verify.of(world).submit(session, "123456")
    assert code_view(session, world.now) == {
        "token": session.token,
        "phone": PHONE,
        "code": "123456",
        "state": "verified",
        "sms": "accepted",
        "message_id": session.message.id,
        "attempts": 1,
        "attempts_remaining": 5,
        "created_at": "2026-03-01T09:00:00.000Z",
        "expires_at": "2026-03-01T09:10:00.000Z",
        "verified_at": "2026-03-01T09:00:00.000Z",
        "payload": {"brand": "Acme"},
        "rules": ["known"],
    }
    assert phone_view(world, PHONE)["codes"] == [code_view(session, world.now)]


# --- answers of the phone


def test_an_answer_to_a_code_reaches_no_client() -> None:
    """A73: it is an answer to the service's own message; what a phone writes is an answer to the client's newest."""
    world = make_world()
    (message,) = send(world)
    session = begin(world)
    advance(world, MINUTE)
    before = len(world.outlets.deliveries)
    Messaging.of(world).phones.reply(Messaging.of(world).by_id[session.message.id], "YES")
    advance(world)
    assert len(world.outlets.deliveries) == before
    assert journaled(world, "no_target") == []
    assert Messaging.of(world).phones.write("sms", PHONE, None, "Hello").message is message


# --- rules


def test_rules_of_control_stand_in_front() -> None:
    """A rule that is put there decides about codes to come, stays through a change of scenario, and can be dropped."""
    world = make_world(verify=CODED)
    put = Verify.of(world).book.put_rule(VerifyRule("mine", code="111111"))
    second = Verify.of(world).book.put_rule(VerifyRule("mine", When(phone=Pattern(OTHER)), code="222222"))
    assert [begin(world, phone).code for phone in (PHONE, OTHER)] == ["111111", "222222"]
    Verify.of(world).book.set_rules((VerifyRule("new", code="333333"),))
    assert Verify.of(world).book.drop_rule(second)
    assert begin(world, OTHER).code == "111111"
    assert Verify.of(world).book.drop_rule(put)
    assert not Verify.of(world).book.drop_rule(put)
    assert begin(world).code == "333333"


# --- limits


@pytest.mark.parametrize(("ms", "expected"), [(59_000, "account"), (59_999, "account"), (60_000, None), (61_000, None)])
def test_s8_the_account_has_a_rolling_limit(ms: int, expected: str | None) -> None:
    """§8, A53: 100 sessions within any minute; the hundred-and-first waits until the first is a minute old."""
    world = make_world()
    for number in range(100):
        assert begun(world, str(420777100000 + number)) is None
    assert begun(world) == "account"
    advance(world, ms)
    assert begun(world) == expected


@pytest.mark.parametrize(("ms", "expected"), [(599_000, "number"), (599_999, "number"), (600_000, None)])
def test_s8_a_number_has_a_rolling_limit(ms: int, expected: str | None) -> None:
    """§8, A53: five sessions of one number within any ten minutes; others are not concerned."""
    world = make_world()
    assert [begun(world) for _ in range(6)] == [None] * 5 + ["number"]
    assert begun(world, OTHER) is None
    advance(world, ms)
    assert begun(world) == expected


def test_the_window_rolls() -> None:
    """It is not the clock's minute: sessions leave it one by one."""
    world = make_world(assume=Assume(verify_limits=VerifyLimits(None, Rate(2, MINUTE))))
    limits = []
    for _ in range(8):
        limits.append(begun(world))
        advance(world, 20_000)
    assert limits == [None, None, "number", None, None, "number", None, None]


def test_a_refused_session_counts_nowhere() -> None:
    """A session that a limit refuses takes no place in either, draws no code, sends nothing, and is order-sensitive."""
    world = make_world(assume=Assume(verify_limits=VerifyLimits(Rate(2, MINUTE), Rate(1, MINUTE))))
    assert [begun(world), begun(world), begun(world)] == [None, "number", "number"]
    assert begun(world, OTHER) is None
    assert begun(world, "420777000103") == "account"
    assert len(Messaging.of(world).messages) == len(Verify.of(world).sessions) == 2
    refused = list(world.journal.numbers(frozenset({"limited"})))
    assert set(refused) <= world.journal.order_sensitive
    assert [entry_view(world, n)["limit"] for n in refused] == ["number", "number", "account"]


def test_a_limit_that_is_free_again_lapses_once() -> None:
    """However often it refused, its end is journaled once, and does not pull the clock."""
    world = make_world(assume=Assume(verify_limits=VerifyLimits(Rate(1, MINUTE), None)))
    assert [begun(world) for _ in range(3)] == [None, "account", "account"]
    advance(world, 2 * MINUTE)
    assert [(at, kind) for at, (kind, _) in journaled(world, "lapse")] == [(MINUTE, "account_limit")]
    assert begun(world) is None


@pytest.mark.parametrize("limits", [VerifyLimits(None, None), VerifyLimits(None, Rate(200, MINUTE))])
def test_limits_can_be_off(limits: VerifyLimits) -> None:
    """A53: no limit, or only one."""
    world = make_world(assume=Assume(verify_limits=limits))
    assert {begun(world) for _ in range(150)} == {None}


def test_limits_can_be_off_for_a_number() -> None:
    """A53: a number without limits is refused by none, and takes nothing from the account's."""
    world = make_world(
        verify=(VerifyRule("free", When(phone=Pattern(OTHER)), limited=False),),
        assume=Assume(verify_limits=VerifyLimits(Rate(3, HOUR), Rate(2, HOUR))),
    )
    assert {begun(world, OTHER) for _ in range(20)} == {None}
    assert [begun(world) for _ in range(3)] == [None, None, "number"]


def test_the_words_of_a_limit() -> None:
    """The message begins with whose limit it is, and says which."""
    world = make_world(assume=Assume(verify_limits=VerifyLimits(Rate(2, MINUTE), Rate(1, 90_000))))
    begin(world)
    with pytest.raises(
        LimitReached, match=rf"^{PHONE} began 1 validations within 1m30s, the most that are allowed \(A53\)$"
    ):
        begin(world)
    begin(world, OTHER)
    with pytest.raises(LimitReached, match=r"^the account began 2 validations within 1m, "):
        begin(world, "420777000103")


# --- proofs


def test_s5_5_a_proof_of_a_session() -> None:
    """§4.5, §5.5: an account with a secret has proofs; one holds for its session once that was verified (A50)."""
    world = make_world(account=SECRET, verify=CODED)
    session, other = begin(world), begin(world)
    proof = Verify.of(world).proof(session)
    assert proof is not None
    assert not Verify.of(world).verifies(session, proof)
    Verify.of(world).submit(session, "123456")
    Verify.of(world).submit(other, "123456")
    assert Verify.of(world).verifies(session, proof)
    assert not Verify.of(world).verifies(session, "0" * 64)
    assert not Verify.of(world).verifies(other, proof)
    advance(world, 48 * HOUR)
    assert Verify.of(world).verifies(session, proof)


def test_s5_5_without_a_secret_there_is_no_proof() -> None:
    """§5.5: no secret, no proof; nothing can be confirmed then."""
    world = make_world(verify=CODED)
    session = begin(world)
    Verify.of(world).submit(session, "123456")
    assert Verify.of(world).proof(session) is None
    assert not Verify.of(world).verifies(session, "")
    assert Verify.of(world).check(Verify.of(world).values(session), "") == "invalid"


@pytest.mark.parametrize(
    ("ms", "expected"), [(0, "valid"), (24 * HOUR, "valid"), (24 * HOUR + 1, "expired"), (25 * HOUR, "expired")]
)
def test_s4_5_a_proof_without_state_is_good_for_a_day(ms: int, expected: str) -> None:
    """§4.5, A51: up to 24 hours after its timestamp, on the world's clock; the session is not asked."""
    world = make_world(account=SECRET, assume=Assume(proof=Proof(encoding="base64")))
    session = begin(world)
    proof = Verify.of(world).proof(session) or ""
    advance(world, ms)
    assert Verify.of(world).check(Verify.of(world).values(session), proof) == expected
    assert Verify.of(world).check({**Verify.of(world).values(session), "code": "x"}, proof) == "invalid"


def test_a_timestamp_that_is_none() -> None:
    """Who has the secret can sign anything; what is not an instant is not valid."""
    from sendbox.services.verify.session import sign_proof

    world = make_world(account=SECRET)
    values = {"phoneNumber": PHONE, "token": "t", "code": "123456", "timestamp": "yesterday"}
    assert Verify.of(world).check(values, sign_proof("s3cret", values, Proof())) == "invalid"
    ahead = values | {"timestamp": iso(START + HOUR)}
    assert Verify.of(world).check(ahead, sign_proof("s3cret", ahead, Proof())) == "valid"


# --- properties

ACTS = st.lists(
    st.tuples(st.sampled_from([PHONE, OTHER, "420777000103"]), st.integers(0, 400_000), st.integers(0, 7)), max_size=12
)


def play(world: World, acts: list[tuple[str, int, int]]) -> World:
    """Sessions at their instants, each with so many wrong codes and then the right one."""
    for phone, after, wrong in acts:
        advance(world, after)
        if begun(world, phone) is None:
            session = Verify.of(world).sessions_of(phone)[-1]
            for _ in range(wrong):
                Verify.of(world).submit(session, "x")
            world.request(called(world, session))
            Verify.of(world).submit(session, session.code)
    advance(world, HOUR)
    return world


def called(world: World, session: Session) -> RequestRecord:
    """The call by which a code is submitted."""
    where = f"/v1/validations/{session.token}/verify"
    return asked("verifyCode", path=where, key=world.id, answer=b"")


@settings(max_examples=examples(10))
@given(ACTS)
def test_two_worlds_agree(acts: list[tuple[str, int, int]]) -> None:
    """Worlds of other names have other tokens, the same codes, and equal digests."""
    one, other = play(make_world("test-a"), acts), play(make_world("test-b"), acts)
    assert digest(one) == digest(other)
    assert not Verify.of(one).sessions.keys() & Verify.of(other).sessions.keys()
    assert [s.code for s in Verify.of(one).sessions.values()] == [s.code for s in Verify.of(other).sessions.values()]


@settings(max_examples=examples(10))
@given(ACTS, ACTS)
def test_the_future_is_the_same_after_a_restore(
    before: list[tuple[str, int, int]], after: list[tuple[str, int, int]]
) -> None:
    """Sessions, limits and draws go on where they stood."""
    rules = (VerifyRule("drawn", When(phone=Pattern(PHONE)), code=RANDOM, sms="sent"),)
    world, restored = (play(make_world(verify=rules), before) for _ in range(2))
    go_back(restored)
    assert Verify.of(restored).book.rules[0] is rules[0]
    play(world, after)
    play(restored, after)
    assert digest(world) == digest(restored)
    assert list(Verify.of(world).sessions) == list(Verify.of(restored).sessions)


@settings(max_examples=examples(10))
@given(ACTS, st.integers(1 if DEEP else 500, 50_000))
def test_one_step_or_many(acts: list[tuple[str, int, int]], size: int) -> None:
    """However time is cut, the same lapses and transitions come; in a deep run also millisecond by millisecond."""

    def cut(world: World, by: int) -> None:
        for _ in range(by // size):
            advance(world, size)
        advance(world, by % size)

    straight, pieces = make_world(), make_world()
    for world, move in ((straight, advance), (pieces, cut)):
        for phone, after, wrong in acts[:3]:
            move(world, after)
            begun(world, phone)
            del wrong
        move(world, 700_000)
    assert digest(straight) == digest(pieces)


def test_a_token_of_no_session_stays_in_the_digest() -> None:
    """A path with a token that this world never gave out is another request."""
    worlds = [make_world() for _ in range(3)]
    for world, token in zip(worlds, ("0" * 64, "0" * 64, "1" * 64), strict=True):
        where = f"/v1/validations/{token}"
        world.request(asked("checkProof", method="PATCH", path=where, key=world.id, status=404, answer=b""))
    first, second, third = map(digest, worlds)
    assert first == second != third


def test_prices_hold_for_codes() -> None:
    """A73: the SMS costs what an SMS to that country costs."""
    prices = Prices({("sms", "420"): (40_000, 1_000_000)})
    world = make_world(account=AccountSpec(credit=100_000), assume=Assume(prices=prices))
    sessions = [begin(world) for _ in range(3)]
    advance(world, MINUTE)
    assert [session.message.result for session in sessions] == ["delivered", "delivered", "rejected"]
    assert Account.of(world).balance == 20_000
