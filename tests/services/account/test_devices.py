"""Push devices belong to a key."""

from __future__ import annotations

from sendbox.services.account.account import Account
from tests.core.worlds import make_world


def test_s2_5_a_device_has_one_owner() -> None:
    """§2.5: its own key may give it another token; another key may not register it again."""
    account = Account.of(make_world())
    assert account.register_device("test-w", "d", "t1")
    assert account.register_device("test-w", "d", "t2")
    assert not account.register_device("test-w~a", "d", "t3")
    assert account.register_device("test-w~a", "e", "t4")
    assert account.devices == {"d": ("test-w", "t2"), "e": ("test-w~a", "t4")}
