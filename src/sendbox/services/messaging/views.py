"""Views: the records of a world as plain objects, for control, page and fixture; made when asked, never kept."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from operator import attrgetter
from typing import Any, Final, Literal

import orjson

from sendbox.engine.answer import JsonObject, moment, moment_or_none
from sendbox.engine.kinds.upcoming import About
from sendbox.engine.world import World
from sendbox.services.assume import Assume
from sendbox.services.messaging import answers
from sendbox.services.messaging.channels import SEEN, STATES, channels_on
from sendbox.services.messaging.content.text import text_shown
from sendbox.services.messaging.events import channel_details, timeline_of
from sendbox.services.messaging.flow import expired_result
from sendbox.services.messaging.forgetting import has_ended
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import CONDITIONS
from sendbox.services.messaging.outages import ActiveOutage, named
from sendbox.services.messaging.records import Attempt, Inbound, Link, Message
from sendbox.services.messaging.rules.rules import Line
from sendbox.services.ports import HasPhoneContent, PhoneContent, account_of

#: So many numbers of a list are shown in one entry.
MOST_LISTED: Final = 100
#: So many characters of a text are shown in a long list.
MOST_SHOWN: Final = 160
#: So many messages of a phone are looked at between two pauses.
_LOOKS_BETWEEN_PAUSES: Final = 64


def attempt_view(attempt: Attempt) -> answers.Attempt:
    """One attempt: its channel, result, transitions, price and what decided about it."""
    return answers.Attempt(
        number=attempt.number + 1,
        channel=attempt.step.channel,
        result=STATES[attempt.state],
        timeline=[
            answers.Reached(at=moment(at), result=result, info=info) for at, result, info in timeline_of(attempt)
        ],
        planned=attempt.planned,
        details=answers.Details(**channel_details(attempt)),
        rules=[] if attempt.decision is None else list(attempt.decision.rules),
        refused=attempt.refused,
    )


def message_view(world: World, message: Message) -> answers.Message:
    """One recipient's message with its attempts and flags."""
    submission = message.submission
    attempts = message.attempts
    return answers.Message(
        **_head(world, message),
        request_id=submission.request_id,
        payload=orjson.loads(submission.send.payload),
        priority=submission.send.priority,
        clicked_at=moment_or_none(message.reactions.clicked_at),
        replied_at=moment_or_none(message.reactions.replied_at),
        optout_at=moment_or_none(message.reactions.optout_at),
        links=[link_view(link) for links in message.reactions.links.values() for link in links],
        attempts=[attempt_view(attempt) for attempt in attempts],
        timeline=[
            answers.ReachedBy(at=moment(at), channel=attempt.step.channel, result=STATES[code])
            for at, _, attempt, code in sorted(
                ((at, attempt.number, attempt, code) for attempt in attempts for code, at in attempt.transitions()),
                key=lambda entry: entry[:2],
            )
        ],
    )


def message_short(world: World, message: Message) -> answers.ShortMessage:
    """The same for a long list: what is small. `unsettled` says whether anything may still happen to it by itself."""
    return answers.ShortMessage(
        **_head(world, message, MOST_SHOWN),
        attempts=len(message.attempts),
        unsettled=not has_ended(Messaging.of(world), message),
    )


