"""The endpoints of the management interface as rows (§4.2, §4.4, base `{rest_url}` with its `/v1`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sendbox.services.account.http import credit, devices, keys, lists
from sendbox.services.account.http.errors import error, list_error, unauthorized, unauthorized_list, unauthorized_or
from sendbox.services.http.exchange import Answer, Handler, Route
from sendbox.services.http.routing import route
from sendbox.services.messaging.http.rest import messages, uploads

#: Assumptions that every endpoint here rests on: statuses, scopes, malformed JSON, unknown fields, nulls.
ASSUMED: Final = ("A19", "A26", "A56", "A57", "A75")


def _route(
    operation: str,
    summary: str,
    handler: Handler,
    answer: str,
    *assumed: str,
    schema: str | None = None,
    section: str = "§4.4",
    errors: tuple[int, ...] = (400, 401, 403),
    error: Callable[[int, str], Answer] = error,
    failure: str = "RestError",
    deny: Callable[[bool], Answer] = unauthorized,
) -> Route:
    return route(
        operation,
        summary,
        handler,
        None if schema is None else f"rest.json#/$defs/{schema}",
        {200: f"rest.json#/$defs/{answer}", **dict.fromkeys((*errors, 500), f"rest.json#/$defs/{failure}")},
        section=section,
        error=error,
        assumed=(*ASSUMED, *assumed),
        deny=deny,
    )


ROUTES: Final[tuple[Route, ...]] = (
    _route(
        "requestUpload", "Get an address to upload a bulk file to", uploads.upload_url,
        "UploadResponse", "A35", "A79", schema="UploadRequest", section="§4.2",
    ),
    _route(
        "blacklist", "Put numbers on the blacklist", lists.blacklist, "ListResponse",
        "A14", "A27", "A70", "A81", schema="ListRequest", error=list_error, failure="ListError",
        deny=unauthorized_list,
    ),
    _route(
        "optout", "Put numbers on the opt-out list", lists.optout, "ListResponse",
        "A14", "A27", "A70", "A81", schema="ListRequest", error=list_error, failure="ListError",
        deny=unauthorized_list,
    ),
    _route(
        "listMessages", "List the messages of a day", messages.messages, "MessagesListResponse",
        "A28", "A60", "A65", "A70", "A71", schema="MessagesQuery", deny=unauthorized_or(messages.NO_DATE),
    ),
    _route(
        "getMessage", "Look one message up", messages.message, "MessageStatusResponse",
        "A29", "A30", "A65", schema="MessageQuery", deny=unauthorized_or(messages.NO_ID),
    ),
    _route(
        "listServices", "List the services that can be ordered", credit.services,
        "ServicesResponse", errors=(401,),
    ),
    _route(
        "orderService", "Order a service", credit.order, "OrderResponse", "A31", "A36",
        schema="OrderRequest",
    ),
    _route(
        "registerDevice", "Register a push device", devices.push_device, "DoneResponse", "A34",
        schema="DeviceRequest",
    ),
    _route(
        "updateKey", "Change the settings of the key", keys.update, "DoneResponse", "A21",
        "A33", schema="KeyUpdate",
    ),
    _route(
        "addSubKey", "Make a sub-key", keys.add, "SubKeyResponse", "A32", "A70",
        schema="SubKeyRequest",
    ),
    _route(
        "listSubKeys", "List the sub-keys", keys.list_children, "SubKeyListResponse", "A32",
        errors=(401,),
    ),
    _route(
        "changeSubKey", "Change or disable a sub-key", keys.change, "DoneResponse", "A32",
        schema="SubKeyChange",
    ),
    _route("showKey", "Show the key", keys.me, "MeResponse", "A32", errors=(401,)),
)  # fmt: skip
