"""Answers of the management interface as JSON (§4.2, §4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sendbox.engine.identity import uuid_text
from sendbox.services.account.account import Account
from sendbox.services.money import decimal

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.services.account.keys import Key


def me(world: World, key: Key) -> dict[str, Any]:
    """A key as it sees itself (A32). `account` is a name of its own: the id of the world is the key of its parent."""
    account = Account.of(world)
    senders = set() if account.senders == "any" else set().union(*account.senders.values())
    return {
        "note": key.note,
        "default_callback_url": key.default_callback_url or "",
        "default_sender": key.default_sender or "",
        "account": uuid_text(world.name("account", b"")),
        "scope": key.scope,
        "is_blocked": key.disabled,
        "senders": sorted(senders | account.numbers),
        "currency": Account.of(world).billing_of(key).currency,
        "credit": decimal(Account.of(world).billing_of(key).balance),
        "shared": key.billing is None,
        "billing_id": Account.of(world).billing_of(key).subid,
    }


def child(world: World, key: Key) -> dict[str, Any]:
    """A sub-key as its parent lists it (§2.5, A32)."""
    billing = Account.of(world).billing_of(key)
    return {
        "apikey": key.id,
        "billing_id": billing.subid,
        "note": key.note,
        "default_callback_url": key.default_callback_url or "",
        "scope": key.scope,
        "shared": key.billing is None,
        "currency": billing.currency,
        "credit": decimal(billing.balance),
        "is_blocked": key.disabled,
    }
