"""What holds whatever is done to a world: its lifecycles, its credit, its determinism (§3.1; A25, A61).

A story is a list of acts with pauses between them. It is told to worlds whose rules, limits and phones make everything
happen that can: bad ends, late receipts, lawful and left-out paths, replies, queues, retries.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from sendbox.engine.blueprint import Blueprint
from sendbox.engine.delivery.batches import Delivery
from sendbox.engine.durations import Rate, Span
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.interfaces import PARTS
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume, PromotionalHours
from sendbox.services.messaging.channels import LEGAL, STATES, IllegalTransition
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import PhoneSpec, Send, Shortening, Step
from sendbox.services.messaging.phones import NoSuchThing
from sendbox.services.messaging.records import Message
from sendbox.services.messaging.rules.rules import Click, Path, Reply, Rule
from sendbox.services.windows import Window
from tests.core.observed import digest
from tests.core.worlds import START, advance, command, content_of, path, rule, step
from tests.scenarios import make_blueprint
from tests.tiers import examples

PHONES: Final = tuple(f"42077700010{digit}" for digit in range(10))
HOOK: Final = "http://client.example/hook"
CREDIT: Final = 300_000
DAY: Final = 86_400_000


def to(digits: str) -> When:
    """The phones that end in these digits, `*` for all."""
    return When(phone=Pattern(f"42077700010{digits}", digits=True))


RULES: Final[tuple[Rule, ...]] = (
    rule("undelivered", key="2", when=to("2")),
    rule("rejected", key="3", when=to("3")),
    rule("failed", key="4", when=to("4")),
    rule("sending", key="5", when=to("5")),
    rule("seen", key="6", when=to("6"), replies=(Reply(Span(0, 5_000), "YES"),)),
    rule(path("sending", "sent", ("delivered", 600_000)), key="8", when=to("8"), click=(Click(Span(1_000, 60_000)),)),
    rule(replies=(Reply(Span(5_000, 5_000), "STOP"),), key="9", when=to("9")),
    Rule(
        "mix",
        When(),
        mix=((Path(goal="delivered"), 5), (Path(goal="undelivered"), 2), (path("sending", "sent", "seen"), 2)),
    ),
)
PLAIN: Final = make_blueprint(
    seed=7, attempts=RULES, phones=(PhoneSpec(Pattern(PHONES[1], digits=True), frozenset({"sms"})),)
)


# --- stories


@dataclass(frozen=True)
class Act:
    """Something that is done after a pause of so many milliseconds."""

    pause: int
    what: str
    arguments: tuple[Any, ...]


TTLS = st.sampled_from([None, 30_000, 60_000, 600_000])
STEPS = st.builds(
    lambda channel, body, ttl, condition: step(channel, body, ttl=ttl, condition=condition),
    st.sampled_from(["sms", "richmsg", "chatapp_text"]),
    st.sampled_from(["Hello", "Dobrý den", "See https://acme.example", "x" * 200]),
    TTLS,
    st.sampled_from(["sent", "delivered", "seen"]),
)


@st.composite
def sends(draw: st.DrawFn) -> Send:
    """A Message object."""
    fields: dict[str, Any] = {
        "steps": draw(st.lists(STEPS, min_size=1, max_size=3)),
        "at": draw(st.sampled_from([None, START + 60_001, START + DAY])),
        "tags": draw(st.sampled_from([("promotional",), ("transactional",)])),
        "callback": draw(st.sampled_from([None, HOOK])),
        "window": draw(st.sampled_from([None, Window(start=540, end=600)])),
        "shortening": draw(st.sampled_from([None, Shortening()])),
        "priority": draw(st.booleans()),
    }
    numbers = draw(st.lists(st.sampled_from([*PHONES, "nonsense"]), min_size=1, max_size=4))
    return command(*numbers, **fields)


PAUSES = st.sampled_from([0, 0, 1, 1_000, 3_000, 30_000, 60_000, 600_000, DAY])
PHONE = st.sampled_from(PHONES)
NUMBER = st.integers(0, 20)
ACTS = st.one_of(
    st.builds(Act, PAUSES, st.just("send"), st.tuples(sends())),
    st.builds(Act, PAUSES, st.just("send"), st.tuples(sends(), sends())),
    st.builds(Act, PAUSES, st.just("move"), st.tuples(NUMBER, st.sampled_from(STATES))),
    st.builds(Act, PAUSES, st.just("write"), st.tuples(st.sampled_from(["sms", "richmsg", "chatapp"]), PHONE)),
    st.builds(Act, PAUSES, st.just("reply"), st.tuples(NUMBER, st.sampled_from(["Yes", "STOP"]))),
    st.builds(Act, PAUSES, st.sampled_from(["see", "click", "press"]), st.tuples(NUMBER)),
    st.builds(Act, PAUSES, st.sampled_from(["offline", "online", "optout"]), st.tuples(PHONE)),
    st.builds(Act, PAUSES, st.sampled_from(["hold", "release", "replay"]), st.tuples(NUMBER)),
)
STORIES = st.lists(ACTS, max_size=12)


def do(world: World, act: Act) -> None:
    """Does one act; what cannot be done is refused, and that is that."""
    if act.what == "send":
        Messaging.of(world).accept(
            "sendMessages",
            list(act.arguments),
            Account.of(world).keys[world.id],
            content_of(*act.arguments),
            "http://s",
        )
        return
    with suppress(NoSuchThing, IllegalTransition, IndexError):
        _HANDS[act.what](world, *act.arguments)


_HANDS: Final[dict[str, Any]] = {
    "move": lambda world, number, result: Messaging.of(world).simulator.move_by_hand(
        Messaging.of(world).messages[number], result, None
    ),
    "write": lambda world, family, number: Messaging.of(world).phones.write(family, number, None, "Hi"),
    "reply": lambda world, number, body: Messaging.of(world).phones.reply(Messaging.of(world).messages[number], body),
    "see": lambda world, number: Messaging.of(world).phones.see(Messaging.of(world).messages[number]),
    "click": lambda world, number: Messaging.of(world).phones.click(Messaging.of(world).messages[number]),
    "press": lambda world, number: Messaging.of(world).phones.pressed(Messaging.of(world).messages[number], 0),
    "offline": lambda world, number: Messaging.of(world).phones.go_offline(number),
    "online": lambda world, number: Messaging.of(world).phones.go_online(number),
    "optout": lambda world, number: Messaging.of(world).phones.opt_out(number),
    "hold": lambda world, number: world.outlets.hold(world.outlets.deliveries[number]),
    "release": lambda world, number: world.outlets.release(world.outlets.deliveries[number]),
    "replay": lambda world, number: world.outlets.replay(world.outlets.deliveries[number]),
}


def moody(delivery: Delivery) -> tuple[int | None, str | None]:
    """A receiver that answers every third batch late, and every fifth with an error, at first."""
    if len(delivery.tries) == 1 and delivery.number % 3 == 2:
        return None, "timeout"
    return (500 if len(delivery.tries) == 1 and delivery.number % 5 == 4 else 200), None


def tell(world: World, story: list[Act]) -> World:
    """Tells a story to a world, and lets everything that follows from it happen."""
    for act in story:
        advance(world, act.pause, answer=moody)
        do(world, act)
    advance(world, 3 * DAY, answer=moody)
    return world


LIMITED: Final = make_blueprint(
    seed=7,
    account=AccountSpec(credit=CREDIT),
    attempts=RULES,
    assume=Assume(
        queue=Rate(1, 60_000), identical=Rate(3, DAY), promotional_window=PromotionalHours(Window(None, 480, 1_200))
    ),
)
BLUEPRINTS = st.sampled_from([PLAIN, LIMITED])


# --- lifecycles and credit


@given(STORIES, BLUEPRINTS)
def test_s3_1_nothing_leaves_the_table(story: list[Act], blueprint: Blueprint) -> None:
    """Whatever is done, every attempt goes from state to state by the table, in order of time."""
    world = tell(World("test-w", blueprint, start=START, services=PARTS), story)
    for message in Messaging.of(world).messages:
        for attempt in message.attempts:
            state = 0
            for code, _ in attempt.transitions():
                assert LEGAL[attempt.step.channel][state][code]
                state = code
            assert state == attempt.state
            instants = [at for _, at in attempt.transitions()]
            assert instants == sorted(instants)


@given(STORIES)
def test_a61_credit_is_kept_to_the_millionth(story: list[Act]) -> None:
    """Balance and spent always make up the credit; each attempt handed over is paid once, and none without money."""
    world = tell(World("test-w", LIMITED, start=START, services=PARTS), story)
    account = Account.of(world)
    attempts = [attempt for message in Messaging.of(world).messages for attempt in message.attempts]
    assert account.balance >= 0
    assert account.balance + account.spent == CREDIT
    assert account.spent == sum(attempt.price[0] for attempt in attempts if attempt.price is not None)
    refused = [attempt for attempt in attempts if attempt.extra is not None and "why" in attempt.extra]
    assert all(attempt.price is None for attempt in refused)


@given(STORIES, BLUEPRINTS)
def test_s2_2_steps_of_a_flow_are_tried_in_order_and_once(story: list[Act], blueprint: Blueprint) -> None:
    """Attempts are made of the first steps of a flow, each once; every message that waited has been tried."""
    world = tell(World("test-w", blueprint, start=START, services=PARTS), story)
    for message in Messaging.of(world).messages:
        assert [attempt.number for attempt in message.attempts] == list(range(len(message.attempts)))
        assert message.last is not None


@given(STORIES)
def test_s6_every_transition_is_reported_once(story: list[Act]) -> None:
    """Each result of each attempt is in one delivery of its message's target, and nothing else is."""
    world = tell(World("test-w", PLAIN, start=START, services=PARTS), story)
    reported = Counter(
        (id(event[0]), event[1])
        for each in world.outlets.deliveries
        for event in each.events
        if isinstance(event, tuple)
    )
    made = Counter(
        (id(attempt), code)
        for message in Messaging.of(world).messages
        for attempt in message.attempts
        for code, _ in attempt.transitions()
    )
    assert reported == made
    states = {each.state for each in world.outlets.deliveries}
    assert states <= {"delivered", "held"}


