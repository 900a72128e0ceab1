"""The assumptions on which what happened to a message depends."""

from __future__ import annotations

from collections.abc import Iterator

from sendbox.engine.delivery.batches import Delivery
from sendbox.engine.world import World
from sendbox.services import limits
from sendbox.services.assume import Assume
from sendbox.services.messaging.channels import REJECTED, ROWS
from sendbox.services.messaging.content.hours import hours_of
from sendbox.services.messaging.records import Attempt, Message


def of_transition(attempt: Attempt, code: int, *, first: bool) -> Iterator[str]:
    """The ids of the assumptions on which a result depends; the first of an attempt depends on its hand-over too."""
    decision = attempt.decision
    if attempt.price is not None and (decision is None or decision.entries is None):
        yield "A63"
    if first and code == REJECTED:
        if not attempt.message.valid:
            yield "A08"
        if attempt.refused in ("blacklist", "optout") and attempt.message.submission.key.billing is not None:
            yield "A90"
    if first and attempt.number == 0:
        yield from _of_acceptance(attempt.message)
    if first and attempt.price is not None:
        yield from _of_hand_over(attempt)


def _of_acceptance(message: Message) -> Iterator[str]:
    """The ids of the assumptions that, with another value, could have delayed or refused the message."""
    send = message.submission.send
    if message.phone == limits.TEST_NUMBER:
        yield "A89"
    if "promotional" in send.tags:
        yield "A84"


def _of_hand_over(attempt: Attempt) -> Iterator[str]:
    send = attempt.message.submission.send
    step = attempt.step
    yield "A61"
    channel = ROWS[step.channel]
    if channel.assumed is not None and attempt.number + 1 < len(send.steps):
        yield channel.assumed
    if channel.conversation:
        yield "A66"
    if step.template is not None:
        if all(other.template is not None and other.body is None for other in send.steps):
            yield "A06"
        if step.template.header is not None:
            yield "A76"
    if "gateway" in channel.fields and step.gateway != "high":
        yield "A80"
    if send.window is not None:
        yield "A16"
        if send.window.start >= send.window.end:
            yield "A15"
    if "priority" in send.tags:
        yield "A60"
    if send.shortening is not None and attempt.message.reactions.links.get(attempt.number):
        yield from ("A17", "A78")
        if send.shortening.domain is not None:
            yield "A77"


def of_delivery(delivery: Delivery) -> Iterator[str]:
    """The ids of the assumptions on which a try of a delivery depends."""
    target = delivery.outlet.target
    if target.method == "GET" or target.content_type != "application/json":
        yield "A69"
    for event in delivery.events:
        if isinstance(event, tuple):
            attempt, _ = event
            yield "A82"
            if attempt.price is None or attempt.message.submission.send.payload == b"{}":
                yield "A67"


def of_postponed(world: World, message: Message) -> Iterator[str]:
    """The ids of the assumptions that delay a message: promotional hours, the limit of the queue."""
    if hours_of(Assume.of(world), message.submission.send, message.phone, valid=message.valid) is not None:
        yield "A84"
    if Assume.of(world).queue is not None:
        yield "A18"
