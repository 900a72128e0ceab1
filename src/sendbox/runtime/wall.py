"""The clocks of the machine: the only module that reads them.

A world's time is its own. The machine's time is read in two places only: where a world's start is not pinned, and
where real time passes (`real` and `auto` clocks, patience with receivers, measurements).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial


def now_ms() -> int:
    """The present instant, milliseconds of UTC since 1970; inside a frozen test the frozen one.

    Looked up at the call, so that freezegun's replacement of `time.time` is seen. Rounded to microseconds first: a
    frozen `09:00:00.123` must not come out as `.122` because no float is exactly that.
    """
    return round(time.time() * 1_000_000) // 1_000


def present() -> tuple[int, bool]:
    """The present second in milliseconds, and whether a test has frozen its clock."""
    return now_ms() // 1000 * 1000, _is_frozen()


def _is_frozen() -> bool:
    """By freezegun or time-machine; neither is imported for it."""
    freezegun, machine = sys.modules.get("freezegun.api"), sys.modules.get("time_machine")
    if freezegun is not None and freezegun.freeze_factories:
        return True
    return machine is not None and bool(machine.escape_hatch.is_travelling())


def _monotonic() -> Callable[[], int]:
    """The monotonic clock in nanoseconds, where no freezer finds it.

    freezegun replaces `time.monotonic` in every module that holds it, but not `clock_gettime`, and it does not look
    into closures, which serves where there is no `clock_gettime` (Windows). time-machine leaves monotonic clocks alone.
    """
    if hasattr(time, "clock_gettime_ns"):
        return partial(time.clock_gettime_ns, time.CLOCK_MONOTONIC)
    ticks = time.monotonic_ns
    return lambda: ticks()


#: Nanoseconds of a clock that only runs forward, at its own pace, even in a frozen test.
monotonic_ns: Callable[[], int] = _monotonic()
