"""Hours of the week in a time zone: when a message may leave (§2.1 `delivery_time`; A15, A16), and when a rule of a
scenario holds (`hours`).

A window opens once on every day that it names, by the local time of its zone, and closes on the same day or,
if it wraps over midnight, on the next. Both edges become instants first: a local time that a change of the clocks skips
is the first one that exists, one that comes twice is the first of the two. What lies between the two instants is
inside. So a window may be empty on a day (its whole time was skipped); then it opens on the next of its days.

Zones come from the `tzdata` package alone, never from the system, so that every machine computes the same instants.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from io import BytesIO
from pkgutil import get_data
from typing import TYPE_CHECKING, Final

import msgspec

from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import DAY, excerpt
from sendbox.engine.texts import regex

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DAY_MINUTES: Final = 1440
#: Where a zone lies whose name begins with Etc/GMT and this sign.
_SIDES: Final = {"+": "west", "-": "east"}
_EDGES: Final = (("start", 0), ("end", DAY_MINUTES))

# Constants instead of calls of the class: a freezer that the tester uses may replace the class meanwhile.
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LOCAL_EPOCH: Final = _EPOCH.replace(tzinfo=None)
#: Instants for which a local calendar exists, a month from its ends (years 1 and 9999).
_FIRST: Final = -62_132_832_000_000
_LAST: Final = 253_399_622_400_000


class Window(msgspec.Struct, frozen=True):
    """A window that opens every week.

    `days` are the days on which it opens (0 = Monday), None or empty = every day. `start` and `end` are minutes of the
    local day, `end` exclusive and 1440 for midnight; `start` after `end` closes on the next day, `start` equal to
    `end` is the whole day. `tz` is an IANA name.
    """

    days: frozenset[int] | None = None
    start: int = 0
    end: int = DAY_MINUTES
    tz: str = "UTC"

    @property
    def always(self) -> bool:
        """True if the window is open all the time."""
        return not self.days and (self.start == self.end or self.end - self.start == DAY_MINUTES)

    @property
    def written(self) -> JsonObject:
        """The window as requests and scenarios have it."""
        days = [DAYS[day] for day in sorted(self.days or range(len(DAYS)))]
        return {"days": days, "start": _clock(self.start), "end": _clock(self.end), "tz": self.tz}

    def open(self, at: int) -> bool:
        """True if an instant lies inside the window."""
        return self.next_open(at) == at

    def next_open(self, at: int) -> int:
        """The first instant inside the window that is not before `at` (virtual milliseconds UTC)."""
        if not _FIRST < at < _LAST:
            return at
        if self.always:
            return at
        # The window of the day before may still be open, over midnight.
        day = _local_day(self.tz, at) - 1
        while True:
            if not self.days or (day + 3) % 7 in self.days:
                start, end = self._edges(day)
                if at < end and start < end:
                    return max(at, start)
            day += 1

    def _edges(self, day: int) -> tuple[int, int]:
        if self.start == self.end:
            return _instant(self.tz, day, 0), _instant(self.tz, day, DAY_MINUTES)
        closing = self.end if self.end > self.start else self.end + DAY_MINUTES
        return _instant(self.tz, day, self.start), _instant(self.tz, day, closing)


def parse(value: JsonObject) -> Window:
    """The window that a `delivery_time` object, legal by its schema, describes; ValueError for a zone there is not.

    Absent or empty `days` are every day, absent `start` and `end` midnight (A16).
    """
    days = frozenset(map(DAYS.index, value.get("days", ())))
    start, end = (minutes(value[edge]) if edge in value else usual for edge, usual in _EDGES)
    return Window(days or None, start, end, _named(value.get("tz", "UTC")))


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def minutes(time: str) -> int:
    """The minute of the day of a text such as `08:30`."""
    return int(time[:2]) * 60 + int(time[3:])


def _named(name: str) -> str:
    if name in zones():
        return name
    zone = nearest(name)
    meant = f"the nearest is {zone}" if zone else "Europe/Prague is one"
    if zone and zone.startswith("Etc/GMT") and not name.casefold().startswith("etc/"):
        meant = f"{zone} is {_SIDES[zone[7:8]]} of UTC, as {excerpt(name)} is (names of Etc have the opposite sign)"
    raise ValueError(f"{excerpt(name)} is not the name of an IANA time zone (§2.1): {meant}")


@cache
def zones() -> frozenset[str]:
    """The names of all time zones."""
    return frozenset((get_data("tzdata", "zones") or b"").decode().split()) - {"Factory"}


#: Abbreviations that are no names of zones, each with a zone that uses it in summer or winter. Of several meanings
#: (BST, CST, IST) it is one.
_ABBREVIATIONS: Final = {
    abbreviation: zone
    for line in """
        Africa/Johannesburg SAST
        Africa/Lagos WAT
        Africa/Maputo CAT
        Africa/Nairobi EAT
        America/Adak HDT
        America/Anchorage AKST AKDT
        America/Chicago CST CDT
        America/Denver MDT
        America/Halifax AST ADT
        America/Los_Angeles PST PDT
        America/New_York EDT
        America/St_Johns NST NDT
        Asia/Hong_Kong HKT
        Asia/Jakarta WIB
        Asia/Jayapura WIT
        Asia/Jerusalem IDT
        Asia/Karachi PKT
        Asia/Kolkata IST
        Asia/Makassar WITA
        Asia/Seoul KST
        Asia/Tokyo JST
        Australia/Adelaide ACST ACDT
        Australia/Perth AWST
        Australia/Sydney AEST AEDT
        Europe/Athens EEST
        Europe/Lisbon WEST
        Europe/London BST
        Europe/Moscow MSK
        Europe/Prague CEST
        Pacific/Auckland NZST NZDT
        Pacific/Guam CHST
        Pacific/Pago_Pago SST
    """.strip().splitlines()
    for zone, *abbreviations in [line.split()]
    for abbreviation in abbreviations
}
#: Offsets without a name below Etc, in minutes east, each with a zone that has it all year.
_OFFSETS: Final = {
    -570: "Pacific/Marquesas",
    0: "UTC",
    210: "Asia/Tehran",
    270: "Asia/Kabul",
    330: "Asia/Kolkata",
    345: "Asia/Kathmandu",
    390: "Asia/Yangon",
    525: "Australia/Eucla",
    570: "Australia/Darwin",
}
_OFFSET: Final = regex(r"(?:utc|gmt|ut|z)?_?([+-])_?([0-9]{1,2})(?::?([0-9]{2}))?", re.ASCII)
_DIGIT: Final = regex("[0-9]")
#: No abbreviation is longer.
_SHORT: Final = 5


def _at_offset(sign: str, hours: int, minutes: int) -> str | None:
    """The time zone that has this offset from UTC all year, None if there is none."""
    east = (hours * 60 + minutes) * (-1 if sign == "-" else 1)
    if east % 60 or not east:
        return _OFFSETS.get(east)
    zone = f"Etc/GMT{-east // 60:+}"
    return zone if zone in zones() else None


@lru_cache(maxsize=256)
def nearest(name: str) -> str | None:
    """The time zone that a text most likely means: by its name, an abbreviation or an offset; None if there is none."""
    folded_name = name[:64].strip().replace(" ", "_").replace("\N{MINUS SIGN}", "-").casefold()
    folded = {zone.casefold(): zone for zone in sorted(zones(), reverse=True)}
    cities = {zone.rpartition("/")[2]: zone for zone in folded}
    last = folded_name.rpartition("/")[2]
    if folded_name in folded:
        return folded[folded_name]
    if offset := _OFFSET.fullmatch(folded_name):
        return _at_offset(offset[1], int(offset[2]), int(offset[3] or 0))
    if last.upper() in _ABBREVIATIONS:
        return _ABBREVIATIONS[last.upper()]
    if folded_name in cities and not _DIGIT.search(folded_name):
        return folded[cities[folded_name]]
    if _DIGIT.search(last) or (last == folded_name and len(folded_name) <= _SHORT):
        return None  # a similar name would have another offset
    # Names of another length cannot be close; without them the search takes a fraction of its time.
    likely = [zone for zone in folded if abs(len(zone) - len(folded_name)) <= 3]
    from difflib import get_close_matches

    close = get_close_matches(folded_name, likely, 1, 0.7)
    return folded[close[0]] if close else None


@cache
def _zone(tz: str) -> ZoneInfo:
    from zoneinfo import ZoneInfo

    data = get_data("tzdata", f"zoneinfo/{tz}") or b""
    return ZoneInfo.from_file(BytesIO(data), key=tz)


def _offset(tz: str, second: int) -> int:
    """Seconds east of Greenwich at an instant."""
    local = (_EPOCH + timedelta(seconds=second)).astimezone(_zone(tz))
    return round((local.replace(tzinfo=None) - _LOCAL_EPOCH).total_seconds()) - second


def _local_day(tz: str, at: int) -> int:
    """The local date at an instant, in days since 1970-01-01."""
    if tz == "UTC":
        return at // DAY
    second = at // 1000
    return (second + _offset(tz, second)) // 86_400


@lru_cache(maxsize=8192)
def _instant(tz: str, day: int, minute: int) -> int:
    """The instant (milliseconds UTC) of a local time, by the rule of A16 for the hours a change of clocks touches."""
    wall = day * 86_400 + minute * 60
    if tz == "UTC":
        return wall * 1000
    local = (_LOCAL_EPOCH + timedelta(seconds=wall)).replace(tzinfo=_zone(tz))
    before, after = _seconds(local), _seconds(local.replace(fold=1))
    if before >= after:
        return (wall - before) * 1000
    # Skipped: the clocks go forward somewhere between the two readings of the wall time; find the second they do.
    low, high = wall - after, wall - before
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(tz, middle) == before:
            low = middle
        else:
            high = middle
    return high * 1000


def _seconds(local: datetime) -> int:
    return round((local.utcoffset() or timedelta()).total_seconds())
