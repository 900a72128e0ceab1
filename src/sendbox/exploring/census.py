"""A census: what happened in the worlds of a run, by places that are the same in each run.

A place is a phone, the ordinal of a message, a result, the ordinal of a call of an operation: never an id, a text, or
the order of arrival of what has no order. Instants are milliseconds from the start of the world.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from operator import itemgetter
from typing import Final

from sendbox.control.replicas.leaning import Alternative, alternatives
from sendbox.engine.commands.command import Call, Capture
from sendbox.engine.delivery.batches import succeeded
from sendbox.engine.journal import CODE
from sendbox.engine.world import World
from sendbox.services.assume import Assume
from sendbox.services.http.numbers import phones_of
from sendbox.services.messaging.channels import FAMILY, ROWS, STATES
from sendbox.services.messaging.checks import CREDIT
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.records import Attempt, Message
from sendbox.services.operations import EMULATED
from sendbox.services.partner.partner import Partner
from sendbox.services.ports import account_of
from sendbox.services.settings import SETTINGS

#: So long after the last event of its world a webhook may come where the clock jumps by itself, in milliseconds.
UNMOVED: Final = 10_000
#: The longest time after its event at which a webhook comes all the same (A93), in milliseconds.
MAX_WEBHOOK_DELAY: Final = 450_000


@dataclass(frozen=True, slots=True)
class ObservedMove:
    """An advance by a tester, the `ordinal`-th of its world."""

    ordinal: int
    began: int
    ended: int


@dataclass(frozen=True, slots=True)
class ObservedEvent:
    """An event that was sent to a target, the `ordinal`-th of its phone, kind, channel and result.

    `until` ends the advance within which it was sent; `own`: its receiver is the client's, not the built-in one.
    `thread` numbers the message or conversation that it is about, `batch` the delivery, of `size` events. `faulty`: a
    rule of the test itself decided something about it. `refused`: its receiver refused it at first, or always.
    `called`: the client called the service at its instant, so perhaps because of it.
    """

    phone: str
    event: str
    gateway: str
    result: str | None
    ordinal: int
    at: int
    until: int
    own: bool
    thread: int
    batch: int
    size: int
    faulty: bool = False
    refused: bool = False
    called: bool = False


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """A call of the client, the `ordinal`-th of its operation; `faulty` by a rule of the test itself.

    `attended`: the receiver of the test was there already.
    """

    operation: str
    ordinal: int
    phone: str
    at: int
    status: int
    faulty: bool = False
    attended: bool = True

    @property
    def failed(self) -> bool:
        """True if a client makes the call again: it had no answer, was one too many, or met an error of the server."""
        return self.status in (0, 429) or self.status >= 500


@dataclass(frozen=True, slots=True)
class ObservedAttempt:
    """An attempt of a message: its channel and the results that it reached, with their instants.

    It began `at`, as the `nth` attempt of its number to its phone about which rules were asked, codes included; 0 where
    none were, or where it was refused all the same. `ttl` and `condition` are those of its step, `template` its
    template with the language. `sender` is one that had to be registered, `number` the business number that it stands
    for; "" where there is none.
    """

    channel: str
    results: tuple[tuple[str, int], ...]
    at: int = 0
    nth: int = 0
    ttl: int | None = None
    condition: str = ""
    template: tuple[str, str] | None = None
    sender: str = ""
    number: str = ""

    def reached(self, result: str) -> int | None:
        """The instant at which it came to a result, None where it did not."""
        return next((at for reached, at in self.results if reached == result), None)


@dataclass(frozen=True, slots=True)
class ObservedMessage:
    """A message, the `ordinal`-th to its phone. `until` ends the advance in which it was last heard of."""

    phone: str
    ordinal: int
    operation: str
    at: int
    until: int
    channels: tuple[str, ...]
    attempts: tuple[ObservedAttempt, ...]
    senders: tuple[str, ...]
    templates: tuple[str, ...]
    links: int


@dataclass(frozen=True, slots=True)
class Session:
    """A validation session, the `ordinal`-th of its phone that was asked for; `verified` where its code was confirmed.

    `sms` is the result of the message that carries the code, the `nth` such message about which rules were asked; ""
    where they were not.
    """

    phone: str
    ordinal: int
    at: int
    expires: int
    verified: int | None
    sms: str = ""
    nth: int = 0


@dataclass(frozen=True, slots=True)
class Census:
    """One world, the `ordinal`-th that the run opened. `happened` are the instants at which something happened.

    `charged` is what the account paid, in millionths, each with its instant, in their order. `senders` are those that
    are registered, by family; where all are, those that messages name. `others` are other values of settings that the
    scenario leaves out.
    `runs`: its clock was not moved by a tester alone, so instants, and how often a client asked, may differ.
    """

    ordinal: int
    moves: tuple[ObservedMove, ...]
    calls: tuple[ObservedCall, ...]
    messages: tuple[ObservedMessage, ...]
    events: tuple[ObservedEvent, ...]
    sessions: tuple[Session, ...]
    happened: tuple[int, ...]
    charged: tuple[tuple[int, int], ...] = ()
    senders: tuple[tuple[str, str], ...] = ()
    stop_words: tuple[str, ...] = ()
    others: tuple[Alternative, ...] = ()
    runs: bool = False

    @property
    def last(self) -> int:
        """The end of the last advance; 0 if there is none."""
        return max((move.ended for move in self.moves), default=0)

    @property
    def received(self) -> tuple[ObservedEvent, ...]:
        """The events that the client's own receiver got, as no rule of the test itself decided about them."""
        return tuple(event for event in self.events if event.own and not event.faulty)


