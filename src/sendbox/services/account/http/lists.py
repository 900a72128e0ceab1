"""`/blacklist` and `/optout`: numbers that get no messages, or no promotional ones (§2.5, §4.4; A27, A81)."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import orjson

from sendbox.engine.journal import CODE
from sendbox.engine.regex import regex
from sendbox.engine.remarks import Finding
from sendbox.services.account.account import Account
from sendbox.services.account.http.keys import may_change
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, in_slices
from sendbox.services.http.numbers import remark_converted
from sendbox.services.http.rest import UNAUTHORIZED, no_subaccount, read_body, success
from sendbox.services.numbers import normal as numbers
from sendbox.services.ports import Billing

if TYPE_CHECKING:
    from sendbox.engine.world import World


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


def enter(world: World, name: ListName, billing: Billing, text: str) -> Generator[None, None, ListChange]:
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
        number = numbers.normalize(line, country) if line else None
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
