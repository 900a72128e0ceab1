"""Form fields or query parameters of a legacy call as the command that the core takes (§4.1, A13).

The rules are those of a Message (§2.1); what breaks one has a code instead of a text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sendbox.contract.findings import show
from sendbox.engine.remarks import Finding
from sendbox.services import limits
from sendbox.services.assume import Assume
from sendbox.services.http.forms import FORM, Unreadable, media_type, read_form, unknown_parameters
from sendbox.services.http.names import refused_fields
from sendbox.services.http.numbers import remark_recipient
from sendbox.services.http.requests import canonical
from sendbox.services.messaging.http.legacy.errors import (
    BAD_GATEWAY,
    BAD_MESSAGE,
    BAD_NUMBER,
    BAD_PARAMETER,
    BAD_SENDER,
    TOO_MANY,
    UNREADABLE,
    refusal,
)
from sendbox.services.messaging.http.sending.handlers import without_callback
from sendbox.services.messaging.http.sending.parameters import message_of, read_message
from sendbox.services.numbers import normal as numbers
from sendbox.services.ports import account_of

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Exchange
    from sendbox.services.messaging.model import Send

#: What stands between two numbers.
_BETWEEN: Final = re.compile(r"[;,]")
_FIELDS: Final = frozenset({"apikey", "message", "sender", "gateway", "time", "callback"})
_CODES: Final = {"$.message": BAD_MESSAGE, "$.sender": BAD_SENDER, "$.gateway": BAD_GATEWAY}


def read_fields(exchange: Exchange, raw: bytes) -> dict[str, str]:
    """The fields of a call. Raises `Refused` with 101 for what is not UTF-8."""
    try:
        return read_form(raw, exchange.advice)
    except Unreadable as unreadable:
        raise refusal(UNREADABLE, [unreadable.finding], Assume.of(exchange.world)) from None


def check_media_type(exchange: Exchange) -> None:
    """Refuses with 102 a body of another content type than a form; one without a content type is read as a form."""
    kind = media_type(exchange)
    if kind not in (None, FORM):
        text = f"{show(kind)} is not the content type of this call; legal: {FORM} (§4.1)"
        finding = Finding("header content-type", "content-type", text, "§4.1", "A13")
        raise refusal(BAD_PARAMETER, [finding], Assume.of(exchange.world))


def decode(exchange: Exchange, fields: dict[str, str], name: str, schema: str) -> tuple[Send, bytes]:
    """The `Send` of a call whose recipients are in the field `name`, and its canonical content (A13).

    Several numbers have `;` or `,` between them; those that cannot be normalized are left out. Raises `Refused`: 201
    without a number that is left, 202 for the message, 203 for the sender, 104 for the gateway, 109 for too many
    numbers, 102 for anything else.
    """
    problems: list[Finding] = []
    phone_numbers = [number for text in _BETWEEN.split(fields.get(name, "")) if (number := text.strip())]
    if len(phone_numbers) > limits.IN_ALL:
        text = f"{len(phone_numbers)} numbers are more than the {limits.IN_ALL} that one call may have"
        problems.append(_fault(name, "maxItems", text))
    country = account_of(exchange.world).country
    recipients = [number for number in phone_numbers[: limits.IN_ALL] if numbers.normalize(number, country) is not None]
    if not recipients:
        problem = (
            f"{show(fields[name])} has no number that can be normalized" if phone_numbers else f"no {name} is given"
        )
        problems.append(
            _fault(name, "phone-number" if phone_numbers else "required", f"{problem}; legal: one number or several")
        )
    if "message" not in fields:
        problems.append(_fault("message", "required", "no message is given; legal is a text"))
    problems += _check_schema(exchange, fields, schema, {finding.path for finding in problems})
    unknown_parameters(fields, _FIELDS | {name}, exchange.advice)
    problems += refused_fields(exchange, exchange.advice)
    names = {"phone_number": name, "message": "message", "datetime": "time"}
    message = message_of(fields, names, recipients, exchange, problems)
    send = read_message(message, names, exchange, problems)
    if send is None or problems:
        raise refusal(_code(problems[0], name), problems, Assume.of(exchange.world))
    for number in phone_numbers:
        if number not in recipients:
            remark_recipient(number, None, f"$.{name}", exchange.advice, "is left out (A13)")
    return send, canonical(without_callback(message))


def _check_schema(exchange: Exchange, fields: dict[str, str], schema: str, places: set[str]) -> list[Finding]:
    """The findings of the schema, except at places that already have a finding."""
    # The key may have come another way; the caller is known before any handler runs (§5).
    fields = {"apikey": exchange.key.id, **fields}
    checker = exchange.contract.checker(schema)
    if checker.is_valid(fields):
        return []
    return [finding for finding in checker.findings(fields) if finding.path not in places]


def _code(finding: Finding, name: str) -> int:
    """The code of a refusal by its first finding."""
    if finding.rule == "maxItems":
        return TOO_MANY
    return BAD_NUMBER if finding.path == f"$.{name}" else _CODES.get(finding.path, BAD_PARAMETER)


def _fault(name: str, rule: str, text: str) -> Finding:
    return Finding(f"$.{name}", rule, f"{text} (§4.1, A13)", "§4.1", "A13")
