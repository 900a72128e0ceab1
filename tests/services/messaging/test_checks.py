"""What refuses an attempt at its hand-over, in which order, and what that ends (§1, §7.3; A61, A62, A83)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sendbox.engine.durations import Rate
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume
from sendbox.services.messaging.channels import REJECTED
from sendbox.services.messaging.events import info_of
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import PhoneSpec, Shortening, Step
from sendbox.services.templates.templates import TemplateUse
from tests.core.worlds import HOUR, PHONE, advance, journaled, make_world, results, rule, send_one, step

OTHER = "420777000200"
NO_APPS = PhoneSpec(Pattern(PHONE, digits=True), channels=frozenset({"sms"}))
APPS_ONLY = PhoneSpec(Pattern(PHONE, digits=True), channels=frozenset({"richmsg", "chatapp"}))


def template(status: str = "APPROVED") -> dict[str, Any]:
    """A template without variables."""
    return {
        "name": "t",
        "language": "en",
        "category": "UTILITY",
        "status": status,
        "components": [{"type": "BODY", "text": "Hello"}],
    }


def by_template() -> Step:
    """A step by that template."""
    return step("chatapp_template", None, template=TemplateUse("t", "en"))


def why(world: World) -> list[str]:
    """The words of all refusals so far."""
    return [what[1] for _, what in journaled(world, "refusal")]


ENDING: list[Any] = [
    pytest.param({}, "nonsense", "number", "[302] Invalid phone number format", id="302 number"),
    pytest.param(
        {"assume": Assume(allowed=("42060*",))},
        PHONE,
        "allowed",
        "[303] Phone number is not in allowed list",
        id="303 allowed (A83)",
    ),
    pytest.param(
        {"account": AccountSpec(blacklist=frozenset({PHONE}))},
        PHONE,
        "blacklist",
        "[304] Phone number is blacklisted or opted-out",
        id="304 blacklist",
    ),
    pytest.param(
        {"account": AccountSpec(optout=frozenset({PHONE}))},
        PHONE,
        "optout",
        "[304] Phone number is blacklisted or opted-out",
        id="304 opt-out",
    ),
    pytest.param({"account": AccountSpec(credit=1)}, PHONE, "credit", "[307] Insufficient credit", id="307 credit"),
]


@pytest.mark.parametrize(("blueprint", "number", "word", "info"), ENDING)
def test_a62_what_concerns_the_recipient_ends_the_message(
    blueprint: dict[str, Any], number: str, word: str, info: str
) -> None:
    """It is rejected with its code, nothing is charged, and no further step is tried, with a TTL or without."""
    world = make_world(**blueprint)
    balance = Account.of(world).balance
    message = send_one(world, number, steps=[step(ttl=30_000), step("richmsg")])
    advance(world, HOUR)
    assert results(message) == [(1, "rejected")]
    assert message.last is not None
    assert info_of(message.last, REJECTED) == info
    assert why(world) == [word]
    assert (Account.of(world).balance, Account.of(world).spent) == (balance, 0)
    assert (message.last.price, message.last.count, message.last.mnc) == (None, 0, 0)


STEP_ONLY: list[Any] = [
    pytest.param(
        {"account": AccountSpec(senders={"richmsg": frozenset({"Else"})})},
        step("richmsg"),
        "sender",
        id="richmsg sender",
    ),
    pytest.param({"account": AccountSpec(senders={})}, step("chatapp_text"), "sender", id="chatapp sender"),
    pytest.param(
        {"account": AccountSpec(senders={}), "assume": Assume(sms_sender="strict")},
        step(sender="Nobody"),
        "sender",
        id="sms sender, strict (A59)",
    ),
    pytest.param({"phones": (NO_APPS,)}, step("richmsg"), "channel", id="no rich-message app"),
    pytest.param({"phones": (NO_APPS,)}, step("chatapp_text"), "channel", id="no messaging app"),
    pytest.param({"phones": (NO_APPS,)}, by_template(), "channel", id="no messaging app, template"),
    pytest.param({"phones": (APPS_ONLY,)}, step(), "channel", id="no sms"),
    pytest.param({}, step("chatapp_text"), "conversation", id="no open conversation"),
    pytest.param({}, by_template(), "template-unknown", id="template unknown"),
    pytest.param(
        {"account": AccountSpec(templates=(template("PENDING"),))},
        by_template(),
        "template-not-approved",
        id="template not approved",
    ),
]


@pytest.mark.parametrize("failing", ["at_once", "ttl"])
@pytest.mark.parametrize(("blueprint", "first", "word"), STEP_ONLY)
def test_a62_what_concerns_a_step_moves_the_flow_on_at_once(
    blueprint: dict[str, Any], first: Step, word: str, failing: Any
) -> None:
    """The step is rejected without a code of its own and without a charge; the next one begins at the same instant."""
    assume: Assume = blueprint.get("assume", Assume())
    blueprint = {**blueprint, "assume": Assume(sms_sender=assume.sms_sender, fallback_on_failure=failing)}
    world = make_world(**blueprint)
    last = step("richmsg") if first.channel == "sms" and "phones" in blueprint else step()
    message = send_one(world, steps=[first, last])
    advance(world)
    assert results(message) == [(1, "rejected"), (2, "sending")]
    refused = message.attempts[0]
    assert info_of(refused, REJECTED) == "[2] Rejected"
    assert (refused.price, Account.of(world).spent) == (None, (message.attempts[1].price or (0, 0))[0])
    assert why(world) == [word]
    assert [what[1] for _, what in journaled(world, "fallback")] == ["refused"]


def test_a62_the_last_step_refused_ends_rejected() -> None:
    """Without a further step a refused one is the message's end."""
    world = make_world(phones=(NO_APPS,))
    message = send_one(world, steps=[step("richmsg")])
    advance(world, HOUR)
    assert message.result == "rejected"
    assert world.idle


