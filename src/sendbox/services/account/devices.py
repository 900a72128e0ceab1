"""Push devices: each belongs to the key that registered it first (§2.5, §4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendbox.services.account.account import Account

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.services.ports import Key


def register(world: World, key: Key, device_id: str, token: str) -> bool:
    """Registers a device under a key, or gives its own another token; False when another key has it."""
    devices = Account.of(world).devices
    owner, _ = devices.get(device_id, (key.id, ""))
    if owner != key.id:
        return False
    devices[device_id] = (key.id, token)
    return True
