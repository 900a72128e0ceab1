"""`datetime`: the instant a message is to be sent at, an RFC 3339 date-time (§2.1, A58)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from sendbox.engine.bounds import BEGINNING, END
from sendbox.engine.remarks import Advice, Finding
from sendbox.services.advice import DATETIME_CONVERTED, DATETIME_WITHOUT_ZONE, advise
from sendbox.services.messaging.http.sending.errors import show

_FORM: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:([Zz])|([+-])([0-9]{2}):([0-9]{2}))?"
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def read_datetime(text: str, path: str, problems: list[Finding], advice: list[Advice]) -> int | None:
    """The instant in virtual milliseconds, parts of a millisecond cut off; None and a finding when it is none.

    Another offset than UTC is converted, a missing one read as UTC, both with advice (A58).
    """
    place = f"{path}.datetime"
    form = _FORM.fullmatch(text)
    instant = None if form is None else _instant(form)
    if form is None or instant is None:
        rule = "is no date-time of RFC 3339; legal is the form 2026-03-01T09:00:00Z (§2.1)"
        problems.append(Finding(place, "date-time", f"{show(text)} {rule}", "§2.1", "A58"))
        return None
    if form[8] is None:
        if form[9] is None:
            advice.append(advise(DATETIME_WITHOUT_ZONE, f"{show(text)} has no offset and is read as UTC", place))
        elif form[10] != "00" or form[11] != "00":
            utc = (_EPOCH + instant * _MILLISECOND).isoformat(timespec="seconds")[:19]
            advice.append(advise(DATETIME_CONVERTED, f"{show(text)} is converted to UTC: {utc}Z", place))
    return instant


def _instant(form: re.Match[str]) -> int | None:
    """Milliseconds since 1970 of a text in form, None when there is no such date, time or offset.

    A leap second, which RFC 3339 has, is the second after it.
    """
    year, month, day, hour, minute, second = map(int, form.group(1, 2, 3, 4, 5, 6))
    hours, minutes = int(form[10] or 0), int(form[11] or 0)
    if hours > 23 or minutes > 59:
        return None
    offset = (hours * 60 + minutes) * 60_000
    leap = second == 60
    try:
        there = datetime(year, month, day, hour, minute, second - leap, tzinfo=UTC)
    except ValueError:
        return None
    fraction = int(((form[7] or "") + "000")[:3])
    instant = (there - _EPOCH) // _MILLISECOND + 1000 * leap + fraction - (-offset if form[9] == "-" else offset)
    return instant if BEGINNING <= instant <= END else None
