"""The operation that tells all there is about one message: what a picture of it needs, in one answer."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Final

from sendbox.control.arguments import Flag, flag
from sendbox.control.operation import Call, operation
from sendbox.control.reading import chosen, each
from sendbox.engine.delivery.batches import Delivery
from sendbox.engine.delivery.injection import InjectedFault
from sendbox.engine.kinds.own import head_of, tries_of
from sendbox.engine.kinds.rows import Observer
from sendbox.services.messaging.answers import Story, StoryDelivery
from sendbox.services.messaging.bulk import Line
from sendbox.services.messaging.control import messages
from sendbox.services.messaging.control.messages import message_of
from sendbox.services.messaging.control.telling import told, whole
from sendbox.services.messaging.records import Inbound
from sendbox.services.messaging.views import inbound_view

if TYPE_CHECKING:
    from sendbox.services.messaging.records import Message

#: So many entries are read, from the acceptance of the message on.
LOOKED_AT: Final = 200_000


@operation("GET", "/worlds/{id}/messages/{message_id}/story", answers=Story)
async def story(call: Call, message_id: str, explain: Flag = True) -> Story:
    """All about one message: the `message`, the `request` that sent it (null where no call did), the `entries` of the
    journal about it in order, the `deliveries` with events about it, each with its tries, and the replies (`inbound`).

    A delivery has only its events about this message; `others` counts the rest. `explain` is the answer of that
    operation, null with `explain=false`. `whole` is false where the journal goes on behind the entries that were read.
    Beside its view an entry is `told` in words (`{who, text, tone}`, null where other entries tell it), with the
    `section` of the specification, and what was `assumed` where that is silent. The message has its `legal` results,
    and each attempt what the phone shows of it: `from`, `body`, and the parts of a template.
    """
    explained = flag(explain, "explain")
    world = call.here.world
    message = await message_of(world, message_id)
    journal, on = world.journal, Observer(world, call.served.kinds)
    first = bisect_left(journal.at, message.accepted_at) + journal.first
    until = min(len(journal), first + LOOKED_AT)
    numbers = await chosen(range(first, until), lambda number: concerns(journal.entry(number)[2], message))
    subjects = [journal.entry(number)[2] for number in numbers]
    source = message.call
    calls = [number for number, subject in zip(numbers, subjects, strict=True) if subject is source]
    sent = [subject for subject in subjects if isinstance(subject, Delivery)]
    return Story(
        message=whole(world, message),
        request=on.entry(calls[0]) if calls else None,
        entries=await told(call, message, numbers),
        deliveries=await each(sent, lambda delivery: _delivery(on, delivery, message)),
        inbound=[inbound_view(subject) for subject in subjects if isinstance(subject, Inbound)],
        explain=await messages.explain(call, message_id) if explained else None,
        whole=until == len(journal),
    )


def concerns(subject: Any, message: Message) -> bool:
    """True if an entry with this subject is about a message."""
    if subject is message or subject is message.call:
        return True
    if isinstance(subject, tuple):
        return any(concerns(part, message) for part in subject)
    if isinstance(subject, Delivery | InjectedFault):
        return any(concerns(event, message) for event in subject.events)
    if isinstance(subject, Line):
        return subject.request_id == message.submission.request_id
    if isinstance(subject, dict):
        return subject.get("message_id") == message.id
    return getattr(subject, "message", None) is message


def _delivery(on: Observer, delivery: Delivery, message: Message) -> StoryDelivery:
    events = delivery.events
    own = [on.event(event) for event in events if concerns(event, message)]
    return StoryDelivery(**head_of(on, delivery), tries=tries_of(delivery), events=own, others=len(events) - len(own))