# --- determinism


def digests(story: list[Act], blueprint: Blueprint, *, step_by: int | None = None, budget: int | None = None) -> str:
    """The digest of a story, told by whole pauses, or in steps of so many milliseconds or so many handlers."""
    world = World("test-w", blueprint, start=START, services=PARTS)

    def go(by: int) -> None:
        until = world.now + by
        while step_by is not None and until - world.now > step_by:
            advance(world, max(step_by, (until - world.now) // 7), answer=moody)
        while budget is not None and not world.settled(until):
            world.run(until, budget)
            for delivery in world.outlets.take():
                world.outlets.outcome(delivery, *moody(delivery))
        advance(world, until - world.now, answer=moody)

    for act in story:
        go(act.pause)
        do(world, act)
    go(3 * DAY)
    return digest(world)


@settings(max_examples=examples(20))
@given(STORIES, BLUEPRINTS)
def test_advancing_in_one_step_or_in_many_is_the_same(story: list[Act], blueprint: Blueprint) -> None:
    """The digest does not tell how the clock was moved, nor in how small portions steps were fired."""
    whole = digests(story, blueprint)
    assert digests(story, blueprint, step_by=1_001) == whole
    assert digests(story, blueprint, budget=1) == whole


@given(STORIES, BLUEPRINTS)
def test_a_story_told_again_has_the_same_names_and_digest(story: list[Act], blueprint: Blueprint) -> None:
    """A reset world with the same salt names and does everything as before; another salt changes names only."""
    first = tell(World("test-w", blueprint, start=START, services=PARTS), story)
    again = tell(World("test-w", blueprint, start=START, epoch=1, services=PARTS), story)
    other = tell(World("test-w", blueprint, start=START, salt="other", services=PARTS), story)
    assert [message.id for message in Messaging.of(again).messages] == [
        message.id for message in Messaging.of(first).messages
    ]
    assert list(Messaging.of(again).links) == list(Messaging.of(first).links)
    assert digest(again) == digest(first) == digest(other)
    assert not {message.id for message in Messaging.of(first).messages} & {
        message.id for message in Messaging.of(other).messages
    }


def fates(world: World) -> dict[str, list[Any]]:
    """What became of each message, by its text, which tells the messages apart."""
    return {
        f"{message.phone} {message.submission.send.steps[0].body}": [
            (attempt.number, attempt.transitions(), attempt.price) for attempt in message.attempts
        ]
        for message in Messaging.of(world).messages
    }


def one_each(draws: list[tuple[str, Step, Step]]) -> list[Send]:
    """Messages of one instant to phones of their own."""
    return [command(number, steps=[first, second]) for number, first, second in draws]


@given(
    st.lists(st.tuples(PHONE, STEPS, STEPS), unique_by=lambda each: each[0], max_size=8),
    st.randoms(use_true_random=False),
)
def test_the_order_of_arrival_decides_no_fate(draws: list[tuple[str, Step, Step]], random: Any) -> None:
    """Requests of one instant, in whatever order they arrive, have the same fates, names and digest."""
    worlds = []
    for _ in range(2):
        world = World("test-w", PLAIN, start=START, services=PARTS)
        for send in one_each(draws):
            Messaging.of(world).accept("sendMessage", [send], Account.of(world).keys[world.id], content_of(send))
        advance(world, 3 * DAY)
        worlds.append(world)
        random.shuffle(draws)
    first, second = worlds
    assert fates(first) == fates(second)
    assert set(Messaging.of(first).by_id) == set(Messaging.of(second).by_id)
    assert digest(first) == digest(second)
    assert first.journal.order_sensitive == second.journal.order_sensitive == set()


@given(st.lists(st.tuples(PHONE, STEPS), max_size=4), st.lists(ACTS, max_size=6))
def test_what_else_happens_changes_no_fate(draws: list[tuple[str, Step]], noise: list[Act]) -> None:
    """Messages of other requests, to other phones, change nothing about a message's way."""
    mine = "420777000999"
    quiet, loud = (World("test-w", PLAIN, start=START, services=PARTS) for _ in range(2))

    def send_mine(world: World) -> Message:
        send = command(mine, steps=[step("richmsg", ttl=30_000), step()])
        found = Messaging.of(world).accept("sendMessage", [send], Account.of(world).keys[world.id], content_of(send))
        return Messaging.of(world).by_id[found.messages[0][0] or ""]

    for number, one in draws:
        send = command(number, steps=[one])
        Messaging.of(loud).accept("sendMessage", [send], Account.of(loud).keys[loud.id], content_of(send))
    alone, among = send_mine(quiet), send_mine(loud)
    advance(quiet, 9 * DAY)
    for act in noise:
        if act.what not in ("move", "reply", "see", "click"):
            do(loud, act)
    advance(loud, 9 * DAY)
    assert alone.id == among.id
    assert [attempt.transitions() for attempt in alone.attempts] == [
        attempt.transitions() for attempt in among.attempts
    ]
