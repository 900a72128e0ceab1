"""Phones: the recipients' handsets, what their owners do, what arrives from them, and their order (§6, A66, A68).

A phone exists for every number; a record is kept only for one that did something or is offline. Long because all that
an owner can do stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from itertools import chain
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from sendbox.engine.delivery.batches import Outlet
from sendbox.engine.journal import CODE, Journal
from sendbox.engine.kept import Firsts, Groups, Kept, Source
from sendbox.services import limits
from sendbox.services.advice import NO_TARGET, advise
from sendbox.services.messaging.channels import CONVERSING, DELIVERED, ENTRY, FAMILY, LEGAL, SEEN, SENDING, SENT
from sendbox.services.messaging.content.text import Prepared, fill, id_query
from sendbox.services.messaging.model import PhoneSpec
from sendbox.services.messaging.records import Attempt, Inbound, Link, Message
from sendbox.services.messaging.rules.rules import Line

if TYPE_CHECKING:
    from sendbox.services.messaging.home import Home


#: Entries that are something new on a phone: a message has another result, or its owner wrote.
_INBOUND: Final = CODE["inbound"]
_RESULTS: Final = frozenset(ENTRY)
#: So many entries of the journal are looked at between two pauses.
_LOOKED: Final = 500


class Activity:
    """The numbers of phones with numbers that rise: the last of them is the phone on which something happened last.

    It is read as far as it is asked for. A message counts when it is accepted, and with each result.
    """

    def __init__(self, journal: Journal, messages: Kept[Message]) -> None:
        self._journal = journal
        self._messages = messages
        self.look_again()

    def look_again(self) -> None:
        """Something was forgotten: what is left is read anew."""
        self.places: dict[str, int] = {}
        self._count = 0
        self._entry = 0
        self._message = 0

    def read(self) -> Generator[None, None, None]:
        """Reads what is new; pauses now and then."""
        journal = self._journal
        while self._entry < len(journal):
            first = max(self._entry, journal.first)
            self._entry = min(first + _LOOKED, len(journal))
            for number in range(first, self._entry):
                at, code, subject = journal.entry(number)
                if code in _RESULTS or code == _INBOUND:
                    self._accept(at)
                    self._note(subject.sender if code == _INBOUND else subject.message.phone)
            yield
        self._accept(None)

    def _accept(self, at: int | None) -> None:
        """Notes the messages that were accepted until an instant; None: all."""
        messages = self._messages
        self._message = max(self._message, messages.lost)
        while self._message < messages.made:
            message = messages[self._message - messages.lost]
            if at is not None and message.accepted_at > at:
                return
            self._message += 1
            if message.valid:
                self._note(message.phone)

    def _note(self, number: str) -> None:
        self._count += 1
        self.places.pop(number, None)
        self.places[number] = self._count


#: The number a phone writes to when nothing else is said and the account has none of its own.
DEFAULT_NUMBER: Final = "420900000000"
#: A link's code ends in so many letters that a million links in a world do not meet.
_CODE_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
_CODE_LENGTH: Final = 10
#: States of an attempt that a phone may have, as far as is known.
_HAD: Final = frozenset({SENDING, SENT, DELIVERED, SEEN})


#: What an owner may do, as a scenario says it.
ACTS: Final = ("offline", "online", "seen", "click", "press", "opt_out", "opt_in")
_VERBS: Final = {"seen": "see"}


class NoSuchThing(LookupError):
    """Something that an act needs does not exist; the message of the error names it."""


class Phones:
    """The handsets of one world."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._world = home.world
        self._account = home.account
        #: what the scenario says of phones
        self.specs: tuple[PhoneSpec, ...] = home.world.blueprint.compiled["phones"]
        #: number -> instant until which free text may be sent (A66)
        self.conversations: dict[str, int] = {}
        self.offline: dict[str, bool] = {}
        self._parked: dict[str, list[Attempt]] = {}
        self.inbound: Kept[Inbound] = Kept()
        #: messages by the number they go to, and what phones wrote by the number it came from
        self.messages: Groups[Message] = Groups(home.messages, attrgetter("phone"))
        self.written: Groups[Inbound] = Groups(self.inbound, attrgetter("sender"))
        #: numbers in order of first appearance
        self.appearances = Firsts(
            Source(home.messages, attrgetter("accepted_at"), lambda message: message.phone if message.valid else None),
            Source(self.inbound, attrgetter("at"), attrgetter("sender")),
        )
        self.activity = Activity(home.world.journal, home.messages)

    # -- what a phone is

    def spec(self, number: str) -> PhoneSpec | None:
        """The scenario's entry for this number: the first that matches."""
        for spec in self.specs:
            if spec.number.matches(number):
                return spec
        return None

    @property
    def differ(self) -> bool:
        """True if the scenario has entries for phones, which say what these can receive."""
        return bool(self.specs)

    def has(self, number: str, family: str) -> bool:
        """True if the phone can receive messages on a family of channels."""
        if not self.specs:
            return True
        spec = self.spec(number)
        return spec is None or spec.channels is None or family in spec.channels

    def conversation_open(self, number: str) -> bool:
        """True if free text may be sent to this phone (§2.2, A66)."""
        if self.conversations.get(number, 0) > self._world.clock.now:
            return True
        spec = self.spec(number)
        return spec is not None and spec.conversation

    def is_offline(self, number: str) -> bool:
        """True if the phone is switched off: receipts wait until it is switched on again."""
        switched = self.offline.get(number)
        if switched is None:
            spec = self.spec(number)
            return spec is not None and spec.offline
        return switched

    @property
    def may_be_off(self) -> bool:
        """True if there may be a phone that is switched off."""
        return bool(self.offline or self.specs)

    def park(self, attempt: Attempt) -> bool:
        """Keeps an attempt that would be delivered while the phone is offline; True when it was kept."""
        if not self.may_be_off:
            return False
        number = attempt.message.phone
        if not self.is_offline(number):
            return False
        self._parked.setdefault(number, []).append(attempt)
        return True

    def messages_of(self, number: str) -> list[Message]:
        """All messages to a number, oldest first."""
        return self.messages.of(number)

    def look_again(self) -> None:
        """Messages were forgotten: those that are left are sorted by their numbers anew, when one is asked for."""
        self.messages.look_again()
        self.written.look_again()
        self.appearances.look_again()
        self.activity.look_again()

    def inbox(self, number: str) -> list[Attempt]:
        """The attempts that arrived on the handset, in the order of arrival."""
        arrived = [
            (at, message.ordinal, attempt.number, attempt)
            for message in self.messages_of(number)
            for attempt in message.attempts
            if (at := attempt.arrived_at) is not None
        ]
        return [attempt for *_, attempt in sorted(arrived, key=itemgetter(0, 1, 2))]

    def newest_arrival(self, number: str) -> tuple[Attempt | None, bool]:
        """The attempt that arrived last on the handset, and True if only the order of requests makes it the last."""
        newest = self.inbox(number)[:-3:-1]
        return (newest[0] if newest else None), _is_tie(newest, attrgetter("arrived_at"))

    # -- what its owner does

    def write(self, family: str, number: str, to: str | None, body: str, *, message_id: str | None = None) -> Inbound:
        """A phone writes to a number or sender: a reply to one of our messages, or unsolicited (A68)."""
        replied: Message | None = None
        tied = False
        if message_id is not None:
            replied = self._home.by_id.get(message_id)
            if replied is None:
                raise NoSuchThing(f'"{message_id}" is not a message of this world')
        else:
            replied, tied = self._newest(family, number, to)
        if tied:  # the next entry says what was written
            self._world.journal.mark(len(self._world.journal))
        return self._receive(family, number, to, body, replied)

    def reply(self, message: Message, body: str) -> Inbound:
        """The phone answers a message, on the channel that reached it. Raises `NoSuchThing` if none did."""
        attempt = message.furthest_attempt
        if attempt is None:
            raise NoSuchThing(f'"{message.id}" was not handed over yet, so it cannot be answered')
        if attempt.state not in _HAD:
            raise NoSuchThing(f'"{message.id}" is {message.result}, so it cannot be answered')
        return self._receive(FAMILY[attempt.step.channel], message.phone, None, body, message)

    def pressed(self, message: Message, button: int | str) -> str:
        """The text that the service gets for a pressed quick reply: its payload or postback, else its title (A02, A68).

        `button` is a position from 0, or a title. Raises `NoSuchThing` with a list of the existing buttons.
        """
        step = next((a.step for a in reversed(message.attempts) if a.step.template or a.step.suggestions), None)
        suggested = [] if step is None else step.suggestions
        for at, suggestion in enumerate(suggested):
            if button in (at, str(at), suggestion["text"]):
                return str(suggestion.get("postback", suggestion["text"]))
        use = None if step is None else step.template
        template = None if step is None or use is None else self._account.template(use.name, use.language, step.sender)
        values = [] if use is None else use.buttons or []
        every = () if template is None else template.buttons
        buttons = {at: candidate for at, candidate in enumerate(every) if candidate.type == "QUICK_REPLY"}
        for at, candidate in buttons.items():
            if button in (at, str(at), candidate.text):
                value = values[at] if at < len(values) else None
                return str(value["payload"]) if isinstance(value, dict) and "payload" in value else candidate.text
        texts = [*(suggestion["text"] for suggestion in suggested), *(candidate.text for candidate in buttons.values())]
        titles = ", ".join(texts) or "none"
        raise NoSuchThing(f'"{button}" is not a quick reply of this message; there are: {titles}')

    def acts_on(self, message: Message) -> list[str]:
        """The acts that the owner can do with a message now."""
        attempt = message.furthest_attempt
        legal = {
            "reply": attempt is not None and attempt.state in _HAD,
            "seen": any(LEGAL[attempt.step.channel][attempt.state][SEEN] for attempt in message.attempts),
            "click": self._working_link(message) is not None,
        }
        return [act for act, is_legal in legal.items() if is_legal]

    def _newest(self, family: str, number: str, to: str | None) -> tuple[Message | None, bool]:
        """The message handed over last for the phone on that channel, if it came from `to` (A68).

        And whether it is the last only by the order in which requests came.
        """
        attempts = self.attempts_on(number, family)
        if not attempts:
            return None, False
        newest = attempts[0]
        return (newest.message if to in (None, newest.shown_sender) else None), _is_tie(attempts)

    def attempts_on(self, number: str, family: str | None = None) -> list[Attempt]:
        """The client's attempts that the phone may have, as far as the service knows; newest hand-over first."""
        attempts = [
            (_handed_over_at(attempt), message.ordinal, attempt.number, attempt)
            for message in self.messages_of(number)
            for attempt in message.attempts
            if attempt.state in _HAD
            and family in (None, FAMILY[attempt.step.channel])
            and message.submission.service_sending is None
        ]
        return [attempt for *_, attempt in sorted(attempts, key=itemgetter(0, 1, 2), reverse=True)]

    def message_before(self, number: str, ordinal: int) -> Message | None:
        """The client's message to a number that was accepted just before the one of that ordinal."""
        earlier = (message for message in reversed(self.messages_of(number)) if message.ordinal < ordinal)
        return next((message for message in earlier if message.submission.service_sending is None), None)

    def _receive(self, family: str, number: str, to: str | None, body: str, replied: Message | None) -> Inbound:
        world = self._world
        now = world.clock.now
        recipient = to
        if replied is not None:
            attempt = next((a for a in reversed(replied.attempts) if FAMILY[a.step.channel] == family), replied.last)
            recipient = to or (DEFAULT_NUMBER if attempt is None else attempt.shown_sender)
            if replied.reactions.replied_at is None:
                replied.reactions = replace(replied.reactions, replied_at=now)
        if recipient is None:
            recipient = min(self._account.numbers, default=DEFAULT_NUMBER)
        inbound = Inbound(now, family, number, recipient, body, replied, self.inbound.made)
        self.inbound.append(inbound)
        world.journal.add(now, CODE["inbound"], inbound)
        if family in CONVERSING:
            until = now + self._home.assume.conversation
            self.conversations[number] = until
            world.timeline.lapse(until, "conversation", (number, until))
        if body.strip().upper() in self._account.stop_words:
            self.opt_out(number, replied)
        if replied is None:
            self._report(self._home.outlet_for(self._account.top, None), inbound)
        elif (
            replied.submission.service_sending is None
        ):  # a reply to a code goes to the service, not to its client (A73)
            self._report(replied.submission.outlet, inbound)
        return inbound

    def _report(self, outlet: Outlet | None, inbound: Inbound) -> None:
        """Reports a message from a phone to a target; without a target it is journaled, with advice, and lost (A68)."""
        world = self._world
        if outlet is not None:
            world.outlets.post(outlet, inbound)
            return
        world.outlets.no_target(inbound)
        text = f'"{inbound.sender}" wrote, and neither a callback nor a default callback URL says where to report it'
        world.advise(advise(NO_TARGET, text, "$.default_callback_url"), inbound.sender)

    def opt_out(self, number: str, message: Message | None = None) -> None:
        """The owner opts out of promotional messages, in force from this instant on (A81)."""
        world = self._world
        now = world.clock.now
        billing = self._account if message is None else self._account.billing_of(message.submission.key)
        billing.optout[number] = min(now, billing.optout.get(number, now))
        if message is not None and message.reactions.optout_at is None:
            message.reactions = replace(message.reactions, optout_at=now)
        world.journal.add(now, CODE["opt_out"], (number, message))

    def opt_in(self, number: str) -> None:
        """The owner takes the opt-out back: the number leaves the lists of all who wrote to it, at once (A81)."""
        wrote = (self._account.billing_of(message.submission.key) for message in self.messages_of(number))
        for billing in (self._account, *wrote):
            billing.optout.pop(number, None)
        self.note(number, "opt_in")

    def go_offline(self, number: str) -> None:
        """Switches the phone off: nothing reaches it until it is back."""
        self.offline[number] = True
        self.note(number, "offline")

    def go_online(self, number: str) -> None:
        """Switches the phone on: what waited for it arrives at this instant."""
        self.offline[number] = False
        self.note(number, "online")
        world = self._world
        due = self._home.simulator.transition_due
        for attempt in self._parked.pop(number, ()):
            world.timeline.together(world.clock.now, attempt.message.ordinal, due, (attempt,))

    def see(self, message: Message) -> None:
        """The owner opens a message, by the newest attempt that can be seen. Raises `IllegalTransition` (§3.1)."""
        if not any(self._see(attempt, None) for attempt in reversed(message.attempts)):
            self._home.simulator.move_by_hand(message, "seen", None)  # which raises

    def act(self, number: str, act: str, *, link: int | None = None, button: int | str | None = None) -> None:
        """The owner does something (`ACTS`) with the newest message with which it can be done; else it is noted."""
        methods = {"offline": self.go_offline, "online": self.go_online, "opt_out": self.opt_out, "opt_in": self.opt_in}
        method = methods.get(act)
        if method is not None:
            method(number)
            return
        attempted = {"seen": self._see, "click": self._click_one, "press": self._press}[act]
        if not self._act_on_newest(
            self.attempts_on(number), lambda attempt: attempted(attempt, button if act == "press" else link)
        ):
            self.note(number, f"nothing_to_{_VERBS.get(act, act)}")

    def answer(self, number: str, family: str | None, message_id: str | None, body: str | Line) -> None:
        """The owner answers the newest message, or the one with that id, on any channel or on one; else it is noted."""

        def reply(attempt: Attempt) -> bool:
            if message_id not in (None, attempt.message.id):
                return False
            self.reply_due((attempt, body))
            return True

        attempts = self.attempts_on(number, family)
        if not self._act_on_newest(attempts, reply, named=message_id is not None):
            self.note(number, "nothing_to_answer")

    def _act_on_newest(
        self, attempts: list[Attempt], attempted: Callable[[Attempt], bool], *, named: bool = False
    ) -> bool:
        """Do something with the newest attempt with which it can be done; return whether there was one.

        Its entry is marked where the order of requests decided which one is the newest, and none was named.
        """
        for attempt in attempts:
            entry = len(self._world.journal)
            if attempted(attempt):
                if not named and _is_tie(attempts):
                    self._world.journal.mark(entry)
                return True
        return False

    def _see(self, attempt: Attempt, _which: int | str | None) -> bool:
        if not LEGAL[attempt.step.channel][attempt.state][SEEN]:
            return False
        self._home.simulator.move_attempt(attempt, "seen", None)
        self.note(attempt.message.phone, "seen")
        return True

    def _click_one(self, attempt: Attempt, which: int | str | None) -> bool:
        link = self._link(attempt, int(which) if which is not None else None)
        if link is not None:
            self.clicked(link)
        return link is not None

    def _press(self, attempt: Attempt, which: int | str | None) -> bool:
        try:
            self.reply(attempt.message, self.pressed(attempt.message, 0 if which is None else which))
        except NoSuchThing:
            return False
        return True

    def note(self, number: str, act: str) -> None:
        self._world.journal.add(self._world.clock.now, CODE["phone"], (number, act))

    # -- links

    def make_links(self, attempt: Attempt, prepared: Prepared) -> None:
        """Makes the short links of an attempt about to be handed over (§2.1, A17, A77)."""
        world = self._world
        message = attempt.message
        shortening = message.submission.send.shortening
        assert shortening is not None
        origin = f"https://{shortening.domain}" if shortening.domain else message.submission.origin
        expires_at = world.clock.now + limits.LINK if shortening.expires_at is None else shortening.expires_at * 1000
        links = []
        for index, target in enumerate(prepared.targets):
            raw = world.name("link", message.id.encode(), attempt.number * 1000 + index)
            code = world.tag + "".join(_CODE_LETTERS[byte % len(_CODE_LETTERS)] for byte in raw[:_CODE_LENGTH])
            link = Link(code, target, f"{origin}/s/{code}{id_query(shortening, message.id)}", message, expires_at)
            self._home.links[code] = link
            if expires_at > world.clock.now:
                world.timeline.lapse(expires_at, "link", link)
            links.append(link)
        message.reactions = replace(message.reactions, links={**message.reactions.links, attempt.number: links})

    def clicked(self, link: Link) -> None:
        """A GET of a short link: counts, and sets the message's first click (A17)."""
        now = self._world.clock.now
        link.clicks.append(now)
        if link.message.reactions.clicked_at is None:
            link.message.reactions = replace(link.message.reactions, clicked_at=now)
        self._world.journal.add(now, CODE["click"], link)

    def click(self, message: Message, number: int | None = None) -> Link:
        """The owner follows a link of a message by its number, from 1, or the first that still works.

        Raises `NoSuchThing` if it does not work.
        """
        link = self._working_link(message, number)
        if link is None:
            which = "short link" if number is None else f"short link {number}"
            raise NoSuchThing(f'"{message.id}" holds no {which} that works now')
        self.clicked(link)
        return link

    def _link(self, attempt: Attempt, number: int | None) -> Link | None:
        """A link that works: of an attempt's text by its number, from 1, or the first one of the message."""
        if number is None:
            return self._working_link(attempt.message)
        links = attempt.message.reactions.links.get(attempt.number, ())
        if number > len(links) or self._world.clock.now >= links[number - 1].expires_at:
            return None
        return links[number - 1]

    def _working_link(self, message: Message, number: int | None = None) -> Link | None:
        now = self._world.clock.now
        every = enumerate(chain.from_iterable(message.reactions.links.values()), 1)
        return next((link for at, link in every if number in (None, at) and now < link.expires_at), None)

    # -- steps

    def reply_due(self, subject: tuple[Attempt, str | Line]) -> None:
        """A reply that a rule planned has come."""
        attempt, body = subject
        phone = attempt.message.phone
        canonical = None
        if not isinstance(body, str):
            body, canonical = fill(body, self._world.chooser, self._account, phone, attempt)
        inbound = self._receive(FAMILY[attempt.step.channel], phone, None, body, attempt.message)
        inbound.canonical = canonical

    def click_due(self, subject: tuple[Attempt, int | None]) -> None:
        """A click that a rule planned has come; without a working link nothing happens."""
        link = self._link(*subject)
        if link is not None:
            self.clicked(link)


def _handed_over_at(attempt: Attempt) -> int:
    """The instant of the first transition of an attempt."""
    return attempt.transitions()[0][1]


def _is_tie(newest: list[Attempt], instant_of: Callable[[Attempt], int | None] = _handed_over_at) -> bool:
    """True if only the order of requests at one instant decides which of the attempts (newest first) is newest."""
    if len(newest) < 2:
        return False
    first, second = (attempt.message.submission for attempt in newest[:2])
    at, other = (instant_of(attempt) for attempt in newest[:2])
    same = first.request_id == second.request_id
    return at == other and not same and newest[0].message.accepted_at == newest[1].message.accepted_at
