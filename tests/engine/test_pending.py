"""What is still to come, in words."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import sendbox
from sendbox.app import SERVED
from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.durations import Span
from sendbox.engine.kinds.upcoming import next_steps
from sendbox.engine.texts import Text
from sendbox.engine.world import World
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Shortening
from sendbox.services.messaging.outages import Outage
from sendbox.services.messaging.rules.rules import Click, Reply
from tests.core.faulty import fault
from tests.core.worlds import PHONE, advance, make_world, path, rule, send, send_one, step

SECOND = 1000


def words(world: World, most: int = 20) -> list[str]:
    return [found["what"] for found in next_steps(world, SERVED.kinds.steps, most)]


def test_nothing_is_to_come() -> None:
    """A world at rest has no steps."""
    assert next_steps(make_world(), SERVED.kinds.steps, 5) == []


def test_steps_of_a_message() -> None:
    """Its hand-over, its transitions, its ttl, what its phone will do, soonest first; at most so many."""
    replies = (Reply(Span(5 * SECOND, 5 * SECOND), "YES"),)
    slow = rule(
        path("sending", ("sent", SECOND), ("delivered", 90 * SECOND)),
        replies=replies,
        click=(Click(Span(SECOND, SECOND)),),
    )
    world = make_world(attempts=(slow,))
    flow = [step("richmsg", sender="Acme", ttl=60 * SECOND, condition="delivered"), step()]
    send(world, PHONE, "420777000102", steps=flow, body="see https://acme.example")
    assert next_steps(world, SERVED.kinds.steps, 5) == [
        {"at": "2026-03-01T09:00:00.000Z", "what": "hand-over of sendMessage to 2 phones", "phone": PHONE}
    ]
    world.run(world.now, 1)
    assert words(world)[0] == "hand-over by richmsg"
    advance(world, SECOND)
    ttl = 'ttl of richmsg ends; if it is not "delivered" by then the flow goes on'
    assert words(world) == [ttl, ttl, "richmsg delivered", "richmsg delivered"]
    assert len(next_steps(world, SERVED.kinds.steps, 3)) == 3
    advance(world, 59 * SECOND)
    assert "sms sent" in words(world)
    advance(world, 32 * SECOND)
    assert 'the phone replies "YES"' in words(world)


def test_steps_that_do_nothing_any_more_are_passed_over() -> None:
    """A ttl whose condition is met, a path that was dropped by hand, a retry of what was held."""
    world = make_world(attempts=(rule("delivered"),))
    flow = [step("richmsg", sender="Acme", ttl=60 * SECOND, condition="sent"), step()]
    message = send_one(world, PHONE, steps=flow)
    advance(world, SECOND)
    assert words(world) == ["richmsg delivered"]
    Messaging.of(world).simulator.move_by_hand(message, "undelivered", None)
    assert words(world) == []


def test_a_retry() -> None:
    """A webhook that failed is tried again, unless it is held."""
    world = make_world(attempts=(rule("sending"),))
    send_one(world, callback="http://127.0.0.1:9/hook")
    advance(world, 0, answer=lambda delivery: (500, None))
    assert words(world) == ["webhook to http://127.0.0.1:9/hook, try 2"]
    (delivery,) = world.outlets.deliveries
    world.outlets.hold(delivery)
    assert words(world) == []


def test_a_receiver_that_hangs() -> None:
    """Its line is free again once the service's patience is over."""
    world = make_world(attempts=(rule("sending"),))
    send_one(world, callback="http://127.0.0.1:9/hook")
    world.run(world.now, 100)
    (delivery,) = world.outlets.take()
    world.outlets.outcome(delivery, None, "timeout")
    assert words(world)[0] == "http://127.0.0.1:9/hook takes webhooks again"


class Named:
    """Something with a handler that nobody has words for."""

    def surprise_due(self, what: Any) -> None: ...


@pytest.mark.parametrize(
    ("prepare", "what"),
    [
        (lambda world: world.timeline.at(world.now, 0, Named().surprise_due, None), "surprise"),
        (
            lambda world: world.timeline.at(world.now, 0, world.entry_due, TimelineEntry(0, True, "inbound", {})),
            "put by the test: inbound",
        ),
        (
            lambda world: world.timeline.at(
                world.now, 0, world.entry_due, TimelineEntry(0, True, "inbound", {}, "a.yaml:4")
            ),
            "timeline of the scenario: inbound",
        ),
    ],
    ids=["other", "put", "timeline"],
)
def test_other_steps(prepare: Any, what: str) -> None:
    """A step without words of its own is called by its handler."""
    world = make_world()
    prepare(world)
    assert words(world) == [what]


