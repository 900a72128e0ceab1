"""Form fields or query parameters of a legacy call as the command that the core takes (§4.1, A13).

The rules of numbers, bodies and senders are those of a Message (§2.1); what breaks one has a code instead of a text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendbox.contract.findings import show
from sendbox.engine.remarks import Finding
from sendbox.services import limits
from sendbox.services.advice import SENDER_FORM, advise
from sendbox.services.assume import Assume
from sendbox.services.http.forms import FORM, Unreadable, media_type, read_form, unknown_parameters
from sendbox.services.http.numbers import remark_recipient
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
from sendbox.services.messaging.http.sending.steps import truncated
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
    """Refuses with 102 a body of another content type than a form; one without a content type is read as a form."""
    kind = media_type(exchange)
    if kind not in (None, FORM):
        text = f"{show(kind)} is not the content type of this call; legal: {FORM} (§4.1)"
        finding = Finding("header content-type", "content-type", text, "§4.1", "A13")
        raise refusal(BAD_PARAMETER, [finding], Assume.of(exchange.world))


def decode(exchange: Exchange, fields: dict[str, str], name: str, schema: str) -> Send:
    """The `Send` of a call whose recipients are in the field `name`, several with `;` between them.

    Raises `Refused`: 201 for the number, 202 for the message, 203 for the sender, 109 for too many recipients, 102 for
    anything else that the schema finds.
    """
    recipients = [number for text in fields.get(name, "").split(";") if (number := text.strip())]
    problems: list[tuple[int, Finding]] = []
    if not recipients:
        problems.append((BAD_NUMBER, _fault(name, "required", f"no {name} is given; legal is one number or several")))
    if len(recipients) > limits.IN_ALL:
        text = f"{len(recipients)} numbers are more than the {limits.IN_ALL} that one call may have"
        problems.append((TOO_MANY, _fault(name, "maxItems", text)))
    if "message" not in fields:
        problems.append((BAD_MESSAGE, _fault("message", "required", "no message is given; legal is a text")))
    sender = fields.get("sender")
    if sender is not None:
        problems += _check_sender(exchange, sender)
    problems += _check_schema(exchange, fields, name, schema, {finding.path for _, finding in problems})
    unknown_parameters(fields, frozenset({"apikey", name, "message", "sender"}), exchange.advice)
    if problems:
        raise refusal(problems[0][0], [finding for _, finding in problems], Assume.of(exchange.world))
    body = fields["message"]
    if len(body) > limits.BODY:
        body = truncated(body, "$.message", "§2.1", exchange.advice)
    step = Step(USUAL, body, sender or exchange.key.default_sender)
    return Send([_recipient(exchange, number, name) for number in recipients], [step])


def _check_schema(
    exchange: Exchange, fields: dict[str, str], name: str, schema: str, places: set[str]
) -> list[tuple[int, Finding]]:
    """What the schema finds, with its codes, without places that have a finding already."""
    # The key may have come another way; the caller is known before any handler runs (§5).
    fields = {"apikey": exchange.key.id, **fields}
    checker = exchange.contract.checker(schema)
    if checker.is_valid(fields):
        return []
    codes = {f"$.{name}": BAD_NUMBER, "$.message": BAD_MESSAGE, "$.sender": BAD_SENDER}
    findings = [finding for finding in checker.findings(fields) if finding.path not in places]
    return [(codes.get(finding.path, BAD_PARAMETER), finding) for finding in findings]


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


def _recipient(exchange: Exchange, raw: str, name: str) -> Recipient:
    number = numbers.normalize(raw, account_of(exchange.world).country)
    remark_recipient(raw, number, f"$.{name}", exchange.advice)
    return Recipient(number or raw, number is not None)


def _fault(name: str, rule: str, text: str, assumed: str = "A13") -> Finding:
    return Finding(f"$.{name}", rule, f"{text} (§4.1, {assumed})", "§4.1", assumed)
