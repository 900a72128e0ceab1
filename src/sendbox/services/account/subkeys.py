"""Sub-keys: made and changed by the top key, with the account's balance or one of their own (§2.5, §4.4; A32, A70)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.draws import uuid_text
from sendbox.engine.journal import CODE
from sendbox.services.account.billing import DEFAULT_SUBID, Billing
from sendbox.services.account.keys import Key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sendbox.engine.world import World
    from sendbox.services.account.spec import SubKeySpec


#: How many sub-keys a top key may have, disabled ones included (A32).
MOST: Final = 19
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
        return len(self._keys) > MOST

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

    def add(self, content: bytes, *, currency: str | None, subid: str | None = None, **settings: Any) -> Key:
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
