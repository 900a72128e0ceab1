"""The subjects of expectations in a scenario: messages, the acts of phones, and links."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

import orjson

from sendbox.engine.answer import JsonObject
from sendbox.engine.expect.subjects import Field, Parts, Subject
from sendbox.engine.journal import CODE
from sendbox.services.messaging.channels import CHANNEL_WORDS, DELIVERED, FAMILIES, SEEN, STATE_OF, STATES
from sendbox.services.messaging.checks import BY_WORD
from sendbox.services.messaging.content.tags import DEFAULT, normalize
from sendbox.services.messaging.events import info_of
from sendbox.services.messaging.model import ASKED, Step
from sendbox.services.messaging.records import Attempt, Inbound, Message
from sendbox.services.numbers import notation
from sendbox.services.operations import SENDING
from sendbox.services.ports import account_of

if TYPE_CHECKING:
    from sendbox.engine.commands.record import RequestRecord
    from sendbox.engine.world import World


def _message(pick: Callable[[Message], object]) -> Callable[[World, object], object]:
    """Something of the message that a subject is about, or that an attempt or transition belongs to."""
    return lambda _world, subject: pick(subject if isinstance(subject, Message) else _attempt(subject).message)


def _step(pick: Callable[[Attempt], object]) -> Callable[[World, object], object]:
    """Something of the attempt that a subject is, or that a transition belongs to."""
    return lambda _world, subject: pick(_attempt(subject))


def _attempt(subject: Any) -> Attempt:
    attempt: Attempt = subject[0] if isinstance(subject, tuple) else subject
    return attempt


def _shown_step(message: Message) -> Step:
    attempt = message.furthest_attempt
    return message.submission.send.steps[0] if attempt is None else attempt.step


def keys_of(world: World) -> Iterable[str]:
    """The keys that a world has."""
    return account_of(world).keys


def _tags_of(world: World) -> Iterator[str]:
    """The tags of all messages, those that the traffic of the scenario and of its counterexamples has, and the usual
    one."""
    blueprint = world.blueprint
    counterexamples = (traffic for other in blueprint.counterexamples for traffic in other.traffic)
    for traffic in (*blueprint.traffic, *counterexamples):
        for message in traffic.value if isinstance(traffic.value, list) else [traffic.value]:
            for name in ("tag", "messageTag") if isinstance(message, dict) else ():
                if isinstance(message.get(name), str):
                    yield from normalize(message[name])
    for message in _every_message(world):
        yield from message.submission.send.tags
    yield from DEFAULT


def _senders_of(world: World) -> Iterator[str]:
    """The senders and numbers of the account, and the senders of all messages."""
    account = account_of(world)
    if not isinstance(account.senders, str):
        yield from chain.from_iterable(account.senders.values())
    yield from (*account.numbers, *account.business)
    for message in _every_message(world):
        yield from (step.sender for step in message.submission.send.steps if step.sender is not None)


#: The operation that asks for one message by its id.
LOOK_UP: Final = "getMessage"
#: To what a message belongs, and so what an attempt or transition of it does; the template is that of its step.
_OF_MESSAGE: Final = {
    "message": _message(lambda message: message.id),
    # a service that sends for itself makes no request
    "request": _message(lambda message: None if message.submission.service_sending else message.submission.request_id),
}
_OF_STEP: Final = {**_OF_MESSAGE, "template": lambda _world, subject: _template(_attempt(subject).step)}
#: Of the fields that are more than any text, how they are compared, and what lists their names.
_COMPARED: Final[dict[str, JsonObject]] = {
    "channel": {"kind": "word", "words": CHANNEL_WORDS},
    "phone": {"kind": "phone"},
    "tag": {"known": _tags_of},
    "sender": {"known": _senders_of},
    "operation": {"words": SENDING},
    "attempt": {"kind": "number", "numbers": ((1, inf),)},
    "key": {"known": keys_of},
    "payload": {"kind": "payload"},
}


def _fields(*, of_step: bool) -> dict[str, Field]:
    """The fields of messages, or those of their steps."""
    rows = (row for row in ASKED.values() if row.of_step == of_step and row.name not in _OF_STEP)
    return {
        row.name: Field("text", row.says, (_step if of_step else _message)(row.of))._replace(
            **_COMPARED.get(row.name, {})
        )
        for row in rows
    }


_ABOUT_MESSAGE: Final = _fields(of_step=False)
_ABOUT_STEP: Final = _fields(of_step=True)


def _template(step: Step) -> str | None:
    return None if step.template is None else f"{step.template.name}/{step.template.language}"


def _ended_at(message: Message) -> int:
    """When a message came to its result."""
    attempt = message.furthest_attempt
    return message.accepted_at if attempt is None else _moved_at(attempt)


def _moved_at(attempt: Attempt) -> int:
    """When an attempt came to its result."""
    moves = attempt.transitions()
    return moves[-1][1] if moves else attempt.message.accepted_at


def _rules(attempts: Iterable[Attempt]) -> tuple[str, ...]:
    decisions = [attempt.decision for attempt in attempts if attempt.decision is not None]
    return tuple(dict.fromkeys(rule for decision in decisions for rule in decision.rules))


def _info(_world: World, transition: tuple[Attempt, int]) -> str | None:
    return info_of(*transition)


def _transition_line(_world: World, transition: tuple[Attempt, int]) -> str:
    attempt, code = transition
    return f"{attempt.message.phone} by {attempt.step.channel}: {STATES[code]}"


def _attempt_line(_world: World | None, attempt: Attempt) -> str:
    return f"attempt {attempt.number + 1} to {attempt.message.phone} by {attempt.step.channel}: {STATES[attempt.state]}"


def request_of(record: RequestRecord) -> str | None:
    """The id of the request that its messages have; None where it sent none, or its answer was lost."""
    if record.operation not in SENDING or record.status != 200:
        return None
    try:
        answer = orjson.loads(record.answer)
    except orjson.JSONDecodeError:
        return None
    return answer.get("request_id") if isinstance(answer, dict) else None


def named_messages(world: World, record: RequestRecord) -> tuple[str, ...]:
    """The ids of the messages that a call asks for, if there are such."""
    from sendbox.services.messaging.messaging import Messaging

    ids = parse_qs(record.query.decode("latin-1")).get("id", ()) if record.operation == LOOK_UP else ()
    return tuple(name for name in ids if name in Messaging.of(world).by_id)


def message_of(event: object) -> str | None:
    """The id of the message whose result an event reports, or that a reply answers; None for other events."""
    message = event.message if isinstance(event, Inbound) else event[0].message if isinstance(event, tuple) else None
    return None if message is None else str(message.id)


def _every_message(world: World) -> Iterator[Message]:
    from sendbox.services.messaging.messaging import Messaging  # a check of a scenario has no world

    messages = Messaging.of(world).messages
    return (messages[place] for place in range(len(messages)))  # messages that come meanwhile are not counted


def _every_attempt(world: World) -> Iterator[Attempt]:
    return (attempt for message in _every_message(world) for attempt in message.attempts)


_ATTEMPT_FIELDS: Final = {
    **_ABOUT_MESSAGE,
    **_ABOUT_STEP,
    "result": Field("word", "its result", lambda _world, attempt: STATES[attempt.state], STATES),
    "refused": Field("text", "why a check refused it", lambda _world, attempt: attempt.refused, tuple(BY_WORD)),
    "rule": Field("text", "a rule that decided about it", lambda _world, attempt: _rules([attempt])),
}
#: The entries with which messages and attempts come to be: calls and transitions.
_BY_CALLS: Final = ("request", *STATES[1:])
_MESSAGE_FIELDS: Final = {
    **_ABOUT_MESSAGE,
    "result": _ATTEMPT_FIELDS["result"]._replace(says="the result of a step that was tried"),
    "channel": _ABOUT_STEP["channel"]._replace(says="the channel of a step that was tried"),
    "body": _ABOUT_STEP["body"],
    "sender": _ABOUT_STEP["sender"],
    "params": _ABOUT_STEP["params"],
    "attempts": Field("number", "how many attempts were made", lambda _world, message: len(message.attempts)),
    "rule": _ATTEMPT_FIELDS["rule"]._replace(says="a rule that decided about a step that was tried"),
}


def _steps(message: Message) -> list[tuple[Attempt, Collection[str]]]:
    """The steps of a message that were tried, or its first one; each with the words that ask it."""
    attempts = message.attempts or [Attempt(message)]
    return [
        (
            attempt,
            (
                "tried",
                *(["last"] if attempt is attempts[-1] else []),
                *(["delivered"] if attempt.arrived_at is not None else []),
            ),
        )
        for attempt in attempts
    ]


#: A message is asked about one of its steps.
_STEPS: Final = Parts(
    "step that was tried",
    _steps,
    frozenset({"result", "channel", "body", "sender", "params", "rule", "template"}),
    {
        "tried": "conditions of a step that was tried, as they are without this word; of one not yet tried, its first",
        "last": "conditions of the step that was tried last",
        "delivered": "conditions of the step that was delivered",
    },
    lambda attempt: _attempt_line(None, attempt),
    frozenset({"result", "channel", "body", "sender", "params"}),
    ("result", (STATES[DELIVERED], STATES[SEEN])),
)


def _cause_of_result(attempt: Attempt) -> tuple[object, object]:
    """With what an attempt came to its result: its last transition, and already the call if it did at once."""
    message = attempt.message
    return message.cause if _moved_at(attempt) == message.accepted_at else None, attempt


def _cause_of_sending(message: Message) -> tuple[object, object]:
    """With what a message was sent: with its call, from a line of an upload with its first attempt."""
    return message.cause or next(iter(message.attempts), None), None


def _messages(says: str, at: Callable[[Message], int], origin: Callable[[Message], tuple[object, object]]) -> Subject:
    """A row of messages; `at` says which instant of a message is its time, `origin` with what it came then."""
    return Subject(
        says,
        _MESSAGE_FIELDS,
        lambda _world, message: f"message to {message.phone} by {_shown_step(message).channel}: {message.result}",
        _BY_CALLS,
        kept=_every_message,
        at=at,
        made=origin,
        about=_OF_STEP,
        own=("message",),
        parts=_STEPS,
    )


def _happening(code: int, record: Any) -> Iterator[tuple[JsonObject, str | None]]:
    """An entry of the timeline, as it was written; an outage, which has entries of its own, with its state."""
    if code == CODE["outage"]:
        current, state = record
        yield {"kind": "outage", **current.scope}, state
    elif record["kind"] != "outage":
        yield record, None


def _named_by(happening: tuple[JsonObject, str | None], *names: str) -> Iterator[str]:
    """The values that an entry of the timeline has under these names."""
    for name in names:
        value = happening[0].get(name)
        yield from map(str, value if isinstance(value, list) else () if value is None else (value,))


def _happening_phones(world: World, happening: tuple[JsonObject, str | None]) -> tuple[str, ...]:
    """The phones that an entry of the timeline names, in international form; an outage has patterns."""
    if happening[0]["kind"] == "outage":
        return ()
    country = account_of(world).country
    return tuple(notation.normalize(name, country) or name for name in _named_by(happening, "phone", "number", "from"))


def happenings(kinds: tuple[str, ...]) -> Subject:
    """The row of what a timeline lets happen, which has these kinds."""
    return Subject(
        "what the timeline let happen, and the beginning and the end of an outage",
        {
            "kind": Field("word", "its kind", lambda _world, happening: happening[0]["kind"], kinds),
            "state": Field(
                "text", "of an outage, that it began or ended", lambda _world, happening: happening[1], OUTAGE
            ),
            "phone": Field("phone", "a phone that it names", _happening_phones),
            "channel": Field(
                "word",
                "a channel that it names",
                lambda _world, happening: tuple(_named_by(happening, "channel")),
                CHANNEL_WORDS,
            ),
        },
        lambda _world, happening: " ".join(filter(None, (happening[0]["kind"], happening[1]))),
        ("timeline", "outage"),
        _happening,
        several=("phone",),
    )


#: States of an outage.
OUTAGE: Final = ("began", "ended")
#: Types of its events.
EVENTS: Final = ("sentMessage", "incomingMessage", "incomingReplyMessage")
SUBJECTS: Final[dict[str, Subject]] = {
    "messages": _messages(
        "one message to one recipient, as it stands now; its time is when it reached its result",
        _ended_at,
        lambda message: (
            _cause_of_sending(message)
            if message.furthest_attempt is None
            else _cause_of_result(message.furthest_attempt)
        ),
    ),
    "sends": _messages(
        "one message to one recipient, as it stands now; its time is when the client sent it",
        lambda message: message.accepted_at,
        _cause_of_sending,
    ),
    "attempts": Subject(
        "one flow step tried, as it stands now; its time is when it reached its result",
        _ATTEMPT_FIELDS,
        _attempt_line,
        _BY_CALLS,
        kept=_every_attempt,
        at=_moved_at,
        made=_cause_of_result,
        about=_OF_STEP,
    ),
    "transitions": Subject(
        "a result that an attempt reached on its way",
        {
            **_ABOUT_MESSAGE,
            **_ABOUT_STEP,
            "result": Field("word", "the result reached", lambda _world, transition: STATES[transition[1]], STATES[1:]),
            "info": Field("text", "its result_info", _info),
        },
        _transition_line,
        STATES[1:],
        lambda code, attempt: ((attempt, STATE_OF[code]),),
        about=_OF_STEP,
    ),
    "inbound": Subject(
        "what a phone wrote",
        {
            "phone": Field("phone", "the phone that wrote", lambda _world, inbound: inbound.sender),
            "channel": Field("word", "the channel it used", lambda _world, inbound: inbound.channel, FAMILIES),
            "to": Field("text", "your number or sender", lambda _world, inbound: inbound.recipient),
            "body": Field("text", "what it says", lambda _world, inbound: inbound.body),
            "reply": Field("flag", "whether it answers a message", lambda _w, inbound: inbound.message is not None),
        },
        lambda _world, inbound: f'{inbound.sender} wrote "{inbound.body}" by {inbound.channel}',
        ("inbound",),
        about={"message": lambda _world, inbound: f"inbound {inbound.number}"},
        own=("message",),
        apart=("message",),
    ),
    "clicks": Subject(
        "a short link that was followed",
        {
            "phone": Field("phone", "the recipient of the link", lambda _world, link: link.message.phone),
            "target": Field("text", "where it leads", lambda _world, link: link.target),
        },
        lambda _world, link: f"{link.message.phone} followed the link to {link.target}",
        ("click",),
        about={"message": lambda _world, link: link.message.id},
    ),
    "opt_outs": Subject(
        "a phone that opted out, also before the world began",
        {"phone": Field("phone", "the phone", lambda _world, opt_out: opt_out[0])},
        lambda _world, opt_out: f"{opt_out[0]} opted out",
        ("opt_out",),
        begins=lambda world: [(number, None) for number in sorted(world.blueprint.compiled["account"].optout)],
    ),
}
