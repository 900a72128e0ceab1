"""`datetime` in its forms: RFC 3339, other offsets, none (§2.1, A58)."""

from __future__ import annotations

import pytest

from sendbox.contract.findings import show
from sendbox.engine.remarks import Advice, Finding
from sendbox.services.messaging.http.sending.decode import read_datetime
from tests.interfaces.sending.support import places, said

NINE = 1_772_355_600_000  # 2026-03-01T09:00:00Z


@pytest.mark.parametrize(
    ("text", "instant", "code"),
    [
        ("2026-03-01T09:00:00Z", NINE, None),
        ("2026-03-01t09:00:00z", NINE, None),
        ("2026-03-01 09:00:00Z", NINE, None),
        ("2026-03-01T09:00:00.5Z", NINE + 500, None),
        ("2026-03-01T09:00:00.123999Z", NINE + 123, None),
        ("2026-03-01T08:59:60Z", NINE, None),
        ("2026-03-01T09:00:00+00:00", NINE, None),
        ("2026-03-01T09:00:00-00:00", NINE, None),
        ("2026-03-01T10:00:00+01:00", NINE, "datetime-converted"),
        ("2026-02-28T23:30:00-09:30", NINE, "datetime-converted"),
        ("2026-03-01T09:00:00", NINE, "datetime-without-zone"),
        ("1969-12-31T23:59:59.999Z", -1, None),
    ],
)
def test_s2_1_datetime_is_utc(text: str, instant: int, code: str | None) -> None:
    """A date-time is UTC; another offset is converted and a missing one read as UTC, with advice (§2.1, A58)."""
    problems: list[Finding] = []
    advice: list[Advice] = []
    assert read_datetime(text, "$", problems, advice) == instant
    assert problems == []
    assert said(advice) == ([(code, "$.datetime")] if code else [])


def test_a58_advice_names_the_converted_instant() -> None:
    """Advice on an offset says what the instant is in UTC (A58)."""
    advice: list[Advice] = []
    read_datetime("2026-03-01T10:00:00+01:00", "$", [], advice)
    assert advice[0].message == '"2026-03-01T10:00:00+01:00" is converted to UTC: 2026-03-01T09:00:00Z'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-03-01",
        "2026-03-01T09:00Z",
        "2026-03-01T09:00:00Z\n",
        "2026-02-30T09:00:00Z",
        "2026-03-01T24:00:00Z",
        "2026-03-01T09:00:61Z",
        "2026-03-01T09:00:00+24:00",
        "2026-03-01T09:00:00+01:60",
        "2026-03-01T09:00:00+0100",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "٢٠٢٦-03-01T09:00:00Z",
        "1772355600",
    ],
)
def test_a58_anything_else_is_refused(text: str) -> None:
    """A text that is no RFC 3339 date-time, or names no instant, is refused with the legal form (A58)."""
    problems: list[Finding] = []
    assert read_datetime(text, "$[2]", problems, []) is None
    assert places(problems) == [("date-time", "$[2].datetime")]
    assert problems[0].message == (
        f"{show(text)} is not a date-time of RFC 3339; legal is the form 2026-03-01T09:00:00Z (§2.1)"
    )
    assert problems[0].assumed == "A58"
