"""The engine's world by itself: time, lapses and deliveries of a service that the engine does not know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from sendbox.engine.cases import Case
from sendbox.engine.clock import Mode
from sendbox.engine.delivery.batches import Target
from sendbox.engine.delivery.bodies import body_of
from sendbox.engine.delivery.events import EventKind
from sendbox.engine.journal import CODE
from sendbox.engine.world import World


@dataclass(frozen=True)
class Settings:
    """How deliveries go."""

    bundle: bool = True
    webhook_retry: tuple[int, ...] = (1_000,)
    webhook_timeout: int = 5_000


@dataclass(frozen=True)
class Settled:
    """What a scenario of no service settles."""

    seed: int | str = 0
    mode: Mode | None = None
    rate: float = 1.0
    api: tuple[Any, ...] = ()
    webhooks: tuple[Any, ...] = ()
    expect: tuple[Any, ...] = ()
    digest_ignore: tuple[str, ...] = ()
    assume: Settings = field(default_factory=Settings)

    def shared(self) -> tuple[Any, ...]:
        return (self, self.assume)


class Lockers(World):
    """Worlds of a service that tells of parcels; an event is the name of one."""

    events = {  # noqa: RUF012 - as the class that it derives from has it
        str: EventKind(
            lambda name: Case("parcel", name),
            lambda _name: None,
            lambda name: name,
            lambda _world, name, at: f"{name} {at}",
            lambda _world, name, _until: {"parcel": name},
        )
    }
    __slots__ = ("assume",)

    def __init__(self) -> None:
        settled = Settled()
        super().__init__("test-lockers", settled, start=0)
        self.assume = settled.assume


def test_a_service_of_its_own_delivers_its_events() -> None:
    """The engine bundles, orders and retries the events of any service, by the rows that it brings."""
    world = Lockers()
    line = world.outlets.line(Target("http://127.0.0.1:9/hook"))
    for name in ("a", "b"):
        world.outlets.post(line, name)
    world.run(0, 10)
    (delivery,) = world.outlets.take()
    assert orjson.loads(body_of(world, delivery)) == [{"parcel": "a"}, {"parcel": "b"}]
    world.outlets.outcome(delivery, 500, None)
    world.run(1_000, 10)
    assert [each is delivery for each in world.outlets.take()] == [True]


def test_a_lapse_is_journaled_when_the_clock_passes_it() -> None:
    """Where a service says nothing else what was to lapse lapses, at its instant, and nobody is told."""
    world = Lockers()
    world.timeline.lapse(500, "locker", "a")
    world.run(1_000, 10)
    assert [(world.journal.entry(n)[0], world.journal.entry(n)[2]) for n in world.journal.find(CODE["lapse"], 0)] == [
        (500, ("locker", "a"))
    ]
    assert (world.now, world.idle) == (1_000, True)


def test_names_stand_for_themselves_unless_a_service_knows_better() -> None:
    """No name is derived from another one."""
    world = Lockers()
    assert (dict(world.plain_names), world.alias("test-lockers")) == ({}, "test-lockers")
