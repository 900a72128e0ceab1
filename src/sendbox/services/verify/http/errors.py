"""What the Verify interface answers when it refuses: `error`, `message`, `attemptsRemaining` (§7.2; A49, A54, A75)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import orjson

from sendbox.services import limits
from sendbox.services.http.exchange import Answer, Refused
from sendbox.services.http.interfaces import Interface

if TYPE_CHECKING:
    from sendbox.engine.remarks import Finding

MISSING_FIELD: Final = "MISSING_FIELD"
INVALID_PHONE: Final = "INVALID_PHONE"
INVALID_CODE: Final = "INVALID_CODE"
EXPIRED: Final = "EXPIRED"
NOT_FOUND: Final = "NOT_FOUND"
MISSING_API_KEY: Final = "MISSING_API_KEY"
INVALID_API_KEY: Final = "INVALID_API_KEY"
TENANT_RATE_LIMIT: Final = "TENANT_RATE_LIMIT"
PHONE_RATE_LIMIT: Final = "PHONE_RATE_LIMIT"
TOO_MANY_ATTEMPTS: Final = "TOO_MANY_ATTEMPTS"

#: HTTP status and text of each error code (§7.2, A49, A54); the text of `MISSING_FIELD` names the field.
ERRORS: Final = {
    MISSING_FIELD: (400, "Missing required field: {}"),
    INVALID_PHONE: (400, "Invalid phone number"),
    INVALID_CODE: (400, "Invalid code"),
    EXPIRED: (400, "Validation expired"),
    NOT_FOUND: (404, "Validation not found"),
    MISSING_API_KEY: (401, "Missing X-API-Key header"),
    INVALID_API_KEY: (401, "Invalid or disabled API key"),
    TENANT_RATE_LIMIT: (429, "Tenant rate limit exceeded"),
    PHONE_RATE_LIMIT: (429, "Too many attempts for this phone number"),
    TOO_MANY_ATTEMPTS: (429, "Too many attempts"),
}
#: Error codes of refusals that no handler makes, by status (A75).
_BY_STATUS: Final = {
    401: INVALID_API_KEY,
    404: NOT_FOUND,
    405: "METHOD_NOT_ALLOWED",
    413: "PAYLOAD_TOO_LARGE",
    429: TENANT_RATE_LIMIT,
}

#: What a refused creation has left (A49).
UNTOUCHED: Final = limits.ATTEMPTS


def _answer(status: int, code: str, text: str, remaining: int) -> Answer:
    return Answer(status, orjson.dumps({"error": code, "message": text, "attemptsRemaining": remaining}))


def error(status: int, text: str, remaining: int = 0) -> Answer:
    """The answer to a call that no handler refused: lost, too long, or broken inside (A75)."""
    code = "INTERNAL_ERROR" if status >= 500 else _BY_STATUS.get(status, MISSING_FIELD)
    return _answer(status, code, text, remaining)


INTERFACE: Final = Interface("Verify", ("/v1/validations", "/v1/verify-proof"), error)


def creation_error(status: int, text: str) -> Answer:
    """The same where a session would have begun: it would have all its attempts (A49)."""
    return error(status, text, UNTOUCHED)


def deny(given: bool, remaining: int = 0) -> Answer:
    """The answer to a missing key, or to one that is not admitted (§5.4, §7.2)."""
    code = INVALID_API_KEY if given else MISSING_API_KEY
    return _answer(401, code, ERRORS[code][1], remaining)


def deny_creation(given: bool) -> Answer:
    """The same where a session would have begun (A49)."""
    return deny(given, UNTOUCHED)


def refusal(
    code: str, findings: Sequence[Finding], remaining: int, *, field: str = "", text: str | None = None
) -> Refused:
    """A refusal by error code. `field` is what is missing; `text` stands for the code's own (malformed JSON)."""
    status, own = ERRORS[code]
    said = own.format(field) if text is None else text
    return Refused(list(findings), status, said, _answer(status, code, said, remaining))
