"""Durations, spans, instants and rates."""

from __future__ import annotations

import pytest
from freezegun import freeze_time
from hypothesis import example, given
from hypothesis import strategies as st

from sendbox.engine.bounds import BEGINNING, END
from sendbox.engine.durations import LONGEST, Rate, Span, duration, excerpt, instant, iso, on_calendar, rate, show, span

DURATIONS = [
    pytest.param("500ms", 500, id="milliseconds"),
    pytest.param("2s", 2_000, id="seconds"),
    pytest.param("1m30s", 90_000, id="minutes and seconds"),
    pytest.param("5m", 300_000, id="minutes, not milliseconds"),
    pytest.param("1h", 3_600_000, id="hour"),
    pytest.param("2d", 172_800_000, id="days"),
    pytest.param("1d2h3m4s5ms", 93_784_005, id="all units"),
    pytest.param("0s", 0, id="none"),
    pytest.param("1.5s", 1_500, id="part of a second"),
    pytest.param("90m", 5_400_000, id="more than the next unit"),
    pytest.param("PT1M30S", 90_000, id="ISO 8601"),
    pytest.param("PT0.5S", 500, id="ISO 8601, part of a second"),
    pytest.param("PT0,25S", 250, id="ISO 8601, comma"),
    pytest.param("P1DT12H", 129_600_000, id="ISO 8601, days and hours"),
    pytest.param("P2W", 1_209_600_000, id="ISO 8601, weeks"),
    pytest.param("P3D", 259_200_000, id="ISO 8601, days"),
    pytest.param(0, 0, id="zero"),
    pytest.param("0", 0, id="zero as text"),
    pytest.param("1.5m", 90_000, id="part of a minute"),
    pytest.param("0.5h", 1_800_000, id="part of an hour"),
    pytest.param("0.25d", 21_600_000, id="part of a day"),
    pytest.param("1.0ms", 1, id="decimal of a millisecond that is whole"),
    pytest.param("PT0.5H", 1_800_000, id="ISO 8601, part of an hour"),
    pytest.param("36500d", LONGEST, id="the longest"),
]


@pytest.mark.parametrize(("value", "expected"), DURATIONS)
def test_durations_are_read(value: object, expected: int) -> None:
    """Each form of the scenario language gives its milliseconds."""
    assert duration(value) == expected


LEGAL = "500ms, 2s, 1m30s, 1.5h, 2d or PT1M30S are legal"
NO_DURATIONS = [
    pytest.param("", f"'' is not a duration: {LEGAL}", id="empty"),
    pytest.param("5", "'5' has no unit; 5s or 5ms is legal, only 0 needs no unit", id="no unit"),
    pytest.param(60, "60 has no unit; 60s or 60ms is legal, only 0 needs no unit", id="integer"),
    pytest.param(1.5, "1.5 has no unit; 1.5s or 1.5m is legal, only 0 needs no unit", id="float"),
    pytest.param("0.5ms", "'0.5' of a unit of 1ms is finer than a millisecond: 1ms is the least", id="half of 1ms"),
    pytest.param("1.0001s", "'1.0001' of a unit of 1s is finer than a millisecond: 1ms is the least", id="finer"),
    pytest.param("soon", f"'soon' is not a duration: {LEGAL}", id="word"),
    pytest.param("1s1m", f"'1s1m' is not a duration: {LEGAL}", id="wrong order"),
    pytest.param("1m1m", f"'1m1m' is not a duration: {LEGAL}", id="a unit twice"),
    pytest.param("-1s", f"'-1s' is not a duration: {LEGAL}", id="negative text"),
    pytest.param("1 s", f"'1 s' is not a duration: {LEGAL}", id="space"),
    pytest.param("1s\n", f"'1s\\n' is not a duration: {LEGAL}", id="line break"),
    pytest.param("٣s", f"'٣s' is not a duration: {LEGAL}", id="digit of another script"),
    pytest.param("P", f"'P' is not a duration: {LEGAL}", id="ISO 8601, nothing"),
    pytest.param("PT", f"'PT' is not a duration: {LEGAL}", id="ISO 8601, no time"),
    pytest.param("P1DT", f"'P1DT' is not a duration: {LEGAL}", id="ISO 8601, no time behind T"),
    pytest.param("P1Y", f"'P1Y' is not a duration: {LEGAL}", id="ISO 8601, a year has no length"),
    pytest.param(-1, f"-1 is not a duration: {LEGAL}", id="negative integer"),
    pytest.param(True, f"true is not a duration: {LEGAL}", id="boolean"),
    pytest.param(None, f"null is not a duration: {LEGAL}", id="none"),
    pytest.param("36500d1ms", "'36500d1ms' is longer than a duration may be: up to 36500d is legal", id="too long"),
    pytest.param("1" * 50 + "s", f"'{'1' * 50}s' is not a duration: {LEGAL}", id="absurdly long"),
]


