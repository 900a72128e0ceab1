"""Promotional hours: which messages they hold back, and until when (§1, A84)."""

from __future__ import annotations

from typing import Final

from sendbox.engine.durations import DAY
from sendbox.services.assume import Assume
from sendbox.services.messaging.channels import FAMILY
from sendbox.services.messaging.model import Send
from sendbox.services.numbers.countries import country
from sendbox.services.windows import Window

_YEAR: Final = 366 * DAY


def hours_of(assume: Assume, send: Send, number: str, *, valid: bool) -> Window | None:
    """The hours in which a message to a number goes out, by the channel of its first step; None: at any time.

    A number that is not `valid` is of no country.
    """
    hours = assume.promotional_window
    if hours is None or "promotional" not in send.tags:
        return None
    if hours.channels is not None and FAMILY[send.steps[0].channel] not in hours.channels:
        return None
    if hours.countries is None:
        return hours.window
    place = country(number) if valid else None
    return None if place is None or place.iso not in hours.countries else hours.window


def meeting(at: int, hours: Window, own: Window | None) -> int:
    """The first instant, not before `at`, inside the hours and inside a message's own window.

    Where the two do not meet, a message's own window counts: it is the law's (§2.1), and the hours are a setting.
    """
    if own is None:
        return hours.next_open(at)
    common = in_both(at, hours, own)
    return own.next_open(at) if common is None else common


def in_both(at: int, hours: Window, own: Window) -> int | None:
    """The first instant, not before `at`, inside two windows; None where there is none within a year."""
    opens = hours.next_open(at)
    while opens < at + _YEAR:
        suits = own.next_open(opens)
        if suits == opens:
            return opens
        opens = hours.next_open(suits)
    return None
