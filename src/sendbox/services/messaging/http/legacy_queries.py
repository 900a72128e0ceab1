"""Questions of the legacy interface that its clients ask: credit, price, and what became of messages (A95, A96).

The specification has none of them; each answers fields with `|` between them, a line for each thing. The codes of
messages are ours.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from msgspec.structs import replace

from sendbox.contract.findings import show
from sendbox.engine.durations import iso
from sendbox.engine.remarks import Finding
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Route, in_slices
from sendbox.services.http.requests import canonical, refused_fields, unknown_parameters
from sendbox.services.http.rest import decimal
from sendbox.services.messaging.channels import ACCEPTED, DELIVERED, SEEN, SENDING, SENT, USUAL
from sendbox.services.messaging.content.text import segment, to_gsm
from sendbox.services.messaging.http import legacy
from sendbox.services.messaging.http.rest.listing import PAGE, ReachedTimes, codes, message_of, with_messages_read
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Step
from sendbox.services.messaging.records import DEFAULT_SENDER, Message
from sendbox.services.operations import CALLS
from sendbox.services.ports import account_of

#: The codes of messages: waiting, under way, done, failed.
_WAITING, _UNDER_WAY, _DONE, _FAILED = range(4)
_CODES: Final = {ACCEPTED: _WAITING, SENDING: _UNDER_WAY, SENT: _UNDER_WAY, DELIVERED: _DONE, SEEN: _DONE}
_SENDING: Final = frozenset(row.name for row in CALLS.values() if row.interface == "legacy" and row.sends)
#: Fields that hold names which the world gave, and which no other world has.
_WORLD_NAMES: Final = frozenset({"apikey", "requestID"})
#: So many messages are looked at between two pauses.
_LOOKED: Final = 500


def user_info(exchange: Exchange, fields: dict[str, str]) -> Answer:
    """Credit, default sender and default gateway of the key that calls (A95)."""
    _check(exchange, fields, "KeyForm")
    key = exchange.key
    balance = account_of(exchange.world).billing_of(key).balance
    gateway = Step(USUAL, None).gateway
    return legacy.text_answer("|".join((decimal(balance), key.default_sender or DEFAULT_SENDER, gateway)))


def price(exchange: Exchange, fields: dict[str, str]) -> Answer:
    """Valid recipients, segments, characters, price of one and price of all, of a message that is not sent (A95)."""
    send, exchange.content = legacy.decode(exchange, fields, "number", legacy.FAMILY.schema("SendForm"))
    (step,) = send.steps
    text = send.text(step) or ""
    if step.type == "sms":
        text = to_gsm(text)
    simulator = Messaging.of(exchange.world).simulator
    currency = account_of(exchange.world).billing_of(exchange.key).currency
    first = replace(send, recipients=send.recipients[:1])
    prices = [decimal(simulator.price_of(one)[currency != "EUR"]) for one in (first, send)]
    return legacy.text_answer("|".join(map(str, (len(send.recipients), segment(text).count, len(text), *prices))))


def request_list(exchange: Exchange, fields: dict[str, str]) -> Answer:
    """A line for each of the newest messages that were sent through this interface, the newest last (A96)."""
    _check(exchange, fields, "KeyForm")
    return in_slices(_list(exchange))


def _list(exchange: Exchange) -> Generator[None, None, Answer]:
    messaging, account = Messaging.of(exchange.world), account_of(exchange.world)
    billing = account.billing_of(exchange.key)
    lines: list[str] = []
    for looked, message in enumerate(reversed(messaging.messages[:])):
        submission = message.submission
        own = submission.operation in _SENDING and account.billing_of(submission.key) is billing
        if own and not messaging.is_test(message.phone):
            lines.append(_line(message))
        if len(lines) == PAGE:
            break
        if looked % _LOOKED == _LOOKED - 1:
            yield
    return legacy.text_answer("\n".join(reversed(lines)))


def _line(message: Message) -> str:
    """Id, gateway, sent, expires, sender, remaining and code."""
    send, code = message.submission.send, _code(message)
    step = send.steps[0]
    sender = step.sender or message.submission.key.default_sender or DEFAULT_SENDER
    instants = ["" if at is None else iso(at) for at in (ReachedTimes(message).sent, send.expires)]
    return "|".join((message.id, step.gateway, *instants, sender, str(int(code < _DONE)), str(code)))


def request_status(exchange: Exchange, fields: dict[str, str]) -> Answer:
    """Number, code, count of segments and delivery code of a message (A96)."""
    fields = {"requestID" if name.lower() == "requestid" else name: value for name, value in fields.items()}
    _check(exchange, fields, "RequestForm")
    return with_messages_read(exchange, lambda exchange: _status(exchange, fields["requestID"]))


def _status(exchange: Exchange, id: str) -> Answer:
    message = message_of(exchange, id)
    if message is None:
        text = f"{show(id)} is not the id of a message; legal: an id that /Send answered (A96)"
        raise legacy.refusal(
            legacy.BAD_PARAMETER, [Finding("$.requestID", "message", text, "§4.1", "A96")], Assume.of(exchange.world)
        )
    attempt = message.furthest_attempt
    count, delivery = (0, None) if attempt is None else (attempt.count, codes(attempt)[1])
    return legacy.text_answer("|".join((message.phone, str(_code(message)), str(count), delivery or "")))


def _code(message: Message) -> int:
    attempt = message.furthest_attempt
    return _WAITING if attempt is None else _CODES.get(attempt.state, _FAILED)


def _error(status: int, text: str) -> Answer:
    """The answer to a refused call; that its path is outside the specification stands in a second line (A97)."""
    answer = legacy.error(status, text)
    if status == 404:
        answer.body += f"\n{text}".encode()
    return answer


def _check(exchange: Exchange, fields: dict[str, str], form: str) -> None:
    """Refuses with 102 what is not legal by the schema of a form; leaves the content without names of the world."""
    exchange.content = canonical({name: value for name, value in fields.items() if name not in _WORLD_NAMES})
    problems = legacy.check_schema(exchange, fields, legacy.FAMILY.schema(form), set())
    known = exchange.contract.definitions[form]["properties"]
    unknown_parameters(fields, frozenset(known), exchange.advice)
    problems += refused_fields(exchange, exchange.advice)
    if problems:
        raise legacy.refusal(legacy.BAD_PARAMETER, problems, Assume.of(exchange.world))


def _routes(
    operation: str, summary: str, handler: legacy.FieldsHandler, form: str, result: str, *assumed: str
) -> tuple[Route, ...]:
    """The two rows of a question: by form, and by query. One that takes only a key refuses no call with a good key."""
    return tuple(
        replace(
            legacy.FAMILY.route(name, f"{summary} {words}", legacy.read_first(name, handler), form, result, *assumed),
            any_case=True,
            error=_error,
            beyond=True,
            refused="" if form == "KeyForm" else None,
        )
        for name, words in ((operation, "with a form (deprecated)"), (f"{operation}ByQuery", "by query (deprecated)"))
    )


ROUTES: Final = (
    *_routes("legacyUserInfo", "Ask for the credit", user_info, "KeyForm", "UserInfoResult", "A95"),
    *_routes(
        "legacyPrice", "Ask for the price of a text", price, "SendForm", "TextPriceResult", *legacy.ASSUMED, "A95"
    ),
    *_routes("legacyRequestList", "List the sent texts", request_list, "KeyForm", "RequestListResult", "A96"),
    *_routes("legacyRequestStatus", "Look a text up", request_status, "RequestForm", "RequestStatusResult", "A96"),
)
