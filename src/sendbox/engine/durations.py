"""Times as people write them, to integer milliseconds and back: durations, spans, instants, rates.

The calendar is that of `datetime`, by values made at import: a tester's freezer may replace the class in every module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from sendbox.engine.bounds import BEGINNING, END, YEARS

if TYPE_CHECKING:
    from collections import deque

SECOND: Final = 1_000
MINUTE: Final = 60_000
HOUR: Final = 3_600_000
DAY: Final = 86_400_000
WEEK: Final = 7 * DAY
#: A hundred years: a longer time is a typing error, and would leave the calendar.
LONGEST: Final = 36_500 * DAY

_UNITS: Final = (("d", DAY), ("h", HOUR), ("m", MINUTE), ("s", SECOND), ("ms", 1))
_SHORT: Final = re.compile(
    r"(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m(?!s))?(?:([0-9]+(?:\.[0-9]{1,3})?)s)?(?:([0-9]+)ms)?"
)
_ISO: Final = re.compile(
    r"P(?:([0-9]+)W)?(?:([0-9]+)D)?(?:T(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:[.,][0-9]{1,3})?)S)?)?"
)
_INSTANT: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_FIRST: Final = datetime.min  # noqa: DTZ901 - the text that is made of it says the zone
#: Days in 400 years, after which the calendar comes again.
_CYCLE: Final = 146_097
_read_date: Final = date.fromisoformat
_DURATIONS: Final = "500ms, 2s, 1m30s, 1h, 2d, PT1M30S or whole milliseconds are legal"
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Span:
    """A time in milliseconds, or a span from which one is drawn (`1s..5s`, both ends included)."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Rate:
    """So many in so much time: `10/s`, `{max: 5, within: 1h}`."""

    count: int
    within: int

    def wait(self, counted: deque[int], now: int) -> int:
        """Milliseconds until one more may come, 0 = it may now.

        `counted` are the instants of those that came, oldest first; those too long ago to count are taken away.
        """
        while counted and counted[0] <= now - self.within:
            counted.popleft()
        return 0 if len(counted) < self.count else counted[0] + self.within - now


class Moment(NamedTuple):
    """An instant of a world: `at` in milliseconds, from the start of its epoch when `relative`."""

    at: int
    relative: bool

    def instant(self, start: int) -> int:
        """Virtual milliseconds."""
        return start + self.at if self.relative else self.at


def shown(value: object) -> str:
    """The value as an error message quotes it: one line, of bounded length."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def duration(value: object) -> int:
    """Milliseconds of `500ms`, `2s`, `1m30s`, `1h`, `2d`, ISO 8601 `PT1M30S` or an integer; else ValueError."""
    if isinstance(value, int) and not isinstance(value, bool):
        ms = value
    elif isinstance(value, str):
        ms = _read(value)
    else:
        ms = -1
    if ms < 0:
        raise ValueError(f"{shown(value)} is not a duration: {_DURATIONS}")
    if ms > LONGEST:
        raise ValueError(f"{shown(value)} is longer than a duration may be: up to {show(LONGEST)} is legal")
    return ms


def _read(text: str) -> int:
    """Milliseconds of a duration in words, -1 if it is none. No number here is longer than the longest duration's."""
    if len(text) > 40 or not text:
        return -1
    match = _SHORT.fullmatch(text)
    if match:
        days, hours, minutes, seconds, milliseconds = match.groups("0")
        return int(days) * DAY + int(hours) * HOUR + int(minutes) * MINUTE + _seconds(seconds) + int(milliseconds)
    match = _ISO.fullmatch(text)
    if match and len(text) > 1:
        weeks, days, hours, minutes, seconds = match.groups("0")
        return int(weeks) * WEEK + int(days) * DAY + int(hours) * HOUR + int(minutes) * MINUTE + _seconds(seconds)
    return -1


def _seconds(text: str) -> int:
    whole, _, fraction = text.replace(",", ".").partition(".")
    return int(whole) * SECOND + int(fraction.ljust(3, "0"))


