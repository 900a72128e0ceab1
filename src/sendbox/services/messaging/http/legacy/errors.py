"""The answers of the legacy interface to refused calls: one line of plain text, `ERROR|<code>` or `ERROR` (§4.1, A13).

The exact meaning of each of 101, 102 and 109 is not known; the distinction here is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sendbox.services.http.exchange import Answer, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sendbox.engine.remarks import Finding
    from sendbox.services.assume import Assume

#: the request cannot be read: not UTF-8, unknown path, wrong method
UNREADABLE: Final = 101
#: another parameter than those that have a code of their own is bad; so is a body that is not a form
BAD_PARAMETER: Final = 102
BAD_KEY: Final = 103
BAD_GATEWAY: Final = 104
NO_CREDIT: Final = 105
#: more numbers than one call may have
TOO_MANY: Final = 109
#: no number that can be normalized, or none at all
BAD_NUMBER: Final = 201
BAD_MESSAGE: Final = 202
BAD_SENDER: Final = 203
#: the server takes nothing more in
FULL: Final = 900
INTERNAL: Final = 901

CONTENT_TYPE: Final = b"text/plain; charset=utf-8"

#: HTTP status of each code (A13).
STATUS: Final = {
    UNREADABLE: 400,
    BAD_PARAMETER: 400,
    BAD_KEY: 401,
    BAD_GATEWAY: 400,
    NO_CREDIT: 402,
    TOO_MANY: 400,
    BAD_NUMBER: 400,
    BAD_MESSAGE: 400,
    BAD_SENDER: 400,
    FULL: 503,
    INTERNAL: 500,
}

_CODE_OF_STATUS: Final = {401: BAD_KEY, 402: NO_CREDIT, 503: FULL}


def error(status: int, text: str) -> Answer:
    """The answer to a refused call; `text` is its line where a handler refused, else the line follows from `status`.

    A status that has no code of its own is 9xx from 500 on, 101 below.
    """
    if not text.startswith("ERROR"):
        text = f"ERROR|{_CODE_OF_STATUS.get(status, INTERNAL if status >= 500 else UNREADABLE)}"
    return Answer(status, text.encode(), CONTENT_TYPE)


def deny(_with_key: bool) -> Answer:
    """The answer to a denied key, and to none (A13)."""
    return error(401, "")


def line(code: int, assume: Assume) -> str:
    """The line of a refusal: with its code, or without where `legacy_error` is `plain` (A13)."""
    return "ERROR" if assume.legacy_error == "plain" else f"ERROR|{code}"


def refusal(code: int, findings: Sequence[Finding], assume: Assume) -> Refused:
    """The refusal whose line goes to the client, and whose findings go to the journal."""
    return Refused(list(findings), STATUS[code], line(code, assume))
