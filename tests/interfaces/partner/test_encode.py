"""Records as the wire has them (§2.5)."""

from __future__ import annotations

import pytest

from sendbox.services.partner.http.signups import format_number


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("420777000101", "+420 777 000 101"),
        ("12025550123", "+1 202 555 0123"),
        ("4915112345678", "+49 151 123 456 78"),
        ("4201", "+420 1"),
        ("000777000", "+000 777 000"),
    ],
)
def test_s2_5_a_number_as_people_write_it(number: str, shown: str) -> None:
    """§2.5 `phone_number_formated`: `+`, the calling code, groups of three, no digit alone."""
    assert format_number(number) == shown
