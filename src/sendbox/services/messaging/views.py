"""Views: the records of a world as plain objects, for control, page and fixture; made when asked, never kept."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import orjson

from sendbox.engine.durations import iso
from sendbox.services.assume import Assume
from sendbox.services.messaging.channels import channels_on
from sendbox.services.messaging.content.text import text_shown
from sendbox.services.messaging.events import channel_details, timeline_of
from sendbox.services.messaging.forgetting.passes import has_ended
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.results import SEEN, STATES
from sendbox.services.ports import Phoning, Share, account_of

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.services.messaging.records import Attempt, Inbound, Link, Message

#: So many numbers of a list are shown in one entry.
MOST_LISTED: Final = 100
#: So many characters of a text are shown in a long list.
MOST_SHOWN: Final = 160
#: So many messages of a phone are looked at between two pauses.
_LOOKED: Final = 64


def attempt_view(world: World, attempt: Attempt) -> dict[str, Any]:
    """One attempt: its channel, result, transitions, price and what decided about it."""
    view: dict[str, Any] = {
        "number": attempt.number + 1,
        "channel": attempt.step.channel,
        "result": STATES[attempt.state],
        "timeline": timeline_of(attempt),
        "planned": attempt.planned,
        "details": channel_details(attempt),
        "rules": [] if attempt.fate is None else list(attempt.fate.rules),
    }
    return view if attempt.refused is None else view | {"refused": attempt.refused}


def message_view(world: World, message: Message) -> dict[str, Any]:
    """One recipient's message with its attempts and flags."""
    submission = message.submission
    shown = message.shown
    attempts = message.attempts
    return {
        "message_id": message.id,
        "request_id": submission.request_id,
        "operation": submission.operation,
        "phone": message.phone,
        "result": message.result,
        "channel": channel_of(message, shown),
        "sender": sender_of(message, shown),
        "body": body_of(world, message, shown),
        "tags": list(submission.send.tags),
        "payload": orjson.loads(submission.send.payload),
        "priority": submission.send.priority,
        "accepted_at": iso(message.accepted_at),
        "clicked_at": iso_or_none(message.clicked_at),
        "replied_at": iso_or_none(message.replied_at),
        "optout_at": iso_or_none(message.optout_at),
        "links": [link_view(link) for links in (message.links or {}).values() for link in links],
        "attempts": [attempt_view(world, attempt) for attempt in attempts],
        "timeline": [
            {"at": iso(at), "channel": attempt.step.channel, "result": STATES[code]}
            for at, _, attempt, code in sorted(
                ((at, attempt.number, attempt, code) for attempt in attempts for code, at in attempt.transitions()),
                key=lambda entry: entry[:2],
            )
        ],
    }


def message_short(world: World, message: Message) -> dict[str, Any]:
    """The same for a long list: what is small. `unsettled` says whether anything may still happen to it by itself."""
    shown = message.shown
    return {
        "message_id": message.id,
        "phone": message.phone,
        "result": message.result,
        "channel": channel_of(message, shown),
        "sender": sender_of(message, shown),
        "body": body_of(world, message, shown)[:MOST_SHOWN],
        "tags": list(message.submission.send.tags),
        "accepted_at": iso(message.accepted_at),
        "operation": message.submission.operation,
        "attempts": len(message.attempts),
        "unsettled": not has_ended(Messaging.of(world), message),
    }


def channel_of(message: Message, attempt: Attempt | None) -> str:
    """The channel that a message shows; before the hand-over that of its first step."""
    return message.submission.send.steps[0].channel if attempt is None else attempt.step.channel


def sender_of(message: Message, attempt: Attempt | None) -> str | None:
    """The sender that the phone shows; before the hand-over the one that was requested."""
    return message.submission.send.steps[0].sender if attempt is None else attempt.shown_sender


def body_of(world: World, message: Message, attempt: Attempt | None) -> str:
    """The text as the phone shows it; before the hand-over the text as it was requested."""
    if attempt is None:
        send = message.submission.send
        return send.text(send.steps[0]) or ""
    return text_shown(attempt, account_of(world))


def link_view(link: Link) -> dict[str, Any]:
    """One short link."""
    return {
        "url": link.url,
        "target": link.target,
        "expires_at": iso(link.expires_at),
        "clicks": [iso(at) for at in link.clicks],
        "message_id": link.message.id,
    }


