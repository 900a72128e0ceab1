"""Dictionaries that keep values from earlier calls, since clients repeat themselves."""

from __future__ import annotations

from typing import Final, TypeVar

K = TypeVar("K")
V = TypeVar("V")
#: So much is remembered of each kind.
MOST: Final = 1024


class Remembered(dict[K, V]):
    """A dictionary that begins anew when it is full."""

    __slots__ = ()

    def keep(self, key: K, value: V) -> V:
        """Notes a value, and returns it."""
        if len(self) >= MOST:
            self.clear()
        self[key] = value
        return value
