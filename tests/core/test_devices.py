"""Push devices belong to a key."""

from __future__ import annotations

from sendbox.services.account.account import Account
from sendbox.services.account.devices import register
from sendbox.services.account.keys import Key
from tests.core.worlds import make_world


def test_s2_5_a_device_has_one_owner() -> None:
    """§2.5: its own key may give it another token; another key may not register it again."""
    world = make_world()
    mine, other = Key("test-w"), Key("test-w~a")
    assert register(world, mine, "d", "t1")
    assert register(world, mine, "d", "t2")
    assert not register(world, other, "d", "t3")
    assert register(world, other, "e", "t4")
    assert Account.of(world).devices == {"d": ("test-w", "t2"), "e": ("test-w~a", "t4")}
