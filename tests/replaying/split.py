"""The same script in smaller steps of time: every advance by or to something is divided into several."""

from __future__ import annotations

from typing import Any, Final

from sendbox.engine.durations import instant, iso
from sendbox.fixture import SandboxServer
from tests.recorded.draw import Draw
from tests.recorded.player import Player

#: The most parts of one advance.
PARTS: Final = 4


class Split(Player):
    """A player that divides advances.

    `whole` has the answers of the same script played as it is: where each advance began and ended, and which of them
    were refused and so stay as they are. So do `until: idle` and `next`.
    """

    def __init__(self, server: SandboxServer, script: dict[str, Any], whole: list[dict[str, Any]], seed: int) -> None:
        self._whole = whole
        self._draw = Draw(seed)
        #: how many advances were divided, and in how many parts
        self.divided = self.parts = 0
        super().__init__(server, script)

    def _advance(self, how: dict[str, Any]) -> dict[str, Any]:
        came = self._whole[len(self.answers)]
        if how.keys() not in ({"by"}, {"to"}) or "refused" in came or came.get("status", 200) != 200:
            return super()._advance(how)
        ends = self._ends(came["body"])
        at = instant(came["body"]["from"])
        for end in ends:
            done = super()._advance({"by": f"{end - at}ms"} if "by" in how else {"to": iso(end)})
            at = end
        self.divided += len(ends) > 1
        self.parts += len(ends)
        return done

    def _ends(self, body: dict[str, Any]) -> list[int]:
        """The instants at which the parts end: anywhere, at an instant at which something happened, or beside one."""
        first, last = instant(body["from"]), instant(body["to"])
        met = sorted({instant(entry["at"]) for entry in body["entries"]})
        found = set[int]()
        for _ in range(self._draw.between(1, PARTS - 1)):
            if met and self._draw.chance(60):
                found.add(self._draw.pick(met) + self._draw.pick((-1, 0, 0, 1)))
            else:
                found.add(self._draw.between(first, last))
        return [*sorted(end for end in found if first < end < last), last]
