"""Forgetting messages that have ended, with what hangs on them (`engine/forgetting.py`).

With a message go its row, its links, what its phone wrote before the next one was accepted, and its name; of the name
eight bytes stay, so that it can be said that it was forgotten. What counts equal texts or the cases of a rule stays.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from itertools import chain, compress
from typing import TYPE_CHECKING, Final

from sendbox.engine.draws import UNSEEDED
from sendbox.engine.kept import SIZE, Fingerprints
from sendbox.services.messaging.channels import DELIVERED
from sendbox.services.messaging.flow import expired_result, meets_condition
from sendbox.services.messaging.records import NO_REACTIONS, Message, Rows

if TYPE_CHECKING:
    from sendbox.services.messaging.home import Handsets, Home


#: So many are looked at between two pauses.
_LOOKED: Final = 500


class ForgottenMessages:
    """The knowledge that a world keeps about forgotten messages. `bound` names the bound that they passed."""

    __slots__ = ("_leaving", "bound", "names")

    def __init__(self) -> None:
        self.bound = ""
        self.names = Fingerprints()
        #: forgotten messages that entries of the journal before a number still show
        self._leaving: deque[tuple[int, Sequence[Message]]] = deque()

    def __contains__(self, message_id: str) -> bool:
        return _fingerprint(message_id) in self.names

    def leave(self, until: int, messages: Sequence[Message]) -> None:
        """Forgets messages; entries before number `until` show them."""
        for message in messages:
            self.names.add(_fingerprint(message.id))
        if messages:
            self._leaving.append((until, messages))

    def dismantle(self, first: int) -> Iterator[None]:
        """Takes messages apart that no entry from number `first` on can show, so that their counts free them."""
        while self._leaving and self._leaving[0][0] <= first:
            take_apart(self._leaving.popleft()[1])
            yield


def _fingerprint(message_id: str) -> bytes:
    return blake2b(message_id.encode(), digest_size=SIZE).digest()


def take_apart(messages: Sequence[Message]) -> None:
    """Breaks the circles of references between messages and their parts."""
    gone = set(messages)
    for message in messages:
        message.last = None
        message.reactions = NO_REACTIONS
    for submission in {message.submission for message in messages}:
        submission.messages = tuple(message for message in submission.messages if message not in gone)
        if not submission.messages:  # else another recipient's goes on, or waits
            submission.service_sending = None
            submission.chooser = UNSEEDED  # a plan's knows the journal, which has the messages


def has_ended(home: Home, message: Message) -> bool:
    """True if nothing more happens to a message by itself: no result, no further step, no reply, no click."""
    last, now = message.last, home.world.now
    if last is None:
        return home.is_test(message.phone)
    if last.plan is not None:
        return False
    if message.submission.send.expires is not None and expired_result(last) is not None:
        return False
    history = last.transitions()
    ttl = last.step.ttl if last.number + 1 < len(message.submission.send.steps) else None
    if history and ttl is not None and history[0][1] + ttl >= now and not meets_condition(last):
        return False
    for attempt in message.attempts:
        decision = attempt.decision
        if decision is None or not (decision.replies or decision.click):
            continue
        at = attempt.reached(DELIVERED)
        planned = [after for after, _ in (*(decision.replies or ()), *(decision.click or ()))]
        if at is not None and at + max(planned) >= now:
            return False
    return True


def forget(home: Home, past: ForgottenMessages, until: int, bound: str, most: int) -> Generator[None, None, int]:
    """Forgets the oldest messages before number `until` that have ended, `most` at most, and what hangs on them.

    Pauses now and then. Returns the number of the first message that was not looked at.
    """
    world, messages = home.world, home.messages
    past.bound = bound
    yield from past.dismantle(world.journal.first)
    place, left = 0, until - messages.lost
    while place < left and most:
        gone, place = messages.forget(place, min(place + _LOOKED, left), partial(has_ended, home), most)
        past.leave(len(world.journal), gone)
        home.by_id.forget(gone)
        for message in gone:
            for link in chain.from_iterable(message.reactions.links.values()):
                del home.links[link.code]
        most, left = most - len(gone), left - len(gone)
        yield
    boundary = messages.lost + place
    since = messages[place].accepted_at if place < len(messages) else world.now
    yield from _without(home.rows, past, since)
    yield from _without_words(home.phones, since)
    home.phones.look_again()
    home.attempts.memory.before = messages[0].ordinal if messages else home.accepted
    return boundary


def _without(rows: Rows, past: ForgottenMessages, since: int) -> Iterator[None]:
    """Takes out the rows of forgotten messages, as far as they were handed over up to an instant."""
    place = 0
    while place < len(rows.messages) and rows.at[place] <= since:
        looked = rows.messages[place : place + _LOOKED]
        stays = [message.id not in past for message in looked]
        rows.at[place : place + len(looked)] = array("q", compress(rows.at[place : place + len(looked)], stays))
        rows.messages.forget(place, place + len(looked), lambda message: message.id in past)
        place += sum(stays)
        yield


def _without_words(phones: Handsets, since: int) -> Iterator[None]:
    """Takes out what phones wrote before an instant."""
    while phones.inbound and phones.inbound[0].at < since:
        phones.inbound.forget(0, _LOOKED, lambda inbound: inbound.at < since)
        yield