def census(
    world: World, ordinal: int, moves: Sequence[tuple[int, int]], *, taken: bool, leaned: Collection[str] = ()
) -> Census:
    """The census of a world; `moves` are its advances, `taken`: an application or an outbox takes its deliveries.

    `leaned` are the assumptions on which the run rests.
    """
    start = world.start
    moved = [ObservedMove(number, began - start, ended - start) for number, (began, ended) in enumerate(moves, 1)]
    mode = world.clock.mode
    last = max((delivery.made_at for delivery in world.outlets.deliveries), default=start) - start

    def until(at: int) -> int:
        end = next((move.ended for move in moved if move.began <= at <= move.ended or at < move.began), None)
        if end is not None or mode == "manual":
            return at if end is None else end
        if mode == "real":  # the client waits in real time, and did not wait longer than until now
            return max(at, world.now - start)
        return min(max(at, last) + UNMOVED, at + MAX_WEBHOOK_DELAY)

    journal = world.journal
    begun = _begun(world)
    return Census(
        ordinal,
        tuple(moved),
        tuple(_calls(world)),
        tuple(_messages(world, until, begun)),
        tuple(_events(world, until, taken=taken)),
        tuple(_sessions(world)),
        tuple(sorted({journal.entry(number)[0] - start for number in range(journal.first, len(journal))})),
        tuple((at, paid) for attempt, at in begun if (paid := _paid(world, attempt))),
        tuple(_senders(world)),
        tuple(sorted(account_of(world).stop_words)),
        tuple(_others(world, leaned)),
        runs=mode != "manual",
    )


def _calls(world: World) -> Iterator[ObservedCall]:
    counts: Counter[str] = Counter()
    unattended = _unattended(world)
    for place, number in enumerate(world.journal.find(CODE["request"], world.journal.first)):
        at, _, record = world.journal.entry(number)
        if record.operation not in EMULATED:
            continue
        counts[record.operation] += 1
        phone = next(iter(phones_of(world, record)), "")
        is_faulty = record.fault is not None
        yield ObservedCall(
            record.operation,
            counts[record.operation],
            phone,
            at - world.start,
            record.status,
            is_faulty,
            place >= unattended,
        )


def _unattended(world: World) -> int:
    """The most calls that may have come before an application or an outbox began to take deliveries."""
    commands = [command for _, command in world.record.commands()]
    begins = [place for place, command in enumerate(commands) if isinstance(command, Capture) and command.captured]
    return sum(isinstance(command, Call) for command in commands[: max(begins, default=0)])


