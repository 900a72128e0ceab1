"""Partner management in the core: signups, accounts, numbers, and what is told about them (§4.3, §6).

Long because it goes through every step of a signup and every way in which one can end.
"""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest

from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.delivery.batches import body_of
from sendbox.engine.delivery.targets import Outlets
from sendbox.engine.draws import Chooser
from sendbox.engine.durations import Span
from sendbox.engine.lifecycle import IllegalMove
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.services import limits
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume
from sendbox.services.messaging import views
from sendbox.services.messaging.channels import ROWS
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import Failure, Signup
from sendbox.services.partner.rules import BusinessSpec, NumberSpec, PartnerSpec, SignupRule, Signups
from sendbox.services.partner.views import business_view, signup_view, template_view
from tests.core.clients import OWN, connect, form, partner_world, send_template, sign_up
from tests.core.observed import digest
from tests.core.worlds import HOOK, HOUR, START, advance, go_back, hook_events, journaled, make_world, send_one, step

WABA = "102030405060708"
SENDER = "109876543210987"
#: A client that is there from the start.
THERE = BusinessSpec(WABA, "Bakery", "bakery", (NumberSpec(OWN, SENDER), NumberSpec("420777000556")))


def told(world: World) -> list[dict[str, Any]]:
    """The notifications made so far."""
    return [orjson.loads(body_of(world, delivery)) for delivery in world.outlets.deliveries]


def states(signup: Signup, world: World) -> list[str]:
    """The states that the journal has of a signup."""
    return [entry.fields["status"] for _, entry in journaled(world, "signup") if entry.signup is signup]


# --- the hosted steps


def test_s4_3_the_way_through_the_page() -> None:
    """§4.3, A46: opened, the number confirmed by the code that came to it, finished: all is connected."""
    world = partner_world()
    signup = sign_up(world, name="Acme", country="SK")
    partner = Partner.of(world)
    partner.open(signup)
    partner.open(signup)  # again: nothing new
    partner.give_number(signup, "777 000 555", {"name": "", "website": "https://acme.example"})
    assert signup.phone_number == OWN
    assert signup.details == {"name": "Acme", "country": "SK", "website": "https://acme.example"}
    assert signup.code is not None
    partner.confirm(signup, f" {signup.code} ")
    partner.finish(signup)
    assert states(signup, world) == ["created", "opened", "number_verified", "completed"]
    assert signup.account is not None
    assert signup.number is not None
    assert (signup.account.name, signup.account.country, signup.account.currency) == ("Acme", "SK", "EUR")
    assert (len(signup.account.id), len(signup.number.id)) == (15, 15)
    assert (signup.number.status, signup.number.quality, signup.number.sends) == ("CONNECTED", "GREEN", True)


def test_a24_each_state_is_told_as_one_object() -> None:
    """A24: one POST a state, an object, with what is known by then."""
    world = partner_world()
    account, number = connect(world)
    world.run(START, 1000)
    assert told(world) == [
        {"partner_client_id": "acme", "status": "created"},
        {"partner_client_id": "acme", "status": "opened"},
        {"partner_client_id": "acme", "status": "number_verified", "phone_number": OWN},
        {
            "partner_client_id": "acme",
            "status": "completed",
            "chatapp_id": account.id,
            "phone_number_id": number.id,
            "phone_number": OWN,
        },
    ]
    assert len({world.outlets.id_of(delivery) for delivery in world.outlets.deliveries}) == 4
    (event,) = world.outlets.deliveries[0].events
    assert world.events[type(event)].case(event).kind == "partnerOnboarding"


def test_a21_notifications_are_signed_like_other_webhooks() -> None:
    """A21: the secret of the key signs them; the built-in receiver shows them among its events."""
    world = make_world(account=AccountSpec(default_callback_secret="s"))
    signup = Partner.of(world).sign_up("manual", None, {}, "", Account.of(world).keys[world.id], b"{}")
    assert signup.outlet is not None
    assert signup.outlet.target.secret == "s"
    advance(world, 0)
    assert hook_events(world) == [{"partner_client_id": None, "status": "created"}]