def span(value: object) -> Span:
    """A span `1s..5s`, or a duration as a span of no width; else ValueError."""
    if not (isinstance(value, str) and ".." in value):
        low = duration(value)
        return Span(low, low)
    first, _, last = value.partition("..")
    low, high = duration(first.strip()), duration(last.strip())
    if low > high:
        raise ValueError(f"{shown(value)} ends before it begins: {show(high)}..{show(low)} is legal")
    return Span(low, high)


def instant(value: str) -> int:
    """Virtual milliseconds of an RFC 3339 instant with `Z` or an offset; else ValueError. Finer parts are cut off."""
    match = _INSTANT.fullmatch(value)
    if not match:
        raise ValueError(f"{shown(value)} is not an RFC 3339 instant: 2026-03-01T09:00:00Z or +01:00 for Z are legal")
    hour, minute, second = map(int, match.group(2, 3, 4))
    fraction, sign, hours, minutes = match.group(5, 6, 7, 8)
    try:
        days = _days(match[1])
    except ValueError:
        text = f"{shown(value)} names a day that does not exist: {value[:7]} has no day {value[8:10]}"
        raise ValueError(text) from None
    # A leap second (:60) is the first of the next minute, as on clocks that do not know it.
    if hour > 23 or minute > 59 or second > 60 or (sign and (int(hours) > 23 or int(minutes) > 59)):
        raise ValueError(f"{shown(value)} names a time that does not exist: 00:00:00 to 23:59:59 are legal")
    ms = BEGINNING + days * DAY + hour * HOUR + minute * MINUTE + second * SECOND
    if fraction:
        ms += int(fraction[:3].ljust(3, "0"))
    if sign:
        offset = int(hours) * HOUR + int(minutes) * MINUTE
        ms += offset if sign == "-" else -offset
    return on_calendar(ms, value)


def on_calendar(ms: int, value: object = None) -> int:
    """The instant, if it can be written; else ValueError. `value` is how it was given, where not in milliseconds."""
    if not BEGINNING <= ms <= END:
        raise ValueError(f"{shown(ms if value is None else value)} lies outside the calendar: {YEARS} are legal")
    return ms


def iso(ms: int) -> str:
    """The instant in RFC 3339 with milliseconds: `2026-03-01T09:00:00.000Z`.

    What lies outside the calendar is shown as its first or last instant, so that `instant` reads all that is shown.
    """
    if not BEGINNING <= ms <= END:
        ms = BEGINNING if ms < BEGINNING else END
    return (_FIRST + timedelta(0, 0, 0, ms - BEGINNING)).isoformat("T", "milliseconds") + "Z"


def rate(value: object) -> Rate:
    """A rate `10/s`, `5/10m` or `{max: 5, within: 1h}`; else ValueError."""
    count: object = None
    within: object = None
    if isinstance(value, dict) and value.keys() >= {"max", "within"}:
        count, within = value["max"], value["within"]
    elif isinstance(value, str):
        number, slash, time = value.partition("/")
        count = int(number) if slash and len(number) < 10 and number.isascii() and number.isdigit() else None
        within = f"1{time}" if time in dict(_UNITS) else time
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise ValueError(f"{shown(value)} is not a rate: 10/s, 5/10m or {{max: 5, within: 1h}} are legal")
    length = duration(within)
    if not length:
        raise ValueError(f"{shown(value)} is a rate within a time of zero: 1ms and longer are legal")
    return Rate(count, length)


def show(ms: int) -> str:
    """The duration as `duration` reads it, in its largest units: `1m30s`."""
    if ms < 0:
        return f"-{show(-ms)}"
    parts = []
    for unit, size in _UNITS:
        number, ms = divmod(ms, size)
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts) or "0s"


def _days(date: str) -> int:
    """Days from 0001-01-01 to a date; ValueError for a day that does not exist.

    An offset may carry an instant out of the year 0 into the calendar. `datetime` has no year 0; 400 years later the
    calendar is the same.
    """
    if date.startswith("0000"):
        return _days(f"0400{date[4:]}") - _CYCLE
    return _read_date(date).toordinal() - 1