def _begun(world: World) -> list[tuple[Attempt, int]]:
    """All attempts with the instants at which they began, from the start of the world; in that order."""
    journal, messaging = world.journal, Messaging.of(world)
    rows = {id(message): at for message, at in zip(messaging.rows.messages, messaging.rows.at, strict=True)}
    later = {
        (id(attempt.message), attempt.number + 1): at
        for at, _, (attempt, _) in map(journal.entry, journal.find(CODE["fallback"], journal.first))
    }
    begun = []
    for message in messaging.messages:
        for attempt in message.attempts:
            first = rows.get(id(message), message.accepted_at)
            at = later.get((id(message), attempt.number), first)
            begun.append((at - world.start, message.ordinal, attempt.number, attempt))
    return [(attempt, at) for at, _, _, attempt in sorted(begun, key=itemgetter(0, 1, 2))]


def _paid(world: World, attempt: Attempt) -> int:
    """The millionths that the account itself paid for an attempt."""
    if attempt.price is None or attempt.message.submission.key.billing is not None:
        return 0
    return attempt.price[account_of(world).currency != "EUR"]


def _messages(
    world: World, until: Callable[[int], int], begun: Sequence[tuple[Attempt, int]]
) -> Iterator[ObservedMessage]:
    counts: Counter[str] = Counter()
    start = world.start
    tried = _observed_attempts(world, begun)
    for message in Messaging.of(world).messages:
        submission = message.submission
        if submission.service_sending is not None:  # the SMS of a validation session: its session stands for it
            continue
        counts[message.phone] += 1
        attempts = tuple(tried[id(attempt)] for attempt in message.attempts)
        last = max((at for attempt in attempts for _, at in attempt.results), default=message.accepted_at - start)
        steps = submission.send.steps
        yield ObservedMessage(
            message.phone,
            counts[message.phone],
            submission.operation,
            message.accepted_at - start,
            until(last),
            tuple(step.channel for step in steps),
            attempts,
            tuple(dict.fromkeys(step.sender for step in steps if step.sender)),
            tuple(dict.fromkeys(step.template.name for step in steps if step.template)),
            _links(message),
        )


def _observed_attempts(world: World, begun: Sequence[tuple[Attempt, int]]) -> dict[int, ObservedAttempt]:
    """Each attempt as the census has it."""
    counts: Counter[tuple[str, int]] = Counter()
    tried = {}
    strict = Messaging.of(world).simulator.checks.sms_sender == "strict"
    numbers = Partner.of(world).numbers
    for attempt, at in begun:
        step, place = attempt.step, (attempt.message.phone, attempt.number)
        counts[place] += attempt.refused in (None, CREDIT.word)  # the price is known after rules were asked
        number = numbers.get(step.sender or "") if ROWS[step.channel].numeric else None
        needed = step.sender if number is None and (ROWS[step.channel].needs_sender or strict) else None
        tried[id(attempt)] = ObservedAttempt(
            step.channel,
            tuple((STATES[code], reached - world.start) for code, reached in attempt.transitions()),
            at,
            0 if attempt.refused else counts[place],
            step.ttl,
            step.condition,
            None if step.template is None else (step.template.name, step.template.language),
            needed or "",
            "" if number is None else number.phone_number,
        )
    return tried


def _senders(world: World) -> Iterator[tuple[str, str]]:
    registered = account_of(world).senders
    if registered != "any":
        yield from sorted((family, sender) for family, senders in registered.items() for sender in senders)
        return
    steps = (step for message in Messaging.of(world).messages for step in message.submission.send.steps)
    yield from sorted({(FAMILY[step.channel], step.sender) for step in steps if step.sender})


def _others(world: World, leaned: Collection[str]) -> Iterator[Alternative]:
    """Other values of the settings of these assumptions, where the world has the usual one."""
    settings = Assume.of(world)
    for other in alternatives(settings, leaned):
        if getattr(settings, other.setting) == SETTINGS[other.setting].default:
            yield other


def _links(message: Message) -> int:
    return sum(map(len, message.reactions.links.values()))


