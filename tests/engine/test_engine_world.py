"""The engine's world by itself: time, lapses and deliveries of a service that the engine does not know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import orjson

from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.delivery.batches import EventKind, Events, Target, body_of
from sendbox.engine.journal import CODE
from sendbox.engine.part import Part
from sendbox.engine.rules.conditions import Case
from sendbox.engine.world import World
from tests.scenarios import make_blueprint


@dataclass(frozen=True)
class Settings:
    """How deliveries go."""

    bundle: bool = True
    webhook_retry: tuple[int, ...] = (1_000,)
    webhook_timeout: int = 5_000


class Lockers(Part):
    """A service that tells of parcels; an event is the name of one. It knows who opened its doors."""

    NAME = "lockers"
    EVENTS: ClassVar[Events] = {
        str: EventKind(
            lambda name: Case("parcel", name),
            lambda _name: None,
            lambda name: name,
            lambda _world, name, at: f"{name} {at}",
            lambda _world, name, _until: {"parcel": name},
        )
    }
    LAPSES = frozenset({"locker", "held"})
    TIMELINE_HANDLERS: ClassVar[Mapping[str, Callable[[Lockers, TimelineEntry], None]]] = {
        "open": lambda lockers, entry: lockers.opened.append(entry.what["door"])
    }

    def __init__(self, world: World) -> None:
        self.opened: list[str] = []

    def still_lapses(self, at: int, kind: str, what: Any) -> bool:
        """What is held does not lapse."""
        return kind != "held"

    def on_lapse(self, kind: str, what: Any) -> bool:
        """Whoever waits for a door is told."""
        return bool(what == "told")

    def alias(self, name: str) -> str | None:
        """A door has a name of its own in each world."""
        return "~door" if name.startswith("door") else None


class Quiet(Part):
    """A service that says nothing of itself."""

    NAME = "quiet"


def make_lockers(**parts: Any) -> World:
    """A world of lockers."""
    return World("test-lockers", make_blueprint(compiled={}, assume=Settings(), **parts), start=0, services=(Lockers,))


def test_a_service_of_its_own_delivers_its_events() -> None:
    """The engine bundles, orders and retries the events of any service, by the rows that it brings."""
    world = make_lockers()
    line = world.outlets.line(Target("http://127.0.0.1:9/hook"))
    for name in ("a", "b"):
        world.outlets.post(line, name)
    assert world.run(0, 10) == 2  # bundled, begun
    (delivery,) = world.outlets.take()
    assert orjson.loads(body_of(world, delivery)) == [{"parcel": "a"}, {"parcel": "b"}]
    world.outlets.outcome(delivery, 500, None)
    assert world.run(1_000, 10) == 2  # the step fired, the try begun
    assert [each is delivery for each in world.outlets.take()] == [True]


def test_a_lapse_is_journaled_when_the_clock_passes_it() -> None:
    """Where a service says nothing else what was to lapse lapses, at its instant, and nobody is told."""
    world = make_lockers()
    world.timeline.lapse(500, "locker", "a")
    world.run(1_000, 10)
    assert [(world.journal.entry(n)[0], world.journal.entry(n)[2]) for n in world.journal.find(CODE["lapse"], 0)] == [
        (500, ("locker", "a"))
    ]
    assert (world.now, world.idle) == (1_000, True)


def test_names_stand_for_themselves_unless_a_service_knows_better() -> None:
    """No name is derived from another one."""
    world = make_lockers()
    assert (dict(world.plain), world.alias("test-lockers"), world.alias("door 1")) == ({}, "test-lockers", "~door")


def test_the_timeline_comes_to_the_service_that_knows_the_kind() -> None:
    """An entry is journaled, and done by the part that has a happening of its kind; one of none does nothing."""
    entries = (TimelineEntry(100, True, "open", {"door": "left"}), TimelineEntry(200, True, "paint", {}))
    world = make_lockers(timeline=entries)
    world.run(1_000, 10)
    assert Lockers.of(world).opened == ["left"]
    assert [world.journal.entry(n)[2]["kind"] for n in world.journal.find(CODE["timeline"], 0)] == ["open", "paint"]


def test_a_service_says_what_lapses_and_who_is_told() -> None:
    """What does not lapse is not journaled; each instant is one of its own, and counts where somebody is told."""
    world = make_lockers()
    world.timeline.lapse(100, "held", "a")
    world.timeline.lapse(200, "locker", "told")
    world.timeline.lapse(300, "code", "of another service")
    passed = []
    while not world.settled(1_000):
        world.run(1_000, 1)
        passed.append((world.now, world.instants))
    assert passed == [(100, 0), (200, 1), (1_000, 2)]  # after the last of them the clock moves on in no tick
    lapses = [world.journal.entry(n) for n in world.journal.find(CODE["lapse"], 0)]
    assert [(at, what) for at, _, what in lapses] == [(200, ("locker", "told")), (300, ("code", "of another service"))]


def test_what_lapses_at_one_instant_lapses_there() -> None:
    """However many these are, none is left over when the clock stays at that instant, nor when a step is due at it."""
    for until in (500, 1_000):
        world = make_lockers(timeline=(TimelineEntry(500, True, "open", {"door": "left"}),))
        for number in range(1_200):
            world.timeline.lapse(500, "locker", str(number))
        ticks = []
        while not world.settled(until):
            ticks.append(world.run(until, 1))
        assert ticks[:4] == [1] * 4  # three parts of what lapses, and the step
        assert ticks[4:] == ([0] if until > 500 else [])  # the clock moves on
        kinds = [world.journal.entry(n)[1] for n in range(len(world.journal))]
        assert (len(kinds), kinds.count(CODE["lapse"]), kinds[-1]) == (1_201, 1_200, CODE["timeline"])
        assert (world.now, world.instants) == (until, until // 500)


def test_a_service_that_says_nothing_adds_nothing() -> None:
    """No further key is let in, nothing is counted, and the only lists of rules are the engine's."""
    world, old = (
        World(
            "test-quiet",
            make_blueprint(
                compiled={},
                assume=Settings(),
            ),
            start=0,
            services=(Quiet,),
        )
        for _ in range(2)
    )
    world.follow(old)
    assert (world.admits("test-quiet~a"), world.counts, list(world.rulebooks)) == (None, {}, ["api", "webhooks"])
    assert (world.alias("test-quiet"), Quiet.expects(world.blueprint, "a")) == ("test-quiet", False)
    list(world.dispose())
    assert not world.parts
