"""Worlds for tests of the core: opened in a word, sent into, moved, and answered for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import orjson

from sendbox.engine.bounds import END
from sendbox.engine.commands.command import Restore
from sendbox.engine.delivery.batches import Delivery, Target, bodies_of
from sendbox.engine.delivery.injection import FakedTry
from sendbox.engine.durations import Span
from sendbox.engine.journal import CODE, Journal
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.interfaces import PARTS
from sendbox.services.account.account import Account
from sendbox.services.account.keys import Key
from sendbox.services.messaging.channels import STATES
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import PhoneSpec, Recipient, Send, Step
from sendbox.services.messaging.records import Message
from sendbox.services.messaging.rules.rules import Path, PathEntry, Rule
from tests.scenarios import make_blueprint

#: 2026-03-01T09:00:00Z, a Sunday.
START: Final = 1_772_355_600_000
PHONE: Final = "420777000100"
HOUR: Final = 3_600_000
TEN: Final = tuple(f"4207770001{number:02}" for number in range(10))
#: A receiver of webhooks, which `advance` answers for.
HOOK: Final = "http://client.example/hook"
#: The rows of the events of all services.
EVENTS: Final = {kind: row for part in PARTS for kind, row in part.EVENTS.items()}
#: Ticks of one `run`, more than any test has.
PLENTY: Final = 10**9


def make_world(
    world_id: str = "test-w",
    *,
    start: int = START,
    seed: int | str | None = None,
    salt: str | None = None,
    **blueprint: Any,
) -> World:
    """A manual world; keywords are fields of the blueprint (`attempts=…`, `account=…`, `assume=…`)."""
    return World(world_id, make_blueprint(**blueprint), start=start, seed=seed, salt=salt, services=PARTS)


def step(channel: Any = "sms", body: str | None = "Hello", **fields: Any) -> Step:
    """A flow step; other channels than sms have a sender unless one is given."""
    if channel != "sms":
        fields = {"sender": "Acme" if channel == "richmsg" else "109876543210987", "condition": "delivered"} | fields
    return Step(channel, body, **fields)


def command(*numbers: str, steps: list[Step] | None = None, body: str = "Hello", **fields: Any) -> Send:
    """One Message object to `numbers` (default: `PHONE`), by sms unless `steps` say more; no digits, no valid number.

    Other fields are `Send`'s; a `payload` may be an object, a `callback` an address.
    """
    payload = fields.pop("payload", b"{}")
    callback = fields.pop("callback", None)
    return Send(
        [Recipient(number, number.isdigit()) for number in numbers or (PHONE,)],
        [step(body=body)] if steps is None else steps,
        kept_payload=payload if isinstance(payload, bytes) else orjson.dumps(payload),
        callback=Target(callback) if isinstance(callback, str) else callback,
        **fields,
    )


def content_of(*sends: Send) -> bytes:
    """What stands for the canonical request: everything that was asked, but where to report it."""
    items = [
        {
            "to": [recipient.number for recipient in send.recipients],
            "flow": [[each.channel, each.body, each.sender, each.ttl, each.condition] for each in send.steps],
            "tag": send.tags,
            "datetime": send.at,
            "payload": orjson.Fragment(send.payload),
        }
        for send in sends
    ]
    return orjson.dumps(items[0] if len(items) == 1 else items, option=orjson.OPT_SORT_KEYS)


def send(
    world: World,
    *numbers: str,
    operation: str = "sendMessage",
    key: Key | None = None,
    content: bytes | None = None,
    origin: str = "http://sandbox.example",
    **fields: Any,
) -> list[Message]:
    """Sends one Message object (see `command`) and returns the messages that were accepted."""
    one = command(*numbers, **fields)
    found = Messaging.of(world).accept(
        operation,
        [one],
        key or Account.of(world).keys[world.id],
        content_of(one) if content is None else content,
        origin,
    )
    return [Messaging.of(world).by_id[message_id] for message_id in found.messages[0] if message_id is not None]


def send_one(world: World, *numbers: str, **fields: Any) -> Message:
    """Sends to one number and returns its message."""
    (message,) = send(world, *numbers, **fields)
    return message


Answer = Callable[[Delivery], tuple[int | None, str | None]]


def answer_200(_delivery: Delivery) -> tuple[int | None, str | None]:
    """A receiver that is content with everything."""
    return 200, None


def advance(world: World, by: int = 0, *, answer: Answer = answer_200) -> None:
    """Moves the world by so many milliseconds and settles it; `answer` is the receiver of every delivery."""
    until = world.now + by
    answer_all(world, answer)
    while True:
        world.run(until, PLENTY)
        answer_all(world, answer)
        if world.settled(until):
            return


def answer_all(world: World, answer: Answer) -> None:
    """Answers every try that has begun and that nobody took yet."""
    for delivery in world.outlets.take():
        last = delivery.tries[-1]
        world.outlets.outcome(delivery, *(last.ending if isinstance(last, FakedTry) else answer(delivery)))


def bundle(world: World) -> None:
    """Does what is due at this instant, tick by tick, until its events are bundled; no try begins."""
    while world.outlets.dirty or (world.timeline.next_due() or END) <= world.now:
        world.run(world.now, 1)


def take(world: World) -> list[Delivery]:
    """Does what is due at this instant and takes the batches of which a try has begun."""
    world.run(world.now, PLENTY)
    return world.outlets.take()


def go_back(world: World) -> World:
    """The world after a restore to the place where it stands: in its next epoch, and nothing under way."""
    world.enter(Restore("here", world.epoch + 1))
    return world


def results(message: Message) -> list[tuple[int, str]]:
    """(attempt from 1, result) of each transition, attempt by attempt."""
    return [(each.number + 1, STATES[code]) for each in message.attempts for code, _ in each.transitions()]


def moves(message: Message, start: int = START) -> list[tuple[int, int, str]]:
    """(milliseconds since `start`, attempt from 1, result) of each transition, in order of time."""
    return sorted(
        (at - start, each.number + 1, STATES[code]) for each in message.attempts for code, at in each.transitions()
    )


def path(*entries: str | tuple[str, int] | tuple[str, int, str]) -> Path:
    """A path of results; one with a time comes so many milliseconds after the one before; a third part is its info."""
    found = [(each, 0) if isinstance(each, str) else each for each in entries]
    return Path(tuple(PathEntry(each[0], Span(each[1], each[1]), *each[2:]) for each in found))


def rule(then: str | Path | None = None, *, key: str = "rule", **fields: Any) -> Rule:
    """A rule for whatever asks, unless `when` says more; `then` is a result or a path."""
    return Rule(key, fields.pop("when", When()), path=Path(goal=then) if isinstance(then, str) else then, **fields)


def journaled(world: World, kind: str) -> list[tuple[int, Any]]:
    """(milliseconds since the world's start, subject) of every entry of a kind."""
    journal = world.journal
    return [(journal.at[n] - world.start, journal.subject[n]) for n in journal.numbers(frozenset({kind}))]


def handset(number: str = PHONE, **fields: Any) -> PhoneSpec:
    """A scenario's entry for phones, by pattern."""
    return PhoneSpec(Pattern(number, digits=True), **fields)


def delivered(world: World, *numbers: str, **fields: Any) -> Message:
    """A message that is on its phone, ten seconds later."""
    message = send_one(world, *numbers, **fields)
    advance(world, 10_000)
    return message


#: Of each message there is one event: it is sent, and nothing follows.
ONE_EVENT: Final = (rule("sending"),)


def one_delivery(callback: str | Target = HOOK, **blueprint: Any) -> tuple[World, Delivery]:
    """A world with one delivery that waits to be tried."""
    world = make_world(attempts=ONE_EVENT, **blueprint)
    send_one(world, callback=callback)
    bundle(world)
    (delivery,) = world.outlets.deliveries
    return world, delivery


def tried_at(delivery: Delivery) -> list[int]:
    """When its tries began, in seconds from the start."""
    return [(each.at - START) // 1000 for each in delivery.tries]


def hook_events(world: World) -> list[dict[str, Any]]:
    """All events that the built-in receiver got, oldest first, as plain objects."""
    events: list[dict[str, Any]] = []
    for delivery in world.outlets.hook:
        events += orjson.loads(orjson.dumps(bodies_of(world, delivery, delivery.events)))
    return events


def names_of(journal: Journal) -> list[str]:
    """The kinds of a journal's entries, in order."""
    names = {code: kind for kind, code in CODE.items()}
    return [names[code] for code in journal.kind]