def test_only_so_many_steps_are_looked_at() -> None:
    """Where most steps do nothing any more, the search for one that does ends."""
    world = make_world(attempts=(rule("delivered"),))
    flow = [step("richmsg", sender="Acme", ttl=60 * SECOND, condition="sent"), step()]
    for _ in range(40):
        send_one(world, PHONE, steps=flow)
    advance(world, 10 * SECOND)
    assert world.timeline.scheduled == 40
    assert words(world, 1) == []


def test_a_click_and_a_fallback() -> None:
    """A phone will follow a link; a flow will go on."""
    world = make_world(attempts=(rule("delivered", click=(Click(Span(9 * SECOND, 9 * SECOND)),)),))
    message = send_one(world, body="see https://acme.example", shortening=Shortening())
    advance(world, 5 * SECOND)
    assert words(world) == ["the phone follows a link"]
    assert message.last is not None
    world.timeline.at(world.now, 0, Messaging.of(world).simulator.fallback_due, (message.last, "ttl"))
    assert words(world)[0] == "the flow goes on after sms (ttl)"


@pytest.mark.unmeasured
def test_every_step_has_words() -> None:
    """No handler of a step is told by its name: whoever adds one adds what it means."""
    source = Path(sendbox.__path__[0])
    files = [file for folder in ("engine", "services") for file in (source / folder).rglob("*.py")]
    trees = [ast.parse(text) for file in files if "_due(" in (text := file.read_text("utf-8"))]
    functions = [node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert {name for name in functions if name.endswith("_due") and name != "next_due"} == set(SERVED.kinds.steps)


@pytest.mark.parametrize(
    ("what", "out"),
    [
        ({"channel": "sms"}, "sms"),
        ({"channel": ["sms", "rcs"], "country": "CZ"}, "sms, rcs in CZ"),
        ({"phone": "420*"}, "phones 420*"),
        ({}, "everything"),
    ],
    ids=["a channel", "channels", "phones", "everything"],
)
def test_the_end_of_an_outage(what: dict[str, Any], out: str) -> None:
    """Until when it lasts, and what is out."""
    entry = TimelineEntry(0, True, "outage", {**what, "for": "5m"}, means=Outage(300 * SECOND))
    world = make_world(timeline=(entry,))
    advance(world, SECOND)
    assert words(world) == [f"the outage of {out} ends"]


def test_what_faults_of_deliveries_put_off() -> None:
    """A batch that is late, one that comes again, an old one that comes late, and a window: each with its rule."""
    rules = (
        fault("delay", "late", result=("sending",), after=60 * SECOND),
        fault("duplicate", "twice", result=("sent",), after=70 * SECOND),
        fault("stale", "old", result=("delivered",), after=80 * SECOND),
    )
    world = make_world(webhooks=rules)
    send_one(world)
    advance(world, 10 * SECOND)
    assert words(world) == [
        'webhook to hook is sent, delay 1m by the rule "late"',
        'webhook to hook is sent again, by the rule "twice"',
        'webhook to hook delivers an older event, by the rule "old"',
    ]
    world.outlets.hold(world.outlets.deliveries[0])
    assert words(world)[0] == 'webhook to hook is sent again, by the rule "twice"'


def test_a_window_that_gathers() -> None:
    """How many events wait in it."""
    world = make_world(webhooks=(fault("bundle", "heap", after=60 * SECOND),))
    send_one(world)
    advance(world, 10 * SECOND)
    assert words(world) == ['3 events that were gathered are sent, bundle 1m by the rule "heap"']


def test_a_reply_with_gaps() -> None:
    """It is shown as the rule has it: nobody knows yet what it will say."""
    reply = Reply(Span(9 * SECOND, 9 * SECOND), "", text=Text("{{body}}?", ()))
    world = make_world(attempts=(rule("delivered", replies=(reply,)),))
    send_one(world)
    advance(world, 5 * SECOND)
    assert words(world) == ['the phone replies "{{body}}?"']
