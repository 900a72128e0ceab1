"""Happenings: entries of a scenario's timeline, which come to a world when their instant has come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """An entry of `timeline`: `at` in milliseconds, from the start of the epoch when `relative`, else an instant.

    `what` is how it was written, as the journal shows it; `means` what was compiled from it, where that is not the
    same; draws are keyed by `key`.
    """

    at: int
    relative: bool
    kind: str
    what: dict[str, Any]
    place: str | None = None
    means: Any = None
    key: str = ""
