"""The facts about orders that a scenario may expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sendbox.engine.expect.subjects import Field, Subject
from sendbox.services.account.orders import PERIODS, REACHED, Order

if TYPE_CHECKING:
    from sendbox.engine.world import World


def _line(_world: World, entry: tuple[Order, str]) -> str:
    order, state = entry
    return f"order of {order.service} for {order.subject}: {state}"


SUBJECTS: Final[dict[str, Subject]] = {
    "orders": Subject(
        "an order of a service that entered a state",
        {
            "service": Field("text", "the service's flat id", lambda _world, entry: entry[0].service),
            "subject": Field("text", "what was ordered: a sender or a number", lambda _world, entry: entry[0].subject),
            "period": Field("text", "the period it is paid for", lambda _world, entry: entry[0].period, PERIODS),
            "fee": Field("number", "its fee, in units of the currency", lambda _world, entry: entry[0].fee / 1_000_000),
            "currency": Field(
                "word", "the currency it was paid in", lambda _world, entry: entry[0].billing.currency, ("EUR", "CZK")
            ),
            "state": Field("word", "the state it entered", lambda _world, entry: entry[1], REACHED),
        },
        _line,
        ("order",),
    ),
}