def test_a41_the_code_is_on_the_phone() -> None:
    """The code comes to the number's phone, where the handset shows it; sent again it is another one."""
    world = partner_world()
    signup = sign_up(world)
    Partner.of(world).open(signup)
    Partner.of(world).give_number(signup, OWN, {})
    first = signup.code
    Partner.of(world).resend_code(signup)
    advance(world, 0)
    conversation = views.phone_view(world, OWN)["conversation"]
    assert [entry["body"][:6] for entry in conversation] == [first, signup.code]
    assert first != signup.code
    assert conversation[0]["from"] == "Chatapp"


def test_a_number_can_be_taken_back() -> None:
    """Another number may be given until one was confirmed."""
    world = partner_world()
    signup = sign_up(world)
    Partner.of(world).open(signup)
    Partner.of(world).give_number(signup, OWN, {})
    Partner.of(world).change_number(signup)
    assert (signup.phone_number, signup.code) == (None, None)
    with pytest.raises(Failure, match="no code was sent yet"):
        Partner.of(world).resend_code(signup)
    with pytest.raises(Failure, match='"123456" is not the code'):
        Partner.of(world).confirm(signup, "123456")


@pytest.mark.parametrize(
    ("raw", "quoted"), [(None, ""), ("12", "12"), ("420777OO0600", "420777OO0600"), ("4207770006*", "4207770006*")]
)
def test_a_number_that_is_none(raw: str | None, quoted: str) -> None:
    """A text that cannot be normalized is no number (§7.3), and the error shows all of it."""
    world = partner_world()
    signup = sign_up(world)
    Partner.of(world).open(signup)
    with pytest.raises(Failure, match=rf'"{re.escape(quoted)}" is (not a phone number: |a pattern where one)'):
        Partner.of(world).give_number(signup, raw, {})


def test_a_number_belongs_to_one_client() -> None:
    """A number that is connected cannot be brought again, and who was slower fails."""
    world = partner_world()
    slow = sign_up(world, client="slow")
    Partner.of(world).open(slow)
    Partner.of(world).give_number(slow, OWN, {})
    Partner.of(world).confirm(slow, slow.code or "")
    connect(world)
    Partner.of(world).finish(slow)
    assert (slow.state, slow.reason) == ("failed", f'"{OWN}" is a number of a connected business account already')
    other = sign_up(world, client="other")
    Partner.of(world).open(other)
    with pytest.raises(Failure, match="is a number of a connected business account already"):
        Partner.of(world).give_number(other, OWN, {})


def test_steps_in_the_wrong_order() -> None:
    """A step that is not due is refused with the state that it needs."""
    world = partner_world()
    signup = sign_up(world)
    with pytest.raises(Failure, match="the signup is created, and must be opened for this"):
        Partner.of(world).give_number(signup, OWN, {})
    with pytest.raises(Failure, match="must be number_verified"):
        Partner.of(world).finish(signup)
    Partner.of(world).fail(signup, "changed my mind")
    assert (signup.state, signup.reason) == ("failed", "changed my mind")
    with pytest.raises(Failure, match="the signup is failed already"):
        Partner.of(world).fail(signup, None)
    Partner.of(world).open(signup)
    assert signup.state == "failed"


def test_all_that_is_left_in_one_act() -> None:
    """`complete` goes on from wherever the client is."""
    world = partner_world()
    waiting, confirmed = sign_up(world, client="a"), sign_up(world, client="b")
    for number, signup in enumerate((waiting, confirmed)):
        Partner.of(world).open(signup)
        Partner.of(world).give_number(signup, f"42077700060{number}", {})
    Partner.of(world).confirm(confirmed, confirmed.code or "")
    for signup in (waiting, confirmed):
        Partner.of(world).complete(signup)
        assert signup.state == "completed"


# --- modes


def test_s4_3_preassign() -> None:
    """§4.3: a number of the pool is promised at once, needs no code, and is the same in every world."""
    world, other = partner_world("test-a"), partner_world("test-b")
    signup, twin = sign_up(world, "preassign", country="SK"), sign_up(other, "preassign", country="SK")
    assert signup.phone_number is not None
    assert signup.phone_number.startswith("4219")
    assert signup.phone_number == twin.phone_number
    assert signup.id != twin.id
    again = sign_up(world, "preassign", country="SK")
    assert again.phone_number != signup.phone_number
    Partner.of(world).complete(signup)
    assert signup.number is not None
    assert signup.number.phone_number == signup.phone_number


