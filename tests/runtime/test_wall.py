"""The machine's clocks, as far as the product reads them."""

from __future__ import annotations

import runpy
import time
from datetime import UTC, datetime

import pytest
import time_machine
from freezegun import freeze_time

from sendbox.runtime import wall

AT = "2026-03-01T09:00:00.123Z"
AT_MS = 1_772_355_600_123


def test_now_is_the_machines_time() -> None:
    """`now_ms` lies between two readings of the machine's clock."""
    before = time.time_ns() // 1_000_000
    assert before <= wall.now_ms() <= time.time_ns() // 1_000_000 + 1


def test_now_is_the_frozen_time_under_freezegun() -> None:
    """A frozen instant is seen, to the millisecond."""
    with freeze_time(AT):
        assert wall.now_ms() == AT_MS


def test_now_is_the_frozen_time_under_time_machine() -> None:
    """A travelled instant is seen, to the millisecond."""
    with time_machine.travel(datetime.fromtimestamp(AT_MS / 1000, UTC), tick=False):
        assert wall.now_ms() == AT_MS


def runs() -> bool:
    first = wall.monotonic_ns()
    return any(wall.monotonic_ns() > first for _ in range(1_000_000))


def test_monotonic_runs_under_freezegun() -> None:
    """The monotonic clock goes on while a test has frozen the time."""
    with freeze_time(AT):
        assert runs()


def test_monotonic_runs_under_time_machine() -> None:
    """The monotonic clock goes on while a test has travelled in time."""
    with time_machine.travel(AT, tick=False):
        assert runs()


def test_monotonic_runs_where_there_is_no_clock_gettime(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `clock_gettime` (Windows) there is a monotonic clock too, and freezegun does not find it."""
    monkeypatch.delattr(time, "clock_gettime_ns")
    fallback = runpy.run_path(wall.__file__)["monotonic_ns"]
    with freeze_time(AT):
        first = fallback()
        assert any(fallback() > first for _ in range(1_000_000))