@pytest.mark.parametrize(("value", "message"), NO_DURATIONS)
def test_what_is_no_duration_is_refused(value: object, message: str) -> None:
    """The message begins with the value and names what is legal."""
    with pytest.raises(ValueError, match="is") as caught:
        duration(value)
    assert str(caught.value) == message


def test_a_long_value_is_quoted_in_part() -> None:
    """A message stays short whatever was written."""
    assert excerpt("x" * 100) == "'" + "x" * 78 + "…"
    assert excerpt([1]) == "[1]"


@given(st.integers(0, LONGEST))
def test_a_duration_shown_is_read_again(ms: int) -> None:
    """`show` writes what `duration` reads."""
    assert duration(show(ms)) == ms


SHOWN = [(0, "0s"), (500, "500ms"), (1_500, "1s500ms"), (90_000, "1m30s"), (86_400_000, "1d"), (-90_000, "-1m30s")]


@pytest.mark.parametrize(("ms", "expected"), SHOWN)
def test_durations_are_shown(ms: int, expected: str) -> None:
    """Largest units first, none that is empty."""
    assert show(ms) == expected


def test_spans_are_read() -> None:
    """A span has two ends, a duration is a span of no width."""
    assert span("1s..5s") == Span(1_000, 5_000)
    assert span("1s .. 1s") == Span(1_000, 1_000)
    assert span("2m") == Span(120_000, 120_000)
    assert span(0) == Span(0, 0)


NO_SPANS = [
    pytest.param("5s..1s", "'5s..1s' ends before it begins: 1s..5s is legal", id="backwards"),
    pytest.param("1s..", f"'' is not a duration: {LEGAL}", id="open"),
    pytest.param("1s..2s..3s", f"'2s..3s' is not a duration: {LEGAL}", id="three ends"),
    pytest.param([1, 2], f"[1, 2] is not a duration: {LEGAL}", id="array"),
]


@pytest.mark.parametrize(("value", "message"), NO_SPANS)
def test_what_is_no_span_is_refused(value: object, message: str) -> None:
    """Both ends must be durations, in order."""
    with pytest.raises(ValueError, match=r"is legal|are legal") as caught:
        span(value)
    assert str(caught.value) == message


INSTANTS = [
    pytest.param("1970-01-01T00:00:00Z", 0, id="epoch"),
    pytest.param("2026-03-01T09:00:00Z", 1_772_355_600_000, id="UTC"),
    pytest.param("2026-03-01t09:00:00z", 1_772_355_600_000, id="small letters"),
    pytest.param("2026-03-01 09:00:00Z", 1_772_355_600_000, id="space"),
    pytest.param("2026-03-01T10:00:00+01:00", 1_772_355_600_000, id="east"),
    pytest.param("2026-03-01T04:30:00-04:30", 1_772_355_600_000, id="west"),
    pytest.param("2026-03-01T09:00:00-00:00", 1_772_355_600_000, id="unknown offset"),
    pytest.param("2026-03-01T09:00:00.5Z", 1_772_355_600_500, id="tenths"),
    pytest.param("2026-03-01T09:00:00.123999Z", 1_772_355_600_123, id="finer parts are cut off"),
    pytest.param("2024-02-29T00:00:00Z", 1_709_164_800_000, id="leap day"),
    pytest.param("2016-12-31T23:59:60Z", 1_483_228_800_000, id="leap second"),
    pytest.param("1969-12-31T23:59:59.999Z", -1, id="before the epoch"),
    pytest.param("0001-01-01T00:00:00Z", -62_135_596_800_000, id="first"),
    pytest.param("9999-12-31T23:59:59Z", 253_402_300_799_000, id="last"),
]


@pytest.mark.parametrize(("text", "expected"), INSTANTS)
def test_instants_are_read(text: str, expected: int) -> None:
    """Every form of RFC 3339 gives its instant in UTC."""
    assert instant(text) == expected


