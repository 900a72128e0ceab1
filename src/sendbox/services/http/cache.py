"""A bounded cache of values from earlier calls, since clients repeat themselves."""

from __future__ import annotations

from typing import Final, TypeVar

K = TypeVar("K")
V = TypeVar("V")
#: The number of entries at which a cache is emptied.
MAX_ENTRIES: Final = 1024


class BoundedCache(dict[K, V]):
    """A dictionary that is emptied when it is full."""

    __slots__ = ()

    def store(self, key: K, value: V) -> V:
        """Stores a value, and returns it."""
        if len(self) >= MAX_ENTRIES:
            self.clear()
        self[key] = value
        return value
