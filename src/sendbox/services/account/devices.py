"""Push devices: each belongs to the key that registered it first (§2.5, §4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sendbox.services.account.keys import Key
    from sendbox.services.world import ServiceWorld


def register(world: ServiceWorld, key: Key, device_id: str, token: str) -> bool:
    """Registers a device under a key, or gives its own another token; False when another key has it."""
    owner, _ = world.devices.get(device_id, (key.id, ""))
    if owner != key.id:
        return False
    world.devices[device_id] = (key.id, token)
    return True
