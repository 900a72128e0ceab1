"""Readers of values of the command line and the environment. Each raises ValueError for a value that is not legal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from sendbox.engine import bounds
from sendbox.engine.durations import duration
from sendbox.runtime.callbacks import host_name

#: How a size is written: bytes, or with a unit of a thousand or of 1,024.
_SIZE: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([kmg]i?)?b?", re.IGNORECASE | re.ASCII)
_UNITS: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


def parse_seed(text: str) -> int | str:
    """A seed as in scenarios: a whole number where it looks like one, else text."""
    if not bounds.looks_whole(text):
        return text
    number = bounds.whole(text)
    if number is None:
        raise ValueError(bounds.too_large(text))
    return number


def parse_hosts(text: str) -> frozenset[str]:
    """Host names of a list with commas, as a `Host` is compared with them. Raises ValueError."""
    names = [item.strip() for item in text.split(",") if item.strip()]
    for name in names:
        if host_name(name) is None or "*" in name:
            raise ValueError(
                f"{name!r} is not a host name: names without a port are legal, with commas between, such as "
                "sandbox.example (an IP address needs no entry)"
            )
    return frozenset(filter(None, map(host_name, names)))


def parse_size(text: str) -> int:
    """The bytes of a size, at least 1. Raises ValueError."""
    match = _SIZE.fullmatch(text.strip())
    size = 0 if match is None else round(float(match[1]) * _UNITS[(match[2] or "").lower()])
    if not 1 <= size <= bounds.HIGHEST:
        raise ValueError(f"{text!r} is not a size of memory; legal: a number above 0 and a unit, such as 512MB or 1GiB")
    return size


def parse_ttl(text: str) -> float | None:
    """The seconds after which a world without use ends, None for `off`. Raises ValueError."""
    if text == "off":
        return None
    try:
        milliseconds = duration(text)
    except ValueError as error:
        raise ValueError(f"{error}; so is off") from None
    if milliseconds <= 0:
        raise ValueError(f"{text!r} is not a time after which a world ends; legal: a duration above 0, or off")
    return milliseconds / 1000


def parse_assumptions(entries: Iterable[str]) -> tuple[str, ...]:
    """Settings of the assumptions, each `name=value`. Raises ValueError for another form."""
    for entry in entries:
        if re.fullmatch(r"\w+=\S[^\r\n]*", entry) is None:
            raise ValueError(f"{entry!r} is not a setting of assume and its value, such as profile=careful")
    return tuple(entries)


def parse_keys(keys: Iterable[str]) -> frozenset[str]:
    """API keys of a setting. Raises ValueError for one that no header can carry, which is several that ran together."""
    for key in keys:
        if re.search(r"[\s,]", key):
            raise ValueError(f"{key!r} is not an API key: several have commas between them in the environment")
    return frozenset(keys)
