"""What the sending interface answers when it refuses: 400 and its kin with `{Message}` (§7.2, A11, A75)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import orjson

from sendbox.contract.findings import QUOTED, show
from sendbox.interfaces.exchange import Answer, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sendbox.core.remarks import Finding

__all__ = ["DENIED", "QUOTED", "error", "line", "refusal", "show"]

#: The text by which a client tells a denied or missing key from a bad request, both 400 (§5.6, A11).
DENIED: Final = "User is not authorized to access this resource with an explicit deny"

_DENIAL = re.compile(r"(not|explicit)\s+(authorized|deny)", re.IGNORECASE)


def error(status: int, text: str) -> Answer:
    """The answer to a refused call: `{Message: text}` under `status` (§7.2, A75).

    A text quotes what the client sent, so the words of `DENIED` are taken apart wherever they are not its own (A11).
    """
    if text != DENIED:
        text = _DENIAL.sub(r"\1-\2", text)
    return Answer(status, orjson.dumps({"Message": text}))


def line(finding: Finding) -> str:
    """A finding as the client reads it, in one line: value, rule, path (A11)."""
    return " ".join(f"{finding.message} at {finding.path}".split())


def refusal(findings: Sequence[Finding], status: int = 400) -> Refused:
    """The refusal that shows the client the first finding and the journal all of them (A11)."""
    return Refused(list(findings), status, line(findings[0]))
