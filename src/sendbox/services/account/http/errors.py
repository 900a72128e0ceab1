"""What the account's endpoints answer when they refuse, beside the manners of the interface (§7.2, A26)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import orjson

from sendbox.services.http.exchange import Answer
from sendbox.services.http.rest import UNAUTHORIZED, refused

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Exchange


def list_error(status: int, text: str, invalid: Iterable[str] | None = None) -> Answer:
    """The same for the blacklist and the opt-out list, which also say `success: false` (A26, A27)."""
    body: dict[str, object] = {"success": False, "message": text}
    if invalid is not None:
        body["invalid"] = list(invalid)
    return Answer(status, orjson.dumps(body))


def unauthorized_list(_with_key: bool) -> Answer:
    """The same for the lists."""
    return list_error(401, UNAUTHORIZED)


def may_change(exchange: Exchange) -> None:
    """Raises `Refused` where the key's scope does not let it change settings (A19)."""
    key = exchange.key
    if not key.changes_settings:
        text = f"Apikey scope '{key.scope}' is not allowed to change settings"
        raise refused(text, "header x-api-key", "scope", "§5", "A19", 403)
