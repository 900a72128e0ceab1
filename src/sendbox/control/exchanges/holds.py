"""Operations on webhooks that are held before their first try, so that a tester sends them in an order of his own."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated

from sendbox.control.arguments import described
from sendbox.control.exchanges.deliveries import find_delivery, with_ids
from sendbox.control.operation import Call, ControlError, operation
from sendbox.engine.answer import Answer
from sendbox.engine.delivery.batches import Delivery
from sendbox.engine.delivery.targets import Hold, Outlets
from sendbox.engine.world import World
from sendbox.services.numbers import notation
from sendbox.services.ports import account_of


class HoldShown(Answer):
    """Webhooks that are held before their first try: those about a phone, those to a target, or all of them."""

    phone: str | None
    target: str | None


class Holds(Answer):
    """Which webhooks are held from now on, and the ids of those that are held now, oldest first."""

    holds: list[HoldShown]
    held: list[str]


@operation("GET", "/worlds/{id}/holds", answers=Holds)
async def holds(call: Call) -> Holds:
    """Which webhooks are held before their first try, and which are held now."""
    return _holds_of(call.hosted.world)


@operation("POST", "/worlds/{id}/holds", act=True, answers=Holds)
async def hold_next(
    call: Call,
    phone: Annotated[str | None, described("only those about this phone")] = None,
    target: Annotated[str | None, described("only those to this address; `hook` is the built-in receiver")] = None,
) -> Holds:
    """From now on webhooks are held before their first try: all of them, or those that fit.

    A webhook with several events is about each of their phones. One that comes before the answer of its request, by a
    rule, is not held.
    """
    world = call.hosted.world
    hold = Hold(None if phone is None else _number(world, phone), target)
    if hold not in world.outlets.holds:
        world.outlets.holds.append(hold)
    return _holds_of(world)


@operation("DELETE", "/worlds/{id}/holds", act=True, answers=Holds)
async def end_holds(call: Call) -> Holds:
    """From now on webhooks are no longer held before their first try. Those that are held stay so until released."""
    world = call.hosted.world
    world.outlets.holds.clear()
    return _holds_of(world)


@operation("POST", "/worlds/{id}/holds/release", act=True, prepare=with_ids, answers=Holds)
async def release_held(
    call: Call,
    deliveries: Annotated[Sequence[str] | None, described("their ids, in the order in which they leave")] = None,
) -> Holds:
    """Sends held webhooks at once, one after another to each receiver: these, or all of them, oldest first.

    An id that several have, as a rule repeated a webhook, is that of the oldest of them; named again, of the next one.
    """
    world = call.hosted.world
    for delivery in _held(world.outlets) if deliveries is None else _named(world, deliveries):
        world.outlets.release(delivery)
    return _holds_of(world)


def _named(world: World, names: Sequence[str]) -> list[Delivery]:
    """The held webhooks with these ids. Raises `ControlError`."""
    outlets = world.outlets
    held: defaultdict[str, deque[Delivery]] = defaultdict(deque)
    for delivery in _held(outlets):
        held[outlets.id_of(delivery)].append(delivery)
    named: list[Delivery] = []
    for delivery in [find_delivery(world, name) for name in names]:
        same = held[outlets.id_of(delivery)]
        if same:
            named.append(same.popleft())
        elif delivery not in named:
            text = f'{outlets.id_of(delivery)} is in the state "{delivery.state}"; legal: a webhook that is held'
            raise ControlError(409, "wrong_state", text)
    return named


def _holds_of(world: World) -> Holds:
    """The holds of a world, and what is held."""
    outlets = world.outlets
    views = [HoldShown(phone=hold.phone, target=hold.target) for hold in outlets.holds]
    return Holds(holds=views, held=[outlets.id_of(delivery) for delivery in _held(outlets)])


def _held(outlets: Outlets) -> list[Delivery]:
    """The webhooks that are held, oldest first."""
    return sorted(outlets.held, key=attrgetter("number"))


def _number(world: World, text: str) -> str:
    """The number of a phone. Raises `ControlError`."""
    try:
        return notation.number(text, account_of(world).country)
    except ValueError as error:
        raise ControlError(400, "bad_argument", f'phone: "{text}" {error}') from None
