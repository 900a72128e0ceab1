"""The account of a world: keys, credit, senders, templates, lists, orders; a part of the world, a port for the others.

Changed in place; values of the blueprint are shared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from sendbox.engine.answer import JsonObject
from sendbox.engine.part import Part
from sendbox.engine.world import World
from sendbox.services import ports
from sendbox.services.account.keys import DEFAULT_SUBID, Billing, Key, SubKeys
from sendbox.services.account.orders import Orders
from sendbox.services.assume import Assume
from sendbox.services.templates.templates import Template, compile_template

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint, TimelineEntry
    from sendbox.services.account.spec import AccountSpec


class Account(Billing, Part):
    """The things that a world's keys share: senders, numbers, templates; with the balance and lists of the top key."""

    NAME: ClassVar[str] = "account"
    __slots__ = (
        "_compiled", "business", "country", "devices", "domains", "keys", "numbers", "ordered", "orders", "senders",
        "stop_words", "subkeys", "templates", "top", "verification_secret",
    )  # fmt: skip

    def __init__(self, world: World) -> None:
        spec: AccountSpec = world.blueprint.compiled["account"]
        super().__init__(DEFAULT_SUBID, spec.currency, spec.credit, spec.optout, spec.blacklist)
        self.country = Assume.of(world).country or spec.country
        self.senders = spec.senders
        #: senders that were bought, by family of channels; told where `senders` is "any" (A32)
        self.ordered: dict[str, frozenset[str]] = {}
        self.numbers = spec.numbers
        self.domains = spec.domains
        self.templates: tuple[JsonObject, ...] = spec.templates
        self.stop_words = spec.stop_words
        self.verification_secret = spec.verification_secret
        #: numbers of connected business accounts by Phone Number ID, as partner management keeps them
        self.business: Mapping[str, ports.ConnectedNumber] = {}
        #: by name and language, then by the business account that it belongs to ("" = to the whole account)
        self._compiled: dict[tuple[str, str], dict[str, Template]] | None = None
        self.top = Key(
            world.id,
            default_callback_url=spec.default_callback_url,
            default_callback_secret=spec.default_callback_secret,
        )
        self.keys: dict[str, Key] = {world.id: self.top}
        #: push devices: id to (key, token)
        self.devices: dict[str, tuple[str, str]] = {}
        self.subkeys = SubKeys(world, self.keys)
        self.orders = Orders(world, self)
        self.subkeys.settle(spec.subkeys, self.currency)

    def billing_of(self, key: ports.Key) -> ports.Billing:
        """The balance and lists that a key uses."""
        return key.billing or self

    def subaccount(self, key: ports.Key, subid: str | None) -> ports.Billing | None:
        """The balance and lists of a `subid`, the key's own if it is absent; None if the key may not use it (A70)."""
        own = self.billing_of(key)
        if subid is None or subid == own.subid:
            return own
        return self.subkeys.by_subid.get(subid) if key.id == self.top.id else None

    def register_device(self, key: str, device: str, token: str) -> bool:
        """Registers a device under a key, or gives its own another token; False when another key has it (§2.5)."""
        if self.devices.get(device, (key, ""))[0] != key:
            return False
        self.devices[device] = (key, token)
        return True

    @property
    def secrets(self) -> Iterator[str]:
        """The secrets that sign: that of proofs, and those of the keys."""
        every = (self.verification_secret, *(key.default_callback_secret for key in self.keys.values()))
        return filter(None, every)

    @classmethod
    def expects(cls, blueprint: Blueprint, suffix: str) -> bool:
        """True if the scenario makes a sub-key of that name."""
        return any(spec.name == suffix for spec in blueprint.compiled[cls.NAME].subkeys)

    def admits(self, key: str) -> bool | None:
        """True if a sub-key may make calls; a disabled one may not."""
        subkey = self.keys.get(key)
        return None if subkey is None else not subkey.disabled

    def alias(self, name: str) -> str | None:
        """The alias of a key or an account: its place."""
        return self.subkeys.alias(name)

    def release(self) -> Iterator[None]:
        """Breaks references in a circle."""
        yield from ()
        del self.orders._account

    def template(self, name: str, language: str, sender: str | None = None) -> Template | None:
        """The template of that name and language that `sender` may use, None if there is none.

        A number of a business account uses that account's templates and those of no business account; any other
        sender uses any.
        """
        if self._compiled is None:
            self._compiled = {}
            for record in self.templates:
                named = self._compiled.setdefault((str(record["name"]), str(record["language"])), {})
                named[record.get("waba_id") or ""] = compile_template(record)
        owners = self._compiled.get((name, language))
        if owners is None:
            return None
        number = self.business.get(sender) if sender is not None and self.business else None
        if number is not None:
            return owners.get(number.account_id) or owners.get("")
        return owners.get("") or next(iter(owners.values()))

    def set_templates(self, templates: tuple[JsonObject, ...]) -> None:
        """Replaces all templates."""
        self.templates = templates
        self._compiled = None

    def change(self, changes: JsonObject) -> None:
        """Sets the named fields of `AccountSpec`; lists are replaced whole, in force at once."""
        for name, value in changes.items():
            if name == "credit":
                self.balance = value
            elif name == "templates":
                self.set_templates(value)
            elif name in ("optout", "blacklist"):
                setattr(self, name, dict(value) if isinstance(value, dict) else dict.fromkeys(value, 0))
            elif name in ("default_callback_url", "default_callback_secret"):
                setattr(self.top, name, value)
            elif name == "subkeys":
                self.subkeys.settle(value, self.currency)
            else:
                setattr(self, name, value)

    def changed_by(self, entry: TimelineEntry) -> None:
        """Carries out an entry `account` of the timeline."""
        self.change(entry.means)

    def registered(self, channel: ports.Channel, sender: str) -> bool:
        """True if a sender is registered for the family of a channel (A59); a business number, while it can send."""
        number = self.business.get(sender) if channel.numeric and self.business else None
        if number is not None:
            return number.sends
        if self.senders == "any":
            return True
        return sender in self.senders.get(channel.family, frozenset()) or (channel.numbers and sender in self.numbers)

    def register(self, family: str, sender: str) -> None:
        """Makes a sender usable on a family of channels; where all senders are, it is only noted."""
        if self.senders == "any":
            self.ordered = {**self.ordered, family: self.ordered.get(family, frozenset()) | {sender}}
        else:
            self.senders = {**self.senders, family: self.senders.get(family, frozenset()) | {sender}}

    def add_number(self, number: str) -> None:
        """Makes a virtual number the account's own, which phones can write to."""
        self.numbers = self.numbers | {number}

    def drop(self, family: str, sender: str) -> None:
        """Removes a sender or number; an unknown one is ignored."""
        self.numbers = self.numbers - {sender}
        if self.senders == "any":
            self.ordered = {**self.ordered, family: self.ordered.get(family, frozenset()) - {sender}}
        else:
            self.senders = {**self.senders, family: self.senders.get(family, frozenset()) - {sender}}


Account.TIMELINE_HANDLERS = {"account": Account.changed_by}
