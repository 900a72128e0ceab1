"""Chains of causes: a call that a receiver makes because of a webhook, whose events cause its next call, and so on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

#: So many requests are remembered; of an older one nothing is known, as of one that no receiver made.
_REMEMBERED: Final = 10_000


class Chains:
    """How many calls lie behind the requests of a world, one because of the other.

    `depth` is that of the call that is being carried out: 0 where no receiver under delivery made it. `phone` is the
    first one that it sent to.
    """

    __slots__ = ("_depths", "depth", "phone")

    def __init__(self) -> None:
        self._depths: dict[str, int] = {}
        self.depth = 0
        self.phone = ""

    def made(self, request: str, phone: str) -> None:
        """The call that is being carried out made a request, by its id, to this phone among others."""
        if self.depth:
            self.phone = self.phone or phone
            self._depths[request] = self.depth
            if len(self._depths) > _REMEMBERED:
                del self._depths[next(iter(self._depths))]

    def of(self, requests: Iterable[str]) -> int:
        """The calls behind a batch with events of these requests: the fewest, since each may be what causes a call."""
        return min((self._depths.get(request, 0) for request in requests), default=0) if self._depths else 0

    def clear(self) -> None:
        """A new chain begins with whatever comes next."""
        self._depths.clear()
