"""Races: calls at one instant of which one changes what another uses, so that their order decides."""

from __future__ import annotations

from typing import Any


class Races:
    """The subjects that the calls of one instant used and changed; a subject is any hashable value."""

    __slots__ = ("_changed", "_instant", "_used")

    def __init__(self) -> None:
        self._instant = -1
        self._used: set[Any] = set()
        self._changed: set[Any] = set()

    def uses(self, instant: int, subject: Any) -> bool:
        """Notes that a call uses something; True if an earlier call of this instant changed it."""
        if instant != self._instant:
            self._at(instant)
        self._used.add(subject)
        return subject in self._changed

    def changes(self, instant: int, subject: Any) -> bool:
        """Notes that a call changes something; True if an earlier call of this instant used or changed it."""
        if instant != self._instant:
            self._at(instant)
        raced = subject in self._used or subject in self._changed
        self._changed.add(subject)
        return raced

    def _at(self, instant: int) -> None:
        self._instant = instant
        self._used, self._changed = set(), set()