def test_the_pool_gives_no_number_twice() -> None:
    """Where two draws meet, the next one is taken."""
    world = partner_world()
    signup = sign_up(world, "preassign")
    del Partner.of(world).signups[signup.id]
    key = signup.name
    Partner.of(world).signups["other"] = signup  # promised to somebody else
    from sendbox.services.partner.partner import pick_from_pool

    assert pick_from_pool(Partner.of(world)._promised, world.chooser, "420", key) != signup.phone_number


def test_s4_3_assigned() -> None:
    """§4.3: the client's pre-assigned number, else a number of the account that is free; else a failure."""
    world = make_world(account=AccountSpec(numbers=frozenset({"420900000001"})))
    promised = sign_up(world, "preassign")
    assert sign_up(world, "assigned").phone_number == promised.phone_number
    first = sign_up(world, "assigned", client="other")
    assert first.phone_number == "420900000001"
    Partner.of(world).complete(first)
    with pytest.raises(Failure, match='no number is assigned to "other"'):
        sign_up(world, "assigned", client="other")
    with pytest.raises(Failure, match="no number is assigned to this client"):
        sign_up(world, "assigned", client=None)


# --- scenario


def test_signups_are_counted_like_all_cases() -> None:
    """A signup that is asked about again has the place that it had, and is decided as before."""
    rules = [SignupRule("first", When(nth=1)), SignupRule("second", When(nth=2)), SignupRule("once", times=1)]
    book = Signups(rules, Chooser(b"7"), 0)
    assert [book.of(ordinal, None, "manual", 0)[0].key for ordinal in (0, 0, 1, 2, 3, 1, 2)] == [
        "first",
        "first",
        "second",
        "once",
        "signup",
        "second",
        "once",
    ]


def test_the_scenario_delays_and_fails_signups() -> None:
    """A rule of `partner.signup` says how long the provider takes, and how it ends."""
    rules = (
        SignupRule("bad", When(client=Pattern("bad*")), result="failed", reason="refused"),
        SignupRule("pool", When(mode="preassign"), after=Span(1000, 2000)),
        SignupRule("slow", after=Span(5000, 5000)),
    )
    world = partner_world(signups=rules)
    bad, slow, drawn = sign_up(world, client="bad-1"), sign_up(world), sign_up(world, "preassign")
    for signup in (bad, slow, drawn):
        Partner.of(world).complete(signup, OWN)
    assert (bad.state, bad.reason, slow.state, slow.finishing) == ("failed", "refused", "number_verified", True)
    assert (bad.legal, slow.legal) == ([], ["fail"])
    with pytest.raises(Failure, match="the signup is being finished"):
        Partner.of(world).finish(slow)
    with pytest.raises(Failure, match="the signup is being finished already"):
        Partner.of(world).register(slow, WABA, None, None)
    advance(world, 2000)
    assert (drawn.state, slow.state) == ("completed", "number_verified")
    Partner.of(world).fail(slow, None)
    advance(world, 5000)
    assert slow.state == "failed"


def test_accounts_that_are_there_from_the_start() -> None:
    """`partner.accounts` connects clients before anything happens; their ids are the scenario's."""
    offline = NumberSpec("420777000557", "5", "Spare", "OFFLINE", "UNKNOWN")
    world = partner_world(accounts=(THERE, BusinessSpec("7", numbers=(offline,))))
    numbers = Partner.of(world).numbers_of(Partner.of(world).accounts[WABA])
    assert next((number.id, number.name, number.status) for number in numbers) == (SENDER, "Bakery", "CONNECTED")
    assert business_view(world, Partner.of(world).accounts["7"]) == {
        "chatapp_id": "7",
        "name": "Client",
        "partner_client_id": None,
        "currency": "EUR",
        "country": "CZ",
        "template_analytics": False,
        "numbers": [
            {
                "phone_number_id": "5",
                "chatapp_id": "7",
                "phone_number": "420777000557",
                "name": "Spare",
                "status": "OFFLINE",
                "quality": "UNKNOWN",
                "legal": ["CONNECTED"],
            }
        ],
    }