NO_INSTANTS = [
    pytest.param("2026-03-01T09:00:00", "is not an RFC 3339 instant", id="no zone"),
    pytest.param("2026-03-01", "is not an RFC 3339 instant", id="date alone"),
    pytest.param("2026-03-01T09:00Z", "is not an RFC 3339 instant", id="no seconds"),
    pytest.param("2026-03-01T09:00:00+0100", "is not an RFC 3339 instant", id="offset without colon"),
    pytest.param("2026-03-01T09:00:00Z\n", "is not an RFC 3339 instant", id="line break"),
    pytest.param("tomorrow", "is not an RFC 3339 instant", id="word"),
    pytest.param(None, "is not an RFC 3339 instant: 2026-03-01T09:00:00Z or +01:00 for Z are legal", id="nothing"),
    pytest.param(
        1_772_355_600,
        "is not an RFC 3339 instant; 2026-03-01T09:00:00.000Z (in seconds since 1970) or "
        "1970-01-21T12:19:15.600Z (in milliseconds since 1970) is legal",
        id="seconds",
    ),
    pytest.param(
        "1772355600000",
        "is not an RFC 3339 instant; 2026-03-01T09:00:00.000Z (in milliseconds since 1970) is legal",
        id="milliseconds",
    ),
    pytest.param("2026-02-29T00:00:00Z", "2026-02 has no day 29", id="no leap year"),
    pytest.param("1900-02-29T00:00:00Z", "1900-02 has no day 29", id="no leap year, century"),
    pytest.param("2026-04-31T00:00:00Z", "2026-04 has no day 31", id="April"),
    pytest.param("2026-13-01T00:00:00Z", "2026-13 has no day 01", id="month 13"),
    pytest.param("2026-00-01T00:00:00Z", "2026-00 has no day 01", id="month 0"),
    pytest.param("2026-01-00T00:00:00Z", "2026-01 has no day 00", id="day 0"),
    pytest.param("2026-01-01T24:00:00Z", "names a time that does not exist", id="hour 24"),
    pytest.param("2026-01-01T00:60:00Z", "names a time that does not exist", id="minute 60"),
    pytest.param("2026-01-01T00:00:61Z", "names a time that does not exist", id="second 61"),
    pytest.param("2026-01-01T00:00:00+24:00", "names a time that does not exist", id="offset 24:00"),
    pytest.param("2026-01-01T00:00:00+01:60", "names a time that does not exist", id="offset 01:60"),
]


@pytest.mark.parametrize(("text", "message"), NO_INSTANTS)
def test_what_is_no_instant_is_refused(text: object, message: str) -> None:
    """The message begins with the value and names the rule."""
    with pytest.raises(ValueError, match=r"is not|names") as caught:
        instant(text)
    assert str(caught.value).startswith(excerpt(text))
    assert message in str(caught.value)


