"""API keys of a world, and the balances they use (§2.5, §4.4, §5.6; A19, A32, A70).

The parent key is the world's id. Sub-keys are `<world>~<suffix>`, made and changed by the parent key. The account has a
balance and lists of numbers, whose `subid` is `default`; a sub-key that shares no credit has its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import msgspec

from sendbox.engine.draws import uuid_text
from sendbox.engine.journal import CODE, enter
from sendbox.engine.world import World

if TYPE_CHECKING:
    from sendbox.services.account.spec import SubKeySpec


enter("key", "listed", "order")


class Key(msgspec.Struct):
    """One key of a world and its settings. `default_callback_secret` signs deliveries (A21).

    `billing` is its own balance and lists, None if it shares those of the account. A disabled key is denied.
    """

    id: str
    note: str = ""
    default_callback_url: str | None = None
    default_callback_secret: str | None = None
    default_sender: str | None = None
    #: what it may do (A19): `full` everything, `rest-api` change settings, `api` send, and look at what was sent
    scope: str = "full"
    disabled: bool = False
    #: whether it was made to share the senders of its parent, and for which user (A32); shown, without other effect
    share_senders: bool = False
    app_userid: str | None = None
    billing: Billing | None = None

    @property
    def changes_settings(self) -> bool:
        """True if the key's scope lets it change settings (A19)."""
        return self.scope != "api"


#: The `subid` of the account itself and of the sub-keys that share its credit (A70).
DEFAULT_SUBID: Final = "default"


class Billing:
    """Money in millionths of `currency`. Lists map a number to the instant from which it is in force (A81).

    From `complete_at` on every entry is in force.
    """

    __slots__ = ("balance", "blacklist", "complete_at", "currency", "optout", "spent", "subid")

    def __init__(
        self, subid: str, currency: str, balance: int = 0, optout: Iterable[str] = (), blacklist: Iterable[str] = ()
    ) -> None:
        self.subid = subid
        self.currency = currency
        self.balance = balance
        self.spent = 0
        self.optout: dict[str, int] = dict.fromkeys(optout, 0)
        self.blacklist: dict[str, int] = dict.fromkeys(blacklist, 0)
        self.complete_at = 0

    def charge(self, price: tuple[int, ...]) -> bool:
        """Takes a price (eur, czk, …) in this currency if the balance covers it; it never goes below zero."""
        cost = price[self.currency != "EUR"]
        left = self.balance - cost
        if left < 0:
            return False
        self.balance = left
        self.spent += cost
        return True

    def opted_out(self, number: str, now: int) -> bool:
        """True if the number is on the opt-out list, in force."""
        since = self.optout.get(number)
        return since is not None and since <= now

    def blacklisted(self, number: str, now: int) -> bool:
        """True if the number is on the blacklist, in force."""
        since = self.blacklist.get(number)
        return since is not None and since <= now


#: The greatest number of sub-keys that a top key may have, disabled ones included (A32).
MAX_SUBKEYS: Final = 19
_SUFFIX: Final = 20


class SubKeys:
    """The sub-keys of one world, and whose balance and lists a key uses."""

    def __init__(self, world: World, keys: dict[str, Key]) -> None:
        self._world = world
        #: every key by its id, the top key first
        self._keys = keys
        #: the balances that keys have of their own
        self.by_subid: dict[str, Billing] = {}

    @property
    def children(self) -> list[Key]:
        """Every sub-key, oldest first."""
        return list(self._keys.values())[1:]

    @property
    def full(self) -> bool:
        """True if the greatest number of sub-keys is reached (A32)."""
        return len(self._keys) > MAX_SUBKEYS

    def settle(self, specs: Iterable[SubKeySpec], currency: str) -> None:
        """Makes the sub-keys that a scenario or control names, or changes the named fields of existing ones.

        `currency` is that of the account.
        """
        for spec in specs:
            key = self._keys.get(f"{self._world.id}~{spec.name}")
            if key is None:
                key = self._make(spec.name, None if spec.shared else spec.currency or currency)
            key.note = spec.note if spec.note is not None else key.note
            key.scope = spec.scope or key.scope
            key.default_callback_url = spec.default_callback_url or key.default_callback_url
            if key.billing is not None and spec.credit is not None:
                key.billing.balance = spec.credit

    def add(self, content: bytes, *, currency: str | None, subid: str | None = None, **settings: object) -> Key:
        """Makes a sub-key; `currency` is that of its own balance, which begins empty; None shares the account's.

        `content` is the canonical request, from which its name is derived, `subid` the name of its balance if it is
        given; `settings` are fields of the key. The caller checks `full` first.
        """
        suffix = self._world.named("subkey", "addSubKey", content).hex()[:_SUFFIX]
        key = self._make(suffix, currency, subid)
        for name, value in settings.items():
            setattr(key, name, value)
        self.note(key, "added")
        return key

    def of_user(self, app_userid: str | None) -> Key | None:
        """The sub-key that was made for a user; None if there is none."""
        return (
            None if app_userid is None else next((key for key in self.children if key.app_userid == app_userid), None)
        )

    def _make(self, suffix: str, currency: str | None, subid: str | None = None) -> Key:
        world = self._world
        key = Key(f"{world.id}~{suffix}")
        if currency is not None:
            subid = subid or uuid_text(world.name("billing", suffix.encode()))
            key.billing = self.by_subid[subid] = Billing(subid, currency)
        self._keys[key.id] = key
        return key

    def note(self, key: Key, event: str) -> None:
        """Journals that a key was added or changed."""
        self._world.journal.add(self._world.clock.now, CODE["key"], (key, event))

    def alias(self, name: str) -> str:
        """The alias of a key or `subid`, where names of the world must not appear: its place in the account."""
        for position, key in enumerate(self._keys.values()):
            if name == key.id or (key.billing is not None and name == key.billing.subid):
                return f"~{position}"
        return name if name == DEFAULT_SUBID else "~"
