"""The operation that tells all there is about one message: what a picture of it needs, in one answer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Annotated, Final

from msgspec.structs import asdict

from sendbox.control.arguments import described
from sendbox.control.catalog import loaded
from sendbox.control.operation import Call, operation
from sendbox.control.reading import map_in_slices, select
from sendbox.engine.answer import JsonObject, moment
from sendbox.engine.coverage import Collector
from sendbox.engine.delivery.batches import Delivery
from sendbox.engine.delivery.injection import InjectedFault
from sendbox.engine.kinds.engine_kinds import head_of, tries_of
from sendbox.engine.kinds.narration import Names, Narrator
from sendbox.engine.kinds.rows import Observer
from sendbox.engine.world import World
from sendbox.services.assumptions import registry
from sendbox.services.messaging.answers import RestsOn, Story, StoryDelivery, ToldAttempt, ToldMessage
from sendbox.services.messaging.bulk import Line
from sendbox.services.messaging.channels import STATES, legal_next
from sendbox.services.messaging.content.text import text_shown
from sendbox.services.messaging.control import messages
from sendbox.services.messaging.control.handset import is_truncated, step_parts
from sendbox.services.messaging.control.messages import message_of
from sendbox.services.messaging.records import Inbound, Message
from sendbox.services.messaging.views import inbound_view, message_view
from sendbox.services.ports import account_of

#: So many entries are read, from the acceptance of the message on.
LOOKED_AT: Final = 200_000


@operation("GET", "/worlds/{id}/messages/{message_id}/story", answers=Story)
async def story(
    call: Call, message_id: str, explain: Annotated[bool, described("with the answer of that operation")] = True
) -> Story:
    """All about one message: the `message`, the `request` that sent it (null where no call did), the `entries` of the
    journal about it in order, the `deliveries` with events about it, each with its tries, and the replies (`inbound`).

    A delivery has only its events about this message; `others` counts the rest. `explain` is the answer of that
    operation, null with `explain=false`. `whole` is false where the journal goes on behind the entries that were read.
    Beside its view an entry is `told` in words (`{who, text, tone}`, null where other entries tell it), with the
    `section` of the specification, and what was `assumed` where that is silent. The message has its `legal` results,
    and each attempt what the phone shows of it: `from`, `body`, and the parts of a template.
    """
    world = call.hosted.world
    message = await message_of(world, message_id)
    journal, on = world.journal, Observer(world, call.served.kinds)
    first = bisect_left(journal.at, message.accepted_at) + journal.first
    until = min(len(journal), first + LOOKED_AT)
    numbers = await select(range(first, until), lambda number: concerns(journal.entry(number)[2], message))
    subjects = [journal.entry(number)[2] for number in numbers]
    source = message.call
    calls = [number for number, subject in zip(numbers, subjects, strict=True) if subject is source]
    sent = [subject for subject in subjects if isinstance(subject, Delivery)]
    return Story(
        message=describe_message(world, message),
        request=on.entry(calls[0]) if calls else None,
        entries=await narrated_entries(call, message, numbers),
        deliveries=await map_in_slices(sent, lambda delivery: _delivery(on, delivery, message)),
        inbound=[inbound_view(subject) for subject in subjects if isinstance(subject, Inbound)],
        explain=await messages.explain(call, message_id) if explain else None,
        whole=until == len(journal),
    )


def concerns(subject: object, message: Message) -> bool:
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


async def narrated_entries(call: Call, message: Message, numbers: Sequence[int]) -> list[JsonObject]:
    """The entries of these numbers, which are about one message, as their views.

    Beside it `told` is `{who, text, tone}`, null where other entries tell it; `section` is the place in the
    specification, "" where there is none; `assumed` has the assumptions that it rests on where that is silent:
    `{id, section, title, default}`.
    """
    world, kinds = call.hosted.world, call.served.kinds
    reasons = Collector(world, await loaded(call.served))
    rows = {row.id: row for row in registry()}
    views = await map_in_slices(numbers, reasons.entry)
    narrator = Narrator(kinds.narrators, Names({message.id: "the message"}), views)

    def entry(view: JsonObject) -> JsonObject:
        reasons.leaned.clear()
        reasons.look(view["n"], counting=True)
        words = narrator.narrate(view)
        _, code, _ = world.journal.entry(view["n"])
        return {
            **view,
            "told": None if words is None else words.as_json(),
            "section": kinds.by_code[code].section,
            "assumed": [
                RestsOn(id=row.id, section=row.section, title=row.title, default=row.default)
                for row in (rows[id_] for id_ in sorted(reasons.leaned))
            ],
        }

    return await map_in_slices(views, entry)


def describe_message(world: World, message: Message) -> ToldMessage:
    """A message whose attempts have what the phone shows, or would show.

    That is `from`, `body`, and the parts of a template or of buttons (`step_parts`).
    `legal` are the results to which it can be moved by hand now.
    """
    view, account = asdict(message_view(world, message)), account_of(world)
    attempts = message.attempts
    last = attempts[-1] if attempts else None
    views = [
        ToldAttempt(
            **asdict(plain),
            due=[moment(at) for at in attempt.due(world.now)],
            from_=attempt.shown_sender,
            body=text_shown(attempt, account),
            **step_parts(attempt.step, account),
            truncated=is_truncated(message, attempt.step),
        )
        for plain, attempt in zip(view.pop("attempts"), attempts, strict=True)
    ]
    legal = [] if last is None else list(legal_next(last.step.channel, STATES[last.state]))
    return ToldMessage(**view, attempts=views, legal=legal)
