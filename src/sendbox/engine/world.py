"""A world: an isolated universe with its own clock, seed, account, phones and journal.

A world takes commands (`accept`, `inbound`, the acts of phones) and the passing of time (`run`). What must leave it,
batches of events on their way to a target, waits in `outlets` until somebody outside takes it and says how it went.
Nothing here does I/O or looks at a clock of the machine; one thread touches a world at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from heapq import heappop
from typing import Any, ClassVar, Final

from sendbox.engine.blueprint import Blueprint, TimelineEntry
from sendbox.engine.clock import Clock, Mode
from sendbox.engine.delivery.events import Events
from sendbox.engine.delivery.targets import Outlets
from sendbox.engine.faults.calls import ApiFaults
from sendbox.engine.identity import derive, seed_bytes, tag_of, uuid_text
from sendbox.engine.journal import CODE, Capped, Journal
from sendbox.engine.polls import Polls
from sendbox.engine.remarks import Advice
from sendbox.engine.requests import RequestRecord
from sendbox.engine.rules.book import Rulebook
from sendbox.engine.scripted import happen
from sendbox.engine.timeline import Timeline
from sendbox.services.account.account import Account
from sendbox.services.account.keys import Key
from sendbox.services.account.orders import Orders
from sendbox.services.account.subkeys import SubKeys
from sendbox.services.events import EVENTS
from sendbox.services.messaging.accept import accept
from sendbox.services.messaging.bulk import Bulks
from sendbox.services.messaging.flow import Simulator
from sendbox.services.messaging.model import Send
from sendbox.services.messaging.outages import Outages
from sendbox.services.messaging.phones import Phones
from sendbox.services.messaging.records import Accepted, Link, Message
from sendbox.services.messaging.rows import Rows
from sendbox.services.messaging.rules.rules import Memory, Rule
from sendbox.services.partner.partner import Partner
from sendbox.services.verify.verify import Verify

#: How many light things (an event bundled, a lapse journaled) take as long as firing one step.
LIGHT: Final = 16


class World(Rulebook[Rule]):
    """One world, and the rules of its `attempts`. `id` is its API key; instants are virtual milliseconds since 1970."""

    PREFIX = "r"
    #: the rows of all types of events
    events: ClassVar[Events] = EVENTS
    # slots: a world has more parts than instances of a class share a table for, and all are asked on the hot path
    __slots__ = (
        "__weakref__",
        "_equal",
        "accepted",
        "account",
        "api",
        "assume",
        "blueprint",
        "bulks",
        "by_id",
        "clock",
        "devices",
        "epoch",
        "expect",
        "fired",
        "id",
        "instants",
        "journal",
        "keys",
        "links",
        "memory",
        "messages",
        "moves",
        "names",
        "orders",
        "outages",
        "outlets",
        "partner",
        "phones",
        "pinned",
        "polls",
        "rows",
        "salt",
        "seed",
        "seed_given",
        "shard",
        "simulator",
        "start",
        "start_given",
        "subkeys",
        "tag",
        "timeline",
        "verify",
    )  # fmt: skip

    def __init__(
        self,
        world_id: str,
        blueprint: Blueprint,
        *,
        start: int,
        reading: int = 0,
        seed: int | str | None = None,
        salt: str | None = None,
        mode: Mode | None = None,
        shard: int = 0,
        epoch: int = 0,
        max_journal: int | None = None,
        pinned: bool = True,
    ) -> None:
        self.id = world_id
        self.tag = tag_of(world_id, shard)
        self.shard = shard
        self.blueprint = blueprint
        self.seed_given = blueprint.seed if seed is None else seed
        self.seed = seed_bytes(self.seed_given)
        self.salt = world_id if salt is None else salt
        self.names = seed_bytes(self.salt)
        self.start_given = start
        self.start = start
        #: whether somebody said when the world starts; else it was the present of whoever opened it
        self.pinned = pinned
        #: counts resets; what was in flight in an older epoch is dropped
        self.epoch = epoch
        self.clock = Clock(start, mode or blueprint.mode or "manual", blueprint.rate, reading)
        self.assume = blueprint.assume
        self.timeline = Timeline()
        #: `max_journal` bounds the entries that are kept, None = all are
        self.journal = Journal() if max_journal is None else Capped(max_journal)
        self.account = Account(blueprint.account, blueprint.assume.country)
        self.keys: dict[str, Key] = {world_id: self._parent_key(blueprint, world_id)}
        super().__init__(blueprint.attempts)
        self.memory = Memory()
        #: what the scenario expects; judged when asked
        self.expect = blueprint.expect
        self.api = ApiFaults(blueprint.api, self.seed)
        self.messages: list[Message] = []
        self.by_id: dict[str, Message] = {}
        self.links: dict[str, Link] = {}
        #: how many recipients were taken so far; the ordinal of the next message
        self.accepted = 0
        self.fired = 0
        #: how many instants the clock was moved to
        self.instants = 0
        #: what clients ask again and again while time stands
        self.polls = Polls()
        #: advances, for whoever carries the world out again: (entries before, entries after, instant reached)
        self.moves: list[tuple[int, int, int]] = []
        self._equal: dict[bytes, int] = {}
        self.simulator: Simulator = Simulator(self)
        self.phones = Phones(self)
        self.outages = Outages(self)
        self.outlets = Outlets(self)
        self.verify = Verify(self)
        self.partner = Partner(self)
        self.rows = Rows()
        self.subkeys = SubKeys(self)
        self.orders = Orders(self)
        self.bulks = Bulks(self)
        #: push devices: id to (key, token)
        self.devices: dict[str, tuple[str, str]] = {}
        self.subkeys.settle(blueprint.account.subkeys)
        for entry in blueprint.timeline:
            self.timeline.at(start + entry.at if entry.relative else max(start, entry.at), -1, self._entry_due, entry)

    @staticmethod
    def _parent_key(blueprint: Blueprint, world_id: str) -> Key:
        spec = blueprint.account
        return Key(
            world_id,
            default_callback_url=spec.default_callback_url,
            default_callback_secret=spec.default_callback_secret,
        )

    # -- time

    @property
    def now(self) -> int:
        """The present virtual instant."""
        return self.clock.now

    def run(self, until: int, budget: int, *, rest: bool = True) -> int:
        """Fires steps in order, up to `until` or `budget` of them, and returns how many.

        Stops early at the end of an instant at which deliveries became ready, so that they can be settled before the
        clock moves on, or at which a step changed the clock, so that `until` can be looked at again; and within one
        where there is much to bundle, or much lapses, so that a call stays short. When nothing more is due, `now`
        becomes `until`; without `rest` it stays at the last step.
        """
        steps = self.timeline.steps
        clock = self.clock
        clock.switched = False
        outlets = self.outlets
        fired = 0
        most = budget * LIGHT
        while True:
            while steps and steps[0][0] <= until:
                instant = steps[0][0]
                if instant > clock.now:
                    flushed = not outlets.dirty or outlets.flush(most)
                    if flushed and steps[0][0] < instant:  # what was flushed is to go on its way before that
                        continue
                    if not flushed or outlets.waiting or not self._move(instant, most):
                        self.fired += fired
                        return fired
                if fired >= budget:
                    self.fired += fired
                    return fired
                _, _, _, handler, what = heappop(steps)
                handler(what)
                fired += 1
            if not outlets.dirty or not outlets.flush(most) or not steps or steps[0][0] > until:
                break
        if rest and not outlets.ready and until > clock.now:
            self._move(until, most)
        self.fired += fired
        return fired

    def moved(self, first: int) -> None:
        """Notes that the world was advanced to the present instant, from its entry `first` on."""
        moves, now = self.moves, self.clock.now
        if moves and moves[-1][1] == first:  # nobody did anything in between
            first = moves.pop()[0]
        moves.append((first, len(self.journal), now))

    def settled(self, until: int) -> bool:
        """Whether nothing is due any more up to `until` and nothing is ready to be delivered."""
        due = self.timeline.next_due()
        return self.clock.now >= until and not self.outlets.ready and (due is None or due > until)

    def _move(self, instant: int, most: int) -> bool:
        """The clock goes to `instant`, past the lapses on the way.

        False when these are more than `most`, or when one of them is told to somebody: then it stands at that one.
        False too when a step changed the clock.
        """
        if self.clock.switched:
            return False
        lapses = self.timeline.lapses
        while lapses and lapses[0][0] <= instant:
            if most <= 0:
                return False
            at = lapses[0][0]
            told = False
            for _, kind, what in self.timeline.lapsed(at, most):
                most -= 1
                if self._lapses(at, kind, what):
                    self.journal.add(at, CODE["lapse"], (kind, what))
                if kind == "token":
                    self.clock.move(max(at, self.clock.now))
                    told = self.partner.lapsed(what) or told
            if told:  # a partner hears of it at this instant, before the clock goes on (A24, A46)
                self.instants += 1
                return False
        self.clock.move(instant)
        self.instants += 1
        return True

    def _lapses(self, at: int, kind: str, what: Any) -> bool:
        """Whether what was to lapse now really does."""
        if kind == "conversation":
            return self.phones.conversations.get(what[0]) == at  # else prolonged since (A66)
        return kind != "code" or what.lapse()

    # -- commands

    def accept(self, operation: str, sends: list[Send], key: Key, content: bytes, origin: str = "") -> Accepted:
        """Takes the Message objects of one request; what follows from them is due at the instants they name."""
        return accept(self, operation, sends, key, content, origin)

    def can_pay(self, sends: list[Send], key: Key) -> bool:
        """Whether the key's balance could pay all of these now (legacy interface, A13)."""
        billing = self.subkeys.billing(key)
        prices = [self.simulator.price_of(send) for send in sends]
        return sum(eur if billing.currency == "EUR" else czk for eur, czk in prices) <= billing.balance

    def count_equal(self, name: bytes) -> int:
        """How many requests of this content came before (names, §2.3)."""
        n = self._equal.get(name, 0)
        self._equal[name] = n + 1
        return n

    def named(self, scope: str, operation: str, content: bytes) -> bytes:
        """A name for what a request made: derived from its canonical content and how many equal ones came before."""
        digest = blake2b(content, digest_size=16, person=operation.encode()[:16]).digest()
        return self.name(scope, digest, self.count_equal(digest))

    def name(self, scope: str, key: bytes, n: int = 0) -> bytes:
        """64 derived bytes for a name, salted with the world."""
        return derive(self.names, scope, key, n)

    def request(self, record: RequestRecord) -> int:
        """Journals a call of an emulated interface and returns the entry's number."""
        return self.journal.add(self.clock.now, CODE["request"], record)

    def advise(self, advice: Advice, about: Any = None) -> int:
        """Journals advice that belongs to no request."""
        return self.journal.add(self.clock.now, CODE["advice"], (advice, about))

    def control(self, what: str, detail: dict[str, Any]) -> int:
        """Journals what a tester did through control."""
        return self.journal.add(self.clock.now, CODE["control"], {"what": what, **detail})

    def change_account(self, changes: dict[str, Any]) -> None:
        """Changes the account at once, with its sub-keys and the default callback; by the names of `AccountSpec`."""
        self.account.change(changes)
        self.subkeys.settle(changes.get("subkeys", ()))
        key = self.keys[self.id]
        for name in ("default_callback_url", "default_callback_secret"):
            if name in changes:
                setattr(key, name, changes[name])

    def move_by_hand(self, message: Message, result: str, info: str | None) -> None:
        """Moves a message's current attempt; the rest of its plan is dropped. Raises `IllegalTransition`."""
        self.simulator.move_by_hand(message, result, info)

    def open_link(self, code: str, *, count: bool = True) -> Link | None:
        """A short link by its code, its click counted unless told not to; None when there is none or it expired."""
        link = self.links.get(code)
        if link is None or self.clock.now >= link.expires_at:
            return None
        if count:
            self.phones.clicked(link)
        return link

    def _entry_due(self, entry: TimelineEntry) -> None:
        """An entry of the scenario's `timeline` has come."""
        happen(self, entry)

    # -- names and views used everywhere

    def delivery_name(self, key: bytes) -> str:
        """The id of a delivery, from what names its first event."""
        return uuid_text(self.name("delivery", key))

    def message(self, message_id: str) -> Message | None:
        """A message by its id."""
        return self.by_id.get(message_id)

    def dispose(self) -> Iterator[None]:
        """Takes the cycles of a closed world apart, so that it is freed by its counts; pauses now and then."""
        self.timeline.steps.clear()
        self.timeline.lapses.clear()
        for number, message in enumerate(self.messages):
            message.last = message.links = None
            message.submission.messages = ()
            if number % 1000 == 999:
                yield
        self.outlets.clear()
        parts = (
            self.simulator,
            self.phones,
            self.outages,
            self.outlets,
            self.subkeys,
            self.orders,
            self.bulks,
            self.verify,
        )
        for part in (*parts, self.partner, self.partner.templates, self.outlets.faults, self.outlets.detours):
            del part._world

    @property
    def idle(self) -> bool:
        """Whether nothing is scheduled, waiting or under way."""
        return not self.timeline.steps and not self.outlets.ready and not self.outlets.in_flight