def test_a_long_flow_of_refused_steps_is_walked_through() -> None:
    """However many steps are refused one after another, the flow reaches the one that is not."""
    world = make_world(phones=(NO_APPS,))
    message = send_one(world, steps=[step("richmsg")] * 1_500 + [step()])
    advance(world)
    assert len(message.attempts) == 1_501
    assert message.result == "sending"


ACCEPTED_SENDERS: list[Any] = [
    pytest.param(AccountSpec(senders={}), step(sender="Nobody"), Assume(), id="sms is lenient (A59)"),
    pytest.param(AccountSpec(senders={}), step(), Assume(sms_sender="strict"), id="strict, no sender named"),
    pytest.param(
        AccountSpec(senders={"sms": frozenset({"Acme"})}), step(sender="Acme"), Assume(sms_sender="strict"), id="strict"
    ),
    pytest.param(
        AccountSpec(senders={}, numbers=frozenset({"420900000001"})),
        step(sender="420900000001"),
        Assume(sms_sender="strict"),
        id="strict, a number of the account",
    ),
    pytest.param(AccountSpec(senders={"richmsg": frozenset({"Acme"})}), step("richmsg"), Assume(), id="richmsg"),
    pytest.param(AccountSpec(senders="any"), step("richmsg", sender="Whoever"), Assume(), id="any"),
    pytest.param(
        AccountSpec(senders={"chatapp": frozenset({"109876543210987"})}, templates=(template(),)),
        by_template(),
        Assume(),
        id="chatapp, an approved template",
    ),
]


@pytest.mark.parametrize(("account", "first", "assume"), ACCEPTED_SENDERS)
def test_a59_registered_senders_pass(account: AccountSpec, first: Step, assume: Assume) -> None:
    """A registered sender passes on its channel; an unregistered sms sender passes unless sms is strict."""
    world = make_world(account=account, assume=assume)
    message = send_one(world, steps=[first])
    advance(world)
    assert message.result == "sending"


# --- order

EVERYTHING = AccountSpec(blacklist=frozenset({PHONE}), optout=frozenset({PHONE}), credit=0, senders={})


