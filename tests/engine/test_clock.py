"""The clock of a world: integers, an affine map, and never back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.engine.bounds import END, FASTEST
from sendbox.engine.timeline import Clock, Mode

SECOND_NS = 1_000_000_000
MODES: list[Mode] = ["manual", "real", "auto"]


def tune(clock: Clock, reading: int, mode: Mode | None = None, rate: float | None = None) -> None:
    """Sets mode or rate at a reading, as whoever moves a world does it."""
    clock.change(clock.read(reading), mode, rate)
    clock.rebase(reading)


def test_real_time_passes_at_its_rate() -> None:
    """At rate 60 a second of the machine is a minute of the world; parts of a millisecond are cut off."""
    clock = Clock(1_000, "real", 60, reading=5 * SECOND_NS)
    assert clock.read(6 * SECOND_NS) == 61_000
    assert clock.read(5 * SECOND_NS + 16_666) == 1_000
    assert clock.read(5 * SECOND_NS + 16_667) == 1_001


@pytest.mark.parametrize("mode", ["manual", "auto"])
def test_time_stands_still_unless_it_is_real(mode: Mode) -> None:
    """A manual or automatic clock shows where the world was moved to, whatever the machine's clock says."""
    clock = Clock(1_000, mode)
    assert clock.read(10 * SECOND_NS) == 1_000
    assert clock.real_ns_until(2_000, 0) is None
    clock.move(5_000)
    assert clock.read(0) == clock.now == 5_000


def test_time_stops_at_the_last_instant() -> None:
    """A clock that runs at the fastest rate never leaves the calendar, whatever the machine's clock says."""
    clock = Clock(END - 1_000, "real", FASTEST)
    assert clock.read(SECOND_NS // 1_000_000) == END
    assert clock.read(10**30) == END
    tune(clock, 10**30, rate=1)
    assert clock.now == END


def test_time_only_goes_forward() -> None:
    """The present may be moved to itself, and not before."""
    clock = Clock(1_000, "manual")
    clock.move(1_000)
    with pytest.raises(ValueError, match=r"^999 lies before 1000; time only goes forward$"):
        clock.move(999)
    assert clock.now == 1_000


def test_a_reading_before_the_anchor_shows_the_present() -> None:
    """A machine's clock that jumps back does not take the world with it."""
    assert Clock(1_000, "real", reading=SECOND_NS).read(0) == 1_000


def test_a_change_goes_on_from_the_present() -> None:
    """Another rate or mode holds from the reading on; what passed before it passed at the old one."""
    clock = Clock(0, "real", 2)
    tune(clock, SECOND_NS, rate=0.5)
    assert clock.now == 2_000
    assert clock.read(3 * SECOND_NS) == 3_000
    tune(clock, 3 * SECOND_NS, mode="manual")
    assert (clock.mode, clock.read(9 * SECOND_NS)) == ("manual", 3_000)
    tune(clock, 10 * SECOND_NS, mode="real")
    assert clock.read(12 * SECOND_NS) == 4_000


def test_rebase_forgets_what_passed_unread() -> None:
    """After a jump time passes from where the world stands."""
    clock = Clock(0, "real")
    clock.move(60_000)
    clock.rebase(SECOND_NS)
    assert clock.read(2 * SECOND_NS) == 61_000


def test_a_clock_at_rate_zero_waits_for_nobody() -> None:
    """Where time does not pass, no instant comes by itself."""
    assert Clock(0, "real", 0).real_ns_until(1, 0) is None


def test_the_wait_is_never_negative() -> None:
    """What is due already is due now."""
    assert Clock(1_000, "real").real_ns_until(0, 5) == 0


@given(
    base=st.integers(0, 2**42),
    rate=st.integers(1, 100_000).map(lambda thousandths: thousandths / 1000),
    ahead=st.integers(0, 10**9),
    reading=st.integers(0, 2**60),
)
def test_a_wait_ends_when_the_instant_is_reached(base: int, rate: float, ahead: int, reading: int) -> None:
    """After the nanoseconds that are said to be left the instant has come, and one nanosecond earlier it had not."""
    clock = Clock(base, "real", rate, reading)
    wait = clock.real_ns_until(base + ahead, reading)
    assert wait is not None
    assert clock.read(reading + wait) >= base + ahead
    if ahead:
        assert clock.read(reading + wait - 1) < base + ahead


ACTS = st.one_of(
    st.tuples(st.just("pass"), st.integers(-SECOND_NS, 100 * SECOND_NS)),
    st.tuples(st.just("move"), st.integers(0, 10**6)),
    st.tuples(st.just("rate"), st.integers(0, 5000).map(lambda thousandths: thousandths / 1000)),
    st.tuples(st.just("mode"), st.sampled_from(MODES)),
    st.tuples(st.just("rebase"), st.none()),
)


@given(st.sampled_from(MODES), st.lists(ACTS, max_size=30))
def test_no_act_turns_time_back(mode: Mode, acts: list[tuple[str, object]]) -> None:
    """Whatever is done, and however the machine's clock runs, neither `now` nor what is read ever decreases."""
    clock = Clock(1_000, mode)
    reading = 0
    seen = clock.now
    for act, value in acts:
        if act == "pass" and isinstance(value, int):
            reading += value
        elif act == "move" and isinstance(value, int):
            clock.move(clock.read(reading) + value)
            clock.rebase(reading)
        elif act == "rate" and isinstance(value, float | int):
            tune(clock, reading, rate=value)
        elif act == "mode":
            tune(clock, reading, mode=value)  # type: ignore[arg-type] # drawn from the three
        else:
            clock.move(clock.read(reading))
            clock.rebase(reading)
        shown = clock.read(reading)
        clock.move(shown)
        assert shown >= seen
        seen = shown


def test_a_switch_begins_where_the_old_map_came_to_it() -> None:
    """A step that changes the rate of passing time does so at its own instant, however late it is fired."""
    clock = Clock(0, "real", 60)
    assert clock.read(10 * SECOND_NS) == 600_000
    clock.move(60_000)
    clock.switch(rate=1)
    assert clock.switched
    assert clock.read(10 * SECOND_NS) == 60_000 + 9_000
    clock.move(64_000)
    clock.switch("manual")
    assert clock.read(100 * SECOND_NS) == 64_000
    assert (clock.own_mode, clock.own_rate) == ("real", 60_000)


def test_a_switch_of_a_clock_that_stands_waits_for_a_reading() -> None:
    """Whoever moves a world whose time does not pass says from which reading on it does."""
    clock = Clock(0, "manual")
    clock.move(5_000)
    clock.switch("real", 2)
    clock.rebase(SECOND_NS)
    assert clock.read(3 * SECOND_NS) == 9_000
    tune(clock, 3 * SECOND_NS, "auto", 3)
    assert (clock.own_mode, clock.own_rate) == ("auto", 3_000)
