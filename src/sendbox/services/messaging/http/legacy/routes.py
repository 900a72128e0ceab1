"""The legacy endpoints as rows: `/Send`, and `/api-send.php` with its recipient as `to`; POST and GET (§4.1, A13)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import orjson

from sendbox.engine.remarks import Finding
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Route
from sendbox.services.http.forms import relocated
from sendbox.services.http.routing import route
from sendbox.services.messaging.http.accepting import accept
from sendbox.services.messaging.http.legacy.decode import check_media_type, decode, read_fields
from sendbox.services.messaging.http.legacy.errors import (
    BAD_NUMBER,
    CONTENT_TYPE,
    NO_CREDIT,
    deny,
    error,
    line,
    refusal,
)
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.operations import CALLS

if TYPE_CHECKING:
    from sendbox.services.messaging.model import Send

ASSUMED: Final = ("A08", "A13", "A14", "A57", "A59")
RESULT: Final = "legacy.json#/$defs/SendResult"


def _handler(name: str, schema: str, *, form: bool) -> Callable[[Exchange], Answer]:
    """The handler of a row whose recipients are in the field `name`."""

    def handle(exchange: Exchange) -> Answer:
        """Takes one text to one number or several; each gets its own line."""
        if form:
            check_media_type(exchange)
        fields = read_fields(exchange, exchange.body if form else exchange.query)
        return _accept(exchange, decode(exchange, fields, name, schema), name)

    return handle


def _accept(exchange: Exchange, send: Send, name: str) -> Answer:
    world = exchange.world
    if not Messaging.of(world).can_pay([send], exchange.key):
        count = len(send.recipients)
        text = f"{count} message{'s' if count > 1 else ''} cost more than the account's credit (A13)"
        raise refusal(NO_CREDIT, [Finding("$", "credit", text, "§4.1", "A13")], Assume.of(world))
    step = send.steps[0]
    content = orjson.dumps([[recipient.number for recipient in send.recipients], step.body, step.sender])
    accepted = accept(exchange, [send], content)
    if accepted.findings:
        exchange.findings = relocated(accepted.findings, {"$.to[": f"$.{name}"})
    return answer(accepted.messages[0], Assume.of(world))


def answer(messages: Sequence[str | None], assume: Assume) -> Answer:
    """One line for each number, `OK|<id>`, in their order; None is one that the response rejects (A08).

    The status is 200 as soon as one is accepted.
    """
    lines = [line(BAD_NUMBER, assume) if id is None else f"OK|{id}" for id in messages]
    return Answer(200 if any(messages) else 400, "\n".join(lines).encode(), CONTENT_TYPE)


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