def sent_before(world: World) -> None:
    """Takes a text of the phone through the checks once, as the first of two identical ones."""
    blacklist, optout, senders = Account.of(world).blacklist, Account.of(world).optout, Account.of(world).senders
    Account.of(world).blacklist, Account.of(world).optout, Account.of(world).senders = {}, {}, "any"
    Account.of(world).balance = 10**9
    send_one(world, steps=[step("richmsg", "Same")])
    advance(world, 10_000)
    Account.of(world).blacklist, Account.of(world).optout, Account.of(world).senders = blacklist, optout, senders
    Account.of(world).balance = 0


def test_a61_the_checks_are_asked_in_their_order() -> None:
    """Number, allowed, blacklist, opt-out, identical, sender, credit: with each lifted, the next one speaks up."""
    world = make_world(account=EVERYTHING, assume=Assume(allowed=("1*", PHONE), identical=Rate(1, HOUR)))
    sent_before(world)
    account = Account.of(world)

    def attempt(number: str = PHONE) -> str:
        message = send_one(world, number, steps=[step("richmsg", "Same")])
        advance(world)
        assert message.result == "rejected"
        return why(world)[-1]

    assert attempt("nonsense") == "number"
    assert attempt(OTHER) == "allowed"
    lifts: list[tuple[str, Callable[[], Any]]] = [
        ("blacklist", account.blacklist.clear),
        ("optout", account.optout.clear),
        ("identical", lambda: advance(world, HOUR)),
        ("sender", lambda: setattr(account, "senders", "any")),
        ("credit", lambda: None),
    ]
    for word, lift in lifts:
        assert attempt() == word
        lift()


@pytest.mark.parametrize(
    ("tags", "result"),
    [
        pytest.param(("promotional",), "rejected", id="the default tag"),
        pytest.param(("news", "promotional"), "rejected", id="among others"),
        pytest.param(("transactional",), "sending", id="transactional"),
        pytest.param(("news",), "sending", id="another tag"),
    ],
)
def test_s2_1_only_promotional_messages_ask_the_optout_list(tags: tuple[str, ...], result: str) -> None:
    """The opt-out list is asked if the tags contain `promotional` (A60)."""
    world = make_world(account=AccountSpec(optout=frozenset({PHONE})))
    message = send_one(world, tags=tags)
    advance(world)
    assert message.result == result


def test_the_blacklist_is_asked_whatever_the_tags() -> None:
    """A blacklisted number gets nothing, transactional messages included."""
    world = make_world(account=AccountSpec(blacklist=frozenset({PHONE})))
    message = send_one(world, tags=("transactional",))
    advance(world)
    assert message.result == "rejected"


@pytest.mark.parametrize("name", ["optout", "blacklist"])
@pytest.mark.parametrize(
    ("after", "result"), [pytest.param(999, "sending", id="before"), pytest.param(1_000, "rejected", id="in force")]
)
def test_a81_a_list_is_in_force_a_second_later(name: str, after: int, result: str) -> None:
    """An entry counts from its instant on, which is a second after it was made."""
    world = make_world()
    getattr(Account.of(world), name)[PHONE] = world.now + Assume.of(world).list_delay
    getattr(Account.of(world), name)[OTHER] = 0
    advance(world, after)
    message = send_one(world)
    advance(world)
    assert message.result == result


def test_a61_scheduled_messages_are_checked_at_their_hand_over() -> None:
    """A number that is listed after acceptance and before the hand-over is refused."""
    world = make_world()
    message = send_one(world, at=world.now + HOUR)
    advance(world, HOUR - 1)
    Account.of(world).blacklist[PHONE] = 0
    advance(world, 1)
    assert results(message) == [(1, "rejected")]


def test_a61_each_further_step_is_checked_anew() -> None:
    """A number that is listed while the first step runs refuses the second."""
    world = make_world(attempts=(rule("sent"),))
    message = send_one(world, steps=[step("richmsg", ttl=60_000), step()])
    advance(world, 59_999)
    Account.of(world).blacklist[PHONE] = 0
    advance(world, 1)
    assert results(message) == [(1, "sending"), (1, "sent"), (2, "rejected")]