def test_the_timeline_moves_templates_and_numbers() -> None:
    """`template` and `number` of the timeline; what the tables forbid is left out, and the journal says so."""
    otp = {"name": "otp", "language": "en", "category": "UTILITY", "status": "APPROVED", "components": []}
    entries = (
        TimelineEntry(1000, True, "number", {"phone_number": "420777*", "quality": "RED"}),
        TimelineEntry(2000, True, "number", {"phone_number": OWN, "status": "PENDING"}),
        TimelineEntry(3000, True, "template", {"name": "o*", "status": "PAUSED", "reason": "complaints"}),
        TimelineEntry(4000, True, "template", {"name": "otp", "language": "en", "status": "PAUSED"}),
        TimelineEntry(5000, True, "template", {"name": "otp", "language": "cs", "status": "APPROVED"}),
    )
    world = make_world(timeline=entries, partner=PartnerSpec(accounts=(THERE,)), account=AccountSpec(templates=(otp,)))
    advance(world, 10_000)
    assert {number.status for number in Partner.of(world).numbers.values()} == {"FLAGGED"}
    (record,) = Account.of(world).templates
    assert (record["status"], template_view(world, record)["reason"]) == ("PAUSED", "complaints")
    refused = [
        change["refused"]
        for kind in ("number", "template")
        for _, change in journaled(world, kind)
        if "refused" in change
    ]
    assert [text.partition(";")[0] for text in refused] == [
        '"PENDING" does not follow "FLAGGED" of a number',
        '"PAUSED" does not follow "PAUSED" of a template',
    ]
    assert digest(world) != digest(make_world())


# --- registration


def test_a39_registration_completes_a_signup() -> None:
    """A39: any `waba_id` becomes the account's; the number has the id that was given, or one of its own."""
    world = partner_world()
    first, second, third = sign_up(world, client="a"), sign_up(world, client="b"), sign_up(world, client="a", name="x")
    number = Partner.of(world).register(first, "waba-1", "777", None)
    assert (number.id, number.account_id, first.state) == ("777", "waba-1", "completed")
    assert number.phone_number.startswith("4209")
    with pytest.raises(Failure, match='"777" is a number of another business account'):
        Partner.of(world).register(second, "waba-2", "777", None)
    with pytest.raises(Failure, match='"waba-1" is the business account of another client'):
        Partner.of(world).register(second, "waba-1", None, "CZ")
    polish = Partner.of(world).register(third, "waba-1", None, "PL")
    assert polish.phone_number.startswith("489")
    assert len(Partner.of(world).numbers_of(Partner.of(world).accounts["waba-1"])) == 2
    promised = sign_up(world, "preassign", client="c")
    assert Partner.of(world).register(promised, "waba-3", None, "PL").phone_number == promised.phone_number
    with pytest.raises(Failure, match="the signup is completed already"):
        Partner.of(world).register(first, "waba-1", None, "CZ")


def test_registration_by_a_rule_that_fails() -> None:
    """The scenario refuses a registration as it refuses a signup."""
    world = partner_world(signups=(SignupRule("bad", result="failed"),))
    signup = sign_up(world, "preassign")
    with pytest.raises(Failure, match="The provider refused the registration"):
        Partner.of(world).register(signup, WABA, None, "CZ")
    assert signup.state == "failed"


# --- expiry


def test_s8_a_signup_expires_after_an_hour() -> None:
    """§8, A46: at 3600 s the token is valid no more, the signup is expired, and the partner hears of it then."""
    world = partner_world()
    signup = sign_up(world)
    done = sign_up(world, "preassign")
    Partner.of(world).complete(done)
    advance(world, limits.TOKEN - 1)
    assert Partner.of(world).valid(signup)
    assert signup.state == "created"
    advance(world, 1)
    assert not Partner.of(world).valid(signup)
    assert (signup.state, done.state) == ("expired", "completed")
    assert signup_view(world, signup)["token_valid"] is False
    last = world.outlets.deliveries[-1]
    assert (last.made_at - START, orjson.loads(body_of(world, last))["status"]) == (limits.TOKEN, "expired")