def _head(world: World, message: Message, most: int | None = None) -> JsonObject:
    """The fields of a `MessageHead`; of the body only so many characters."""
    attempt = message.furthest_attempt
    return {
        "message_id": message.id,
        "phone": message.phone,
        "result": message.result,
        "channel": channel_of(message, attempt),
        "sender": sender_of(message, attempt),
        "body": body_of(world, message, attempt)[:most],
        "tags": list(message.submission.send.tags),
        "accepted_at": moment(message.accepted_at),
        "operation": message.submission.operation,
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


def link_view(link: Link) -> answers.Link:
    """One short link."""
    return answers.Link(
        url=link.url,
        target=link.target,
        expires_at=moment(link.expires_at),
        clicks=[moment(at) for at in link.clicks],
        message_id=link.message.id,
    )


def inbound_view(inbound: Inbound, direction: Literal["out"] | None = None) -> answers.Text:
    """One message from a phone."""
    return answers.Text(
        at=moment(inbound.at),
        direction=direction,
        channel=inbound.channel,
        message_id=None if inbound.message is None else inbound.message.id,
        from_=inbound.sender,
        to_=inbound.recipient,
        body=inbound.body,
    )


def received_view(world: World, attempt: Attempt) -> answers.Text:
    """One message as it arrived on a handset."""
    assert attempt.arrived_at is not None
    return answers.Text(at=moment(attempt.arrived_at), **fields_on_phone(world, attempt))


def fields_on_phone(world: World, attempt: Attempt) -> JsonObject:
    """The fields of a `Text` for an attempt, as a handset shows it or would show it."""
    message = attempt.message
    return {
        "direction": "in",
        "channel": attempt.step.channel,
        "message_id": message.id,
        "from_": attempt.shown_sender,
        "body": text_shown(attempt, account_of(world)),
        "content": attempt.step.content,
        "links": [link_view(link) for link in message.reactions.links.get(attempt.number, ())],
        "seen": attempt.reached(SEEN) is not None,
    }


def handset_view(world: World, number: str) -> JsonObject:
    """The fields that describe a handset, without the messages on it."""
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


def phone_view(world: World, number: str) -> answers.Handset:
    """A handset: what it is and its conversation, oldest first; at one instant it receives before it writes."""
    phones = Messaging.of(world).phones
    received = [received_view(world, attempt) for attempt in phones.inbox(number)]
    contents = contents_from_services(world, number)
    texts = [*received, *texts_of(contents), *_written_views(phones.written.of(number))]
    return answers.Handset(
        **handset_view(world, number),
        messages=[message.id for message in phones.messages_of(number)],
        codes=[code for content in contents for code in content.codes],
        conversation=sorted(texts, key=attrgetter("at")),
    )


def phone_short(world: World, number: str) -> Generator[None, None, answers.ShortHandset]:
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
        if place % _LOOKS_BETWEEN_PAUSES == 0:
            yield
    written = phones.written.of(number)
    texts = texts_of(contents_from_services(world, number))
    messages = phones.messages_of(number)
    ends = [] if newest is None else [received_view(world, newest[1])]
    ends += [*texts, *_written_views(written[-1:])]
    last = max(reversed(ends), key=attrgetter("at"), default=None)
    return answers.ShortHandset(
        number=number,
        online=not phones.is_offline(number),
        opted_out=number in account_of(world).optout,
        conversation_open=phones.conversation_open(number),
        received=received + len(texts),
        sent=len(written),
        messages=len(messages),
        last=None
        if last is None
        else answers.LastText(
            at=last.at, direction=last.direction or "out", channel=last.channel, body=last.body[:MOST_SHOWN]
        ),
        absent=_absent_view(world, messages[-1]) if messages else None,
    )


def _absent_view(world: World, message: Message) -> answers.AbsentText | None:
    """A message as the list of phones shows it, None if it is on its phone."""
    if any(attempt.arrived_at is not None for attempt in message.attempts):
        return None
    short = message_short(world, message)
    transitions = [] if message.last is None else message.last.transitions()
    return answers.AbsentText(
        at=moment(transitions[-1][1]) if transitions else short.accepted_at,
        channel=short.channel,
        result=short.result,
        body=short.body,
        unsettled=short.unsettled,
    )


def written_view(inbound: Inbound) -> answers.Text:
    """One message that a phone wrote, in its conversation."""
    return inbound_view(inbound, "out")


def _written_views(inbound: Iterable[Inbound]) -> list[answers.Text]:
    return [written_view(message) for message in inbound]


def texts_of(contents: Iterable[PhoneContent]) -> list[answers.Text]:
    """The texts on a phone that are no messages of the account."""
    return [
        answers.Text(
            at=moment(text.at),
            direction="in",
            channel="sms",
            message_id=None,
            from_=text.sender,
            body=text.body,
            links=[],
            seen=False,
        )
        for content in contents
        for text in content.texts
    ]


def contents_from_services(world: World, number: str) -> list[PhoneContent]:
    """The parts of a phone's content that come from other services."""
    return [part.phone_content(number) for part in world.parts.values() if isinstance(part, HasPhoneContent)]


def _submission(message: Message) -> About:
    submission, messages = message.submission, message.submission.messages
    if message is not messages[0]:  # its hand-over is named by the first of them, while that is to come
        return None if messages[0].last is None else _message(message)
    return {"what": f"hand-over of {submission.operation} to {len(messages)} phones", "phone": message.phone}


def _message(message: Message) -> About:
    return {"what": f"hand-over by {message.submission.send.steps[0].channel}", "phone": message.phone}


def _transition(attempt: Attempt) -> About:
    plan = attempt.plan
    if plan is None or attempt.position >= len(plan):
        return None
    return {"what": f"{attempt.step.channel} {STATES[plan[attempt.position][0]]}", "phone": attempt.message.phone}


def _ttl(attempt: Attempt) -> About:
    step = attempt.step
    good = CONDITIONS[CONDITIONS.index(step.condition) :]
    if attempt is not attempt.message.last or any(STATES[code] in good for code, _ in attempt.transitions()):
        return None
    text = f'ttl of {step.channel} ends; if it is not "{step.condition}" by then the flow goes on'
    return {"what": text, "phone": attempt.message.phone}


def _expiration(attempt: Attempt) -> About:
    code = expired_result(attempt)
    if code is None:
        return None
    return {
        "what": f"{attempt.step.channel} expires: {STATES[code]} unless it ends before",
        "phone": attempt.message.phone,
    }


def _fallback(subject: tuple[Attempt, str]) -> About:
    return {
        "what": f"the flow goes on after {subject[0].step.channel} ({subject[1]})",
        "phone": subject[0].message.phone,
    }


def _reply(subject: tuple[Attempt, str | Line]) -> About:
    attempt, body = subject
    text = body if isinstance(body, str) else body.text.source
    return {"what": f'the phone replies "{text}"', "phone": attempt.message.phone}


def _click(subject: tuple[Attempt, int | None]) -> About:
    return {"what": "the phone follows a link", "phone": subject[0].message.phone}


def _recovery(current: ActiveOutage) -> About:
    return {"what": f"the outage of {named(current.scope)} ends"}


#: The steps that are still to come for messages, in words, by the names of their handlers.
STEP_DESCRIPTIONS: Final[Mapping[str, Callable[[Any], About]]] = {
    "submission_due": _submission,
    "message_due": _message,
    "queue_turn_due": _message,
    "transition_due": _transition,
    "ttl_due": _ttl,
    "expiration_due": _expiration,
    "fallback_due": _fallback,
    "reply_due": _reply,
    "click_due": _click,
    "recovery_due": _recovery,
    "bulk_line_due": lambda bulk: {"what": f"next line of the file {bulk.bulk_id}"},
}