@pytest.mark.parametrize(
    ("allowed", "number", "result"),
    [
        pytest.param(None, OTHER, "sending", id="not set"),
        pytest.param(("4207770001??",), PHONE, "sending", id="a pattern"),
        pytest.param(("1*", OTHER), OTHER, "sending", id="the second one"),
        pytest.param(("4207770001??",), OTHER, "rejected", id="not among them"),
        pytest.param((), PHONE, "rejected", id="none is allowed"),
    ],
)
def test_a83_allowed_are_the_numbers_that_match(allowed: tuple[str, ...] | None, number: str, result: str) -> None:
    """Where `allowed` is set, a number must match one of its patterns."""
    world = make_world(assume=Assume(allowed=allowed))
    message = send_one(world, number)
    advance(world)
    assert message.result == result


# --- identical texts


def test_a83_too_many_identical_messages_are_refused() -> None:
    """The third of two allowed within an hour is refused; an hour after the first, one more passes."""
    world = make_world(assume=Assume(identical=Rate(2, HOUR)))
    found = []
    for wait in (0, 60_000, 60_000, HOUR - 120_001, 1, 0):
        advance(world, wait)
        found.append(send_one(world))
        advance(world)
    assert [message.result == "rejected" for message in found] == [False, False, True, True, False, True]
    last = found[2].last
    assert last is not None
    assert info_of(last, REJECTED) == "[306] Too many identical messages for the same recipient"


@pytest.mark.parametrize(
    "second",
    [
        pytest.param({"body": "Else"}, id="another text"),
        pytest.param({"numbers": (OTHER,)}, id="another phone"),
        pytest.param({"body": "See https://b.example", "shortening": Shortening()}, id="another link"),
    ],
)
def test_a83_only_the_same_text_to_the_same_phone_is_identical(second: dict[str, Any]) -> None:
    """Another text, another recipient or another link behind the short one makes another message."""
    world = make_world(assume=Assume(identical=Rate(1, HOUR)))
    send_one(world, body="See https://a.example", shortening=Shortening())
    message = send_one(world, *second.pop("numbers", ()), **{"body": "See https://a.example"} | second)
    advance(world)
    assert message.result == "sending"


def test_a83_steps_of_one_message_are_not_identical_messages() -> None:
    """A flow that falls back with the same text is one message, and counts once."""
    world = make_world(assume=Assume(identical=Rate(1, HOUR)), attempts=(rule("failed"),))
    message = send_one(world, steps=[step("richmsg"), step()])
    advance(world, 60_000)
    assert results(message)[-2:] == [(2, "sending"), (2, "failed")]


@pytest.mark.parametrize(
    "blueprint",
    [
        pytest.param({"account": AccountSpec(credit=36_000)}, id="credit"),
        pytest.param({"phones": (APPS_ONLY,)}, id="handset"),
        pytest.param({"attempts": (rule("rejected", times=1),)}, id="a rule"),
    ],
)
def test_a83_only_what_was_handed_over_counts(blueprint: dict[str, Any]) -> None:
    """A text that was refused for another reason may be sent again."""
    world = make_world(assume=Assume(identical=Rate(1, HOUR)), **blueprint)
    dear = "x" * 200
    first = send_one(world, body=dear)
    advance(world)
    assert first.result == "rejected"
    Account.of(world).balance = 10**9
    Messaging.of(world).phones.has = lambda number, family: True  # type: ignore[method-assign]
    second = send_one(world, body=dear)
    advance(world)
    assert second.result == "sending"


def test_refusals_that_messages_compete_for_are_marked() -> None:
    """Credit and identical texts go by arrival: their refusals are order-sensitive, a bad number is not."""
    world = make_world(account=AccountSpec(credit=36_000), assume=Assume(identical=Rate(1, HOUR)))
    for number, body in [("nonsense", "a"), (PHONE, "a"), (PHONE, "a"), (OTHER, "a")]:
        send_one(world, number, body=body)
    advance(world)
    marked = [world.journal.subject[entry][1] for entry in sorted(world.journal.order_sensitive)]
    assert why(world) == ["number", "identical", "credit"]
    assert marked == ["identical", "credit"]
