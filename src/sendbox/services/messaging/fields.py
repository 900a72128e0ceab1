"""The fields of a message: a row for each. Of the rows are made the conditions of `when`, the fields of `expect`, what
rules ask of an attempt, and the texts of the client's own that events and rows show.

To add a text of the client's own, add its row, and its name to the schemas of requests, events and rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from sendbox.services import limits
from sendbox.services.messaging.channels import CHANNEL_WORDS
from sendbox.services.messaging.content.tags import normalize
from sendbox.services.operations import SENDING
from sendbox.services.ports import account_of

if TYPE_CHECKING:
    from sendbox.engine.expect.subjects import Comparison
    from sendbox.engine.world import World
    from sendbox.services.assume import Assume
    from sendbox.services.messaging.records import Attempt, Message


class MessageField(NamedTuple):
    """A field of a message, or with `of_step` of the step that an attempt tries; `of` reads it of that.

    `says` is its meaning, "" if expectations do not have it; `kind`, `words`, `numbers` and `known` are those of the
    field of an expectation (`engine/expect/subjects.py`). Rules of `attempts` ask for it if it is `asked`, and those of
    `webhooks` if it is `posted`; where it is None, they see what is `unset`. A label is a text of the client's own that
    comes back as it is: it has 1 to `longest` characters, and with a `setting` only worlds with the setting have it.
    """

    name: str
    of: Callable[[Any], Any]
    says: str = ""
    kind: Comparison = "text"
    words: tuple[str, ...] = ()
    numbers: tuple[tuple[int, float], ...] = ()
    known: Callable[[World], Iterable[str]] | None = None
    of_step: bool = False
    asked: bool = True
    posted: bool = False
    unset: str | None = None
    longest: int = 0
    setting: str = ""

    def is_on(self, assume: Assume) -> bool:
        """True if messages may have it in a world with these settings."""
        return not self.setting or bool(getattr(assume, self.setting))


def messages_of(world: World) -> Iterator[Message]:
    """The messages of a world; those that come meanwhile are not counted."""
    from sendbox.services.messaging.messaging import Messaging  # a check of a scenario has no world

    messages = Messaging.of(world).messages
    return (messages[place] for place in range(len(messages)))


def keys_of(world: World) -> Iterable[str]:
    """The keys that a world has."""
    return account_of(world).keys


def _tags_of(world: World) -> Iterator[str]:
    """The tags of all messages, and those that the scenario's traffic has."""
    for traffic in world.blueprint.traffic:
        for message in traffic.value if isinstance(traffic.value, list) else [traffic.value]:
            for name in ("tag", "messageTag") if isinstance(message, dict) else ():
                if isinstance(message.get(name), str):
                    yield from normalize(message[name])
    for message in messages_of(world):
        yield from message.submission.send.tags


def _senders_of(world: World) -> Iterator[str]:
    """The senders and numbers of the account, and the senders of all messages."""
    account = account_of(world)
    if not isinstance(account.senders, str):
        yield from chain.from_iterable(account.senders.values())
    yield from (*account.numbers, *account.business)
    for message in messages_of(world):
        yield from (step.sender for step in message.submission.send.steps if step.sender is not None)


def _label(name: str, says: str = "", *, longest: int, setting: str = "") -> MessageField:
    """The row of a text of the client's own."""
    return MessageField(
        name,
        lambda message: (message.submission.send.labels or {}).get(name),
        says,
        asked=bool(says),
        posted=bool(says),
        longest=longest,
        setting=setting,
    )


#: Every field, in the order in which rules are asked for it.
FIELDS: Final = (
    MessageField(
        "channel", lambda attempt: attempt.step.channel, "the channel", "word", words=CHANNEL_WORDS, of_step=True
    ),
    MessageField("phone", lambda message: message.phone, "the recipient", "phone"),
    MessageField(
        "tag", lambda message: message.submission.send.tags, "one of the message's tags", known=_tags_of, posted=True
    ),
    MessageField("body", lambda attempt: attempt.body, "the text as the step gave it", of_step=True, unset=""),
    MessageField(
        "sender",
        lambda attempt: attempt.step.sender,
        "the sender of the step",
        known=_senders_of,
        of_step=True,
        unset="",
    ),
    MessageField(
        "template", lambda attempt: attempt.step.template and attempt.step.template.name, of_step=True, posted=True
    ),
    MessageField(
        "operation", lambda message: message.submission.operation, "the operation that sent it", words=SENDING
    ),
    MessageField(
        "attempt",
        lambda attempt: attempt.number + 1,
        "which attempt of the message, from 1",
        "number",
        numbers=((1, inf),),
        of_step=True,
    ),
    MessageField("key", lambda message: message.submission.key.id, "the API key that sent it", known=keys_of),
    MessageField(
        "payload",
        lambda message: orjson.loads(message.submission.send.payload),
        "dotted paths inside the request's payload",
        "payload",
    ),
    _label("reference", longest=limits.REFERENCE, setting="reference"),
)
LABELS: Final = tuple(row for row in FIELDS if row.longest)


#: The texts that conditions of `webhooks` compare.
POSTED: Final = tuple(row for row in FIELDS if row.posted)
#: What rules ask for, by the name of the condition.
ASKED: Final = {row.name: row for row in FIELDS if row.asked}


class Asked(dict[str, Any]):
    """What rules ask of an attempt, by name: each field is read when it is asked for the first time."""

    __slots__ = ("attempt",)

    def __init__(self, attempt: Attempt, **others: Any) -> None:
        super().__init__(others)
        self.attempt = attempt

    def __missing__(self, name: str) -> Any:
        row = ASKED[name]
        value = row.of(self.attempt if row.of_step else self.attempt.message)
        self[name] = value = row.unset if value is None else value
        return value
