"""Form fields or query parameters of a legacy call as the command that the core takes (§4.1, A13).

The rules of numbers, bodies and senders are those of a Message (§2.1); what breaks one has a code instead of a text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendbox.contract.findings import show
from sendbox.engine.remarks import Finding
from sendbox.services import limits
from sendbox.services.advice import BODY_TRUNCATED, NUMBER_CONVERTED, NUMBER_INVALID, SENDER_FORM, advise
from sendbox.services.assume import Assume
from sendbox.services.http.forms import FORM, Unreadable, media_type, read_form, unknown_parameters
from sendbox.services.http.numbers import remark_number
from sendbox.services.messaging.channels import USUAL
from sendbox.services.messaging.http.legacy.errors import (
    BAD_MESSAGE,
    BAD_NUMBER,
    BAD_PARAMETER,
    BAD_SENDER,
    TOO_MANY,
    UNREADABLE,
    refusal,
)
from sendbox.services.messaging.model import Recipient, Send, Step
from sendbox.services.numbers import normal as numbers
from sendbox.services.ports import account_of

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Exchange


def read_fields(exchange: Exchange, raw: bytes) -> dict[str, str]:
    """The fields of a call. Raises `Refused` with 101 for what is not UTF-8."""
    try:
        return read_form(raw, exchange.advice)
    except Unreadable as unreadable:
        raise refusal(UNREADABLE, [unreadable.finding], Assume.of(exchange.world)) from None


def check_media_type(exchange: Exchange) -> None:
    """Refuses a body that says it is no form with 102; one that says nothing is read as a form."""
    kind = media_type(exchange)
    if kind not in (None, FORM):
        text = f"{show(kind)} is not the content type of this call; legal: {FORM} (§4.1)"
        finding = Finding("header content-type", "content-type", text, "§4.1", "A13")
        raise refusal(BAD_PARAMETER, [finding], Assume.of(exchange.world))


def decode(exchange: Exchange, fields: dict[str, str], name: str, schema: str) -> Send:
    """The `Send` of a call whose recipients are in the field `name`, several with `;` between them.

    Raises `Refused`: 201 for the number, 202 for the message, 203 for the sender, 109 for too many numbers, 102 for
    anything else that the schema finds.
    """
    given = [each for part in fields.get(name, "").split(";") if (each := part.strip())]
    found: list[tuple[int, Finding]] = []
    if not given:
        found.append((BAD_NUMBER, _fault(name, "required", f"no {name} is given; legal is one number or several")))
    if len(given) > limits.IN_ALL:
        text = f"{len(given)} numbers are more than the {limits.IN_ALL} that one call may have"
        found.append((TOO_MANY, _fault(name, "maxItems", text)))
    if "message" not in fields:
        found.append((BAD_MESSAGE, _fault("message", "required", "no message is given; legal is a text")))
    sender = fields.get("sender")
    if sender is not None:
        found += _check_sender(exchange, sender)
    found += _check_schema(exchange, fields, name, schema, {finding.path for _, finding in found})
    if found:
        raise refusal(found[0][0], [finding for _, finding in found], Assume.of(exchange.world))
    unknown_parameters(fields, frozenset({"apikey", name, "message", "sender"}), exchange.advice)
    step = Step(USUAL, _body(exchange, fields["message"]), sender or exchange.key.default_sender)
    return Send([_recipient(exchange, number, name) for number in given], [step])


def _check_schema(
    exchange: Exchange, fields: dict[str, str], name: str, schema: str, places: set[str]
) -> list[tuple[int, Finding]]:
    """What the schema finds, with its codes, but for places of which something was said already."""
    # The key may have come another way; who calls is settled before any handler runs (§5).
    fields = {"apikey": exchange.key.id, **fields}
    checker = exchange.contract.checker(schema)
    if checker.is_valid(fields):
        return []
    codes = {f"$.{name}": BAD_NUMBER, "$.message": BAD_MESSAGE, "$.sender": BAD_SENDER}
    found = [finding for finding in checker.findings(fields) if finding.path not in places]
    return [(codes.get(finding.path, BAD_PARAMETER), finding) for finding in found]


def _check_sender(exchange: Exchange, sender: str) -> list[tuple[int, Finding]]:
    if sender.isascii() and sender.isdecimal():
        return []
    if sender[0] != "+" and len(sender) <= limits.SENDER:
        return []
    text = f"{show(sender)} is neither a name of at most {limits.SENDER} characters nor a number without `+`"
    if Assume.of(exchange.world).sender_form == "accept":
        text = f"{text}; `sender_form: accept` lets it through"
        exchange.advice.append(advise(SENDER_FORM, text, "$.sender"))
        return []
    return [(BAD_SENDER, _fault("sender", "sender", text, "A59"))]


def _body(exchange: Exchange, text: str) -> str:
    if len(text) > limits.BODY:
        rest = len(text) - limits.BODY
        remark = f"{show(text)} is longer than {limits.BODY} characters; the last {rest} are not sent"
        exchange.advice.append(advise(BODY_TRUNCATED, remark, "$.message"))
    return text[: limits.BODY]


def _recipient(exchange: Exchange, raw: str, name: str) -> Recipient:
    number = numbers.normalize(raw, account_of(exchange.world).country)
    if number is None:
        text = f"{show(raw)} cannot be normalized to a number in international format and will be rejected"
        exchange.advice.append(advise(NUMBER_INVALID, text, f"$.{name}"))
        return Recipient(raw, valid=False)
    if number != raw:
        exchange.advice.append(advise(NUMBER_CONVERTED, f"{show(raw)} is converted to {number}", f"$.{name}"))
    remark_number(number, f"$.{name}", exchange.advice)
    return Recipient(number)


def _fault(name: str, rule: str, text: str, assumed: str = "A13") -> Finding:
    return Finding(f"$.{name}", rule, f"{text} (§4.1, {assumed})", "§4.1", assumed)
