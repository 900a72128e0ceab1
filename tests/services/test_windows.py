"""Delivery windows (§2.1 `delivery_time`; A15, A16, A84)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from freezegun import freeze_time
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sendbox.engine.durations import instant, iso
from sendbox.services.windows import Window, nearest, parse
from tests.tiers import examples

PRAGUE = "Europe/Prague"
MON, TUE, WED, THU, FRI, SAT, SUN = range(7)


def minutes(text: str) -> int:
    """Minutes of the day of `HH:MM`."""
    return int(text[:2]) * 60 + int(text[3:])


def window(start: str, end: str, tz: str = "UTC", *days: int) -> Window:
    """A window from its edges in words."""
    return Window(frozenset(days) or None, minutes(start), minutes(end), tz)


# 2026-03-02 is a Monday.
OPENINGS = [
    pytest.param(window("08:00", "20:00"), "2026-03-02T07:00:00Z", "2026-03-02T08:00:00Z", id="before it opens"),
    pytest.param(window("08:00", "20:00"), "2026-03-02T08:00:00Z", "2026-03-02T08:00:00Z", id="as it opens"),
    pytest.param(window("08:00", "20:00"), "2026-03-02T12:34:56.789Z", "2026-03-02T12:34:56.789Z", id="inside"),
    pytest.param(window("08:00", "20:00"), "2026-03-02T19:59:59.999Z", "2026-03-02T19:59:59.999Z", id="last instant"),
    pytest.param(window("08:00", "20:00"), "2026-03-02T20:00:00Z", "2026-03-03T08:00:00Z", id="end is exclusive"),
    pytest.param(window("08:00", "20:00", PRAGUE), "2026-03-02T06:00:00Z", "2026-03-02T07:00:00Z", id="winter zone"),
    pytest.param(window("08:00", "20:00", PRAGUE), "2026-07-02T05:00:00Z", "2026-07-02T06:00:00Z", id="summer zone"),
    pytest.param(window("08:00", "20:00", "UTC", WED), "2026-03-02T09:00:00Z", "2026-03-04T08:00:00Z", id="a day"),
    pytest.param(window("08:00", "20:00", "UTC", MON), "2026-03-02T21:00:00Z", "2026-03-09T08:00:00Z", id="a week on"),
    pytest.param(window("22:00", "06:00"), "2026-03-02T05:59:00Z", "2026-03-02T05:59:00Z", id="wrap: morning"),
    pytest.param(window("22:00", "06:00"), "2026-03-02T06:00:00Z", "2026-03-02T22:00:00Z", id="wrap: day"),
    pytest.param(window("22:00", "06:00"), "2026-03-02T23:00:00Z", "2026-03-02T23:00:00Z", id="wrap: night"),
    pytest.param(window("22:00", "06:00", "UTC", MON), "2026-03-03T05:00:00Z", "2026-03-03T05:00:00Z", id="day starts"),
    pytest.param(window("22:00", "06:00", "UTC", TUE), "2026-03-03T05:00:00Z", "2026-03-03T22:00:00Z", id="not ends"),
    pytest.param(
        window("22:00", "00:00", "UTC", MON), "2026-03-03T00:00:00Z", "2026-03-09T22:00:00Z", id="to midnight"
    ),
    pytest.param(window("09:00", "09:00"), "2026-03-02T03:00:00Z", "2026-03-02T03:00:00Z", id="equal: always"),
    pytest.param(window("09:00", "09:00", "UTC", TUE), "2026-03-02T03:00:00Z", "2026-03-03T00:00:00Z", id="whole day"),
    pytest.param(window("09:00", "09:00", "UTC", TUE), "2026-03-03T23:59:00Z", "2026-03-03T23:59:00Z", id="all of it"),
    pytest.param(Window(), "2026-03-02T03:00:00Z", "2026-03-02T03:00:00Z", id="no limits"),
    pytest.param(Window(frozenset()), "2026-03-02T03:00:00Z", "2026-03-02T03:00:00Z", id="no days named"),
    pytest.param(Window(frozenset({SAT})), "2026-03-02T03:00:00Z", "2026-03-07T00:00:00Z", id="a whole Saturday"),
    pytest.param(Window(None, 480, 1200), "2026-03-02T21:00:00Z", "2026-03-03T08:00:00Z", id="A84, day"),
    pytest.param(Window(None, 1200, 480), "2026-03-02T12:00:00Z", "2026-03-02T20:00:00Z", id="A84, night"),
]


@pytest.mark.parametrize(("opening", "at", "expected"), OPENINGS)
def test_s2_1_sending_moves_to_the_nearest_valid_time(opening: Window, at: str, expected: str) -> None:
    """Inside the window nothing moves; outside, it is the next opening."""
    assert iso(opening.next_open(instant(at))) == iso(instant(expected))


CHANGES = [
    # Prague springs forward on 2026-03-29 from 02:00 to 03:00 (01:00 UTC).
    pytest.param(
        window("02:30", "04:00", PRAGUE), "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z", id="gap: first time"
    ),
    pytest.param(
        window("01:00", "02:30", PRAGUE), "2026-03-29T00:59:00Z", "2026-03-29T00:59:00Z", id="gap: end, inside"
    ),
    pytest.param(window("01:00", "02:30", PRAGUE), "2026-03-29T01:00:00Z", "2026-03-29T23:00:00Z", id="gap: end, out"),
    pytest.param(window("02:10", "02:50", PRAGUE), "2026-03-29T00:00:00Z", "2026-03-30T00:10:00Z", id="gap: all of it"),
    pytest.param(
        window("02:10", "02:50", PRAGUE, SUN), "2026-03-29T00:00:00Z", "2026-04-05T00:10:00Z", id="gap: its only day"
    ),
    # and falls back on 2026-10-25 from 03:00 to 02:00 (01:00 UTC).
    pytest.param(window("02:30", "04:00", PRAGUE), "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", id="twice: first"),
    pytest.param(window("02:30", "04:00", PRAGUE), "2026-10-25T01:10:00Z", "2026-10-25T01:10:00Z", id="twice: between"),
    pytest.param(window("01:00", "02:30", PRAGUE), "2026-10-25T00:30:00Z", "2026-10-26T00:00:00Z", id="twice: end"),
    # New York: 2026-03-08 at 07:00 UTC, 2026-11-01 at 06:00 UTC.
    pytest.param(
        window("02:00", "03:30", "America/New_York"),
        "2026-03-08T06:00:00Z",
        "2026-03-08T07:00:00Z",
        id="New York, spring",
    ),
    pytest.param(
        window("01:30", "02:00", "America/New_York"),
        "2026-11-01T05:45:00Z",
        "2026-11-01T05:45:00Z",
        id="New York, autumn",
    ),
    # Lord Howe moves by half an hour: 2026-10-04 from 02:00 to 02:30 (15:30 UTC the day before).
    pytest.param(
        window("02:15", "03:00", "Australia/Lord_Howe"),
        "2026-10-03T15:00:00Z",
        "2026-10-03T15:30:00Z",
        id="Lord Howe, half an hour forward",
    ),
    # and back on 2026-04-05 from 02:00 to 01:30 (15:00 UTC the day before).
    pytest.param(
        window("01:45", "02:00", "Australia/Lord_Howe"),
        "2026-04-04T14:30:00Z",
        "2026-04-04T14:45:00Z",
        id="Lord Howe, half an hour back",
    ),
    # Apia has no Friday 2011-12-30: after 23:59 on Thursday (09:59 UTC on Friday) it is Saturday.
    pytest.param(
        window("08:00", "20:00", "Pacific/Apia", FRI),
        "2011-12-29T12:00:00Z",
        "2012-01-05T18:00:00Z",
        id="Apia, the day that was skipped",
    ),
    pytest.param(
        Window(frozenset({FRI}), tz="Pacific/Apia"),
        "2011-12-29T12:00:00Z",
        "2012-01-05T10:00:00Z",
        id="Apia, all of it",
    ),
    pytest.param(
        window("08:00", "20:00", "Pacific/Apia"),
        "2011-12-30T06:00:00Z",
        "2011-12-30T18:00:00Z",
        id="Apia, the day after",
    ),
    pytest.param(
        window("22:00", "06:00", "Pacific/Apia", FRI),
        "2011-12-30T09:00:00Z",
        "2011-12-30T10:00:00Z",
        id="Apia, a night that starts in it starts after it",
    ),
]


@pytest.mark.parametrize(("opening", "at", "expected"), CHANGES)
def test_a16_edges_that_a_change_of_clocks_touches(opening: Window, at: str, expected: str) -> None:
    """A local time that does not exist moves to the first that does, one that exists twice is the first."""
    assert iso(opening.next_open(instant(at))) == iso(instant(expected))


MINUTE = 60_000
AROUND = {
    PRAGUE: ["2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"],
    "America/New_York": ["2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"],
    "Australia/Lord_Howe": ["2026-04-04T15:00:00Z", "2026-10-03T15:30:00Z"],
    "Pacific/Apia": ["2011-12-30T10:00:00Z", "2012-03-31T14:00:00Z"],
    "UTC": ["2026-03-29T00:00:00Z"],
}


def wall(tz: str, at: int) -> datetime:
    """The local time that a clock on the wall shows."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)).astimezone(ZoneInfo(tz)).replace(tzinfo=None)


