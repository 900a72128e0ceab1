"""Amounts of money as the interfaces show them."""

from __future__ import annotations


def decimal(millionths: int) -> str:
    """An amount as a decimal number in a string, with two places or more (§2.4)."""
    units, fraction = divmod(millionths, 1_000_000)
    places = f"{fraction:06}".rstrip("0")
    return f"{units}.{places:0<2}"
