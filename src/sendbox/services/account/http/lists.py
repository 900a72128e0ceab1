"""`/blacklist` and `/optout`: numbers that get no messages, or no promotional ones (§2.5, §4.4; A27, A81)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from sendbox.engine.remarks import Finding
from sendbox.services.account.account import Account
from sendbox.services.account.http.keys import may_change
from sendbox.services.account.lists import ListName, enter
from sendbox.services.http.exchange import Answer, Exchange, in_slices
from sendbox.services.http.numbers import remark_converted
from sendbox.services.http.rest import UNAUTHORIZED, no_subaccount, read_body, success

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

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


def blacklist(exchange: Exchange) -> Answer:
    """`POST /blacklist` (§4.4)."""
    return in_slices(_enter(exchange, "blacklist"))


def optout(exchange: Exchange) -> Answer:
    """`POST /optout` (§4.4)."""
    return in_slices(_enter(exchange, "optout"))


def _enter(exchange: Exchange, name: ListName) -> Generator[None, None, Answer]:
    may_change(exchange)
    request = read_body(exchange, "Missing 'to'", "to")
    billing = Account.of(exchange.world).subaccount(exchange.key, request.get("subid"))
    if billing is None:
        raise no_subaccount()
    listed = yield from enter(exchange.world, name, billing, request["to"])
    for line, number in listed.converted:
        remark_converted(line, number, "$.to", exchange.advice, "§4.4")
    if not listed.accepted:
        text = "no line of to is a phone number; legal: 8 to 15 digits with a calling code, one number a line"
        exchange.findings = [Finding("$.to", "phone-number", f"{text} (§4.4, A27)", "§4.4", "A27")]
        return list_error(400, NO_NUMBERS, listed.invalid)
    return success(accepted=listed.accepted, invalid=listed.invalid)