def edge(tz: str, local: datetime, near: int) -> int:
    """The first minute at which the wall clock shows `local` or later: A16 in one line, by scanning."""
    guess = near + (local - wall(tz, near)) // timedelta(milliseconds=1)
    reach = (26 if tz == "Pacific/Apia" else 2) * 60 * MINUTE
    return next(at for at in range(guess - reach, guess + reach, MINUTE) if wall(tz, at) >= local)


def inside(opening: Window, at: int) -> bool:
    """True if an instant is inside by the definition: between the edges of the window of some day near it."""
    today = datetime.combine(wall(opening.tz, at).date(), datetime.min.time())
    for back in (0, 1, 2):
        day = today - timedelta(days=back)
        if opening.days and day.weekday() not in opening.days:
            continue
        start, end = (0, 1440) if opening.start == opening.end else (opening.start, opening.end)
        end += 1440 if end < start else 0
        first, last = (edge(opening.tz, day + timedelta(minutes=minute), at) for minute in (start, end))
        if first <= at < last:
            return True
    return False


windows = st.builds(
    Window,
    days=st.none() | st.frozensets(st.integers(0, 6), min_size=1),
    start=st.integers(0, 1439),
    end=st.integers(0, 1440),
    tz=st.sampled_from(sorted(AROUND)),
)


