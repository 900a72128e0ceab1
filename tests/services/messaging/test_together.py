"""Messages that go the same way are handed over and moved together: nothing differs from one after another."""

from __future__ import annotations

from typing import Any, Final

import pytest

from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume, Timing
from sendbox.services.limits import TEST_NUMBER
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import PhoneSpec
from sendbox.services.messaging.records import Attempt
from tests.core.observed import digest
from tests.core.worlds import HOOK, HOUR, PHONE, PLENTY, TEN, answer_200, answer_all, make_world, rule, send, step

QUIET: Final[dict[str, Any]] = {"account": AccountSpec(default_callback_url="")}
#: Three phones of another country, and one that is none.
MIXED = (*TEN[:4], "48601234567", "48601234568", "12", "no number", *TEN[4:6])
FLOW = [step("richmsg", ttl=60_000, condition="delivered"), step()]


def history(world: World) -> list[tuple[Any, ...]]:
    """All entries of the journal, each with what tells its subject."""
    told = []
    for number in range(len(world.journal)):
        at, kind, what = world.journal.entry(number)
        attempt = what[0] if isinstance(what, tuple) else what
        told.append((at, kind, _told(attempt) if isinstance(attempt, Attempt) else None))
    return told


def _told(attempt: Attempt) -> tuple[Any, ...]:
    return attempt.message.id, attempt.number, attempt.history, attempt.count, attempt.price


def played(budget: int, blueprint: dict[str, Any], sends: list[tuple[tuple[str, ...], dict[str, Any]]]) -> Any:
    """What a world is after all was done, so many steps at a time."""
    world = make_world(**blueprint)
    for numbers, fields in sends:
        send(world, *numbers, **fields)
    until = world.now + 2 * HOUR
    while not world.settled(until):
        world.run(until, budget)
        answer_all(world, answer_200)
    billing = Messaging.of(world).account.billing_of(Messaging.of(world).account.keys[world.id])
    rows = [message.id for message in Messaging.of(world).rows.messages]
    return history(world), digest(world), world.ticks, world.fired, rows, billing.balance


@pytest.mark.parametrize(
    ("blueprint", "sends"),
    [
        pytest.param(QUIET, [(TEN, {})], id="no target"),
        pytest.param({}, [(TEN, {}), (TEN, {"callback": HOOK})], id="targets"),
        pytest.param(QUIET, [((number,), {}) for number in TEN], id="submissions at one instant"),
        pytest.param({}, [((n,), {"callback": HOOK if n > TEN[4] else None}) for n in TEN], id="other targets"),
        pytest.param(QUIET, [((number,), {"steps": FLOW}) for number in TEN], id="flows of submissions"),
        pytest.param(QUIET, [(TEN, {"steps": FLOW}), (TEN, {"steps": FLOW[1:]})], id="flow"),
        pytest.param(QUIET, [(MIXED, {})], id="some refused"),
        pytest.param({"assume": Assume(invalid_number="response")}, [(MIXED, {})], id="some left out"),
        pytest.param({"assume": Assume(test_number="on")}, [((*TEN[:4], TEST_NUMBER, *TEN[4:]), {})], id="test number"),
        pytest.param({"account": AccountSpec(credit=100_000)}, [(TEN, {})], id="credit ends"),
        pytest.param({"account": AccountSpec(blacklist=frozenset(TEN[3:5]))}, [(TEN, {})], id="blacklist"),
        pytest.param({**QUIET, "assume": Assume(timing=Timing(sent=0))}, [(TEN, {})], id="sent at once"),
        pytest.param({**QUIET, "assume": Assume(timing=Timing(sending=500))}, [(TEN, {})], id="handed over later"),
        pytest.param({"phones": (PhoneSpec(Pattern(TEN[4]), offline=True),)}, [(TEN, {})], id="one is off"),
        pytest.param({"attempts": (rule("undelivered"),)}, [(TEN, {"steps": FLOW})], id="rules"),
    ],
)
def test_what_is_done_together_is_the_same_as_one_after_another(
    blueprint: dict[str, Any], sends: list[tuple[tuple[str, ...], dict[str, Any]]]
) -> None:
    """Journal, digest, rows, ticks and money, however many steps are fired at once."""
    single = played(1, blueprint, sends)
    assert played(7, blueprint, sends) == single
    assert played(PLENTY, blueprint, sends) == single


def test_messages_of_a_submission_share_their_history() -> None:
    """What went the same way at the same instants is kept once."""
    world = make_world(**QUIET)
    messages = send(world, *TEN)
    world.run(world.now + HOUR, PLENTY)
    assert len({id(message.last.history) for message in messages if message.last is not None}) < 3


def test_one_that_is_moved_by_hand_goes_its_own_way() -> None:
    """Those around it go on together."""
    world = make_world(**QUIET)
    messages = send(world, PHONE, *TEN)
    world.run(world.now, PLENTY)
    Messaging.of(world).simulator.move_by_hand(messages[4], "failed", None)
    world.run(world.now + HOUR, PLENTY)
    assert [message.result for message in messages] == ["delivered"] * 4 + ["failed"] + ["delivered"] * 6
