"""`/apikey/…`, `/push/device`: settings of a key, sub-keys, and push devices (§2.5, §4.4, §5.6; A19, A32 to A34)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sendbox.engine.answer import JsonObject
from sendbox.services.account.account import Account
from sendbox.services.account.keys import DEFAULT_SUBID, MAX_SUBKEYS, Key
from sendbox.services.http.exchange import Answer, Exchange
from sendbox.services.http.rest import lacks, read_body, refuse, success
from sendbox.services.ports import Billing

if TYPE_CHECKING:
    from sendbox.engine.world import World


_SETTINGS: Final = frozenset({"note", "default_callback_url", "default_callback_secret", "default_sender"})
_TEXTS: Final = {"$.scope": "Invalid scope value"}


def update(exchange: Exchange) -> Answer:
    """`POST /apikey/update`: settings of the key that calls; an empty value clears (§4.4, A33)."""
    may_change(exchange)
    request = read_body(exchange)
    account = Account.of(exchange.world)
    key = account.keys[exchange.key.id]
    if _SETTINGS.isdisjoint(request):
        raise lacks(exchange, ["default_callback_url"], "Missing 'default_callback_url' or 'note' in request data")
    exchange.changes("settings", key.id)
    if "note" in request:
        key.note = request["note"]
    for name in _SETTINGS - {"note"}:
        if name in request:
            setattr(key, name, request[name] or None)
    account.subkeys.note(key, "updated")
    return success()


def add(exchange: Exchange) -> Answer:
    """`POST /apikey/add`: a sub-key, with the account's balance or its own (§2.5, A32)."""
    may_change(exchange)
    if exchange.key.id != exchange.world.id:
        text = "Only a top-level apikey can create new apikeys"
        raise refuse(text, "header x-api-key", "parent", "§4.4", "A32", 403)
    request = read_body(exchange, texts=_TEXTS)
    account = Account.of(exchange.world)
    currency, subid = _billing(exchange, request)
    exchange.changes("sub-keys")  # their number, and the place of each
    key = account.subkeys.of_user(request.get("app_userid"))
    if key is None:
        if account.subkeys.full:
            raise refuse(f"Child apikey limit reached ({MAX_SUBKEYS})", "$", "limit", "§4.4", "A32", 403)
        if subid is not None and subid in (DEFAULT_SUBID, *account.subkeys.by_subid):
            raise refuse(f"billing_id '{subid}' is taken", "$.billing_id", "taken", "§4.4", "A32")
        key = account.subkeys.add(
            exchange.content or b"",
            currency=currency,
            subid=subid,
            note=request.get("note", ""),
            default_callback_url=request.get("default_callback_url") or None,
            scope=request.get("scope", "full"),
            share_senders=request.get("share_senders", False),
            app_userid=request.get("app_userid"),
        )
    return success(apikey=key.id, billing_id=None if key.billing is None else key.billing.subid)


def _billing(exchange: Exchange, request: JsonObject) -> tuple[str | None, str | None]:
    """The currency of a new sub-key's own balance, None if it shares the account's, and its name if it has one.

    Raises `Refused`.
    """
    currency: str = request.get("currency", "").upper()
    if not request.get("shared"):
        lacking = [name for name in ("billing_name", "billing_email", "currency") if not request.get(name)]
        if lacking:
            raise lacks(exchange, lacking, "Missing required fields in request data")
        return currency, request.get("billing_id")
    parents = Account.of(exchange.world).currency
    if currency not in ("", parents):
        text = f"Shared apikey must have the currency of its parent: {parents}"
        raise refuse(text, "$.currency", "currency", "§2.5")
    return None, None


def list_children(exchange: Exchange) -> Answer:
    """`GET /apikey/list`: the sub-keys of the key that calls; a sub-key has none (A32)."""
    world = exchange.world
    children = Account.of(world).subkeys.children if exchange.key.id == world.id else []
    return success(list=[key.id for key in children])


def change(exchange: Exchange) -> Answer:
    """`POST /apikey/change`: scope of a sub-key, and whether it is disabled (A32)."""
    may_change(exchange)
    request = read_body(exchange, "Missing 'apikey' in request data", "apikey", texts=_TEXTS)
    if request.keys().isdisjoint(("scope", "disable")):
        raise lacks(exchange, ["scope"], "Missing 'scope' or 'disable' in request data")
    key = _child(exchange, request["apikey"])
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
        raise refuse("Device is owned by another apikey", "$.id", "owner", "§2.5", "A34", 403)
    return success()


def may_change(exchange: Exchange) -> None:
    """Raises `Refused` where the key's scope does not let it change settings (A19)."""
    key = exchange.key
    if not key.changes_settings:
        text = f"Apikey scope '{key.scope}' is not allowed to change settings"
        raise refuse(text, "header x-api-key", "scope", "§5", "A19", 403)


def _child(exchange: Exchange, name: str) -> Key:
    """The sub-key of the key that calls. Raises `Refused`."""
    parent = exchange.world.id
    key = Account.of(exchange.world).keys.get(name)
    if exchange.key.id == parent and name == parent:
        raise refuse("Parent apikey cannot change itself", "$.apikey", "owner", "§4.4", "A32", 403)
    if key is None or exchange.key.id != parent:
        raise refuse("Target apikey does not belong to this parent", "$.apikey", "owner", "§4.4", "A32", 403)
    return key


def _own_record(world: World, key: Key) -> JsonObject:
    """A key as its own calls see it (A32); the account is always prepaid, without VAT and in UTC."""
    account = Account.of(world)
    return {
        "note": key.note,
        "default_callback_url": key.default_callback_url or "",
        "account": "prepaid",
        "scope": key.scope,
        "share_senders": str(int(key.share_senders)),
        "is_blocked": int(key.disabled),
        "senders": _senders(account),
        **tax_and_zone(account.billing_of(key)),
    }


def tax_and_zone(billing: Billing) -> dict[str, str]:
    """The tax, the currency and the time zone of a balance."""
    return {"vat": "0", "currency": billing.currency.lower(), "tz": "UTC"}


def _senders(account: Account) -> list[dict[str, str]]:
    """The senders and numbers of the account, by channel; if it takes any sender, only those that it ordered."""
    registered = account.ordered if account.senders == "any" else account.senders
    rows = {(family, value): value for family, values in registered.items() for value in values}
    rows |= {("sms", number): number for number in account.numbers}
    rows |= {("chatapp", id_): number.name for id_, number in account.business.items() if number.sends}
    return [{"flow": family, "value": value, "name": name} for (family, value), name in sorted(rows.items())]