@pytest.mark.unmeasured
@settings(max_examples=examples(15))
@given(windows, st.data())
@example(window("02:10", "02:50", PRAGUE), None)
def test_the_opening_is_inside_and_none_is_earlier(opening: Window, data: st.DataObject | None) -> None:
    """Around every kind of clock change: the result is inside, not before `at`, and no minute between is inside."""
    change = AROUND[opening.tz][0] if data is None else data.draw(st.sampled_from(AROUND[opening.tz]))
    shift = -60 if data is None else data.draw(st.integers(-1800, 1800))
    at = instant(change) + shift * MINUTE
    opens_at = opening.next_open(at)
    assert opens_at >= at
    assert opening.next_open(opens_at) == opens_at
    assert inside(opening, opens_at)
    assert not any(inside(opening, earlier) for earlier in range(at, min(opens_at, at + 400 * MINUTE), 17 * MINUTE))
    assert opens_at == at or not inside(opening, opens_at - MINUTE)


@settings(max_examples=examples(60))
@given(windows, st.integers(0, 4_000_000_000_000), st.integers(0, 10_000_000_000))
def test_a_later_instant_never_opens_earlier(opening: Window, at: int, later: int) -> None:
    """The opening moves forward with the instant, and is a fixed point."""
    opens_at = opening.next_open(at)
    assert opens_at >= at
    assert opening.next_open(opens_at) == opens_at
    assert opening.next_open(at + later) >= opens_at
    assert opening.next_open(min(at + later, opens_at)) == opens_at