def test_expiry_pulls_no_clock_and_waits_for_what_is_under_way() -> None:
    """A token is a lapse: nothing is due because of it; a signup that is being finished is not expired."""
    world = partner_world(signups=(SignupRule("slow", after=Span(2 * HOUR, 2 * HOUR)),))
    idle = sign_up(world)
    assert world.timeline.next_due() is None
    slow = sign_up(world, "preassign")
    Partner.of(world).complete(slow)
    advance(world, HOUR + 1)
    assert (idle.state, slow.state) == ("expired", "number_verified")
    advance(world, 2 * HOUR)
    assert slow.state == "completed"


def test_expiry_is_told_at_its_instant_however_the_clock_is_moved() -> None:
    """One step or many: the same deliveries at the same instants, the same digest."""
    straight, stepwise = partner_world("test-a"), partner_world("test-b")
    for world in (straight, stepwise):
        for number in range(3):
            sign_up(world, client=f"c{number}")
            advance(world, 60_000)
    advance(straight, 5 * HOUR)
    for _ in range(5):
        advance(stepwise, HOUR)
    assert [delivery.made_at for delivery in straight.outlets.deliveries] == [
        delivery.made_at for delivery in stepwise.outlets.deliveries
    ]
    assert digest(straight) == digest(stepwise)


def test_many_lapses_are_taken_in_slices() -> None:
    """A move past more lapses than one tick takes stops in between, and ends where it should."""
    world = partner_world()
    for number in range(1_100):
        sign_up(world, client=f"c{number}")
    world.run(START, 1000)
    world.outlets.waiting.clear()
    calls = 0
    while world.now < START + 2 * HOUR:
        world.run(START + 2 * HOUR, 1)
        world.outlets.waiting.clear()
        world.outlets.dirty.clear()
        calls += 1
    assert calls > 2
    assert {signup.state for signup in Partner.of(world).signups.values()} == {"expired"}


# --- numbers


def test_a41_verify_and_check() -> None:
    """A41: verify sends a code, new or given, to a number that waits or is connected; check wants a usable one."""
    world = partner_world(accounts=(THERE,))
    partner = Partner.of(world)
    signup = sign_up(world)
    partner.open(signup)
    partner.give_number(signup, "420777000600", {})
    partner.verify("777000600", "424242", None)
    assert signup.code == "424242"
    partner.verify(OWN, "1111", None)
    partner.verify("420777000600", None, signup)
    advance(world, 0)
    assert [(notice.phone, notice.body[:4]) for notice in partner.notices][1:3] == [
        ("420777000600", "4242"),
        (OWN, "1111"),
    ]
    partner.check(OWN, None)
    partner.move_number(partner.numbers[SENDER], "RESTRICTED", None)
    with pytest.raises(Failure, match="is RESTRICTED and cannot be used"):
        partner.check(OWN, None)
    with pytest.raises(Failure, match="is not the number of a connected business account"):
        partner.check("420777000999", None)
    with pytest.raises(Failure, match="is not the number of a connected business account"):
        partner.verify("12", None, None)
    with pytest.raises(Failure, match="is not the number"):
        partner.verify(OWN, None, signup)  # another client's


def test_a44_a_rating_moves_a_number() -> None:
    """A44: RED flags a connected number, a better rating takes the flag away; a status that is given wins."""
    world = partner_world(accounts=(THERE,))
    number = Partner.of(world).numbers[SENDER]
    states_seen = []
    for status, quality in (
        (None, "RED"), (None, "YELLOW"), ("FLAGGED", "GREEN"), (None, "RED"), ("OFFLINE", None), (None, "GREEN"),
    ):  # fmt: skip
        Partner.of(world).move_number(number, status, quality)
        states_seen.append((number.status, number.quality))
    assert states_seen == [
        ("FLAGGED", "RED"), ("CONNECTED", "YELLOW"), ("FLAGGED", "GREEN"), ("FLAGGED", "RED"), ("OFFLINE", "RED"),
        ("OFFLINE", "GREEN"),
    ]  # fmt: skip
    with pytest.raises(IllegalMove):
        Partner.of(world).move_number(number, "FLAGGED", None)


