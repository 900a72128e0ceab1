"""`datetime`: the instant a message is to be sent at, an RFC 3339 date-time (§2.1, A58)."""

from __future__ import annotations

import re
from typing import Final

from sendbox.engine.durations import instant, iso
from sendbox.engine.remarks import Advice, Finding
from sendbox.services.advice import DATETIME_CONVERTED, DATETIME_WITHOUT_ZONE, advise
from sendbox.services.messaging.http.sending.errors import show

_ZONE: Final = re.compile(r"(?:([Zz])|[+-]([0-9]{2}:[0-9]{2}))\Z")


def read_datetime(text: str, path: str, problems: list[Finding], advice: list[Advice]) -> int | None:
    """The instant in virtual milliseconds, parts of a millisecond cut off; None and a finding when it is not legal.

    Another offset than UTC is converted, a missing one read as UTC, both with advice (A58).
    """
    place = f"{path}.datetime"
    zone = _ZONE.search(text)
    try:
        at = instant(f"{text}Z" if zone is None else text)
    except ValueError:
        rule = "is not a date-time of RFC 3339; legal is the form 2026-03-01T09:00:00Z (§2.1)"
        problems.append(Finding(place, "date-time", f"{show(text)} {rule}", "§2.1", "A58"))
        return None
    if zone is None:
        advice.append(advise(DATETIME_WITHOUT_ZONE, f"{show(text)} has no offset and is read as UTC", place))
    elif zone[1] is None and zone[2] != "00:00":
        advice.append(advise(DATETIME_CONVERTED, f"{show(text)} is converted to UTC: {iso(at)[:19]}Z", place))
    return at