@pytest.mark.parametrize("at", [instant("9999-12-31T23:59:59Z"), instant("0001-01-01T00:00:00Z")])
def test_at_the_ends_of_the_calendar_nothing_moves(at: int) -> None:
    """Where no local date can be reckoned the window is always open: no request can break it."""
    assert window("08:00", "08:01", PRAGUE, MON).next_open(at) == at


def test_a_frozen_clock_changes_nothing() -> None:
    """The tester's freezer has no hold on the window's calendar."""
    with freeze_time("2001-01-01"):
        assert window("08:00", "20:00", "Asia/Tokyo").next_open(0) == 0
        assert window("08:00", "20:00", "Asia/Tokyo").next_open(43_200_000) == 82_800_000


def test_parse_reads_all_fields() -> None:
    """Days become numbers, times minutes."""
    value = {"days": ["monday", "sunday", "monday"], "start": "08:30", "end": "20:00", "tz": PRAGUE}
    assert parse(value) == Window(frozenset({MON, SUN}), 510, 1200, PRAGUE)


@pytest.mark.parametrize("value", [{}, {"days": []}])
def test_a16_what_is_absent_does_not_limit(value: dict[str, Any]) -> None:
    """Every day, from 00:00 until 24:00, UTC."""
    assert parse(value) == Window(None, 0, 1440, "UTC")


UNREADABLE: list[Any] = [
    pytest.param(
        {"tz": "Europe/Pragu"},
        "'Europe/Pragu' is not the name of an IANA time zone (§2.1): the nearest is Europe/Prague",
        id="zone",
    ),
    pytest.param(
        {"tz": "GMT+1"},
        "'GMT+1' is not the name of an IANA time zone (§2.1): "
        "Etc/GMT-1 is east of UTC, as 'GMT+1' is (names of Etc have the opposite sign)",
        id="offset",
    ),
    pytest.param(
        {"tz": "zzz"}, "'zzz' is not the name of an IANA time zone (§2.1): Europe/Prague is one", id="no zone near"
    ),
]


@pytest.mark.parametrize(("value", "message"), UNREADABLE)
def test_what_is_not_a_window_is_refused(value: dict[str, Any], message: str) -> None:
    """The message begins with the value, says the rule, then what is legal."""
    with pytest.raises(ValueError, match="is not") as caught:
        parse(value)
    assert str(caught.value) == message


NEAR = [
    ("europe/prague", "Europe/Prague"),
    ("America/New York", "America/New_York"),
    ("Prague", "Europe/Prague"),
    ("Amerika/New_York", "America/New_York"),
    ("Singapor", "Singapore"),
    ("est", "EST"),
    ("cet", "CET"),
    ("Etc/GMT+15", None),
    ("Etc/UTC+1", None),
    ("EST5", None),
    ("GMT0100", None),
    ("XST", None),
    ("../../etc/passwd", None),
    ("x" * 5000, None),
]


@pytest.mark.parametrize(("written", "expected"), NEAR)
def test_the_nearest_zone_is_named(written: str, expected: str | None) -> None:
    """Case, spaces, a missing continent and slips of the finger are understood."""
    assert nearest(written) == expected


