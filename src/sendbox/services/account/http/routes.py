"""The account's endpoints of the management interface as rows (§4.4, base `{rest_url}` with its `/v1`)."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from sendbox.services.account.http import credit, keys, lists
from sendbox.services.http.exchange import Route
from sendbox.services.http.rest import row

ROUTES: Final[tuple[Route, ...]] = (
    *(
        row(
            name, f"Put numbers on the {words}", handler, "ListResponse", "A14", "A27", "A70", "A81", "A90",
            schema="ListRequest", error=lists.list_error, failure="ListError", deny=lists.unauthorized_list,
        )
        for name, words, handler in (
            ("blacklist", "blacklist", lists.blacklist), ("optout", "opt-out list", lists.optout),
        )
    ),
    replace(
        row("showCredit", "Show the credit", credit.balance, "CreditResponse", "A94", errors=(401,)), beyond=True
    ),
    row(
        "listServices", "List the services that can be ordered", credit.services,
        "ServicesResponse", errors=(401,),
    ),
    row(
        "orderService", "Order a service", credit.order, "OrderResponse", "A31", "A36",
        schema="OrderRequest",
    ),
    row(
        "registerDevice", "Register a push device", keys.push_device, "DoneResponse", "A34",
        schema="DeviceRequest",
    ),
    row(
        "updateKey", "Change the settings of the key", keys.update, "DoneResponse", "A21",
        "A33", schema="KeyUpdate",
    ),
    row(
        "addSubKey", "Make a sub-key", keys.add, "SubKeyResponse", "A32", "A70",
        schema="SubKeyRequest",
    ),
    row(
        "listSubKeys", "List the sub-keys", keys.list_children, "SubKeyListResponse", "A32",
        errors=(401,),
    ),
    row(
        "changeSubKey", "Change or disable a sub-key", keys.change, "DoneResponse", "A32",
        schema="SubKeyChange",
    ),
    row("showKey", "Show the key", keys.me, "MeResponse", "A32", errors=(401,)),
)  # fmt: skip
