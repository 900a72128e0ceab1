"""The refusals of the Verify interface: `error`, `message`, `attemptsRemaining` (§7.2; A49, A54, A75)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import orjson

from sendbox.services import limits
from sendbox.services.http.exchange import Answer, Interface, Refused

if TYPE_CHECKING:
    from sendbox.engine.remarks import Finding

#: HTTP status and text of each error code (§7.2, A49, A54); the text of `MISSING_FIELD` names the field.
ERRORS: Final = {
    "MISSING_FIELD": (400, "Missing required field: {}"),
    "INVALID_PHONE": (400, "Invalid phone number"),
    "INVALID_CODE": (400, "Invalid code"),
    "EXPIRED": (400, "Validation expired"),
    "VERIFICATION_DISABLED": (400, "Tenant does not have verification enabled"),
    "NOT_FOUND": (404, "Validation not found"),
    "UNSUPPORTED_MEDIA_TYPE": (415, "Unsupported media type"),
    "MISSING_API_KEY": (401, "Missing X-API-Key header"),
    "INVALID_API_KEY": (401, "Invalid or disabled API key"),
    "TENANT_RATE_LIMIT": (429, "Tenant rate limit exceeded"),
    "PHONE_RATE_LIMIT": (429, "Too many attempts for this phone number"),
    "TOO_MANY_ATTEMPTS": (429, "Too many attempts"),
}
#: Error codes of refusals outside the handlers, by status (A75).
_BY_STATUS: Final = {
    401: "INVALID_API_KEY",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    413: "PAYLOAD_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
    429: "TENANT_RATE_LIMIT",
}

#: The attempts that remain after a refused creation (A49).
UNTOUCHED: Final = limits.ATTEMPTS


def _answer(status: int, code: str, text: str, remaining: int) -> Answer:
    return Answer(status, orjson.dumps({"error": code, "message": text, "attemptsRemaining": remaining}))


def error(status: int, text: str, remaining: int = 0) -> Answer:
    """The answer to a refusal outside the handlers: unknown path, long body, internal error (A75)."""
    code = "INTERNAL_ERROR" if status >= 500 else _BY_STATUS.get(status, "MISSING_FIELD")
    return _answer(status, code, text, remaining)


INTERFACE: Final = Interface("Verify", ("/v1/validations", "/v1/verify-proof"), error)


#: The same where a session would have begun: it would have all its attempts (A49).
creation_error = partial(error, remaining=UNTOUCHED)


def deny(with_key: bool, remaining: int = 0) -> Answer:
    """The answer to a missing key, or to one that is not admitted (§5.4, §7.2)."""
    code = "INVALID_API_KEY" if with_key else "MISSING_API_KEY"
    return _answer(401, code, ERRORS[code][1], remaining)


#: The same where a session would have begun (A49).
deny_creation = partial(deny, remaining=UNTOUCHED)


def refusal(
    code: str, findings: Sequence[Finding], remaining: int, *, field: str = "", text: str | None = None
) -> Refused:
    """A refusal by error code. `field` is the missing field; `text` replaces the text of the code (malformed JSON)."""
    status, form = ERRORS[code]
    message = form.format(field) if text is None else text
    return Refused(list(findings), status, message, _answer(status, code, message, remaining))
