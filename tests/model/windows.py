"""Hours in which messages may go out: `delivery_time` (§2.1, A15, A16) and those for promotional messages (A84)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MINUTE: Final = timedelta(minutes=1)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def instant(text: str) -> datetime:
    """A `datetime` of a request; without a zone it is UTC (A58)."""
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def due(now: datetime, wanted: str | None) -> datetime:
    """When a message is processed: at its `datetime` if that is more than a minute ahead, else now (§2.1, A58)."""
    moment = now if wanted is None else instant(wanted)
    return moment if moment - now > MINUTE else now


def _on_clock(day: date, at: str, zone: ZoneInfo) -> datetime:
    """The first instant at which local clocks show a time, or the first time after one that does not exist (A16)."""
    local = datetime.combine(day, time(int(at[:2]), int(at[3:])))
    while True:
        moment = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
        if moment.astimezone(zone).replace(tzinfo=None) == local:
            return moment
        local += MINUTE


def spans(window: Mapping[str, Any], around: datetime) -> Iterator[tuple[datetime, datetime]]:
    """The spans of a window that begin on the days from the one before `around`, each with its exclusive end."""
    zone = ZoneInfo(window.get("tz", "UTC"))
    start, end = window.get("start", "00:00"), window.get("end", "24:00")
    if start == end:  # the whole day (A15)
        start, end = "00:00", "24:00"
    for shift in range(-1, 9):
        day = around.astimezone(zone).date() + timedelta(days=shift)
        if DAYS[day.weekday()] in window.get("days", DAYS):
            over = end == "24:00" or end < start  # it runs over midnight, and the day is that of its start (A15)
            last = day + timedelta(days=1) if over else day
            yield _on_clock(day, start, zone), _on_clock(last, "00:00" if end == "24:00" else end, zone)


def opening(window: Mapping[str, Any], moment: datetime) -> datetime:
    """The first instant from `moment` on that lies within a window."""
    return next(max(moment, begin) for begin, end in spans(window, moment) if moment < end and begin < end)


def allowed(moment: datetime, windows: Sequence[Mapping[str, Any]]) -> datetime | None:
    """The first instant from `moment` on that suits all windows (A84); None where there is none within a year."""
    last = moment + timedelta(days=366)
    while moment < last:
        later = moment
        for window in windows:
            later = opening(window, later)
        if later == moment:
            return moment
        moment = later
    return None
