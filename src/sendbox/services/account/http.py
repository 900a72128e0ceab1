"""The account's endpoints of the management interface (§2.5, §4.4, base `{rest_url}` with its `/v1`).

`/apikey/…` and `/push/device` are about settings of a key, sub-keys and push devices (§5.6; A19, A32 to A34),
`/credit…` about credit and services that can be ordered (A31, A94), `/blacklist` and `/optout` about numbers that get
no messages, or no promotional ones (A27, A81).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Final, Literal, NamedTuple

import orjson
from msgspec.structs import replace

from sendbox.engine.answer import JsonObject
from sendbox.engine.journal import CODE
from sendbox.engine.remarks import Finding
from sendbox.engine.texts import regex
from sendbox.engine.world import World
from sendbox.services.account import orders
from sendbox.services.account.account import Account
from sendbox.services.account.keys import DEFAULT_SUBID, MAX_SUBKEYS, Key
from sendbox.services.account.orders import NoCredit, NoSender, Service, fee_of
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Route, in_slices
from sendbox.services.http.numbers import remark_converted
from sendbox.services.http.rest import REST, UNAUTHORIZED, decimal, lacks, no_subaccount, read_body, refuse, success
from sendbox.services.numbers import notation
from sendbox.services.ports import Billing

_SETTINGS: Final = frozenset({"note", "default_callback_url", "default_callback_secret", "default_sender"})
_TEXTS: Final = {"$.scope": "Invalid scope value"}


def update_key(exchange: Exchange) -> Answer:
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


def add_sub_key(exchange: Exchange) -> Answer:
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


def list_sub_keys(exchange: Exchange) -> Answer:
    """`GET /apikey/list`: the sub-keys of the key that calls; a sub-key has none (A32)."""
    world = exchange.world
    children = Account.of(world).subkeys.children if exchange.key.id == world.id else []
    return success(list=[key.id for key in children])


def change_sub_key(exchange: Exchange) -> Answer:
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


def show_key(exchange: Exchange) -> Answer:
    """`GET /apikey/me`: the key that calls (A32)."""
    return success(me=_own_record(exchange.world, Account.of(exchange.world).keys[exchange.key.id]))


def register_device(exchange: Exchange) -> Answer:
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


#: A sender name: at most 11 characters (§8), a letter among them, or it would be a number.
_NAME: Final = regex(r"(?=[^A-Za-z]*[A-Za-z])[^+\x00-\x1f][^\x00-\x1f]{0,10}")
_MISSING: Final = "Missing required service fields in request data"


def show_credit(exchange: Exchange) -> Answer:
    """`GET /credit`: the credit of the key that calls, in the currency of its balance (A94)."""
    billing = Account.of(exchange.world).billing_of(exchange.key)
    amounts = {
        f"credit_{currency}": decimal(billing.balance if currency.upper() == billing.currency else 0)
        for currency in ("czk", "eur")
    }
    credit = {"priceLevels": {}, **amounts, "billing_id": billing.subid, **tax_and_zone(billing)}
    return success(credit=credit)


def list_services(_exchange: Exchange) -> Answer:
    """`GET /credit/services`: the catalog (§4.4)."""
    return success(services=orders.tree())


def order_service(exchange: Exchange) -> Answer:
    """`POST /credit/order`: a service by its flat id; with `dryrun` only its fee (§4.4, A31)."""
    may_change(exchange)
    request = read_body(exchange, _MISSING, "service_id", "period")
    service = orders.services().get(request["service_id"])
    if service is None:
        raise refuse("Invalid service id", "$.service_id", "service", "§4.4", "A31", 500)
    billing = Account.of(exchange.world).billing_of(exchange.key)
    subject = _subject(exchange, service, request)
    if request.get("dryrun"):
        return success(
            order={
                "dryrun": True,
                "total_fee": fee_of(service, billing.currency) / 1_000_000,
                "currency": billing.currency.lower(),
                "subject": subject,
                "service_id": service.id,
            }
        )
    period: str = request["period"]
    try:
        placed = Account.of(exchange.world).orders.place(service, subject, period, billing, exchange.content or b"")
    except NoCredit:
        exchange.order_sensitive = True
        raise refuse("Insufficient credit", "$.service_id", "credit", "§4.4", "A31", 500) from None
    return success(order={"subject": placed.subject, "subject_id": placed.subject, "status": placed.state})


def _subject(exchange: Exchange, service: Service, request: JsonObject) -> str:
    """The subject of the order: supplied by the customer, or a number of the pool (§2.5). Raises `Refused`."""
    if service.subject == "assigned":
        try:
            return Account.of(exchange.world).orders.next_number(service)
        except NoSender:
            text = "No available sender for this service"
            raise refuse(text, "$.service_id", "sender", "§4.4", "A31", 500) from None
    subject: str = request.get("subject") or ""
    if not subject:
        raise lacks(exchange, ["subject"], _MISSING)
    if service.kind == "number":
        number = notation.normalize(subject, Account.of(exchange.world).country)
        if number is None:
            raise refuse("Invalid 'subject': a phone number is expected", "$.subject", "subject", "§2.5", "A31")
        return number
    if _NAME.fullmatch(subject) is None:
        text = "Invalid 'subject': a sender name of at most 11 characters is expected"
        raise refuse(text, "$.subject", "subject", "§8", "A31")
    return subject


NO_NUMBERS = "No valid phone numbers"


def list_error(status: int, text: str, invalid: Iterable[str] | None = None) -> Answer:
    """The refusal of a call, which also says `success: false` here (§7.2, A26, A27)."""
    body: dict[str, object] = {"success": False, "message": text}
    if invalid is not None:
        body["invalid"] = list(invalid)
    return Answer(status, orjson.dumps(body))


def unauthorized_list(_with_key: bool) -> Answer:
    """The answer to a denied key, and to none (A26)."""
    return list_error(401, UNAUTHORIZED)


def enter_blacklist(exchange: Exchange) -> Answer:
    """`POST /blacklist` (§4.4)."""
    return in_slices(_enter_list(exchange, "blacklist"))


def enter_optout(exchange: Exchange) -> Answer:
    """`POST /optout` (§4.4)."""
    return in_slices(_enter_list(exchange, "optout"))


def _enter_list(exchange: Exchange, name: ListName) -> Generator[None, None, Answer]:
    may_change(exchange)
    request = read_body(exchange, "Missing 'to'", "to")
    billing = Account.of(exchange.world).subaccount(exchange.key, request.get("subid"))
    if billing is None:
        raise no_subaccount()
    listed = yield from enter_numbers(exchange.world, name, billing, request["to"])
    for line, number in listed.converted:
        remark_converted(line, number, "$.to", exchange.advice, "§4.4")
    if not listed.accepted:
        text = "no line of to is a phone number; legal: 8 to 15 digits with a calling code, one number a line"
        exchange.findings = [Finding("$.to", "phone-number", f"{text} (§4.4, A27)", "§4.4", "A27")]
        return list_error(400, NO_NUMBERS, listed.invalid)
    return success(accepted=listed.accepted, invalid=listed.invalid)


ListName = Literal["blacklist", "optout"]

_LINE: Final = regex(r"[^\r\n]+")
#: How many lines are read between two pauses.
_SLICE: Final = 200
#: The greatest number of lines in another form that are named.
MAX_WRONG_LINES: Final = 10


class ListChange(NamedTuple):
    """The result of a call: how many lines were numbers, and the lines that were not.

    `converted` has the first lines that were written in another form, with their numbers.
    """

    accepted: int
    invalid: list[str]
    converted: tuple[tuple[str, str], ...] = ()


def enter_numbers(world: World, name: ListName, billing: Billing, text: str) -> Generator[None, None, ListChange]:
    """Enters the numbers of a text, one on each line, in force after `list_delay`; with pauses.

    A number that is on the list already is unchanged. The generator returns the result; blank lines are
    ignored.
    """
    entries = billing.blacklist if name == "blacklist" else billing.optout
    country = Account.of(world).country
    since = world.clock.now + Assume.of(world).list_delay
    invalid: list[str] = []
    new: dict[str, None] = {}
    accepted = 0
    converted: dict[str, str] = {}
    for count, match in enumerate(_LINE.finditer(text), 1):
        line = match.group().strip()
        number = notation.normalize(line, country) if line else None
        if number is not None:
            accepted += 1
            if number != line and len(converted) < MAX_WRONG_LINES:
                converted[line] = number
            if entries.setdefault(number, since) == since:
                new[number] = None
        elif line:
            invalid.append(line)
        if count % _SLICE == 0:
            yield
    if new:
        billing.complete_at = since
        world.journal.add(world.clock.now, CODE["listed"], (name, billing.subid, tuple(new)))
    return ListChange(accepted, invalid, tuple(converted.items()))


_LISTS: Final = replace(REST, failure="ListError", error=list_error, deny=unauthorized_list)
ROUTES: Final[tuple[Route, ...]] = (
    *(
        _LISTS.route(
            name,
            f"Put numbers on the {words}",
            handler,
            "ListRequest",
            "ListResponse",
            "A14",
            "A27",
            "A70",
            "A81",
            "A90",
        )
        for name, words, handler in (
            ("blacklist", "blacklist", enter_blacklist),
            ("optout", "opt-out list", enter_optout),
        )
    ),
    replace(
        REST.route("showCredit", "Show the credit", show_credit, None, "CreditResponse", "A94", errors=(401, 500)),
        beyond=True,
    ),
    REST.route(
        "listServices",
        "List the services that can be ordered",
        list_services,
        None,
        "ServicesResponse",
        errors=(401, 500),
    ),
    REST.route("orderService", "Order a service", order_service, "OrderRequest", "OrderResponse", "A31", "A36"),
    REST.route("registerDevice", "Register a push device", register_device, "DeviceRequest", "DoneResponse", "A34"),
    REST.route("updateKey", "Change the settings of the key", update_key, "KeyUpdate", "DoneResponse", "A21", "A33"),
    REST.route("addSubKey", "Make a sub-key", add_sub_key, "SubKeyRequest", "SubKeyResponse", "A32", "A70"),
    REST.route("listSubKeys", "List the sub-keys", list_sub_keys, None, "SubKeyListResponse", "A32", errors=(401, 500)),
    REST.route("changeSubKey", "Change or disable a sub-key", change_sub_key, "SubKeyChange", "DoneResponse", "A32"),
    REST.route("showKey", "Show the key", show_key, None, "MeResponse", "A32", errors=(401, 500)),
)