def days_of(year: int, month: int) -> int:
    """How long a month is, reckoned without the standard library; 0 for a month that does not exist."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 0 if not 1 <= month <= 12 else 30 if month in (4, 6, 9, 11) else 31


def days_since_1970(year: int, month: int, day: int) -> int:
    """The same of a day. The year begins in March, so that the leap day is its last."""
    year -= month < 3
    return year * 365 + year // 4 - year // 100 + year // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day - 719_469


def written(ms: int) -> str:
    """An instant in words, reckoned without the standard library, by cycles of 400 years that begin in March."""
    day, rest = divmod(ms, 86_400_000)
    cycle, left = divmod(day + 719_468, 146_097)
    year = (left - left // 1460 + left // 36_524 - left // 146_096) // 365
    left -= year * 365 + year // 4 - year // 100
    month = (5 * left + 2) // 153
    date = f"{cycle * 400 + year + (month > 9):04}-{(month + 2) % 12 + 1:02}-{left - (153 * month + 2) // 5 + 1:02}"
    minute, rest = divmod(rest, 60_000)
    return f"{date}T{minute // 60:02}:{minute % 60:02}:{rest // 1000:02}.{rest % 1000:03}Z"


@example(BEGINNING)
@example(BEGINNING + 1)
@example(-1)
@example(0)
@example(END - 1)
@example(END)
@given(st.integers(BEGINNING, END))
def test_instants_are_written_and_read_again(ms: int) -> None:
    """`iso` writes the proleptic Gregorian calendar, and `instant` reads it."""
    assert iso(ms) == written(ms)
    assert instant(iso(ms)) == ms


@example(0, 12, 31, -1)
@example(0, 2, 29, -1)
@example(0, 2, 30, -1)
@example(1, 1, 1, 1)
@example(1900, 2, 29, 0)
@example(2000, 2, 29, 0)
@example(9999, 12, 31, -1)
@given(st.integers(0, 9999), st.integers(0, 13), st.integers(0, 32), st.integers(-1, 1))
def test_every_date_is_read_or_refused(year: int, month: int, day: int, east: int) -> None:
    """A day that exists is read, whatever its year; an offset of an hour may carry it in or out of the calendar."""
    text = f"{year:04}-{month:02}-{day:02}T23:30:00{'-' if east < 0 else '+'}{abs(east):02}:00"
    expected = days_since_1970(year, month, day) * 86_400_000 + 84_600_000 - east * 3_600_000
    if 1 <= day <= days_of(year, month) and BEGINNING <= expected <= END:
        assert instant(text) == expected
        return
    rule = "outside the calendar" if 1 <= day <= days_of(year, month) else f"has no day {day:02}"
    with pytest.raises(ValueError, match=rule):
        instant(text)


@pytest.mark.parametrize(
    "text", ["0000-12-31T23:59:59Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z"]
)
def test_an_instant_outside_the_calendar_is_refused(text: str) -> None:
    """Also where only its offset, or a leap second, carries it out."""
    with pytest.raises(ValueError, match="lies outside the calendar: 0001-01-01T00:00:00Z to 9999-12-31T23:59:59"):
        instant(text)


@pytest.mark.parametrize(
    ("ms", "shown"), [(10**30, "9999-12-31T23:59:59.999Z"), (-(10**30), "0001-01-01T00:00:00.000Z")]
)
def test_what_lies_outside_the_calendar_is_shown_as_its_end(ms: int, shown: str) -> None:
    """Whatever is computed, what is shown can be read."""
    assert iso(ms) == shown
    assert on_calendar(instant(iso(ms))) == instant(shown)
    with pytest.raises(ValueError, match=f"^{ms} lies outside the calendar"):
        on_calendar(ms)


def test_a_frozen_clock_changes_nothing() -> None:
    """The tester's freezer has no hold on the calendar."""
    with freeze_time("2001-01-01"):
        assert instant("2026-03-01T09:00:00Z") == 1_772_355_600_000
        assert iso(1_772_355_600_000) == "2026-03-01T09:00:00.000Z"


RATES = [
    pytest.param("10/s", Rate(10, 1_000), id="a second"),
    pytest.param("5/10m", Rate(5, 600_000), id="ten minutes"),
    pytest.param("3/ms", Rate(3, 1), id="a millisecond"),
    pytest.param("1/1m30s", Rate(1, 90_000), id="composed"),
    pytest.param({"max": 5, "within": "1h"}, Rate(5, 3_600_000), id="object"),
    pytest.param({"max": 5, "within": "250ms"}, Rate(5, 250), id="object with milliseconds"),
]


@pytest.mark.parametrize(("value", "expected"), RATES)
def test_rates_are_read(value: object, expected: Rate) -> None:
    """Both forms give count and time."""
    assert rate(value) == expected


NO_RATES = [
    pytest.param("10", "'10' is not a rate: 10/s, 5/10m or {max: 5, within: 1h} are legal", id="no time"),
    pytest.param("/s", "'/s' is not a rate: 10/s, 5/10m or {max: 5, within: 1h} are legal", id="no count"),
    pytest.param("0/s", "'0/s' is not a rate: 10/s, 5/10m or {max: 5, within: 1h} are legal", id="zero"),
    pytest.param("٣/s", "'٣/s' is not a rate: 10/s, 5/10m or {max: 5, within: 1h} are legal", id="another script"),
    pytest.param("10/0s", "'10/0s' is a rate within a time of zero: 1ms and longer are legal", id="no time at all"),
    pytest.param("10/x", "'10/x' is not a rate", id="no duration"),
    pytest.param({"max": 5}, '{"max": 5} is not a rate', id="object, half"),
    pytest.param({"max": True, "within": "1h"}, '{"max": true, "within": "1h"} is not a rate', id="boolean"),
    pytest.param(5, "5 is not a rate", id="number"),
]


@pytest.mark.parametrize(("value", "message"), NO_RATES)
def test_what_is_no_rate_is_refused(value: object, message: str) -> None:
    """The message begins with the value or the part of it that is wrong."""
    with pytest.raises(ValueError, match="is") as caught:
        rate(value)
    assert str(caught.value).startswith(message)
