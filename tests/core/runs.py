"""Runs: what clients send at which instants, drawn by hypothesis and carried out in a world."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hypothesis import strategies as st

from sendbox.engine.durations import Span
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.services.messaging.model import Shortening
from sendbox.services.messaging.rules.rules import Click, Path, PathEntry, Reply, Rule
from tests.core.worlds import START, advance, send, step

SECOND = 1_000
PHONES = ("420777000100", "420777000101", "420777000102", "nonsense")
#: Something of everything: drawn times and results, replies, clicks, an opt-out, a bad end, a way that cannot be.
RULES = (
    Rule("stop", When(phone=Pattern(PHONES[2])), replies=(Reply(Span(5 * SECOND, 5 * SECOND), "STOP"),)),
    Rule(
        "answers",
        When(channel=("sms",)),
        replies=(Reply(Span(0, 90 * SECOND), "YES"),),
        click=(Click(Span(0, 60 * SECOND)),),
    ),
    Rule(
        "slow",
        When(phone=Pattern(PHONES[0])),
        path=Path(
            (PathEntry("sending", Span(0, 0)), PathEntry("sent", Span(0, 5_000)), PathEntry("seen", Span(0, 90_000)))
        ),
    ),
    Rule("mixed", When(), mix=((Path(goal="delivered"), 3), (Path(goal="undelivered"), 1), (Path(goal="failed"), 1))),
)


class Sending(NamedTuple):
    """One request: when, to which phones, and what."""

    at: int
    numbers: tuple[str, ...]
    body: str
    flow: bool
    delay: int


SENDINGS = st.lists(
    st.builds(
        Sending,
        at=st.integers(0, 4).map(lambda n: n * 10 * SECOND),
        numbers=st.lists(st.sampled_from(PHONES), min_size=1, max_size=3).map(tuple),
        body=st.sampled_from(["Hello", "see https://acme.example", "x" * 200]),
        flow=st.booleans(),
        delay=st.sampled_from([0, 120 * SECOND]),
    ),
    max_size=8,
)
#: Where a run is interrupted, in milliseconds since its start.
STOPS = st.lists(st.integers(0, 240 * SECOND), max_size=6)
END = 30 * 60 * SECOND


def request(world: World, sending: Sending) -> None:
    """Sends one request, by sms or by a flow that may fall back to it."""
    steps = [step(body=sending.body)]
    if sending.flow:
        steps.insert(0, step("richmsg", sending.body, ttl=30 * SECOND))
    send(
        world,
        *sending.numbers,
        steps=steps,
        at=START + sending.at + sending.delay if sending.delay else None,
        shortening=Shortening(),
    )


def to(world: World, instant: int) -> None:
    """Moves the world to an instant of the run; an instant in the past leaves it where it is."""
    advance(world, max(0, START + instant - world.now))


def carry_out(world: World, sendings: Iterable[Sending], stops: Iterable[int] = ()) -> World:
    """Sends everything at its instant, those of one instant in the order given; stops on the way; goes to the end."""
    halts: list[tuple[int, Sending | None]] = [(each.at, each) for each in sendings]
    halts += [(stop, None) for stop in stops]
    for instant, sending in sorted(halts, key=lambda halt: halt[0]):
        to(world, instant)
        if sending is not None:
            request(world, sending)
    to(world, END)
    return world
