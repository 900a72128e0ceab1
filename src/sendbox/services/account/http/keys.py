"""`/apikey/…`, `/push/device`: settings of a key, sub-keys, and push devices (§2.5, §4.4, §5.6; A19, A32 to A34)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.identity import uuid_text
from sendbox.services.account.account import Account
from sendbox.services.account.subkeys import MOST
from sendbox.services.http.exchange import Answer, Exchange
from sendbox.services.http.rest import read_body, refused, success
from sendbox.services.money import decimal

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.services.account.keys import Key

_TOP_ONLY: Final = "Only a top apikey may manage child apikeys"


def update(exchange: Exchange) -> Answer:
    """`POST /apikey/update`: settings of the key that calls; an empty value clears (§4.4, A33)."""
    may_change(exchange)
    request = read_body(exchange)
    account = Account.of(exchange.world)
    key = account.keys[exchange.key.id]
    exchange.changes("settings", key.id)
    if "note" in request:
        key.note = request["note"]
    for name in ("default_callback_url", "default_callback_secret", "default_sender"):
        if name in request:
            setattr(key, name, request[name] or None)
    account.subkeys.note(key, "updated")
    return success()


def add(exchange: Exchange) -> Answer:
    """`POST /apikey/add`: a sub-key, with the account's balance or its own (§2.5, A32)."""
    may_change(exchange)
    _top_key(exchange)
    request = read_body(exchange)
    world = exchange.world
    currency: str | None = (request.get("currency") or "").upper() or None
    if request.get("shared"):
        if currency not in (None, Account.of(world).currency):
            text = f"Shared apikey must have the currency of its parent: {Account.of(world).currency}"
            raise refused(text, "$.currency", "currency", "§2.5")
        currency = None
    elif currency is None:
        raise refused("Missing 'currency' in request data", "$.currency", "required", "§2.5", "A32")
    exchange.changes("sub-keys")  # their number, and the place of each
    if Account.of(world).subkeys.full:
        raise refused(f"Child apikey limit reached ({MOST})", "$", "limit", "§4.4", "A32", 403)
    key = Account.of(world).subkeys.add(
        exchange.content or b"",
        currency=currency,
        note=request.get("note", ""),
        url=request.get("default_callback_url") or None,
        scope=request.get("scope", "full"),
    )
    return success(apikey=key.id, billing_id=Account.of(world).billing_of(key).subid)


def list_children(exchange: Exchange) -> Answer:
    """`GET /apikey/list`: the sub-keys of the key that calls; a sub-key has none (A32)."""
    world = exchange.world
    children = Account.of(world).subkeys.children if exchange.key.id == world.id else []
    return success(list=[_child_record(world, key) for key in children])


def change(exchange: Exchange) -> Answer:
    """`POST /apikey/change`: scope of a sub-key, and whether it is disabled (A32)."""
    may_change(exchange)
    _top_key(exchange)
    request = read_body(exchange, "Missing 'apikey' in request data", "apikey")
    key = _child(exchange, request)
    exchange.changes("key", key.id)
    exchange.order_sensitive |= "disable" in request  # a call of the key that comes later has no entry
    key.scope = request.get("scope", key.scope)
    key.disabled = bool(request.get("disable", key.disabled))
    Account.of(exchange.world).subkeys.note(key, "changed")
    return success()


def me(exchange: Exchange) -> Answer:
    """`GET /apikey/me`: the key that calls (A32)."""
    return success(me=_own_record(exchange.world, Account.of(exchange.world).keys[exchange.key.id]))


def push_device(exchange: Exchange) -> Answer:
    """`POST /push/device`: registers a device, or gives it another token (§4.4)."""
    may_change(exchange)
    request = read_body(exchange, "Missing 'id' or 'token' in request data", "id", "token")
    exchange.changes("device", request["id"])
    if not Account.of(exchange.world).register_device(exchange.key.id, request["id"], request["token"]):
        raise refused("Device is owned by another apikey", "$.id", "owner", "§2.5", "A34", 403)
    return success()


def may_change(exchange: Exchange) -> None:
    """Raises `Refused` where the key's scope does not let it change settings (A19)."""
    key = exchange.key
    if not key.changes_settings:
        text = f"Apikey scope '{key.scope}' is not allowed to change settings"
        raise refused(text, "header x-api-key", "scope", "§5", "A19", 403)


def _top_key(exchange: Exchange) -> None:
    if exchange.key.id != exchange.world.id:
        raise refused(_TOP_ONLY, "header x-api-key", "parent", "§4.4", "A32", 403)


def _child(exchange: Exchange, request: dict[str, Any]) -> Key:
    world = exchange.world
    key = Account.of(world).keys.get(request["apikey"])
    if key is None or key.id == world.id:
        raise refused("Apikey is not a child of this apikey", "$.apikey", "owner", "§4.4", "A26", 403)
    return key


def _own_record(world: World, key: Key) -> dict[str, Any]:
    """A key as its own calls see it (A32). `account` is a separate name: the id of the world is the parent key."""
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


def _child_record(world: World, key: Key) -> dict[str, Any]:
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