def test_a_number_that_may_not_send_is_no_sender() -> None:
    """A59, A44: a step from a number that is not connected is rejected, whatever the account's senders are."""
    world = partner_world(accounts=(THERE,))
    assert Account.of(world).registered(ROWS["chatapp_text"], SENDER)
    Partner.of(world).move_number(Partner.of(world).numbers[SENDER], "OFFLINE", None)
    message = send_one(world, steps=[step("chatapp_text", sender=SENDER)])
    advance(world, HOUR)
    assert message.result == "rejected"
    assert not Account.of(world).registered(ROWS["chatapp_text"], SENDER)


def test_a_client_reaches_its_own() -> None:
    """§5.3: a token's signup reaches the accounts of its client, and no other's."""
    world = partner_world(accounts=(THERE,))
    account, _ = connect(world, phone="420777000700")
    mine, same, other, nameless = (
        next(iter(Partner.of(world).signups.values())),
        sign_up(world),
        sign_up(world, client="other"),
        sign_up(world, client=None),
    )
    assert Partner.of(world).account(account.id, mine) is account
    assert Partner.of(world).account(account.id, same) is account
    for stranger in (other, nameless):
        with pytest.raises(Failure, match="is not a connected business account"):
            Partner.of(world).account(account.id, stranger)
    with pytest.raises(Failure, match='"none" is not'):
        Partner.of(world).account("none")


# --- restores and outcomes


def test_a_restore_has_the_same_future() -> None:
    """A world restored on the way goes on as the one that is not."""
    spec = PartnerSpec(signups=(SignupRule("slow", after=Span(1000, 9000)),), accounts=(THERE,))
    straight, taken = make_world(partner=spec), make_world(partner=spec)
    for world in (straight, taken):
        sign_up(world, client="late")
        Partner.of(world).complete(sign_up(world), "420777000600")
        Partner.of(world).templates.create(Partner.of(world).accounts[WABA], form())
        advance(world, 500)
    restored = go_back(taken)
    for world in (straight, restored):
        advance(world, 2 * HOUR)
    assert digest(straight) == digest(restored)
    assert [view(straight) for view in (_signups,)] == [view(restored) for view in (_signups,)]
    assert isinstance(restored.outlets, Outlets)


def _signups(world: World) -> list[Any]:
    return [signup_view(world, signup) for signup in Partner.of(world).signups.values()]


def test_the_digest_knows_no_names() -> None:
    """Two worlds in which the same happened agree, though every id that a client quotes differs."""
    outcomes = []
    for world_id in ("test-a", "test-b"):
        world = partner_world(world_id)
        account, number = connect(world)
        record = Partner.of(world).templates.create(account, form())
        advance(world, 10_000)
        message = send_template(world, number.id, content=orjson.dumps({"sender": number.id, "token": "eyJh.eyJz.c"}))
        advance(world, 10_000)
        Messaging.of(world).phones.reply(message, "Thanks")
        advance(world, 10_000)
        outcomes.append((digest(world), number.id, Partner.of(world).templates.id_of(record)))
    assert outcomes[0][0] == outcomes[1][0]
    assert not set(outcomes[0][1:]) & set(outcomes[1][1:])


def test_assumptions_of_partner_are_settings() -> None:
    """A41, A43: the settings and their defaults."""
    assert (Assume().template_review, Assume().verify_code_required) == (10_000, False)


def test_the_hook_is_a_target_like_any_other() -> None:
    """Equal callbacks share one line; a signup's events are never in one batch."""
    world = partner_world()
    first, second = sign_up(world, client="a"), sign_up(world, client="b")
    assert first.outlet is second.outlet
    world.run(START, 10)
    assert [len(delivery.events) for delivery in world.outlets.deliveries] == [1, 1]
    assert world.outlets.deliveries[0].outlet.target.url == HOOK
