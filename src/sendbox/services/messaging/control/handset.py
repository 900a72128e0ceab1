"""The newest of a handset for a person who looks at it: its conversation, and what is not on it (yet)."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from heapq import nlargest
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.durations import iso
from sendbox.services.messaging.checks import BY_WORD
from sendbox.services.messaging.content.shown import shown
from sendbox.services.messaging.events import info_of
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.records import Attempt, Message
from sendbox.services.messaging.results import ACCEPTED, STATES
from sendbox.services.messaging.views import handset_view, received_view, shares_on, written_view
from sendbox.services.ports import account_of

if TYPE_CHECKING:
    from sendbox.engine.world import World

    #: Instant, place among those of the instant, and an attempt, or a message of which none was made.
    Entry = tuple[tuple[int, int, int], Attempt | Message]

#: So many messages of a phone are looked at between two pauses.
_LOOKED: Final = 64


def newest_view(world: World, number: str, most: int) -> Generator[None, None, dict[str, Any]]:
    """What `phone` answers with `last`; pauses now and then."""
    phones = Messaging.of(world).phones
    messages = phones.messages_of(number)
    arrived: list[Entry] = []
    absent: list[Entry] = []
    for place, message in enumerate(messages, 1):
        attempts = message.attempts
        if not attempts and message.valid:
            absent.append(((message.accepted_at, message.ordinal, 0), message))
        for attempt in attempts:
            at = attempt.arrived_at
            began = at if at is not None else _began(attempt)
            (absent if at is None else arrived).append(((began, message.ordinal, attempt.number), attempt))
        if place % _LOOKED == 0:
            yield
    written = phones.written.of(number)
    shares = shares_on(world, number)
    texts = [text for share in shares for text in share.texts]
    codes = [code for share in shares for code in share.codes]
    conversation: list[Mapping[str, Any]] = [entry_view(world, found) for found in _newest(arrived, most)]
    conversation += [*texts[-most:], *map(written_view, written[-most:])]
    conversation.sort(key=itemgetter("at"))  # all of one length
    return {
        **handset_view(world, number),
        "messages": [message.id for message in messages[-most:]],
        "codes": codes[:most],
        "conversation": conversation[-most:],
        "not_arrived": [entry_view(world, found) for found in _newest(absent, most)],
        "earlier": len(arrived) + len(texts) + len(written) > most or len(absent) > most,
    }


def _began(attempt: Attempt) -> int:
    """The instant at which an attempt that did not arrive was handed over, or refused."""
    transitions = attempt.transitions()
    return transitions[0][1] if transitions else attempt.message.accepted_at


def _newest(entries: list[Entry], most: int) -> list[Entry]:
    """The newest of them, oldest first."""
    return nlargest(most, entries, key=itemgetter(0))[::-1]


def entry_view(world: World, found: Entry) -> dict[str, Any]:
    """An attempt as its phone shows it, or would, with what is known of it; of a message without one its first step."""
    (at, _, _), item = found
    message, attempt = (item.message, item) if isinstance(item, Attempt) else (item, Attempt(item, 0, None))
    state = attempt.state
    account = account_of(world)
    urls = [link.url for links in (message.links or {}).values() for link in links]
    seen = received_view(world, attempt)
    return {
        **seen,
        "at": iso(at),
        "links": [{**link, "number": urls.index(link["url"]) + 1} for link in seen["links"]],
        "attempt": attempt.number + 1,
        "result": STATES[state],
        "info": None if state == ACCEPTED else info_of(attempt, state),
        "refused": None if attempt.refused is None else BY_WORD[attempt.refused].says,
        "planned": attempt.planned,
        "acts": Messaging.of(world).phones.acts_on(message) if item in (message, message.shown) else [],
        **shown(attempt.step, account),
    }