def _events(world: World, until: Callable[[int], int], *, taken: bool) -> Iterator[ObservedEvent]:
    counts: Counter[tuple[str, str, str, str | None]] = Counter()
    threads: dict[int, int] = {}
    seen_events: set[object] = set()
    journal = world.journal
    faults = (journal.entry(number)[2] for number in journal.find(CODE["webhook_fault"], journal.first))
    faulty_events = {event for fault in faults for event in fault.events}
    #: the last call of each instant, and the deliveries, by their entries
    calls = {journal.entry(number)[0]: number for number in journal.find(CODE["request"], journal.first)}
    entries = {id(journal.entry(number)[2]): number for number in journal.find(CODE["delivery"], journal.first)}
    for delivery in world.outlets.deliveries:
        events = delivery.events
        for event in events:
            if event in seen_events:
                continue
            seen_events.add(event)
            row = world.events[type(event)]
            value = row.case(event).value
            place = (value("phone") or "", value("event"), value("gateway") or "", value("result"))
            counts[place] += 1
            at = delivery.made_at - world.start
            # with a retry it comes later than it was made, and no time is known to be left
            smooth = len(delivery.tries) == 1 and delivery.state == "delivered"
            refused = any(
                not succeeded(this_try.status, this_try.error)
                for this_try in delivery.tries
                if this_try.status or this_try.error
            )
            yield ObservedEvent(
                *place,
                counts[place],
                at,
                until(at) if smooth else at,
                own=taken or not delivery.outlet.builtin,
                thread=threads.setdefault(id(row.thread(event)), len(threads)),
                batch=delivery.number,
                size=len(events),
                faulty=event in faulty_events,
                refused=refused,
                called=calls.get(delivery.made_at, -1) > entries[id(delivery)],
            )


def _sessions(world: World) -> Iterator[Session]:
    counts: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    journal = world.journal
    numbers = sorted([*journal.find(CODE["validation"], journal.first), *journal.find(CODE["limited"], journal.first)])
    for _, kind, subject in map(journal.entry, numbers):
        if kind == CODE["limited"]:  # rules were asked about it
            counts[subject[1]] += 1
            continue
        session, event, _ = subject
        if event != "created":
            continue
        counts[session.phone] += 1
        begun, ends = session.created_at - world.start, session.expires_at - world.start
        attempt = session.message.last
        calls[session.phone] += attempt is not None and attempt.refused in (None, CREDIT.word)
        sms = "" if attempt is None or attempt.refused else session.message.result
        verified = None if session.verified_at is None else session.verified_at - world.start
        yield Session(session.phone, counts[session.phone], begun, ends, verified, sms, calls[session.phone])


def _parts(left: object, right: object) -> str:
    """The parts in which two things of one kind differ, in words."""
    if not is_dataclass(left):
        return f"{left}, then {right}"
    pairs = ((field.name, getattr(left, field.name), getattr(right, field.name)) for field in fields(left))
    return "; ".join(f"{name} {one}, then {other}" for name, one, other in pairs if one != other)


def difference(first: Sequence[Census], second: Sequence[Census]) -> str | None:
    """The first thing in which two runs differ, in words; None where they are the same."""
    if len(first) != len(second):
        return f"the number of worlds that the run opened: {len(first)}, then {len(second)}"
    for one, other in zip(first, second, strict=True):
        first_of, second_of = _lasting(one), _lasting(other)
        for name, values in first_of.items():
            other_values = second_of.get(name, ())
            if values == other_values:
                continue
            list_name = f"{name} of world {one.ordinal}"
            for number, (left, right) in enumerate(zip(values, other_values, strict=False), 1):
                if left != right:
                    return f"number {number} of the {list_name}: {_parts(left, right)}"
            return f"the {list_name}: {len(values)} of them, then {len(other_values)}"
    return None


def _lasting(census: Census) -> dict[str, Sequence[object]]:
    """The parts of a world that are equal in each run; if its clock runs by itself, none that depends on the moment."""
    if not census.runs:
        return {field.name: getattr(census, field.name) for field in fields(census) if field.name not in _NOT_LISTS}
    return {
        "operations": sorted({call.operation for call in census.calls}),
        "messages": sorted(
            (message.phone, message.ordinal, message.operation, message.channels) for message in census.messages
        ),
    }


#: The fields of a census that are not lists.
_NOT_LISTS: Final = ("ordinal", "runs")
