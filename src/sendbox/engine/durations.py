"""Times as people write them, to integer milliseconds and back: durations, spans, instants, rates.

The calendar is that of `datetime`, by values made at import: a tester's freezer may replace the class in every module.
"""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from sendbox.engine.bounds import BEGINNING, END, YEARS
from sendbox.engine.texts import regex, shorten

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
_SIZES: Final = tuple(size for _, size in _UNITS)
_NUMBER: Final = r"([0-9]+(?:[.,][0-9]+)?)"
_SHORT: Final = regex("".join(rf"(?:([0-9]+(?:\.[0-9]+)?){unit})?" for unit in ("d", "h", "m(?!s)", "s", "ms")))
_ISO: Final = regex(rf"P(?:{_NUMBER}W)?(?:{_NUMBER}D)?(?:T(?=[0-9])(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?")
_BARE: Final = regex(r"[0-9]{1,18}(?:\.[0-9]{1,18})?")
_WITHOUT_ZONE: Final = regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?")
_YEAR: Final = regex(r"[0-9]{4}-")
_WHOLE: Final = regex(r"[0-9]{1,18}")
#: The years 2000 to 2099, in milliseconds since 1970.
_OURS: Final = (946_684_800_000, 4_102_444_800_000)
_INSTANT: Final = regex(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_UNITED: Final = rf"(?=[0-9]){_SHORT.pattern}|(?=P[0-9T]){_ISO.pattern}"
_TIME: Final = rf"(?:{_UNITED}|0+(?:\.0+)?)"
#: What texts of each form look like, as patterns by which editors check them. A text that fits can still be refused: a
#: day that does not exist, a time that is too long.
FORMS: Final = {
    "duration": _TIME,
    "span": rf"{_TIME}|\s*{_TIME}\s*\.\.\s*{_TIME}\s*",
    "instant": _INSTANT.pattern,
    "moment": rf"{_TIME}|{_INSTANT.pattern}",
    "rate": rf"(?!0+/)[0-9]{{1,9}}/(?:{'|'.join(unit for unit, _ in _UNITS)}|{_UNITED})",
    "times": rf"(?:(?:>=|<=|>|<) *)?{_TIME}|{_TIME}\.\.(?:{_TIME})?",
}
FORMS["limit"] = rf"{FORMS['rate']}|off"
_FIRST: Final = datetime.min  # noqa: DTZ901 - the text that is made of it says the zone
#: Days in 400 years, after which the calendar comes again.
_CYCLE: Final = 146_097
_read_date: Final = date.fromisoformat
_DURATIONS: Final = "500ms, 2s, 1m30s, 1.5h, 2d or PT1M30S are legal"
_SHOWN: Final = 80
_JSON: Final = (bool, list, dict, type(None))


class NoUnit(ValueError):
    """A number where a duration is wanted."""


class Span(msgspec.Struct, frozen=True):
    """A time in milliseconds, or a span from which one is drawn (`1s..5s`, both ends included)."""

    low: int
    high: int


class Rate(msgspec.Struct, frozen=True):
    """A count in a span of time: `10/s`, `{max: 5, within: 1h}`."""

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


def excerpt(value: object) -> str:
    """The value as an error message quotes it: one line, of bounded length; all but a text or a number as JSON."""
    text = json.dumps(value, ensure_ascii=False, default=repr) if isinstance(value, _JSON) else repr(value)
    return shorten(text, _SHOWN)


def duration(value: object) -> int:
    """Milliseconds of `500ms`, `2s`, `1m30s`, `1.5h`, `2d`, ISO 8601 `PT1M30S`, or 0; else ValueError.

    A number without a unit is refused with its two readings.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    text = value if isinstance(value, str) else str(value) if number else ""
    if _BARE.fullmatch(text):
        if not float(text):
            return 0
        raise NoUnit(without_unit(value))
    ms = _read(text)
    if ms is None:
        raise ValueError(f"{excerpt(value)} is not a duration: {_DURATIONS}")
    if ms > LONGEST:
        raise ValueError(f"{excerpt(value)} is longer than a duration may be: up to {show(LONGEST)} is legal")
    return ms


def without_unit(value: object, *, dates: bool = False) -> str:
    """The reason why a number is not a duration, and its readings; with `dates` also as (milli)seconds since 1970."""
    number = str(value)
    readings = f"{number}s or {number}{'m' if '.' in number else 'ms'}"
    if dates and (date := dated(value)) is not None:
        return f"{excerpt(value)} is neither a duration nor a date and time; {readings}, or {date} is legal"
    return f"{excerpt(value)} has no unit; {readings} is legal, only 0 needs no unit"


def dated(value: object) -> str | None:
    """The instant of our time that a number of seconds or milliseconds since 1970 means, None if it means none."""
    return next((text for text, ms in _counted(value) if _OURS[0] <= ms < _OURS[1]), None)


def _counted(value: object) -> list[tuple[str, int]]:
    """The instants that a whole number means, counted from 1970 in seconds and in milliseconds."""
    number = int(text) if _WHOLE.fullmatch(text := str(value)) else None
    readings = [] if number is None else [number * SECOND, number]
    return [(iso(ms), ms) for ms in readings if BEGINNING <= ms <= END]


def _read(text: str) -> int | None:
    """Milliseconds of a duration in words, None if it is none. ValueError for a part of a millisecond."""
    if len(text) > 40:
        return None
    match, sizes = _SHORT.fullmatch(text), _SIZES
    if match is None:
        match, sizes = _ISO.fullmatch(text), (WEEK, DAY, HOUR, MINUTE, SECOND)
    if match is None or not any(match.groups()):
        return None
    return sum(_times(number, size) for number, size in zip(match.groups(), sizes, strict=True) if number is not None)


def _times(number: str, size: int) -> int:
    whole, _, fraction = number.replace(",", ".").partition(".")
    part, rest = divmod(int(fraction or 0) * size, int("1" + "0" * len(fraction)))
    if rest:
        raise ValueError(f"{excerpt(number)} of a unit of {show(size)} is finer than a millisecond: 1ms is the least")
    return int(whole) * size + part


def span(value: object) -> Span:
    """A span `1s..5s`, or a duration as a span of no width; else ValueError."""
    if not (isinstance(value, str) and ".." in value):
        low = duration(value)
        return Span(low, low)
    first, _, last = value.partition("..")
    low, high = duration(first.strip()), duration(last.strip())
    if low > high:
        raise ValueError(f"{excerpt(value)} ends before it begins: {show(high)}..{show(low)} is legal")
    return Span(low, high)


def instant(value: object) -> int:
    """Virtual milliseconds of an RFC 3339 instant with `Z` or an offset; else ValueError. Finer parts are cut off.

    A number is refused with its two readings.
    """
    match = _INSTANT.fullmatch(value) if isinstance(value, str) else None
    if not isinstance(value, str) or match is None:
        if readings := [text for text, _ in _counted(value)]:
            units = ("in seconds", "in milliseconds")[-len(readings) :]
            legal = " or ".join(f"{text} ({unit} since 1970)" for text, unit in zip(readings, units, strict=True))
            raise ValueError(f"{excerpt(value)} is not an RFC 3339 instant; {legal} is legal")
        zone = _WITHOUT_ZONE.fullmatch(value) if isinstance(value, str) else None
        legal = f"with a zone {value}Z and {value}+01:00" if zone else "2026-03-01T09:00:00Z or +01:00 for Z"
        raise ValueError(f"{excerpt(value)} is not an RFC 3339 instant: {legal} are legal")
    hour, minute, second = map(int, match.group(2, 3, 4))
    fraction, sign, hours, minutes = match.group(5, 6, 7, 8)
    try:
        days = _days(match[1])
    except ValueError:
        text = f"{excerpt(value)} names a day that does not exist: {value[:7]} has no day {value[8:10]}"
        raise ValueError(text) from None
    # A leap second (:60) is the first of the next minute, as on clocks that do not know it.
    if hour > 23 or minute > 59 or second > 60 or (sign and (int(hours) > 23 or int(minutes) > 59)):
        raise ValueError(f"{excerpt(value)} names a time that does not exist: 00:00:00 to 23:59:59 are legal")
    ms = BEGINNING + days * DAY + hour * HOUR + minute * MINUTE + second * SECOND
    if fraction:
        ms += int(fraction[:3].ljust(3, "0"))
    if sign:
        offset = int(hours) * HOUR + int(minutes) * MINUTE
        ms += offset if sign == "-" else -offset
    return on_calendar(ms, value)


def is_dated(text: str) -> bool:
    """True for a text that begins as an instant does, and not as a duration."""
    return _YEAR.match(text) is not None


def moment(text: str) -> Moment:
    """An instant, or a duration from a start. Raises ValueError for anything else."""
    return Moment(instant(text), relative=False) if is_dated(text) else Moment(duration(text), relative=True)


def on_calendar(ms: int, value: object = None) -> int:
    """The instant, if it can be written; else ValueError. `value` is how it was given, where not in milliseconds."""
    if not BEGINNING <= ms <= END:
        raise ValueError(f"{excerpt(ms if value is None else value)} lies outside the calendar: {YEARS} are legal")
    return ms


def within_calendar(ms: int) -> int:
    """The instant itself; the first or last one of the calendar for one that lies outside."""
    if BEGINNING <= ms <= END:
        return ms
    return BEGINNING if ms < BEGINNING else END


def iso(ms: int) -> str:
    """The instant in RFC 3339 with milliseconds: `2026-03-01T09:00:00.000Z`.

    What lies outside the calendar is shown as its first or last instant, so that `instant` reads all that is shown.
    """
    ms = within_calendar(ms)
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
        raise ValueError(f"{excerpt(value)} is not a rate: 10/s, 5/10m or {{max: 5, within: 1h}} are legal")
    try:
        length = duration(within)
    except ValueError:
        if isinstance(value, dict):
            raise
        raise ValueError(f"{excerpt(value)} is not a rate: 10/s, 5/10m or {{max: 5, within: 1h}} are legal") from None
    if not length:
        raise ValueError(f"{excerpt(value)} is a rate within a time of zero: 1ms and longer are legal")
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
