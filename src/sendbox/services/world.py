"""A world of the emulated services: the engine's world with an account, phones, messages and what belongs to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from sendbox.engine.clock import Mode
from sendbox.engine.delivery.events import Events
from sendbox.engine.rules.book import Rulebook
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.keys import Key
from sendbox.services.account.orders import Orders
from sendbox.services.account.subkeys import SubKeys
from sendbox.services.assume import Assume
from sendbox.services.blueprint import Blueprint, TimelineEntry
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
from sendbox.services.scripted import happen
from sendbox.services.verify.verify import Verify


class Attempts(Rulebook[Rule]):
    """The rules of `attempts`."""

    PREFIX = "r"
    __slots__ = ()


class ServiceWorld(World):
    """One world of the services. `id` is its API key; instants are virtual milliseconds since 1970."""

    events: ClassVar[Events] = EVENTS
    blueprint: Blueprint
    assume: Assume
    # slots: a world has more parts than instances of a class share a table for, and all are asked on the hot path
    __slots__ = (
        "accepted",
        "account",
        "assume",
        "attempts",
        "bulks",
        "by_id",
        "devices",
        "keys",
        "links",
        "memory",
        "messages",
        "orders",
        "outages",
        "partner",
        "phones",
        "rows",
        "simulator",
        "subkeys",
        "verify",
    )

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
        super().__init__(
            world_id,
            blueprint,
            start=start,
            reading=reading,
            seed=seed,
            salt=salt,
            mode=mode,
            shard=shard,
            epoch=epoch,
            max_journal=max_journal,
            pinned=pinned,
        )
        self.assume = blueprint.assume
        self.account = Account(blueprint.account, blueprint.assume.country)
        self.keys: dict[str, Key] = {world_id: self._parent_key(blueprint, world_id)}
        self.attempts = Attempts(blueprint.attempts)
        self.memory = Memory()
        self.messages: list[Message] = []
        self.by_id: dict[str, Message] = {}
        self.links: dict[str, Link] = {}
        #: how many recipients were taken so far; the ordinal of the next message
        self.accepted = 0
        self.simulator: Simulator = Simulator(self)
        self.phones = Phones(self)
        self.outages = Outages(self)
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

    @property
    def rules(self) -> list[Rule]:
        """The rules of `attempts`, in the order in which they are asked."""
        return self.attempts.rules

    # -- time

    def lapses(self, at: int, kind: str, what: Any) -> bool:
        """Whether what was to lapse now really does."""
        if kind == "conversation":
            return self.phones.conversations.get(what[0]) == at  # else prolonged since (A66)
        return kind != "code" or bool(what.lapse())

    @property
    def plain_names(self) -> Mapping[str, str]:
        """The ids of partner management, and what they were derived from."""
        return self.partner.plain

    def alias(self, name: str) -> str:
        """A key or an account by what it was derived from."""
        return self.subkeys.alias(name)

    def lapsed(self, kind: str, what: Any) -> bool:
        """A partner hears of a signup's end at this instant, before the clock goes on (A24, A46)."""
        return kind == "token" and self.partner.lapsed(what)

    # -- commands

    def accept(self, operation: str, sends: list[Send], key: Key, content: bytes, origin: str = "") -> Accepted:
        """Takes the Message objects of one request; what follows from them is due at the instants they name."""
        return accept(self, operation, sends, key, content, origin)

    def can_pay(self, sends: list[Send], key: Key) -> bool:
        """Whether the key's balance could pay all of these now (legacy interface, A13)."""
        billing = self.subkeys.billing(key)
        prices = [self.simulator.price_of(send) for send in sends]
        return sum(eur if billing.currency == "EUR" else czk for eur, czk in prices) <= billing.balance

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

    def message(self, message_id: str) -> Message | None:
        """A message by its id."""
        return self.by_id.get(message_id)

    def dispose(self) -> Iterator[None]:
        """Takes the cycles of a closed world apart, so that it is freed by its counts; pauses now and then."""
        for number, message in enumerate(self.messages):
            message.last = message.links = None
            message.submission.messages = ()
            if number % 1000 == 999:
                yield
        parts = (self.simulator, self.phones, self.outages, self.subkeys, self.orders, self.bulks, self.verify)
        for part in (*parts, self.partner, self.partner.templates):
            del part._world
        yield from super().dispose()
