"""What the management interface answers when it refuses: `{message}`, with the texts that are known (§7.2, A26)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import orjson

from sendbox.engine.remarks import Finding
from sendbox.services.http.exchange import Answer, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sendbox.services.http.exchange import Exchange

#: The text for no key, and for one that is not known (A26).
UNAUTHORIZED: Final = "Unauthorized"


def error(status: int, text: str) -> Answer:
    """The answer to a refused call: `{message: text}` under `status` (§7.2)."""
    return Answer(status, orjson.dumps({"message": text}))


def list_error(status: int, text: str, invalid: Iterable[str] | None = None) -> Answer:
    """The same for the blacklist and the opt-out list, which also say `success: false` (A26, A27)."""
    body: dict[str, object] = {"success": False, "message": text}
    if invalid is not None:
        body["invalid"] = list(invalid)
    return Answer(status, orjson.dumps(body))


def unauthorized(_with_key: bool) -> Answer:
    """The answer to a denied key, and to none (A26)."""
    return error(401, UNAUTHORIZED)


def unauthorized_list(_with_key: bool) -> Answer:
    """The same for the lists."""
    return list_error(401, UNAUTHORIZED)


def unauthorized_or(text: str) -> Callable[[bool], Answer]:
    """The same where a call without any key is told what is missing (A26)."""
    return lambda with_key: error(401, UNAUTHORIZED) if with_key else error(400, text)


def refused(text: str, path: str, rule: str, section: str, assumed: str | None = None, status: int = 400) -> Refused:
    """A refusal whose text the client gets as it stands; the journal has it with its place."""
    return Refused([Finding(path, rule, f"{text} ({section})", section, assumed)], status, text)


def may_change(exchange: Exchange) -> None:
    """Raises `Refused` where the key's scope does not let it change settings (A19)."""
    key = exchange.key
    if not key.changes_settings:
        text = f"Apikey scope '{key.scope}' is not allowed to change settings"
        raise refused(text, "header x-api-key", "scope", "§5", "A19", 403)