#: Each abbreviation with its minutes east of Greenwich; of several meanings, that of the most people.
ABBREVIATIONS = {
    "CET": 60, "CEST": 120, "cest": 120, "Europe/CEST": 120, "EET": 120, "EEST": 180, "WET": 0, "WEST": 60, "BST": 60,
    "MSK": 180, "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420,
    "AKST": -540, "AKDT": -480, "HST": -600, "HDT": -540, "AST": -240, "ADT": -180, "NST": -210, "NDT": -150,
    "IST": 330, "IDT": 180, "PKT": 300, "JST": 540, "KST": 540, "HKT": 480, "WIB": 420, "WITA": 480, "WIT": 540,
    "AEST": 600, "AEDT": 660, "ACST": 570, "ACDT": 630, "AWST": 480, "NZST": 720, "NZDT": 780, "ChST": 600,
    "SST": -660, "SAST": 120, "CAT": 120, "EAT": 180, "WAT": 60, "GMT": 0,
}  # fmt: skip
SEASONS = (datetime(2026, 1, 15, 12, tzinfo=UTC), datetime(2026, 7, 15, 12, tzinfo=UTC))


@pytest.mark.parametrize("written", [*ABBREVIATIONS])
def test_s2_1_an_abbreviation_is_a_zone_that_uses_it(written: str) -> None:
    """In summer or in winter the zone that is named has the abbreviation, and its offset."""
    zone = ZoneInfo(nearest(written) or "")
    seasons = [at.astimezone(zone) for at in SEASONS]
    used = [local for local in seasons if (local.tzname() or "").upper() == written.rpartition("/")[2].upper()]
    assert {local.utcoffset() for local in used} == {timedelta(minutes=ABBREVIATIONS[written])}


FORMS = ["{:+}", "UTC{:+}", "GMT{:+}", "gmt {:+}", "Z{:+}"]


@pytest.mark.unmeasured
@pytest.mark.parametrize("form", FORMS)
def test_s2_1_an_offset_is_a_zone_that_has_it(form: str) -> None:
    """All year the zone that is named has the offset that was written; where no zone has it, none is named."""
    named = {}
    for quarter in range(-15 * 4, 15 * 4 + 1):
        hours, minutes = divmod(abs(quarter) * 15, 60)
        text = form.format(hours if quarter >= 0 else -hours or 0).replace("+0", "-0" if quarter < 0 else "+0")
        zone = named[quarter] = nearest(f"{text}:{minutes:02}" if minutes else text)
        if zone is not None:
            assert {at.astimezone(ZoneInfo(zone)).utcoffset() for at in SEASONS} == {timedelta(minutes=quarter * 15)}
    assert all(named[hours * 4] for hours in range(-12, 15))
    assert named[5 * 4 + 2] == "Asia/Kolkata"
    assert not any(named[quarter] for quarter in (-60, 60, 5))


OFFSETS = [
    ("+01:00", "Etc/GMT-1"),
    ("+0100", "Etc/GMT-1"),
    ("+1", "Etc/GMT-1"),
    ("GMT+1", "Etc/GMT-1"),
    ("UTC-5", "Etc/GMT+5"),
    ("UTC\N{MINUS SIGN}5", "Etc/GMT+5"),
    ("Z+2", "Etc/GMT-2"),
    ("UTC+5:30", "Asia/Kolkata"),
    ("UTC+00:00", "UTC"),
    ("+05:17", None),
    ("+99:99", None),
]


@pytest.mark.parametrize(("written", "expected"), OFFSETS)
def test_s2_1_each_way_to_write_an_offset_is_understood(written: str, expected: str | None) -> None:
    """With or without colon, letters and zeros it is the same offset."""
    assert nearest(written) == expected


@pytest.mark.parametrize("written", ["CET", "EST", "MST", "HST", "GMT", "EST5EDT", "Etc/GMT+1", "UTC"])
def test_s2_1_a_name_of_the_iana_list_stays_legal(written: str) -> None:
    """Some abbreviations are names of zones, too."""
    assert parse({"tz": written}).tz == written


def test_every_zone_of_the_package_is_legal() -> None:
    """Every place in the IANA list can be used; a name that is not a place cannot."""
    assert parse({"tz": "America/Argentina/Buenos_Aires"}).tz == "America/Argentina/Buenos_Aires"
    assert parse({"tz": "Etc/GMT+5", "start": "08:00", "end": "09:00"}).next_open(0) == 46_800_000
    with pytest.raises(ValueError, match="'Factory' is not the name"):
        parse({"tz": "Factory"})
