"""The legacy endpoints as rows: `/Send`, and `/api-send.php` with its recipient as `to`; POST and GET (§4.1, A13)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Route
from sendbox.services.http.routing import route
from sendbox.services.messaging.http.accepting import accept, unpaid
from sendbox.services.messaging.http.legacy.decode import check_media_type, decode, read_fields
from sendbox.services.messaging.http.legacy.errors import CONTENT_TYPE, NO_CREDIT, deny, error, refusal
from sendbox.services.operations import CALLS

if TYPE_CHECKING:
    from sendbox.services.messaging.model import Send

ASSUMED: Final = ("A01", "A13", "A14", "A57", "A58", "A59", "A80", "A89")
RESULT: Final = "legacy.json#/$defs/SendResult"


def _handler(name: str, schema: str, *, form: bool) -> Callable[[Exchange], Answer]:
    """The handler of a row whose recipients are in the field `name`."""

    def handle(exchange: Exchange) -> Answer:
        """Takes one text to one number or several; each gets its own line."""
        if form:
            check_media_type(exchange)
        fields = read_fields(exchange, exchange.body if form else exchange.query)
        return _accept(exchange, *decode(exchange, fields, name, schema))

    return handle


def _accept(exchange: Exchange, send: Send, content: bytes) -> Answer:
    finding = unpaid(exchange, send, "A13")
    if finding is not None:
        raise refusal(NO_CREDIT, [finding], Assume.of(exchange.world))
    numbers = [recipient.number for recipient in send.recipients]
    ids = accept(exchange, [send], content).messages[0]
    return answer(ids, numbers, Assume.of(exchange.world))


def answer(ids: Sequence[str | None], numbers: Sequence[str], assume: Assume) -> Answer:
    """One line for each number, in their order: `OK|<id>`, with `legacy_answer: number` the number behind it (A13)."""
    suffixes = [f"|{number}" if assume.legacy_answer == "number" else "" for number in numbers]
    lines = [f"OK|{id}{number}" for id, number in zip(ids, suffixes, strict=True)]
    return Answer(200, "\n".join(lines).encode(), CONTENT_TYPE)


def _route(operation: str, name: str, schema: str, summary: str) -> Route:
    reference = f"legacy.json#/$defs/{schema}"
    return route(
        operation,
        summary,
        _handler(name, reference, form=CALLS[operation].part == "form"),
        reference,
        dict.fromkeys((200, 400, 401, 402), RESULT),
        section="§4.1",
        error=error,
        deny=deny,
        assumed=ASSUMED,
        auth="form",
    )


ROUTES: Final = (
    _route("legacySend", "number", "SendForm", "Send one text with a form (deprecated)"),
    _route("legacySendByQuery", "number", "SendForm", "Send one text with query parameters (deprecated)"),
    _route("legacyApiSend", "to", "ApiSendForm", "Send one text with a form (deprecated)"),
    _route("legacyApiSendByQuery", "to", "ApiSendForm", "Send one text by query (deprecated)"),
)