def inbound_view(inbound: Inbound) -> dict[str, Any]:
    """One message from a phone."""
    return {
        "at": iso(inbound.at),
        "channel": inbound.channel,
        "from": inbound.sender,
        "to": inbound.recipient,
        "body": inbound.body,
        "message_id": None if inbound.message is None else inbound.message.id,
    }


def received_view(world: World, attempt: Attempt) -> dict[str, Any]:
    """One message as it arrived on a handset."""
    message = attempt.message
    return {
        "at": iso_or_none(attempt.arrived_at),
        "direction": "in",
        "channel": attempt.step.channel,
        "message_id": message.id,
        **shown_view(world, attempt),
        "links": [link_view(link) for link in (message.links or {}).get(attempt.number, ())],
        "seen": attempt.reached(SEEN) is not None,
    }


def shown_view(world: World, attempt: Attempt) -> dict[str, Any]:
    """What a handset shows of an attempt, or would show."""
    content = attempt.step.content
    return {
        "from": attempt.shown_sender,
        "body": text_shown(attempt, account_of(world)),
        **({} if content is None else {"content": content}),
    }


def handset_view(world: World, number: str) -> dict[str, Any]:
    """What a handset is, without what is on it."""
    phones = Messaging.of(world).phones
    spec = phones.spec(number)
    channels = None if spec is None else spec.channels
    present = {channel.family for channel in channels_on(Assume.of(world))}
    return {
        "number": number,
        "channels": sorted(present if channels is None else channels),
        "online": not phones.is_offline(number),
        "conversation_open": phones.conversation_open(number),
        "opted_out": number in account_of(world).optout,
    }


def phone_view(world: World, number: str) -> dict[str, Any]:
    """A handset: what it is and its conversation, oldest first; at one instant it receives before it writes."""
    phones = Messaging.of(world).phones
    received = [received_view(world, attempt) for attempt in phones.inbox(number)]
    written = [written_view(inbound) for inbound in phones.written.of(number)]
    shares = shares_on(world, number)
    return {
        **handset_view(world, number),
        "messages": [message.id for message in phones.messages_of(number)],
        "codes": [code for share in shares for code in share.codes],
        "conversation": sorted(
            [*received, *(text for share in shares for text in share.texts), *written], key=lambda entry: entry["at"]
        ),  # all of one length
    }


def phone_short(world: World, number: str) -> Generator[None, None, dict[str, Any]]:
    """The same for a long list: how much of each there is, and the `last` of the conversation; with pauses."""
    phones = Messaging.of(world).phones
    received = 0
    newest: tuple[tuple[int, int, int], Attempt] | None = None
    for place, message in enumerate(phones.messages_of(number), 1):
        for attempt in message.attempts:
            at = attempt.arrived_at
            if at is not None:
                received += 1
                key = at, message.ordinal, attempt.number
                newest = (key, attempt) if newest is None or key > newest[0] else newest
        if place % _LOOKED == 0:
            yield
    written = phones.written.of(number)
    texts = [text for share in shares_on(world, number) for text in share.texts]
    ends: list[Mapping[str, Any]] = [] if newest is None else [received_view(world, newest[1])]
    ends += [*texts, *map(written_view, written[-1:])]
    last = max(reversed(ends), key=itemgetter("at"), default=None)
    return {
        "number": number,
        "online": not phones.is_offline(number),
        "opted_out": number in account_of(world).optout,
        "conversation_open": phones.conversation_open(number),
        "received": received + len(texts),
        "sent": len(written),
        "last": None
        if last is None
        else {**{name: last[name] for name in ("at", "direction", "channel")}, "body": last["body"][:MOST_SHOWN]},
    }


def written_view(inbound: Inbound) -> dict[str, Any]:
    """One message that a phone wrote, in its conversation."""
    return {"direction": "out", **inbound_view(inbound)}


def shares_on(world: World, number: str) -> list[Share]:
    """What other services show on a phone."""
    return [part.on_phone(number) for part in world.parts.values() if isinstance(part, Phoning)]


def iso_or_none(at: int | None) -> str | None:
    """An instant as text, None where there is none."""
    return None if at is None else iso(at)
