"""The JSON endpoints of the sending interface as rows (§4.1, base `{base_url}` with its `/v2`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sendbox.services.http.routing import route
from sendbox.services.messaging.http.sending.errors import deny, error
from sendbox.services.messaging.http.sending.handlers import send_message, send_messages, send_priority_message

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Handler, Route

#: Assumptions that every JSON endpoint here rests on: fields and forms of Message, its answers, its refusals.
ASSUMED: Final = (
    "A01", "A02", "A03", "A06", "A07", "A08", "A09", "A11", "A14", "A15", "A16", "A17", "A55", "A56", "A57", "A58",
    "A59", "A60", "A64", "A75", "A77", "A80", "A85", "A86", "A89",
)  # fmt: skip


def _route(operation: str, summary: str, handler: Handler, request: str, *assumed: str) -> Route:
    return route(
        operation,
        summary,
        handler,
        f"sending.json#/$defs/{request}",
        {200: "sending.json#/$defs/MessageResponse", 400: "sending.json#/$defs/Error"},
        section="§4.1",
        error=error,
        deny=deny,
        assumed=(*ASSUMED, *assumed),
    )


ROUTES: Final = (
    _route("sendMessage", "Send one message to 1 to 10 recipients", send_message, "Message"),
    _route("sendPriorityMessage", "Send one message by the priority queue", send_priority_message, "Message", "A18"),
    _route("sendMessages", "Send up to ten messages in one call", send_messages, "Messages", "A10", "A88"),
)
