"""What the partner interface answers when it refuses: `{message}` with a 4xx, or 200 `{success: false, message}` (A37).

Form is a 4xx: a missing field 400 with a text of its own, any other breach 400 with the first finding. Whatever fails
although the request is in form is business: 200.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson

from sendbox.engine.remarks import Finding
from sendbox.services.http.exchange import Answer, Refused

if TYPE_CHECKING:
    from sendbox.services.partner.records import Failure

#: The text of a key that is missing, unknown or expired (A26).
UNAUTHORIZED: Final = "Unauthorized"


def error(status: int, text: str) -> Answer:
    """The answer to a refused call (§7.2, A26, A75)."""
    return Answer(status, orjson.dumps({"message": text}))


def deny(_given: bool) -> Answer:
    """The answer to a key or token that opens no world, and to none at all (A26)."""
    return error(401, UNAUTHORIZED)


def failed(failure: Failure) -> Answer:
    """The answer to what fails in business: 200 (A37)."""
    return Answer(200, orjson.dumps({"success": False, "message": failure.message}))


def finding(failure: Failure) -> Finding:
    """A failure as the journal shows it."""
    return Finding(failure.path, failure.rule, failure.message, failure.section, failure.assumed or "A37")


def refusal(findings: list[Finding], status: int = 400) -> Refused:
    """The refusal that shows the client the first finding: a missing field in the words of A37, else its line."""
    first = findings[0]
    if first.rule == "required":
        return missing(first.path.removeprefix("$."), findings, status)
    return Refused(findings, status, " ".join(f"{first.message} at {first.path}".split()))


def missing(fields: str, findings: list[Finding] | None = None, status: int = 400) -> Refused:
    """The refusal of a call without a field that it needs, or without one of several: `a' or 'b` (A37)."""
    first, *others = fields.split("' or '")
    wanted = " or ".join((first, *others))
    found = findings or [Finding(f"$.{first}", "required", f"{wanted} is missing (§4.3, A37)", "§4.3", "A37")]
    return Refused(found, status, f"Missing '{fields}' in request data")
